// Reliable events through an engine with a manual clock (integrations.md 12.3 to 12.6, resources-and-api.md 8.5).
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Notice } from '../../resources/api.ts';
import { VirtualClock } from '../../platform/clock/index.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { Committer } from '../../runtime/transactions/index.ts';
import { intervalMs } from './stored-delivery.ts';

const START = 1_900_000_000_000;
const clock = new VirtualClock(START);
let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine({ clock });
  await t.type('Seen', { rule: { type: 'String' }, n: { type: 'Integer' }, redelivered: { type: 'Boolean' }, uuid: { type: 'String' } });
});
afterAll(() => t[Symbol.asyncDispose]());

const topic = (name: string, more: object = {}) =>
  t.ask('insert', 'topics', { body: JSON.stringify({ name, isReliable: true, redeliveryFrequency: 5, redeliveryTTL: 12, ...more }) });
const publish = (name: string, body: string) => t.ask('publish', 'topics', { id: name, body });
/** Advances the clock in steps, and waits after each until the service is idle. */
async function pass(seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 2; step++) {
    await clock.advanceTo(clock.now() + 500, async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await t.engine.settled();
    });
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
const SEES = 'INSERT Seen(rule: "R", n: e.deliveryCount, redelivered: e.redelivered, uuid: e.uuid)';
const rule = (name: string, on: string, body: string) =>
  t.program('rules', `RULE ${name} WHEN EVENT OCCURS ON "/topics${on}" AS e\n${body.replaceAll('"R"', `"${name}"`)}`);

test('a time to live beyond the last time that there is ends with it', async () => {
  await topic('/forever', { redeliveryTTL: Number.MAX_SAFE_INTEGER });
  await rule('patient', '/forever', SEES);
  await publish('/forever', '1');
  await t.eventually('Seen', { rule: 'patient' }, 1);
  await pass(6);
  await t.eventually('Seen', { rule: 'patient' }, 2);
  expect(await t.rows('deadletters', { target: '/rules/patient' })).toEqual([]);
  await t.ask('delete', 'rules', { id: 'patient' });
});

test('the interval between deliveries is the configured one five times, then doubles, up to ten times the configured one', () => {
  expect([1, 4, 5, 6, 7, 8, 9, 20].map((n) => intervalMs(1_000, n))).toEqual([1000, 1000, 1000, 2000, 4000, 8000, 10000, 10000]);
});

test('R1, R3: a rule that acknowledges runs once; another runs again until the time to live ends with a dead letter', async () => {
  await topic('/r1');
  await rule('acks', '/r1', `${SEES}\nEvent.ack()`);
  await rule('mute', '/r1', SEES);
  await publish('/r1', '{"a":1}');
  await t.eventually('Seen', { rule: 'mute' }, 1);
  await pass(6);
  await t.eventually('Seen', { rule: 'mute' }, 2);
  await pass(5);
  await t.eventually('Seen', { rule: 'mute' }, 3);
  await pass(3);
  const [letter] = await t.eventually('deadletters', { target: '/rules/mute' }, 1);
  expect(letter).toMatchObject({ reason: 'ttl', deliveries: 3, event: { path: '/topics/r1/publish', value: { a: 1 } } });
  expect(letter).not.toHaveProperty('kept');
  expect(await t.rows('Seen', { rule: 'acks' })).toHaveLength(1);
  const seen = await t.rows('Seen', { rule: 'mute' });
  expect(seen.map(({ n, redelivered }) => [n, redelivered])).toEqual([
    [1, false],
    [2, true],
    [3, true],
  ]);
  expect(new Set(seen.map(({ uuid }) => uuid)).size).toBe(1);
  // A retry by hand removes the dead letter.
  expect((await t.ask('retry', 'deadletters', { id: String(letter?.['_id']) })).status).toBe(204);
  await t.eventually('Seen', { rule: 'mute' }, 4);
  expect(await t.rows('deadletters', { target: '/rules/mute' })).toEqual([]);
  await expect(t.ask('retry', 'deadletters', { id: String(letter?.['_id']) })).rejects.toMatchObject({ status: 404 });
});

