import { afterAll, beforeAll, expect, test } from 'vitest';
import { VirtualClock } from '../../platform/clock/index.ts';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openLocalNetwork } from '../../platform/bus/index.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

const clock = new VirtualClock(Date.UTC(2027, 2, 26, 12)); // two days before summer time begins in Berlin
const network = openLocalNetwork();
let database: OwnDatabase;
let t: TestEngine;

beforeAll(async () => {
  database = await openOwnDatabase();
  t = await openTestEngine({ clock, mongoUri: database.uri, bus: network.connect() });
  await t.type('Tick', { by: { type: 'String' }, at: { type: 'DateTime' } });
  await t.program('rules', 'RULE heard WHEN EVENT OCCURS ON "/topics/heard" INSERT Tick(by: event.value, at: event.createdAt)');
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const passUntil = (time: string): Promise<void> => clock.advanceTo(Date.parse(time), () => t.engine.settled());
const insert = async (name: string, more: object): Promise<Record<string, unknown>> => {
  const body = JSON.stringify({ name, periodic: true, topic: '/heard', message: name, zone: 'Europe/Berlin', ...more });
  return JSON.parse((await t.ask('insert', 'scheduledevents', { body })).body ?? '') as Record<string, unknown>;
};
const change = async (id: string, body: object): Promise<unknown> =>
  JSON.parse((await t.ask('update', 'scheduledevents', { id, body: JSON.stringify(body) })).body ?? '');
const ticks = async (by: string): Promise<string[]> => {
  await t.engine.settled();
  return (await t.rows('Tick', { by })).map((row) => String(row['at']).slice(5, 16)).sort();
};

test('over the beginning of summer time: a fixed time that is skipped comes after it, an hour is as long as ever', async () => {
  expect(await insert('skipped', { cron: '30 2 * * *' })).toMatchObject({ occursAt: '2027-03-27T01:30:00.000Z', zone: 'Europe/Berlin' });
  await insert('morning', { cron: '0 6 * * *' });
  await insert('often', { cron: '0 * * * SUN' });
  await passUntil('2027-03-29T12:00:00Z');
  expect(await ticks('skipped')).toEqual(['03-27T01:30', '03-28T01:00', '03-29T00:30']);
  expect(await ticks('morning')).toEqual(['03-27T05:00', '03-28T04:00', '03-29T04:00']);
  expect(await ticks('often')).toHaveLength(23);
});

test('a change sets the interval in place of the pattern, and back: the next time follows', async () => {
  expect(await change('morning', { interval: 3_600_000 })).toMatchObject({ occursAt: '2027-03-29T13:00:00.000Z', interval: 3_600_000 });
  await passUntil('2027-03-29T14:30:00Z');
  expect(await ticks('morning')).toHaveLength(5);
  expect(await change('morning', { cron: '0 6 * * *', zone: 'Asia/Tokyo' })).toMatchObject({ occursAt: '2027-03-29T21:00:00.000Z' });
  expect(await change('morning', { zone: 'Europe/Berlin' })).toMatchObject({ occursAt: '2027-03-30T04:00:00.000Z', cron: '0 6 * * *' });
  expect(await change('morning', { message: 'later' })).toMatchObject({ occursAt: '2027-03-30T04:00:00.000Z' });
});

test('one that is not active skips its ticks, and goes on by the calendar', async () => {
  await change('skipped', { active: false });
  await passUntil('2027-04-10T12:00:00Z');
  expect(await ticks('skipped')).toHaveLength(3);
  expect(await change('skipped', { active: true })).toMatchObject({ occursAt: '2027-04-11T00:30:00.000Z' });
});

test('over the end of summer time, with the service away for some days: one tick for all that were missed, and one of a time that comes twice', async () => {
  const { namespace } = t.identity;
  await database.register(namespace);
  const before = (await ticks('skipped')).length;
  await t[Symbol.asyncDispose]();
  await clock.advanceTo(Date.parse('2027-10-29T12:00:00Z'));
  t = await openTestEngine({ clock, namespace, mongoUri: database.uri, bus: network.connect() });
  await t.rows('Tick'); // opens the namespace
  await passUntil('2027-11-01T12:00:00Z');
  expect((await ticks('skipped')).slice(before)).toEqual(['10-29T12:00', '10-30T00:30', '10-31T00:30', '11-01T01:30']);
});

test('another process goes on by the calendar', async () => {
  const other = await openTestEngine({ clock, namespace: t.identity.namespace, mongoUri: database.uri, bus: network.connect() });
  await other.rows('Tick');
  await t[Symbol.asyncDispose]();
  t = other;
  await database.owns(t.identity.namespace, await database.newestEpoch());
  await passUntil('2027-11-03T12:00:00Z');
  expect((await ticks('skipped')).slice(-2)).toEqual(['11-02T01:30', '11-03T01:30']);
});
