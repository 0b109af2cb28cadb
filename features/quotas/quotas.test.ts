// spec: resources-and-api.md 9.1 9.2
// The quota of an organization for its namespaces (resources-and-api.md 9): each limit refuses with its name, and a larger one admits.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { ApiReply, Identity } from '../../resources/api.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';

const PASSWORD = 'correct horse';
const mark = randomBytes(4).toString('hex');
const organization = `acme_${mark}`;
const namespace = `Acme_${mark}`;
/** A user of the installation's namespace, which has no quota itself. */
const SYSTEM: Identity = { username: `system${mark}`, namespace: `Rulers_${mark}`, profiles: ['admin', 'admin__system'], system: true };
const ADMIN = ['admin', 'user__system'];

let t: TestEngine;
let boss: Identity;

beforeAll(async () => {
  t = await openTestEngine();
  const admin = { username: `boss.${mark}`, profiles: ADMIN, password: PASSWORD };
  await t.engine.identity.createNamespace({ namespace, organization: { name: organization }, admin, createdBy: 'test' });
  boss = (await t.engine.identity.login(`boss.${mark}`, PASSWORD, '10.0.0.1')).identity;
});
afterAll(() => t[Symbol.asyncDispose]());

interface Asked {
  id?: string;
  body?: object;
  text?: string;
  where?: ObjectValue;
}

const as = (identity: Identity, op: string, resourceName: string, { id, body, text, where }: Asked = {}): Promise<ApiReply> =>
  t.engine.execute({
    identity,
    op,
    resourceName,
    custom: null,
    ...(id !== undefined && { resourceId: id }),
    ...(body && { object: parseJson(JSON.stringify(body)) }),
    ...(text !== undefined && { text }),
    parameters: where ? { where } : {},
  });

const give = (quota: object): Promise<ApiReply> => as(SYSTEM, 'update', 'organizations', { id: organization, body: { quota } });
const exceeded = (name: string, limit: number) => ({ code: 'cascade.quota.exceeded', status: 429, params: [name, limit] });

test('the definitions of one import count together, and it stores none where they are too many', async () => {
  const before = JSON.parse((await as(boss, 'select', 'types')).body ?? '[]') as { name: string }[];
  const stored = before.filter(({ name }) => !name.startsWith('Ars')).length;
  await give({ limits: { types: stored + 2, rules: 1 } });
  const files = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [`types/${name}.json`, { name, properties: { n: { type: 'Integer' } } }]));
  const load = (given: object) => as(boss, 'import', 'projects', { id: '*', body: { files: given } });
  const refused = await load(files(['One', 'Two', 'Three']));
  expect([refused.status, JSON.parse(refused.body ?? '')]).toEqual([
    429,
    [expect.objectContaining({ code: 'cascade.quota.exceeded', params: ['types', stored + 2] })],
  ]);
  // What fits exactly is stored, also a rule that is planned a second time: a configuration of the import switches it.
  const fits = await load({
    ...files(['One', 'Two']),
    'rules/r.rule': 'RULE r WHEN INSERT OCCURS ON One AS o LOG("x")',
    'configurations/c.json': { name: 'c', resources: ['/rules/r'], active: false },
  });
  expect(fits.status).toBe(200);
  await as(boss, 'delete', 'configurations', { id: 'c' });
  await as(boss, 'delete', 'rules', { id: 'r' });
  for (const name of ['One', 'Two']) await as(boss, 'delete', 'types', { id: name });
});