test('R2, R8: an error before the acknowledgement causes a redelivery, one after it does not', async () => {
  await topic('/r2');
  await rule('late', '/r2', `${SEES}\nif (!Event.isRedelivered()) { var x = null\n x.y.z = 1 }\nEvent.ack()`);
  await rule('early', '/r2', `${SEES}\nEvent.ack()\nvar x = null\nx.y.z = 1`);
  await publish('/r2', '1');
  await pass(12);
  await t.eventually('Seen', { rule: 'late' }, 2);
  expect((await t.rows('Seen', { rule: 'late' })).map(({ redelivered }) => redelivered)).toEqual([false, true]);
  expect(await t.rows('Seen', { rule: 'early' })).toHaveLength(1);
  await t.eventually('logs', { 'resource.resourceId': 'early', level: 'ERROR' }, 1);
  expect(await t.rows('deadletters', { target: { $in: ['/rules/late', '/rules/early'] } })).toEqual([]);
});

test('R12: acknowledging an event that is not reliable has no effect', async () => {
  await t.type('Thing', { a: { type: 'Integer' } });
  await t.program(
    'rules',
    'RULE acksThing WHEN INSERT OCCURS ON Thing AS x\nEvent.ack()\nINSERT Seen(rule: "acksThing", redelivered: Event.isRedelivered())',
  );
  await t.ask('insert', 'Thing', { body: '{"a":1}' });
  const [seen] = await t.eventually('Seen', { rule: 'acksThing' }, 1);
  expect(seen?.['redelivered']).toBe(false);
});

test('the deletion of a rule acknowledges its deliveries', async () => {
  await topic('/gone');
  await rule('leaves', '/gone', SEES);
  await publish('/gone', '1');
  await t.eventually('Seen', { rule: 'leaves' }, 1);
  await t.ask('delete', 'rules', { id: 'leaves' });
  await pass(13);
  expect(await t.rows('Seen', { rule: 'leaves' })).toHaveLength(1);
  expect(await t.rows('deadletters', { target: '/rules/leaves' })).toEqual([]);
});

test('the deletion of a rule does not acknowledge deliveries to a new rule of the same name', async () => {
  await topic('/renewed');
  await rule('renews', '/renewed', SEES);
  await publish('/renewed', '1');
  await t.eventually('Seen', { rule: 'renews' }, 1);
  const client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  try {
    const deliveries = client.db(`cascade_ns_${t.identity.namespace}`).collection('deliveries');
    const of = { target: '/rules/renews' };
    const [left] = await deliveries.find(of).toArray();
    const event = { ...(left!['event'] as object), at: new Date(clock.now() + 1), uuid: 'of-the-new-one' };
    await deliveries.insertOne({ ...left, _id: new ObjectId(), event });
    await t.ask('delete', 'rules', { id: 'renews' });
    expect((await deliveries.find(of).toArray()).map((one) => (one['event'] as { uuid: string }).uuid)).toEqual(['of-the-new-one']);
    await deliveries.deleteMany(of);
  } finally {
    await client.close();
  }
});

test('deactivating or replacing a rule drops its pending deliveries; a newer version inherits them', async () => {
  await topic('/left', { redeliveryTTL: 60 });
  await rule('paused', '/left', SEES);
  await rule('anew', '/left', SEES);
  await rule('grown:1', '/left', SEES);
  await publish('/left', '1');
  for (const name of ['paused', 'anew', 'grown:1']) await t.eventually('Seen', { rule: name }, 1);
  for (const value of [false, true])
    await t.ask('patch', 'rules', { id: 'paused', body: `[{"op":"replace","path":"/active","value":${value}}]` });
  await t.ask('delete', 'rules', { id: 'anew' });
  await rule('anew', '/left', SEES);
  await rule('grown:2', '/left', `${SEES}\nEvent.ack()`);
  await pass(6);
  const [grown] = await t.eventually('Seen', { rule: 'grown:2' }, 1);
  expect(grown).toMatchObject({ n: 2, redelivered: true });
  await pass(6);
  expect(await t.rows('Seen', { rule: { $in: ['paused', 'anew', 'grown:1', 'grown:2'] } })).toHaveLength(4);
});

