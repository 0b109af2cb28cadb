// spec: integrations.md 1.6
import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import { FairScheduler } from '../../runtime/admission/index.ts';
import { QueueFull } from '../../runtime/transactions/index.ts';

let database: OwnDatabase;
let t: TestEngine;
beforeAll(async () => {
  database = await openOwnDatabase(); // registers a namespace with a key, which engines of other tests lack
  t = await openTestEngine({ mongoUri: database.uri, masterKey: randomBytes(32) });
  await database.register(t.identity.namespace);
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const SECRET = 'a secret of the sender';

const webhook = (name: string, more: object = {}) => ({ name, type: 'WEBHOOK', config: { inboundSecret: SECRET }, ...more });

/** What the sender of a message is told. */
async function answerTo(source: string): Promise<unknown> {
  const body = Buffer.from('{"n":1}');
  const headers = { 'x-cascade-signature': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` };
  return t.engine
    .accept(t.identity.namespace, { protocol: 'webhook', source, headers, address: '', body: () => body })
    .catch(({ code, message }: { code: string; message: string }) => [code, message]);
}

const away = (source: string) => ['cascade.source.unavailable', `Source ${source} is not connected: it cannot take messages now.`];

test('a sender is not told whose source it is that cannot act for its user any more: that is in the logs', async () => {
  const { namespace } = t.identity;
  const username = `leaver.${namespace}`;
  await t.engine.identity.createUser({ username, password: 'correct horse', namespace, createdBy: 'tests' });
  await t.engine.identity.authorizeUser(username, namespace, ['admin', 'user__system'], { isConsented: true });
  const leaver = { username, namespace, profiles: ['admin', 'user__system'] };
  await t.engine.execute({
    ...{ identity: leaver, op: 'insert', resourceName: 'sources', custom: false, parameters: {} },
    object: parseJson(JSON.stringify(webhook('left'))),
  });
  await t.engine.identity.deleteUser(username);
  await expect.poll(() => answerTo('left')).toEqual(away('left'));
  await t.eventually('logs', { message: { $regex: username } }, 1);
});

// spec: resources-and-api.md 9.2
test('a sender whose namespace has as many requests waiting as it may is told so, which is no error of the service', async () => {
  await t.ask('insert', 'sources', { body: JSON.stringify(webhook('crowded')) });
  const full = vi.spyOn(FairScheduler.prototype, 'enter').mockImplementationOnce(() => {
    throw new QueueFull('waitingRequests', 20_000);
  });
  const arrival = { protocol: 'webhook', source: 'crowded', headers: {}, address: '', body: () => Buffer.from('{}') };
  await expect(t.engine.accept(t.identity.namespace, arrival)).rejects.toMatchObject({
    code: 'cascade.quota.exceeded',
    status: 429,
    params: ['waitingRequests', 20_000],
  });
  full.mockRestore();
});

test('a sender is not told what a program of the pipeline says', async () => {
  await t.program('rules', 'RULE inner WHEN MESSAGE ARRIVES FROM piped AS m exception("inner.code", "said inside")');
  await t.ask('insert', 'sources', { body: JSON.stringify(webhook('piped', { isReliable: true, pipelineRules: ['inner'] })) });
  await expect.poll(() => answerTo('piped')).toEqual(away('piped'));
  await t.eventually('logs', { invocationId: 'piped', message: { $regex: 'said inside' } }, 1);
});

test('a message that is under way while a rule of its pipeline is deleted does not pass for want of it', async () => {
  await t.type('Seen', { n: { type: 'Integer' } });
  await t.program('rules', 'RULE first WHEN MESSAGE ARRIVES FROM cut AS m DELETE system.rules WHERE name == "second"  return m');
  await t.program('rules', 'RULE second WHEN MESSAGE ARRIVES FROM cut AS m return {n: 0}');
  await t.program('rules', 'RULE sees WHEN EVENT OCCURS ON "/sources/cut/publish" AS e INSERT Seen(n: e.value.n)');
  await t.ask('insert', 'sources', { body: JSON.stringify(webhook('cut', { pipelineRules: ['first', 'second'] })) });
  await expect.poll(() => answerTo('cut')).toEqual(['cascade.source.pipeline.unresolved', expect.stringContaining('is not there')]);
  expect(await t.rows('Seen')).toEqual([]);
});
