// Data of an earlier build that was killed during its work (scripts/record-data.mjs): this build opens them and does the open work, once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase, type OwnDatabase } from './testing/database.ts';
import { openTestEngine, type TestEngine } from './testing/engine.ts';
import { type Recorded, restore } from './testing/upgrade/restore.ts';

let database: OwnDatabase;
let t: TestEngine;
let recorded: Recorded;
beforeAll(async () => {
  database = await openOwnDatabase();
  recorded = await restore(new URL('./testing/upgrade/fa4a3fb.bson.br', import.meta.url), database.uri);
  const masterKey = Buffer.from(recorded.masterKey, 'hex');
  t = await openTestEngine({ mongoUri: database.uri, namespace: 'main', masterKey, exclusive: true });
});
afterAll(async () => {
  await t?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

/** The texts of a rule's effects, once there are as many. */
const effects = async (by: string, count: number): Promise<string[]> =>
  (await t.eventually('Effect', { by }, count)).map((row) => String(row['of']));
const named = (what: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${what} ${n}`);
const sorted = (texts: readonly string[]): string[] => texts.toSorted();

test('each open run is completed once, and counts once', async () => {
  const { orders } = recorded.expected;
  const all = sorted(named('order', orders));
  for (const by of ['last', 'first', 'told', 'noted']) expect(sorted(await effects(by, orders))).toEqual(all);
  expect(await t.rows('Counter')).toMatchObject([{ name: 'all', n: orders }]);
  expect((await t.rows('Order')).filter(({ checked }) => checked === true)).toHaveLength(orders);
  await expect(t.ask('insert', 'Order', { body: '{"key":"order 0"}' })).rejects.toMatchObject({ code: 'cascade.resource.duplicate.key' });
});

test('open windows time out once and complete once, both long-open and recent ones', async () => {
  const { longOpen, justOpened } = recorded.expected;
  const opened = [...named('long', longOpen), ...named('just', justOpened)];
  expect(sorted(await effects('window', opened.length))).toEqual(sorted(opened));
  for (const key of opened) await t.ask('publish', 'topics', { id: '/old/shut', body: JSON.stringify({ key }), custom: false });
  expect(sorted(await effects('pair', opened.length))).toEqual(sorted(opened));
});

test('a due scheduled event is published once', async () => {
  expect(sorted(await effects('planned', recorded.expected.planned))).toEqual(['plan 1', 'plan 2', 'plan 3']);
});

test('an unacknowledged event is redelivered until it is acknowledged', async () => {
  const { redelivered } = recorded.expected;
  await t.ask('insert', 'Gate', { body: '{"name":"open"}' });
  expect(sorted(await effects('again', redelivered))).toEqual(sorted(named('again', redelivered)));
  expect(await t.rows('Heard')).toHaveLength(redelivered);
});

test('sealed properties can be read', async () => {
  expect(await t.rows('Card')).toMatchObject([{ name: 'a', number: '4000 1234' }]);
});