// spec: integrations.md 12.4 12.5
test('giving up a chain acknowledges its reliable event; an event that is retried on a topic that is reliable by now can be acknowledged', async () => {
  await topic('/turn', { redeliveryTTL: 60 });
  await rule('turns', '/turn', 'PUBLISH e.value + 1 TO TOPIC "/turn"\nEvent.ack()');
  await rule('becomes', '/becomes', 'PUBLISH e.value + 1 TO TOPIC "/becomes"');
  await Promise.all([publish('/turn', '1'), publish('/becomes', '1')]);
  const [given] = await t.eventually('deadletters', { target: '/rules/turns' }, 1);
  expect(given).toMatchObject({ reason: 'chain', deliveries: 1, event: { value: 201 } });
  const [retried] = await t.eventually('deadletters', { target: '/rules/becomes' }, 1);
  await topic('/becomes');
  await rule('becomes', '/becomes', `${SEES}\nEvent.ack()`);
  expect((await t.ask('retry', 'deadletters', { id: String(retried?.['_id']) })).status).toBe(204);
  await t.eventually('Seen', { rule: 'becomes', n: 2 }, 1);
  await pass(13);
  expect(await t.rows('Seen', { rule: 'becomes' })).toHaveLength(1);
  expect(await t.rows('deadletters', { target: { $in: ['/rules/turns', '/rules/becomes'] } })).toHaveLength(1);
});

// spec: integrations.md 12.4
test('one of several concurrent retries of a dead letter succeeds; it goes to the current version of the rule, and fails without one', async () => {
  await topic('/again');
  for (const name of ['kept', 'mended', 'resting', 'ended']) await rule(name, '/again', SEES);
  await publish('/again', '{"a":1}');
  await pass(13);
  const letter = async (name: string) => {
    const [found] = await t.eventually('deadletters', { target: `/rules/${name}` }, 1);
    return { id: String(found?.['_id']), deliveries: Number(found?.['deliveries']) };
  };
  const retry = ({ id }: { id: string }) => t.ask('retry', 'deadletters', { id });
  const dead = {
    kept: await letter('kept'),
    mended: await letter('mended'),
    resting: await letter('resting'),
    ended: await letter('ended'),
  };
  // The event is given up again, with a new time to live.
  const asked = await Promise.allSettled([retry(dead.kept), retry(dead.kept), retry(dead.kept)]);
  expect(asked.map((one) => (one.status === 'fulfilled' ? one.value.status : (one.reason as { status: number }).status)).sort()).toEqual([
    204, 404, 404,
  ]);
  await pass(13);
  expect((await letter('kept')).deliveries).toBeGreaterThan(dead.kept.deliveries);
  await rule('mended', '/again', `INSERT Seen(rule: "new text", n: e.deliveryCount)\nEvent.ack()`);
  expect((await retry(dead.mended)).status).toBe(204);
  expect(await t.eventually('Seen', { rule: 'new text' }, 1)).toMatchObject([{ n: dead.mended.deliveries + 1 }]);
  await t.ask('patch', 'rules', { id: 'resting', body: '[{"op":"replace","path":"/active","value":false}]' });
  await t.ask('delete', 'rules', { id: 'ended' });
  for (const name of ['resting', 'ended'] as const)
    await expect(retry(dead[name])).rejects.toMatchObject({ code: 'cascade.resource.not.found', params: [`/rules/${name}`] });
  expect(await t.rows('deadletters', { target: { $in: ['/rules/resting', '/rules/ended'] } })).toHaveLength(2);
});

