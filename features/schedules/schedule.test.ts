import { afterAll, beforeAll, expect, test } from 'vitest';
import { VirtualClock } from '../../platform/clock/index.ts';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openLocalNetwork } from '../../platform/bus/index.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

const START = Date.UTC(2026, 0, 1, 10, 7);
const clock = new VirtualClock(START);
const network = openLocalNetwork();
let database: OwnDatabase;
let t: TestEngine;

beforeAll(async () => {
  database = await openOwnDatabase();
  t = await openTestEngine({ clock, mongoUri: database.uri, bus: network.connect() });
  await t.type('Tick', { by: { type: 'String' }, at: { type: 'DateTime' }, text: { type: 'String' } });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const pass = (ms: number): Promise<void> => clock.advanceTo(clock.now() + ms, () => t.engine.settled());
const post = async (body: object): Promise<Record<string, unknown>> =>
  JSON.parse((await t.ask('insert', 'scheduledevents', { body: JSON.stringify(body) })).body ?? '') as Record<string, unknown>;
const patch = (id: string, op: object): Promise<unknown> => t.ask('patch', 'scheduledevents', { id, body: JSON.stringify([op]) });
const listen = (by: string): Promise<void> =>
  t.program(
    'rules',
    `RULE ${by} WHEN EVENT OCCURS ON "/topics/${by}" INSERT Tick(by: "${by}", at: event.createdAt, text: toString(event.value))`,
  );
/** Seconds after the start at which ticks arrived. */
const ticks = async (by: string): Promise<number[]> => {
  await t.engine.settled();
  return (await t.rows('Tick', { by })).map((row) => (Date.parse(String(row['at'])) - START) / 1_000);
};
const secondsNow = (): number => (clock.now() - START) / 1_000;

test('a one-time event is delivered once, at its time, and then removed', async () => {
  await listen('once');
  const stored = await post({ interval: 5_000, topic: '/once', message: { n: 1 } });
  expect(stored).toMatchObject({ periodic: false, active: true, topic: '/once', message: { n: 1 }, occursAt: '2026-01-01T10:07:05.000Z' });
  expect(String(stored['name'])).toMatch(/^[0-9a-f]{24}$/);
  expect(stored).not.toHaveProperty('interval');
  await pass(4_999);
  expect(await ticks('once')).toEqual([]);
  await pass(60_000);
  expect(await ticks('once')).toEqual([5]);
  await expect(t.ask('selectOne', 'scheduledevents', { id: String(stored['name']) })).rejects.toMatchObject({ status: 404 });
});

test('a periodic event keeps its grid; its interval can be changed, its kind and name cannot', async () => {
  await listen('often');
  const from = secondsNow();
  await post({ name: 'often', periodic: true, interval: 10_000, topic: '/often' });
  await pass(25_000);
  expect(await ticks('often')).toEqual([from + 10, from + 20]);
  await patch('often', { op: 'replace', path: '/interval', value: 20_000 }); // counted from the last delivery
  await pass(15_000);
  expect(await ticks('often')).toEqual([from + 10, from + 20, from + 40]);
  await patch('often', { op: 'replace', path: '/active', value: false });
  await pass(50_000);
  await patch('often', { op: 'replace', path: '/active', value: true });
  await pass(10_000);
  expect(await ticks('often')).toEqual([from + 10, from + 20, from + 40, from + 100]);
  await expect(patch('often', { op: 'replace', path: '/periodic', value: false })).rejects.toMatchObject({
    code: 'cascade.resource.key.immutable',
  });
  await t.ask('delete', 'scheduledevents', { id: 'often' });
  await pass(60_000);
  expect(await ticks('often')).toHaveLength(4);
});

test.each([
  [{ topic: '/x' }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', interval: 5, occursAt: '2030-01-01T00:00:00Z' }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', interval: '5' }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', interval: 0 }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', interval: 1.5 }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', periodic: true, interval: 999 }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', periodic: true, occursAt: '2030-01-01T00:00:00Z' }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', interval: 5, active: false }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', interval: 5_000, periodic: true, isTransient: true }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', interval: 300_001, isTransient: true }, 'cascade.scheduledevent.schedule.invalid'],
  [{ topic: '/x', occursAt: '2020-01-01T00:00:00Z' }, 'cascade.scheduledevent.occurs.past'],
  [{ topic: 'x', interval: 5 }, 'cascade.topic.name.invalid'],
  [{ interval: 5 }, 'cascade.resource.property.required'],
  [{ topic: '/x', interval: 5, colour: 'red' }, 'cascade.resource.property.unknown'],
])('%j is refused: %s', async (body, code) => {
  await expect(post(body)).rejects.toMatchObject({ code });
});

