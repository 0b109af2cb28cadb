// Two engines on one database and one bus: each namespace has one owner, whichever process gets the request; a change by one is in force in
// the other, and the survivor continues open work.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openLocalNetwork } from '../../platform/bus/index.ts';
import type { Notice } from '../events/notice.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

let database: OwnDatabase;
let a: TestEngine;
let b: TestEngine;
/** The process that lives to the end. */
let rest: TestEngine;
let epochOfB: number;

beforeAll(async () => {
  database = await openOwnDatabase();
  const network = openLocalNetwork();
  a = await openTestEngine({ mongoUri: database.uri, bus: network.connect() });
  await database.register(a.identity.namespace);
  await a.type('Seen', { by: { type: 'String' }, what: { type: 'String' } });
  b = await openTestEngine({ mongoUri: database.uri, namespace: a.identity.namespace, bus: network.connect() });
  epochOfB = await database.newestEpoch();
  rest = b;
});
afterAll(async () => {
  await rest[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const publish = (to: TestEngine, topic: string, message: unknown): Promise<unknown> =>
  to.ask('publish', 'topics', { id: topic, body: JSON.stringify(message) });
const seen = async (by: string, count: number): Promise<unknown[]> =>
  (await rest.eventually('Seen', { by }, count, 60_000)).map((row) => row['what']).sort();
/** Retries an attempt until the other process has followed the changes that it needs. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + 60_000; ; await sleep(50))
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
}

const pairs = (
  name: string,
  within: string,
): string => `RULE ${name} WHEN EVENT OCCURS ON "/topics/${name}a" AS a BEFORE EVENT OCCURS ON "/topics/${name}b" AS b WITHIN ${within}
   CONSTRAIN TO a.value.k == b.value.k
   INSERT Seen(by: "${name}", what: a.value.k + b.value.n)
   TIMEOUT
   INSERT Seen(by: "${name}", what: a.value.k + " alone")`;
/** Waits until a process has followed all definitions of another one: it does so in their order. */
async function hasFollowed(one: TestEngine, other: TestEngine, name = `ready${definitions++}`): Promise<void> {
  await other.program('procedures', `PROCEDURE ${name}() return 1`);
  await eventually(() => one.ask('execute', 'procedures', { id: name, body: '{}' }));
}
let definitions = 0;

test('types, rules and procedures of one process are in force in the other, and so are their deletions', async () => {
  await a.type('Reading', { v: { type: 'Integer' } });
  await a.program('rules', 'RULE clamp BEFORE INSERT ON Reading  if (Reading.v < 0) { Reading.v = 0 }');
  await a.program('procedures', 'PROCEDURE twice(n Integer) return 2 * n');
  await eventually(async () => b.ask('execute', 'procedures', { id: 'twice', body: '{"n":4}' }));
  await b.ask('insert', 'Reading', { body: '{"v":-3}' });
  expect(await b.rows('Reading')).toMatchObject([{ v: 0 }]);
  await a.type('Other', { v: { type: 'Integer' } });
  await a.program('procedures', 'PROCEDURE twice(n Integer) return 3 * n');
  await eventually(async () => expect((await b.ask('execute', 'procedures', { id: 'twice', body: '{"n":4}' })).body).toBe('12'));
  await b.ask('patch', 'types', { id: 'Reading', body: '[{"op":"add","path":"/properties/w","value":{"type":"String"}}]' });
  await eventually(async () => a.ask('insert', 'Reading', { body: '{"v":1,"w":"x"}' }));
  await b.ask('delete', 'rules', { id: 'clamp' });
  await eventually(async () => {
    const reply = await a.ask('insert', 'Reading', { body: '{"v":-7}' });
    expect(JSON.parse(reply.body ?? '')).toMatchObject([{ v: -7 }]);
  });
});

test('a process that has not followed a change yet bases its own change on it', async () => {
  for (let i = 0; i < 5; i++)
    for (const one of [a, b]) await one.ask('insert', 'topics', { body: JSON.stringify({ name: '/described', description: `${i}` }) });
  expect(await b.rows('topics', { name: '/described' })).toMatchObject([{ ars_version: 10, description: '4' }]);
});

test('a persistent subscription gets events that another process commits, and can be resumed and ended there, too', async () => {
  await a.ask('insert', 'topics', { body: '{"name":"/kept","isReliable":true,"redeliveryFrequency":600}' });
  const begun = async (on: TestEngine, name?: string) => {
    const notices: Notice[] = [];
    const options = name === undefined ? { persistent: true } : { subscriptionName: name };
    const subscription = await on.engine.subscribe(on.identity, '/topics/kept', options, (notice) => void notices.push(notice));
    await subscription.begin?.();
    return { subscription, notices };
  };
  const first = await begun(a);
  const name = first.subscription.name ?? '';
  // The newest socket takes the subscription over, in whichever process it is: the former one is notified.
  const taken = [{ kind: 'taken', name }];
  let there!: Awaited<ReturnType<typeof begun>>;
  await eventually(async () => (there = await begun(b, name)));
  await eventually(async () => expect(first.notices).toEqual(taken));
  const back = await begun(a, name);
  await eventually(async () => expect(there.notices).toEqual(taken));
  await publish(b, '/kept', { n: 1 });
  await eventually(async () =>
    expect(back.notices).toMatchObject([{ kind: 'event', valueJson: '{"n":1}', reliable: { redelivered: false } }]),
  );
  back.subscription.close();
  await a.rows('topics'); // so the owner knows that it is closed
  await publish(b, '/kept', { n: 2 });
  const later = await begun(b, name);
  expect(later.notices).toMatchObject([{ valueJson: '{"n":1}' }, { valueJson: '{"n":2}', reliable: { redelivered: false } }]);
  expect([first.notices, there.notices]).toEqual([taken, taken]);
  await b.engine.unsubscribe(b.identity, '/topics/kept', name);
  const unknown = { code: 'cascade.subscription.unknown' };
  await eventually(() => expect(begun(a, name)).rejects.toMatchObject(unknown));
});

test('a device hears from every process what is pending in its inbox', async () => {
  await a.ask('insert', 'ArsPushTarget', { body: '{"deviceId":"tab","platform":"web"}' });
  const { username } = a.identity;
  const message = { title: 'T', payload: {}, users: [username], pendingUsers: [username], recipients: [{ username, status: 'pending' }] };
  await a.ask('insert', 'ArsPayloadMessage', { body: JSON.stringify([message, message]) });
  for (const on of [a, b]) {
    const notices: Notice[] = [];
    const subscription = await on.engine.subscribe(on.identity, '/inbox/tab', {}, (notice) => void notices.push(notice));
    await subscription.begin?.();
    await eventually(async () => expect(notices).toMatchObject(Array(2).fill({ kind: 'event', path: '/inbox/tab' })));
    subscription.close();
  }
});

test('rules of both processes count on one instance and want the same keys: no count is lost, and each key is stored once', async () => {
  await a.type('Tick', { n: { type: 'Integer' } });
  await a.type('Count', { n: { type: 'Integer' } });
  await a.type('Once', { key: { type: 'Integer' } }, { indexes: [{ keys: ['key'], options: { unique: true } }] });
  await a.program(
    'rules',
    'RULE counts WHEN INSERT OCCURS ON Tick  SELECT ONE FROM Count AS c  UPDATE Count(n: c.n + 1) WHERE _id == c._id',
  );
  await a.program(
    'rules',
    'RULE keys WHEN INSERT OCCURS ON Tick AS t  TRY { INSERT Once(key: t.n) } CATCH (e) { INSERT Seen(by: "taken", what: "" + t.n) }',
  );
  await a.program('procedures', 'PROCEDURE counting() return 1');
  await a.ask('insert', 'Count', { body: '{"n":0}' });
  await eventually(() => b.ask('execute', 'procedures', { id: 'counting', body: '{}' })); // followed in order: the rules are in force, too
  const ticks = JSON.stringify(Array.from({ length: 10 }, (_, n) => ({ n })));
  await Promise.all([a, b, a, b].map((one) => one.ask('insert', 'Tick', { body: ticks })));
  expect(await seen('taken', 30)).toHaveLength(30);
  await b.eventually('Count', { n: 40 }, 1, 60_000);
  for (const one of [a, b]) await one.engine.settled();
  expect(await b.rows('Count')).toMatchObject([{ n: 40, ars_version: 41 }]);
  expect(await b.rows('Once')).toHaveLength(10);
});

test('a pair with one event from each process completes once', async () => {
  await b.program('rules', pairs('pair', '1 hour'));
  await b.program('rules', pairs('short', '3 seconds'));
  await hasFollowed(a, b);
  await publish(b, '/paira', { k: 'x' });
  await publish(a, '/pairb', { k: 'y', n: 0 });
  await publish(b, '/pairb', { k: 'x', n: 1 });
  expect(await seen('pair', 1)).toEqual(['x1']); // a commit of another process reaches the leader after its own
  await publish(a, '/pairb', { k: 'x', n: 2 });
  for (const [i, one] of [a, b, a, b].entries()) await publish(one, '/paira', { k: `k${i}` });
  await publish(b, '/shorta', { k: 'late' });
  expect(await seen('short', 1)).toEqual(['late alone']);
});

test('the surviving process takes over open work', async () => {
  await b.program(
    'rules',
    `RULE ordered WHEN EVENT OCCURS ON "/topics/one" AS a BEFORE EVENT OCCURS ON "/topics/two" AS b WITHIN 1 hour
     INSERT Seen(by: "order", what: "one before two")`,
  );
  await publish(b, '/shorta', { k: 'over' });
  await publish(a, '/one', {});
  const { namespace } = a.identity;
  const [gone, stays] = (await database.ownerOf(namespace)) === epochOfB ? [b, a] : [a, b];
  rest = stays;
  const asked = publish(stays, '/pairb', { k: 'k0', n: 5 }); // while the other process hands over
  await gone[Symbol.asyncDispose]();
  await asked;
  await publish(stays, '/two', {});
  expect(await seen('order', 1)).toEqual(['one before two']);
  for (const k of ['k1', 'k2', 'k3', 'k1']) await publish(stays, '/pairb', { k, n: 5 });
  expect(await seen('pair', 5)).toEqual(['k05', 'k15', 'k25', 'k35', 'x1']);
  expect(await seen('short', 2)).toEqual(['late alone', 'over alone']);
  await stays.engine.settled();
  expect(await seen('pair', 5)).toHaveLength(5);
});

test('a process that was declared dead answers no requests, not even those that need no journal', async () => {
  await rest.type('Bare', { v: { type: 'Integer' } });
  await rest.ask('insert', 'Bare', { body: '{"v":1}' });
  await database.takeOver(await database.newestServing());
  await eventually(() =>
    expect(rest.ask('insert', 'Bare', { body: '{"v":2}' })).rejects.toMatchObject({ code: 'cascade.server.unavailable' }),
  );
  expect(rest.engine.health()).toEqual({ ready: false, status: 'database' });
});
