// integrations.md 12.6, over the front door: what a client repeats after the service was killed is not done twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Reply, RestClient, startService } from './client/index.ts';

const ROWS = 400;

// spec: integrations.md 12.6
test('an EXECUTE and an INSERT of several with a request id go on where a crash has cut them off', async () => {
  await using service = await startService();
  const client = new RestClient(service.url);
  try {
    await client.login(service.user, service.password);
    const properties = { n: { type: 'Integer' }, from: { type: 'String' } };
    expect((await client.send('POST', '/types', { body: { name: 'Row', properties } })).status).toBe(200);
    // A BEFORE rule keeps the instances of one INSERT apart, each in a commit of its own.
    const rule = 'RULE apart BEFORE INSERT OCCURS ON Row AS r WHERE r.from == "insert" return r';
    const procedure = `PROCEDURE many() for (i in range(0, ${ROWS}, 1)) { INSERT Row(n: i, from: "execute") } return "done"`;
    expect((await client.send('POST', '/rules', { text: rule })).status).toBe(200);
    expect((await client.send('POST', '/procedures', { text: procedure })).status).toBe(200);
    const execute = (): Promise<Reply> => client.send('POST', '/procedures/many', { headers: { 'x-cascade-request-id': 'one' } });
    const objects = Array.from({ length: ROWS }, (_, n) => `{"n":${n},"from":"insert"}`).join(',');
    const insert = (): Promise<Reply> =>
      client.send('POST', '/custom/Row', {
        text: `[${objects}]`,
        headers: { 'x-cascade-request-id': 'two', 'content-type': 'application/json' },
      });
    const stored = async (from: string): Promise<number> => {
      const query = { where: `{"from":"${from}"}`, props: '["_id"]', limit: '1', count: 'true' };
      return Number((await client.send('GET', '/custom/Row', { query })).headers['x-total-count']);
    };

    const cut = Promise.allSettled([execute(), insert()]);
    while ((await stored('execute')) < 5 || (await stored('insert')) < 5) await sleep(5);
    await service.kill();
    await cut;
    await service.restart();
    await client.login(service.user, service.password);
    const before = [await stored('execute'), await stored('insert')];
    expect(Math.min(...before)).toBeGreaterThanOrEqual(5);
    expect(Math.min(...before), 'the crash came too late to show anything').toBeLessThan(ROWS);

    const [executed, inserted] = await Promise.all([execute(), insert()]);
    expect([executed.status, executed.text]).toEqual([200, '"done"']);
    expect(inserted.status).toBe(200);
    expect((JSON.parse(inserted.text) as unknown[]).length).toBe(ROWS);
    expect([await stored('execute'), await stored('insert')]).toEqual([ROWS, ROWS]);
    expect((await execute()).text).toBe('"done"');
    expect(await stored('execute')).toBe(ROWS);
  } finally {
    client.close();
  }
});