test('a one-time event cannot be changed, and its name is taken', async () => {
  await post({ name: 'fixed', interval: 600_000, topic: '/x' });
  await expect(post({ name: 'fixed', interval: 1, topic: '/x' })).rejects.toMatchObject({
    code: 'cascade.resource.duplicate.key',
    status: 409,
  });
  await expect(patch('fixed', { op: 'replace', path: '/topic', value: '/y' })).rejects.toMatchObject({
    code: 'cascade.scheduledevent.onetime.immutable',
  });
  await t.ask('delete', 'scheduledevents', { id: 'fixed' });
});

test('PUBLISH … SCHEDULE with a past time publishes at once, then on the grid; repeating it changes nothing', async () => {
  await listen('rounds');
  await t.program('procedures', `PROCEDURE plan(schedule Object) PUBLISH {check: "oil"} TO TOPIC "/rounds" SCHEDULE schedule  return null`);
  const plan = (schedule: object): Promise<unknown> => t.ask('execute', 'procedures', { id: 'plan', body: JSON.stringify([schedule]) });
  const minutes = clock.now() % 300_000;
  await pass(300_000 - minutes + 120_000); // two minutes past a grid of five
  const from = secondsNow();
  const occursAt = new Date(clock.now() - 120_000).toISOString();
  await plan({ name: 'rounds', periodic: true, interval: 300_000, occursAt });
  await pass(0);
  await plan({ name: 'rounds', periodic: true, interval: 300_000 });
  await pass(600_000);
  expect(await ticks('rounds')).toEqual([from, from + 180, from + 480]);
  for (const wrong of [{ periodic: true, interval: 5_000 }, { interval: 5_000, every: 3 }, {}])
    await expect(plan(wrong)).rejects.toMatchObject({ code: 'cascade.scheduledevent.schedule.invalid' });
  await t.ask('delete', 'scheduledevents', { id: 'rounds' });
});

test('after a restart a missed one-time event and one of many missed ticks are published at once, transient ones are not', async () => {
  const { namespace } = t.identity;
  await database.register(namespace);
  for (const by of ['single', 'grid', 'fleeting']) await listen(by);
  const from = secondsNow();
  await post({ interval: 30_000, topic: '/single' });
  await post({ name: 'grid', periodic: true, interval: 60_000, topic: '/grid' });
  await post({ interval: 30_000, topic: '/fleeting', isTransient: true });
  await t[Symbol.asyncDispose]();
  await clock.advanceTo(clock.now() + 310_000);
  t = await openTestEngine({ clock, namespace, mongoUri: database.uri, bus: network.connect() });
  await t.rows('Tick'); // opens the namespace
  await pass(0);
  expect(await ticks('single')).toEqual([from + 310]);
  await pass(60_000);
  expect(await ticks('grid')).toEqual([from + 310, from + 360]);
  expect(await ticks('fleeting')).toEqual([]);
  await t.ask('delete', 'scheduledevents', { id: 'grid' });
});

test('of two processes one delivers each tick, and either continues without the other', async () => {
  await listen('shared');
  const from = secondsNow();
  await post({ name: 'shared', periodic: true, interval: 10_000, topic: '/shared' });
  await post({ interval: 15_000, topic: '/shared', message: 'once' });
  const other = await openTestEngine({ clock, namespace: t.identity.namespace, mongoUri: database.uri, bus: network.connect() });
  await other.rows('Tick');
  const both = async (): Promise<void> => {
    await t.engine.settled();
    await other.engine.settled();
  };
  await clock.advanceTo(clock.now() + 30_000, both);
  await both();
  expect((await ticks('shared')).sort((x, y) => x - y)).toEqual([from + 10, from + 15, from + 20, from + 30]);
  await t[Symbol.asyncDispose]();
  t = other;
  await database.owns(t.identity.namespace, await database.newestEpoch());
  await clock.advanceTo(clock.now() + 10_000, () => other.engine.settled());
  expect((await ticks('shared')).at(-1)).toBe(from + 40);
  await t.ask('delete', 'scheduledevents', { id: 'shared' });
});

test('scheduled procedures run at multiples within the hour, and never overlap', async () => {
  await t.program('procedures', 'PROCEDURE Upkeep.sweep() INSERT Tick(by: "sweep", at: now())  return null');
  const body = JSON.stringify({ name: 'Upkeep', scheduledProcedures: { sweep: 1_200_000 } });
  await t.ask('insert', 'services', { body });
  const toHour = 3_600_000 - (clock.now() % 3_600_000);
  const hour = (clock.now() + toHour - START) / 1_000;
  await pass(toHour - 1);
  const before = (await ticks('sweep')).length;
  await pass(2_400_001);
  expect((await ticks('sweep')).slice(before)).toEqual([hour, hour + 1_200, hour + 2_400]);
  await t.ask('insert', 'services', { body: JSON.stringify({ name: 'Upkeep', active: false }) });
  await pass(3_600_000);
  expect((await ticks('sweep')).slice(before)).toHaveLength(3);
});