test('each quota refuses changes beyond it, and names itself in the error', async () => {
  await as(boss, 'insert', 'types', { body: { name: 'Pump', properties: { n: { type: 'Integer' } } } });
  await as(boss, 'insert', 'Pump', { body: { n: 1 } });

  await give({ limits: { types: 1, rules: 1, instancesPerType: 2, users: 2, subscriptions: 1 } });
  await expect(as(boss, 'insert', 'types', { body: { name: 'Valve', properties: {} } })).rejects.toMatchObject(exceeded('types', 1));

  await as(boss, 'insert', 'rules', { text: 'RULE first\nWHEN INSERT OCCURS ON Pump AS p\nLOG("x")' });
  const second = as(boss, 'insert', 'rules', { text: 'RULE second\nWHEN INSERT OCCURS ON Pump AS p\nLOG("x")' });
  await expect(second).rejects.toMatchObject(exceeded('rules', 1));

  await as(boss, 'insert', 'Pump', { body: { n: 2 } });
  await expect(as(boss, 'insert', 'Pump', { body: { n: 3 } })).rejects.toMatchObject(exceeded('instancesPerType', 2));
  const [one] = JSON.parse((await as(boss, 'select', 'Pump')).body ?? '[]') as { _id: string }[];
  await as(boss, 'delete', 'Pump', { id: one?._id as string });
  await as(boss, 'insert', 'Pump', { body: { n: 4 } });

  // An array that fits exactly is stored; of a longer one, the part that fits.
  await as(boss, 'delete', 'Pump', { where: {} });
  await as(boss, 'insert', 'Pump', { body: [{ n: 1 }, { n: 2 }] });
  await as(boss, 'delete', 'Pump', { where: {} });
  const three = await as(boss, 'insert', 'Pump', { body: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  expect(JSON.parse(three.body ?? '')).toMatchObject([{ status: 200 }, { status: 200 }, { status: 429 }]);

  await as(boss, 'insert', 'users', { body: { username: `ann.${mark}`, password: PASSWORD } });
  const more = as(boss, 'insert', 'users', { body: { username: `bob.${mark}`, password: PASSWORD } });
  await expect(more).rejects.toMatchObject(exceeded('users', 2));
  const further = { namespace: `${namespace}more`, username: `bob.${mark}`, password: PASSWORD };
  await expect(as(boss, 'insert', 'namespaces', { body: further })).rejects.toMatchObject(exceeded('users', 2));

  const listen = () => t.engine.subscribe(boss, '/types/Pump/insert', {}, () => undefined);
  const subscription = await listen();
  await expect(listen()).rejects.toMatchObject(exceeded('subscriptions', 1));
  const probe = await t.engine.subscribe(boss, '/types/Pump/insert', { probes: true }, () => undefined); // whether it still may
  probe.close();
  await expect(listen()).rejects.toMatchObject(exceeded('subscriptions', 1));
  subscription.close();
  (await listen()).close();

  await give({ limits: { storageBytes: 1 } });
  await expect(as(boss, 'insert', 'Pump', { body: { n: 5 } })).rejects.toMatchObject(exceeded('storageBytes', 1));
  const audit = { entity: '/types/Pump', message: 'x' };
  await expect(as(boss, 'insert', 'audits', { body: audit })).rejects.toMatchObject(exceeded('storageBytes', 1));
  await give({ limits: { sessions: 1 } });
  await expect(t.engine.identity.login(`boss.${mark}`, PASSWORD, '10.0.0.1')).rejects.toMatchObject(exceeded('sessions', 1));
  await give({ limits: { webSockets: 0 } });
  await expect(t.engine.openSocket(boss.namespace)).rejects.toMatchObject(exceeded('webSockets', 0));
  await give({ limits: { requestsPerSecond: 0 } });
  await expect(as(boss, 'select', 'Pump')).rejects.toMatchObject(exceeded('requestsPerSecond', 0));
  await expect(t.engine.count(boss)).rejects.toMatchObject(exceeded('requestsPerSecond', 0));
  await t.engine.count({ ...boss, namespace: 'nowhere' }); // a public path may name any
  await give({});
  await as(boss, 'insert', 'Pump', { body: { n: 5 } });
});

test('rules of acknowledged events wait while the quota of runs is used up, and run later', async () => {
  await give({});
  await as(boss, 'insert', 'types', { body: { name: 'Seen', properties: { n: { type: 'Integer' } } } });
  await as(boss, 'insert', 'types', { body: { name: 'Order', properties: { n: { type: 'Integer' } } } });
  await as(boss, 'insert', 'rules', { text: 'RULE sees\nWHEN INSERT OCCURS ON Order AS o\nINSERT Seen(n: o.n)' });
  await give({ rates: { execution: 0 }, credit: { default: { percentage: 20, queueRatio: 2 } } });
  await as(boss, 'insert', 'Order', { body: { n: 1 } });
  await expect(as(boss, 'insert', 'Order', { body: { n: 2 } })).rejects.toMatchObject(exceeded('execution', 0));
  expect(JSON.parse((await as(boss, 'select', 'Seen')).body ?? '')).toEqual([]);
  await give({});
  await as(boss, 'insert', 'Order', { body: { n: 3 } });
  await t.engine.settled();
  const seen = JSON.parse((await as(boss, 'select', 'Seen')).body ?? '') as { n: number }[];
  expect(seen.map(({ n }) => n).sort()).toEqual([1, 3]);
});

const ran = (id: string): Promise<unknown> =>
  as(boss, 'execute', 'procedures', { id, body: [] as object }).then(
    ({ body }) => JSON.parse(body ?? 'null') as unknown,
    ({ code, retryAfterSeconds }: { code: string; retryAfterSeconds?: number }) =>
      retryAfterSeconds === undefined ? code : [code, retryAfterSeconds],
  );

test('an organization’s own limits for single runs take effect at once', async () => {
  await give({});
  for (const text of [
    'PROCEDURE down(n Integer)\nif (n < 50) { down(n + 1) }\nreturn n',
    'PROCEDURE deep()\nreturn down(0)',
    'PROCEDURE loops()\nvar k = 0\nfor (x in [1, 2, 3, 4, 5, 6]) { k = k + 1 }\nreturn k',
    'PROCEDURE busy()\nvar k = 0\nwhile (k < 300000000) { k = k + 1 }\nreturn "done"',
    'PROCEDURE holds()\nvar a = []\nfor (i in range(1, 90000, 1)) { a[i - 1] = "0123456789012345678901234567890123456789" + i }\nreturn "held"',
  ])
    await as(boss, 'insert', 'procedures', { text });
  expect([await ran('deep'), await ran('loops'), await ran('holds')]).toEqual([0, 6, 'held']);
  await give({ limits: { stackDepth: 20, synchronousIterationSize: 5, cpuTime: '1 second' } });
  expect([await ran('deep'), await ran('loops'), await ran('busy')]).toEqual([
    'cascade.execution.depth',
    'cascade.execution.iteration.limit',
    'cascade.execution.timeout',
  ]);
  await give({ limits: { memoryBytes: 2_000_000 } });
  expect([await ran('holds'), await ran('deep')]).toEqual(['cascade.execution.memory', 0]);
  await give({});
  expect([await ran('deep'), await ran('loops'), await ran('holds')]).toEqual([0, 6, 'held']);
});

test.each([
  [{ stackDepth: 201 }, 'limits.stackDepth'],
  [{ memoryBytes: 1 }, 'limits.memoryBytes'],
  [{ cpuTime: '21 seconds' }, 'limits.cpuTime'],
  [{ executionTime: 5 }, 'limits.executionTime'],
  [{ errorBreaker: { after: 1 } }, 'limits.errorBreaker.after'],
  [{ errorBreaker: { retryAfter: 'soon' } }, 'limits.errorBreaker.retryAfter'],
  [{ documentExpansion: 1 }, 'limits.documentExpansion'],
])('an invalid limit is refused with its name: %j', async (limits, name) => {
  await expect(give({ limits })).rejects.toMatchObject({ status: 400, message: expect.stringContaining(name) as string });
});

test('the default limits are those of the specification', async () => {
  const limits = {
    stackDepth: 200,
    executionTime: '2 hours',
    synchronousIterationSize: 100_000,
    cpuTime: '20 seconds',
    memoryBytes: 268_435_456,
  };
  await give({ limits: { ...limits, minimumScheduledProcedureInterval: '1 minute', documentExpansion: 0 } });
  expect(await ran('deep')).toBe(0);
  await give({});
});

test('the error breaker suspends a failing rule until its retry or a new text', async () => {
  const fails = { text: 'PROCEDURE fails()\nexception("own.code", "no")\nreturn 1' };
  await as(boss, 'insert', 'procedures', fails);
  await give({});
  for (let i = 0; i < 25; i++) expect(await ran('fails')).toBe('own.code');
  await give({ limits: { errorBreaker: { sample: 5, failurePercent: 80, retrySample: 2, retryAfter: '1 second' } } });
  for (let i = 0; i < 5; i++) expect(await ran('fails')).toBe('own.code');
  expect(await ran('fails')).toEqual(['cascade.execution.suspended', 1]);
  expect(await ran('loops')).toBe(6);
  await sleep(1_050);
  expect([await ran('fails'), await ran('fails'), await ran('fails')]).toEqual([
    'own.code',
    'own.code',
    ['cascade.execution.suspended', 1],
  ]);
  await as(boss, 'insert', 'procedures', { text: `${fails.text}\n` });
  expect(await ran('fails')).toBe('own.code');
  await give({});
});

test('an event of a suspended rule is skipped, and stored as failed', async () => {
  await as(boss, 'insert', 'types', { body: { name: 'Bad', properties: { n: { type: 'Integer' } } } });
  await give({ limits: { errorBreaker: { sample: 3, retryAfter: '1 day' } } });
  await as(boss, 'insert', 'rules', { text: 'RULE failing\nWHEN INSERT OCCURS ON Bad AS b\nexception("own.code", "no")' });
  for (let n = 0; n < 5; n++) {
    await as(boss, 'insert', 'Bad', { body: { n } });
    await t.engine.settled();
  }
  const rows = (JSON.parse((await as(boss, 'select', 'ArsRuleSnapshot')).body ?? '[]') as object[])
    .map((row) => JSON.stringify(row))
    .filter((row) => row.includes('/rules/failing'));
  expect(rows.filter((row) => row.includes('own.code'))).toHaveLength(3);
  expect(rows.filter((row) => row.includes('cascade.execution.suspended'))).toHaveLength(2);
  await give({});
});

test('a rule that waits for a reply which never comes ends at its limit', async () => {
  await as(boss, 'insert', 'types', { body: { name: 'Question', properties: { n: { type: 'Integer' } } } });
  await as(boss, 'insert', 'services', { body: { name: 'Silent', eventTypes: { Ask: { direction: 'INBOUND' } } } });
  await as(boss, 'insert', 'rules', { text: 'RULE silent WHEN EVENT OCCURS ON "/services/Silent/Ask" AS e\nvar x = 1' });
  await as(boss, 'insert', 'rules', { text: 'RULE asks WHEN INSERT OCCURS ON Question AS q\nvar v = Event.request("Silent/Ask", {})' });
  await give({ limits: { executionTime: '1 second' } });
  await as(boss, 'insert', 'Question', { body: { n: 1 } });
  const failed = async () =>
    (JSON.parse((await as(boss, 'select', 'ArsRuleSnapshot')).body ?? '[]') as object[])
      .map((row) => JSON.stringify(row))
      .filter((row) => row.includes('/rules/asks') && row.includes('cascade.execution.timeout')).length;
  await expect.poll(failed, { timeout: 20_000 }).toBe(1);
  await t.engine.settled();
  await give({});
});

test('an exceeded quota is audited once for many refusals', async () => {
  await give({ limits: { types: 1 } });
  for (const name of ['More', 'Others'])
    await expect(as(boss, 'insert', 'types', { body: { name, properties: {} } })).rejects.toMatchObject(exceeded('types', 1));
  await give({});
  const found = async () =>
    JSON.parse((await as(boss, 'select', 'audits', { where: { op: 'quota' } })).body ?? '[]') as { message: string }[];
  await expect.poll(async () => (await found()).filter(({ message }) => message.includes('quota types of 1 ')).length).toBe(1);
});
