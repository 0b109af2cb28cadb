import { afterAll, beforeAll, expect, test } from 'vitest';
import { VirtualClock } from '../../platform/clock/index.ts';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

const START = Date.UTC(2026, 0, 1);
const clock = new VirtualClock(START);
let database: OwnDatabase;
let t: TestEngine;

beforeAll(async () => {
  database = await openOwnDatabase();
  t = await openTestEngine({ clock, mongoUri: database.uri });
  await t.type('Seen', { by: { type: 'String' }, what: { type: 'String' }, at: { type: 'DateTime' } });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const publish = (topic: string, message: unknown): Promise<unknown> =>
  t.ask('publish', 'topics', { id: topic, body: JSON.stringify(message) });
const seen = async (by: string): Promise<unknown[]> => (await t.rows('Seen', { by })).map((row) => row['what']);
/** What a rule has noted once it has noted so much. */
const noted = async (by: string, count: number): Promise<unknown[]> =>
  (await t.eventually('Seen', { by }, count)).map((row) => row['what']).sort();
const pass = (ms: number): Promise<void> => clock.advanceTo(clock.now() + ms, () => t.engine.settled());

test('a pair completes with both events at hand, and the time-out runs with the one that came', async () => {
  await t.program(
    'rules',
    `RULE pair WHEN EVENT OCCURS ON "/topics/door" AS d BEFORE EVENT OCCURS ON "/topics/move" AS m WITHIN 5 seconds
     CONSTRAIN TO d.value.room == m.value.room
     INSERT Seen(by: "pair", what: d.value.id + m.newValue.id + m.path)
     TIMEOUT
     INSERT Seen(by: "timeout", what: d.value.id + m)`,
  );
  await publish('/door', { room: 'r1', id: 'd1' });
  await publish('/door', { room: 'r2', id: 'd2' });
  await pass(4_000);
  await publish('/move', { room: 'r1', id: 'm1' });
  expect(await noted('pair', 1)).toEqual(['d1m1/topics/move/publish']);
  await pass(999);
  expect(await seen('timeout')).toEqual([]);
  await pass(1);
  expect(await noted('timeout', 1)).toEqual(['d2null']);
});

test('V8: the version is chosen when all variables are bound', async () => {
  const when = 'WHEN INSERT OCCURS ON Seen AS a WHERE a.by == "v" BEFORE INSERT OCCURS ON Seen AS b WHERE b.by == "w" WITHIN 5 seconds';
  await t.program('rules', `RULE chosen:1 ${when} INSERT Seen(by: "chosen", what: "any " + a.what + b.what)`);
  await t.program('rules', `RULE chosen:2 WHERE b.what == "2" ${when} INSERT Seen(by: "chosen", what: "two " + a.what + b.what)`);
  const insert = (by: string, what: string): Promise<unknown> => t.ask('insert', 'Seen', { body: JSON.stringify({ by, what }) });
  await insert('v', '1');
  await insert('w', '2');
  await insert('v', '3');
  await insert('w', '4');
  expect(await noted('chosen', 2)).toEqual(['any 34', 'two 12']);
});

test('K9: what is open is lost when the rule changes, and stays when it is stored as it was', async () => {
  const rule = (word: string): string =>
    `RULE changing WHEN EVENT OCCURS ON "/topics/ca" AS a BEFORE EVENT OCCURS ON "/topics/cb" AS b WITHIN 5 seconds
     INSERT Seen(by: "changing", what: "${word} " + a.value)`;
  await t.program('rules', rule('first'));
  await publish('/ca', 'a1');
  await t.program('rules', rule('first'));
  await publish('/cb', 0);
  expect(await noted('changing', 1)).toEqual(['first a1']);
  await publish('/ca', 'a2');
  await t.program('rules', rule('second'));
  await publish('/cb', 0);
  await publish('/ca', 'a3');
  await publish('/cb', 0);
  expect(await noted('changing', 2)).toEqual(['first a1', 'second a3']);
});

test('EXPECT WITHIN: the time-out runs once after an event that none follows, with that event', async () => {
  await t.program(
    'rules',
    `RULE within WHEN EVENT OCCURS ON "/topics/beat" EXPECT WITHIN 10 seconds
     INSERT Seen(by: "beat", what: "came " + event.value)
     TIMEOUT
     INSERT Seen(by: "beat", what: "missed after " + event.value)`,
  );
  await pass(60_000); // nothing is armed before the first event
  await publish('/beat', 1);
  await pass(9_000);
  await publish('/beat', 2);
  await pass(9_000);
  expect(await noted('beat', 2)).toEqual(['came 1', 'came 2']);
  await pass(1_000);
  expect(await noted('beat', 3)).toContain('missed after 2');
  await pass(60_000);
  await publish('/beat', 3);
  expect(await noted('beat', 4)).toContain('came 3');
});

test('V8: the TIMEOUT of a version runs only while no younger one is chosen, with a TIMEOUT or without', async () => {
  const rule = (version: string, rest: string): Promise<unknown> =>
    t.program('rules', `RULE late:${version} WHEN EVENT OCCURS ON "/topics/late" EXPECT WITHIN 10 seconds ${rest}`);
  const note = (what: string): string => `INSERT Seen(by: "late", what: "${what}")`;
  await rule('2', note('2 came'));
  await rule('1', `${note('1 came')} TIMEOUT ${note('1 missed')}`);
  await publish('/late', 1);
  await pass(10_000);
  expect(await noted('late', 1)).toEqual(['2 came']);
  await publish('/late', 1);
  expect(await noted('late', 2)).toEqual(['2 came', '2 came']);
  await t.ask('delete', 'rules', { id: 'late:2' });
  await pass(10_000);
  expect(await noted('late', 3)).toEqual(['1 missed', '2 came', '2 came']);
  await rule('1', note('1 came'));
  await rule('2', `${note('2 came')} TIMEOUT ${note('2 missed')}`);
  await publish('/late', 1);
  await pass(10_000);
  expect(await noted('late', 5)).toEqual(['1 missed', '2 came', '2 came', '2 came', '2 missed']);
  await publish('/late', 1);
  await t.ask('delete', 'rules', { id: 'late:2' });
  await pass(10_000);
  await publish('/late', 1);
  expect(await noted('late', 7)).toEqual(['1 came', '1 missed', '2 came', '2 came', '2 came', '2 came', '2 missed']);
});

test('V4, V8: a younger version that a program chooses at the deadline keeps an older TIMEOUT from running, though it has none', async () => {
  const rule = (version: string, rest: string): Promise<unknown> => t.program('rules', `RULE asked:${version} ${rest}`);
  const note = (what: string): string => `INSERT Seen(by: "asked", what: "${what}")`;
  const clause = 'WHEN EVENT OCCURS ON "/topics/asked" EXPECT WITHIN 10 seconds';
  await t.program('procedures', 'PROCEDURE same(v) return v');
  await rule('1', `${clause} ${note('1 came')} TIMEOUT ${note('1 missed')}`);
  await rule('2', `WHERE same(true) ${clause} ${note('2 came')}`);
  await publish('/asked', 1);
  await pass(10_000);
  await rule('3', `WHERE same(false) ${clause} ${note('3 came')}`);
  await publish('/asked', 1);
  await pass(10_000);
  expect(await noted('asked', 2)).toEqual(['2 came', '2 came']);
  await t.ask('delete', 'rules', { id: 'asked:2' });
  await publish('/asked', 1);
  await pass(10_000);
  expect(await noted('asked', 4)).toEqual(['1 came', '1 missed', '2 came', '2 came']);
});

test('EXPECT EVERY: at the end of each interval without an event the time-out runs, without a variable', async () => {
  await t.program(
    'rules',
    `RULE every WHEN EVENT OCCURS ON "/topics/pulse" EXPECT EVERY 10 seconds
     INSERT Seen(by: "pulse", what: "came " + event.value)
     TIMEOUT
     INSERT Seen(by: "quiet", what: "" + event, at: now())`,
  );
  const activated = clock.now();
  await pass(9_000);
  await publish('/pulse', 1);
  await noted('pulse', 1);
  await pass(9_000);
  expect(await seen('quiet')).toEqual([]);
  await pass(2_000);
  const [quiet] = await t.eventually('Seen', { by: 'quiet' }, 1);
  expect([quiet?.['what'], Date.parse(String(quiet?.['at'])) - activated]).toEqual(['null', 20_000]);
});

test('an error in a condition is recorded like one that left a run', async () => {
  await t.program(
    'rules',
    `RULE failing WHEN EVENT OCCURS ON "/topics/fa" AS a BEFORE EVENT OCCURS ON "/topics/fb" AS b WITHIN 5 seconds
     CONSTRAIN TO a.value.n < b.value.n
     INSERT Seen(by: "failing", what: a.value.n)`,
  );
  await publish('/fa', { n: 1 });
  await publish('/fb', { n: 'x' });
  const [recorded] = await t.eventually('ArsRuleSnapshot', { 'resource.resourceId': 'failing' }, 1);
  expect((recorded?.['error'] as Record<string, unknown>)['code']).toBe('cascade.lang.class.cast');
  await publish('/fb', { n: 2 });
  expect(await noted('failing', 1)).toEqual(['1']);
});

test('K9: open evaluations survive a restart, and a deadline that passed meanwhile is handled at once', async () => {
  const { namespace } = t.identity;
  await database.register(namespace);
  const rule = (name: string, seconds: number): string =>
    `RULE ${name} WHEN EVENT OCCURS ON "/topics/${name}a" AS a BEFORE EVENT OCCURS ON "/topics/${name}b" AS b WITHIN ${seconds} seconds
     CONSTRAIN TO a.value.k == b.value.k
     INSERT Seen(by: "${name}", what: a.value.n + "+" + b.value.n)
     TIMEOUT
     INSERT Seen(by: "${name}", what: a.value.n + " alone")`;
  await t.program('rules', rule('long', 3_600));
  await t.program('rules', rule('short', 60));
  await t.program(
    'rules',
    `RULE triple WHEN EVENT OCCURS ON "/topics/ta" AS a BEFORE EVENT OCCURS ON "/topics/tb" AS b WITHIN 1 hour
     BEFORE EVENT OCCURS ON "/topics/tc" AS c WITHIN 1 hour
     INSERT Seen(by: "triple", what: a.value + b.value + c.value)`,
  );
  await publish('/longa', { k: 1, n: 'one' });
  await publish('/shorta', { k: 1, n: 'one' });
  await publish('/ta', 'a');
  await publish('/tb', 'b');
  await t[Symbol.asyncDispose]();
  await pass(120_000);
  t = await openTestEngine({ clock, namespace, mongoUri: database.uri });
  await publish('/longb', { k: 1, n: 'two' });
  await publish('/longb', { k: 1, n: 'three' });
  await publish('/tc', 'c');
  await pass(0);
  expect(await noted('long', 1)).toEqual(['one+two']);
  expect(await noted('short', 1)).toEqual(['one alone']);
  expect(await noted('triple', 1)).toEqual(['abc']);
});
