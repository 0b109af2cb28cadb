// Subscriptions through an engine (resources-and-api.md 8.4): which events are delivered, when, and in which form.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJson } from '../../model/values/index.ts';
import { encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { Subscribers } from '../../runtime/events/index.ts';
import type { StoredEvent } from '../../runtime/transactions/index.ts';
import type { Notice } from '../../resources/api.ts';
import { systemClock } from '../../platform/clock/index.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { presentIn } from './index.ts';

let t: TestEngine;
beforeAll(async () => {
  // The clock of this process: the database's, which an engine goes by otherwise, may be a millisecond behind it.
  t = await openTestEngine({ clock: systemClock });
});
afterAll(() => t[Symbol.asyncDispose]());

type Event = Extract<Notice, { kind: 'event' }>;

/** Collects the notices of a subscription. */
async function listen(path: string, eventFilter?: string) {
  const notices: Notice[] = [];
  const options = eventFilter === undefined ? {} : { eventFilter: parseJson(eventFilter) as ObjectValue };
  const { close } = await t.engine.subscribe(t.identity, path, options, (notice) => void notices.push(notice));
  return { notices, close, values: () => notices.map((notice) => (notice as Event).valueJson) };
}

const insert = async (type: string, body: string): Promise<Record<string, unknown>> =>
  JSON.parse((await t.ask('insert', type, { body })).body ?? '')[0] as Record<string, unknown>;

test('a publish is delivered before it is answered, even if no rule listens', async () => {
  const received = await listen('/topics/plant/7');
  const before = Date.now();
  await t.ask('publish', 'topics', { id: '/plant/7', body: '{"t":4.0,"at":"x"}' });
  await t.ask('publish', 'topics', { id: '/plant/8', body: '5' });
  expect(received.notices).toEqual([
    { kind: 'event', path: '/topics/plant/7/publish', valueJson: '{"t":4.0,"at":"x"}', createdAt: expect.any(Number) as number },
  ]);
  expect((received.notices[0] as Event).createdAt).toBeGreaterThanOrEqual(before);
  received.close();
  await t.ask('publish', 'topics', { id: '/plant/7', body: '6' });
  expect(received.notices).toHaveLength(1);
});

test('events of a type carry the instance as REST shows it, and its id in the path', async () => {
  await t.type('Pump', { rate: { type: 'Real' }, price: { type: 'Decimal', scale: 2 }, since: { type: 'DateTime' } });
  const received = await Promise.all(['insert', 'update', 'delete'].map((operation) => listen(`/types/Pump/${operation}`)));
  const pump = await insert('Pump', '{"rate":5,"price":"12.5","since":"2031-02-02T10:00:00Z"}');
  const id = String(pump['_id']);
  await t.ask('update', 'Pump', { id, body: '{"rate":6}' });
  await t.ask('delete', 'Pump', { id });
  // Not before the answer, where the rights of who listens have to be read again.
  await expect
    .poll(() => received.map(({ notices }) => notices.map((notice) => (notice as Event).path)))
    .toEqual([[`/types/Pump/insert/${id}`], [`/types/Pump/update/${id}`], [`/types/Pump/delete/${id}`]]);
  expect(JSON.parse(received[0]?.values()[0] ?? '')).toEqual(pump);
  expect(received[1]?.values()[0]).toContain('"rate":6,"price":"12.50","since":"2031-02-02T10:00:00.000Z"');
});

test('a failed write delivers no event', async () => {
  await t.type('Tag', { name: { type: 'String', unique: true } });
  const received = await listen('/types/Tag/insert');
  await insert('Tag', '{"name":"a"}');
  await expect(insert('Tag', '{"name":"a"}')).rejects.toMatchObject({ status: 409 });
  await insert('Tag', '{"name":"b"}');
  // What comes last has come behind all before it; the rights of who listens may have to be read again.
  await expect.poll(() => received.values().at(-1)).toContain('"name":"b"');
  expect(received.values().map((json) => (JSON.parse(json) as { name: string }).name)).toEqual(['a', 'b']);
});

test('a bulk change is one event without an id', async () => {
  await t.type('Row', { n: { type: 'Integer' } });
  for (const n of [1, 2, 3]) await insert('Row', `{"n":${n}}`);
  const received = await listen('/types/Row/delete');
  await t.ask('delete', 'Row', { parameters: { where: '{"n":{"$gt":1}}' } });
  await expect.poll(() => received.notices.length).toBeGreaterThan(0); // the change is made in parts, and its event follows the last
  expect(received.notices).toMatchObject([{ path: '/types/Row/delete' }]);
  expect(JSON.parse(received.values()[0] ?? '')).toEqual({ ars_bulkOperation: true, count: 2, qual: { n: { $gt: 1 } } });
});

test('a filter compares top-level members, read as JSON', async () => {
  const received = await listen('/topics/filtered', '{"site":"n1","at":{"b":[1],"a":2}}');
  for (const body of [
    '{"site":"n1","at":{"a":2.0,"b":[1]},"more":true}',
    '{"site":"n1","at":{"a":2,"b":[1,2]}}',
    '{"site":"n1"}',
    '"n1"',
    'null',
    '{"site":"n2","at":{"a":2,"b":[1]}}',
  ])
    await t.ask('publish', 'topics', { id: '/filtered', body });
  expect(received.values()).toEqual(['{"site":"n1","at":{"a":2.0,"b":[1]},"more":true}']);
});

test('a filter on a property of another kind compares the form that clients see', async () => {
  await t.type('Bill', { total: { type: 'Decimal', scale: 2 } });
  const received = await listen('/types/Bill/insert', '{"total":"12.50"}');
  for (const total of ['12.5', '13', '12.50']) await insert('Bill', `{"total":"${total}"}`);
  await expect.poll(() => received.notices.length).toBe(2); // the one between them is not among them
  expect(received.values().every((json) => json.includes('"total":"12.50"'))).toBe(true);
});

test('messages to one topic are delivered in the order of publishing, even if a rule handles some of them', async () => {
  await t.program(
    'rules',
    'RULE odd WHEN EVENT OCCURS ON "/topics/ordered" AS e WHERE e.value.odd == true PUBLISH {n: e.value.n} TO TOPIC "/taken"',
  );
  const received = await listen('/topics/ordered');
  const taken = await listen('/topics/taken');
  const numbers = Array.from({ length: 400 }, (_, n) => n);
  await Promise.all(numbers.map((n) => t.ask('publish', 'topics', { id: '/ordered', body: `{"n":${n},"odd":${n % 3 === 1}}` })));
  expect(received.values().map((json) => (JSON.parse(json) as { n: number }).n)).toEqual(numbers);
  const expected = numbers.filter((n) => n % 3 === 1).length;
  for (const until = Date.now() + 60_000; taken.notices.length < expected && Date.now() < until; )
    await new Promise((r) => setTimeout(r, 20));
  expect(taken.notices).toHaveLength(expected);
});

test('updates of one instance are delivered in the order of their versions', async () => {
  await t.type('Counter', { n: { type: 'Integer' } });
  const { _id: id } = await insert('Counter', '{"n":0}');
  const received = await listen('/types/Counter/update');
  await Promise.all(Array.from({ length: 30 }, (_, n) => t.ask('update', 'Counter', { id: String(id), body: `{"n":${n}}` })));
  await expect.poll(() => received.notices.length).toBe(30); // the rights of who listens may have to be read again
  const versions = received.values().map((json) => (JSON.parse(json) as { ars_version: number }).ars_version);
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
});

test('the deletion of a resource is reported to its subscribers only', async () => {
  await t.type('Doomed', { n: { type: 'Integer' } });
  await t.type('DoomedToo', { n: { type: 'Integer' } });
  await t.ask('insert', 'topics', { body: '{"name":"/a"}' });
  const type = await listen('/types/Doomed/insert');
  const other = await listen('/types/DoomedToo/insert');
  const topic = await listen('/topics/a');
  const below = await listen('/topics/a/publish/b');
  await t.ask('delete', 'types', { id: 'Doomed' });
  await t.ask('delete', 'topics', { id: '/a' });
  expect([type, other, topic, below].map(({ notices }) => notices)).toEqual([[{ kind: 'gone' }], [], [{ kind: 'gone' }], []]);
});

test('definitions have events under their system name', async () => {
  const received = await listen('/types/system.topics/insert');
  await t.ask('insert', 'topics', { body: '{"name":"/described"}' });
  expect(received.notices).toMatchObject([{ path: '/types/system.topics/insert//described' }]);
  expect(JSON.parse(received.values()[0] ?? '')).toMatchObject({ name: '/described', isReliable: false });
});

test('only declared outbound events of services and existing types can be subscribed to', async () => {
  const eventTypes = { done: { direction: 'OUTBOUND' }, start: { direction: 'INBOUND' } };
  await t.ask('insert', 'services', { body: JSON.stringify({ name: 'Metrics', eventTypes }) });
  await listen('/services/Metrics/done');
  await expect(listen('/services/Metrics/start')).rejects.toMatchObject({ code: 'cascade.resource.not.found' });
  await expect(listen('/services/Other/done')).rejects.toMatchObject({ code: 'cascade.resource.not.found' });
  await expect(listen('/types/Nothing/insert')).rejects.toMatchObject({ code: 'cascade.resource.type.not.found' });
});

test('an error in a subscriber affects neither the writer nor other subscribers', async () => {
  await t.engine.subscribe(t.identity, '/topics/shared', {}, () => {
    throw new Error('a fault of the listener');
  });
  const received = await listen('/topics/shared');
  expect((await t.ask('publish', 'topics', { id: '/shared', body: '1' })).status).toBe(200);
  expect(received.values()).toEqual(['1']);
});

test('long events are made in slices, and come in their order to those who are still there', async () => {
  const list = Array.from({ length: 60_000 }, (_, index) => index);
  const present = presentIn(() => ({ name: 'main' }) as Namespace);
  const eventOf = (value: Value, path = '/topics/t/publish'): StoredEvent =>
    ({ path, value: encodeInner(value), by: 'admin', at: new Date() }) as StoredEvent;
  const errors: unknown[] = [];
  const subscribers = new Subscribers(present, (error) => void errors.push(error));
  const [all, some, left, late]: Notice[][] = [[], [], [], []];
  const seenElsewhere: (number | undefined)[] = [];
  subscribers.add('/topics/u/publish', { filter: null, deliver: () => void seenElsewhere.push(all?.length) });
  const add = (notices: Notice[] | undefined, filter: ObjectValue | null = null) =>
    subscribers.add('/topics/t/publish', { filter, deliver: (notice) => void notices?.push(notice) });
  add(all);
  add(some, { n: 2 });
  const leave = add(left);
  subscribers.deliver([
    eventOf({ n: 0 }),
    eventOf({ n: 1, list }),
    eventOf({ n: 2 }),
    eventOf({ n: 2, list }),
    eventOf(1, '/topics/u/publish'),
  ]);
  add(late);
  expect([all?.length, left?.length]).toEqual([1, 1]); // a short one is delivered at once
  leave();
  let turns = 0;
  const count = (): void => {
    turns++;
    if (all?.length !== 4) setImmediate(count);
  };
  setImmediate(count);
  await expect.poll(() => seenElsewhere.length).toBe(1);
  expect(seenElsewhere).toEqual([4]); // other paths keep the order, too
  const shown = (notices: Notice[] | undefined) => notices?.map((notice) => JSON.parse((notice as Event).valueJson) as unknown);
  expect(shown(all)).toEqual([{ n: 0 }, { n: 1, list }, { n: 2 }, { n: 2, list }]);
  expect(shown(some)).toEqual([{ n: 2 }, { n: 2, list }]);
  expect([left?.length, late, errors]).toEqual([1, [], []]);
  expect(turns).toBeGreaterThan(8);
  subscribers.deliver([eventOf({ n: 5 })]);
  expect([all?.length, late?.length]).toEqual([5, 1]); // and at once again
});

test('an event of a long instance reads as the instance does', async () => {
  await t.type('Vast', { n: { type: 'Integer' }, price: { type: 'Decimal', scale: 2 }, a: { type: 'Integer', multi: true } });
  const received = await listen('/types/Vast/insert');
  const vast = await insert('Vast', JSON.stringify({ n: 1, price: '2.5', a: Array.from({ length: 60_000 }, (_, index) => index) }));
  await expect.poll(() => received.notices.length).toBe(1);
  expect((received.notices[0] as Event).path).toBe(`/types/Vast/insert/${String(vast['_id'])}`);
  expect(JSON.parse(received.values()[0] ?? '')).toEqual(vast);
});