test('R10: a persistent subscription stores events while no client listens, and redelivers unacknowledged ones', async () => {
  await topic('/stored', { redeliveryTTL: 60 });
  const received: Notice[] = [];
  const events = (from: Notice[]): unknown[] =>
    from.map((one) =>
      one.kind === 'event' ? [one.valueJson, one.reliable?.redelivered, one.reliable?.sequenceId !== undefined] : one.kind,
    );
  const first = await t.engine.subscribe(t.identity, '/topics/stored', { persistent: true }, (notice) => void received.push(notice));
  expect(first.name).toMatch(/^[0-9a-f-]{36}$/);
  await publish('/stored', '1');
  expect(events(received)).toEqual([['1', false, true]]);
  const [one] = received as Extract<Notice, { kind: 'event' }>[];
  const acknowledge = {
    subscriptionName: first.name ?? '',
    partitionId: one?.reliable?.partitionId ?? 0,
    sequenceId: one?.reliable?.sequenceId ?? 0,
  };
  await t.engine.acknowledge(t.identity, acknowledge);
  await t.engine.acknowledge(t.identity, acknowledge); // a second acknowledgement is ignored
  expect(await t.rows('ArsEventAcknowledgement', { subscriptionName: first.name })).toHaveLength(1);
  first.close();
  await publish('/stored', '2');
  await publish('/stored', '3');
  const again: Notice[] = [];
  await expect(
    t.engine.subscribe(t.identity, '/topics/stored', { persistent: true, subscriptionName: 'nobody' }, () => undefined),
  ).rejects.toMatchObject({ code: 'cascade.subscription.unknown' });
  const second = await t.engine.subscribe(
    t.identity,
    '/topics/stored',
    { subscriptionName: first.name ?? '' },
    (notice) => void again.push(notice),
  );
  expect(second.name).toBe(first.name);
  await second.begin?.();
  expect(events(again)).toEqual([
    ['2', false, true],
    ['3', false, true],
  ]);
  await pass(6);
  expect(events(again).slice(2)).toEqual(expect.arrayContaining([['2', true, true]]));
  // Another socket takes the subscription over; then it is deleted.
  const third = await t.engine.subscribe(t.identity, '/topics/stored', { subscriptionName: first.name ?? '' }, () => undefined);
  expect(again.at(-1)).toEqual({ kind: 'taken', name: first.name });
  await t.engine.unsubscribe(t.identity, '/topics/stored', third.name ?? '');
  expect(await t.rows('ArsSubscription', { name: first.name })).toEqual([]);
});

// spec: resources-and-api.md 8.5
test('what was kept for a user who is gone when its time to live ends is dropped, and is no dead letter', async () => {
  await topic('/left');
  const username = `leaver.${t.identity.namespace}`;
  const leaver = { ...t.identity, username, profiles: ['user', 'user__system'] };
  await t.engine.identity.createUser({ ...leaver, password: 'correct horse', createdBy: 'tests' });
  const names: string[] = [];
  for (const identity of [leaver, t.identity]) {
    const { name = '', close } = await t.engine.subscribe(identity, '/topics/left', { persistent: true }, () => undefined);
    names.push(name);
    close();
  }
  await publish('/left', '1');
  await t.engine.identity.deleteUser(username);
  await pass(14);
  await t.eventually('deadletters', { target: names[1] }, 1);
  expect(await t.rows('deadletters', { target: names[0] })).toEqual([]);
});

test('a client that reconnects gets the stored events in order and once, no faster than it reads, followed by the events committed meanwhile', async () => {
  await topic('/backlog', { redeliveryFrequency: 600, redeliveryTTL: 3600 });
  const first = await t.engine.subscribe(t.identity, '/topics/backlog', { persistent: true }, () => undefined);
  first.close();
  const long = 'x'.repeat(600_000); // two of them exceed the limit of characters in flight
  for (let n = 0; n < 5; n++) await publish('/backlog', JSON.stringify({ n, long }));
  const received: [number, boolean | undefined][] = [];
  const again = await t.engine.subscribe(t.identity, '/topics/backlog', { subscriptionName: first.name ?? '' }, (notice) => {
    if (notice.kind === 'event') received.push([(JSON.parse(notice.valueJson) as { n: number }).n, notice.reliable?.redelivered]);
  });
  const ahead: number[] = [];
  let reads = 0;
  await again.begin?.(async () => {
    ahead.push(received.length);
    if (reads++ === 0) for (let n = 5; n < 8; n++) await publish('/backlog', JSON.stringify({ n }));
  });
  await publish('/backlog', '{"n":8}');
  await expect.poll(() => received.length, { timeout: 30_000 }).toBe(9); // a long one is written in slices, and the others come behind it
  expect(received).toEqual(Array.from({ length: 9 }, (_, n) => [n, false]));
  expect(ahead.slice(0, 2)).toEqual([2, 4]);
});

// spec: integrations.md 12.3
test('what is not read of a backlog within its time to live is given up, while the backlog is being sent', async () => {
  await topic('/slow');
  const { name = '', close } = await t.engine.subscribe(t.identity, '/topics/slow', { persistent: true }, () => undefined);
  close();
  const long = 'x'.repeat(600_000);
  for (let n = 0; n < 4; n++) await publish('/slow', JSON.stringify({ n, long }));
  const received: Notice[] = [];
  const again = await t.engine.subscribe(t.identity, '/topics/slow', { subscriptionName: name }, (notice) => void received.push(notice));
  let read = (): void => undefined;
  const begun = again.begin?.(() => new Promise((resolve) => (read = resolve)));
  await expect.poll(() => received.length).toBe(2);
  await pass(14);
  const letters = await t.eventually('deadletters', { target: name }, 4);
  expect(letters.map(({ reason, deliveries }) => [reason, deliveries]).sort()).toEqual([0, 0, 1, 1].map((sent) => ['ttl', sent]));
  read();
  await begun;
  expect(received).toHaveLength(2);
});

// spec: resources-and-api.md 8.5
test('who resumes a subscription in the moment when a delivery of it is due gets that again, too', async () => {
  await topic('/resumed', { redeliveryTTL: 60 });
  const { name = '', close } = await t.engine.subscribe(t.identity, '/topics/resumed', { persistent: true }, () => undefined);
  close();
  await publish('/resumed', '1');
  // What the delivery that is due, and finds no socket, has begun to store when the socket comes.
  const { submit } = Committer.prototype;
  const submitted = vi.spyOn(Committer.prototype, 'submit').mockImplementation(async function (this: Committer, unit, urgent) {
    const [write] = unit.writes;
    if (write?.collection !== 'deliveries' || write.op !== 'replace') return submit.call(this, unit, urgent);
    submitted.mockRestore();
    const { attempts, deadline } = write.document as unknown as { attempts: number; deadline: Date };
    const document = { ...write.document, attempts: attempts - 1, nextAt: deadline };
    await submit.call(this, { writes: [{ ...write, document }], events: [] }, true);
    return submit.call(this, unit, urgent);
  });
  const received: unknown[] = [];
  const again = await t.engine.subscribe(t.identity, '/topics/resumed', { subscriptionName: name }, (notice) => {
    if (notice.kind === 'event') received.push(notice.reliable?.redelivered);
  });
  await again.begin?.();
  await pass(6);
  expect(received).toEqual([false, true]);
  await t.engine.unsubscribe(t.identity, '/topics/resumed', name);
});

test('the number of persistent subscriptions per user is limited', async () => {
  await topic('/counted');
  const identity = { ...t.identity, username: 'many' };
  const begin = () => t.engine.subscribe(identity, '/topics/counted', { persistent: true }, () => undefined);
  const all = await Promise.all(Array.from({ length: 1_000 }, begin));
  await expect(begin()).rejects.toMatchObject({
    status: 429,
    code: 'cascade.quota.exceeded',
    params: ['persistentSubscriptionsOfUser', 1_000],
  });
  await t.engine.subscribe(t.identity, '/topics/counted', { persistent: true }, () => undefined); // another user has a limit of its own
  await t.engine.unsubscribe(identity, '/topics/counted', all[0]?.name ?? '');
  expect((await begin()).name).toBeDefined();
});

// spec: integrations.md 12.4
test('dead letters and acknowledgements are removed after a week', async () => {
  const kept = async () => [
    (await t.rows('ArsEventAcknowledgement')).length,
    (await t.rows('deadletters', { target: '/rules/resting' })).length,
  ];
  expect(await kept()).toEqual([1, 1]);
  await clock.advanceTo(clock.now() + 8 * 86_400_000, () => t.engine.settled());
  await expect.poll(kept).toEqual([0, 0]);
});
