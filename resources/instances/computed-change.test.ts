// Changes that the service computes from the newest version of a row have the result of some order of whole runs (language.md U7), as they
// have where the program computes them in its turn.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { computedIn } from './computed-change.ts';

const HITS = 60;
let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  const number = { type: 'Integer' };
  await t.type('Counter', {
    ...{ key: { type: 'String', indexed: true }, n: number, top: number, text: { type: 'String' }, open: { type: 'Boolean' } },
    ...{ sum: { type: 'Decimal', scale: 2 }, note: { type: 'String' } },
    stats: { type: 'Object' },
  });
  await t.type('Hit', { key: { type: 'String' }, kind: { type: 'String' }, by: number, amount: { type: 'Decimal', scale: 2 } });
  await t.type('Seen', { key: { type: 'String' }, n: number });
  await t.type('Turned', { key: { type: 'String' } });
});
afterAll(() => t[Symbol.asyncDispose]());

async function counter(key: string, values: object = {}): Promise<string> {
  const { body } = await t.ask('insert', 'Counter', {
    body: JSON.stringify({ key, n: 0, top: 0, text: '', open: true, sum: '0.00', ...values }),
  });
  return (JSON.parse(body ?? '') as { _id: string }[])[0]?._id ?? (JSON.parse(body ?? '') as { _id: string })._id;
}
const hits = (key: string, kind: string, more: (n: number) => object = () => ({})): Promise<unknown> =>
  t.ask('insert', 'Hit', {
    body: JSON.stringify(Array.from({ length: HITS }, (_, n) => ({ key, kind, by: n, amount: `${n}.25`, ...more(n) }))),
  });
const one = async (key: string): Promise<Record<string, unknown>> => {
  const [found] = await t.rows('Counter', { key });
  if (!found) throw new Error(`there is no counter ${key}`);
  return found;
};

const VALUES =
  'n: c.n + h.by, top: h.by > c.top ? h.by : c.top, text: c.text + "x", sum: c.sum + h.amount, open: !c.open, note: "by " + h.by';

test('the same changes, computed by the service and by the program, have the same result', async () => {
  for (const [kind, use] of [
    ['service', ''],
    ['program', 'var same = c'],
  ])
    await t.program(
      'rules',
      `RULE by${kind} WHEN INSERT OCCURS ON Hit AS h WHERE h.kind == "${kind}"
SELECT ONE FROM Counter AS c WHERE key == h.key
${use}
UPDATE Counter(${VALUES}) WHERE _id == c._id`,
    );
  await counter('service');
  await counter('program');
  await Promise.all([hits('service', 'service'), hits('program', 'program')]);
  await t.engine.settled();
  const wanted = { n: (HITS * (HITS - 1)) / 2, top: HITS - 1, text: 'x'.repeat(HITS), open: true, ars_version: HITS + 1 };
  for (const key of ['service', 'program']) expect(await one(key)).toMatchObject(wanted);
  expect((await one('service'))['sum']).toEqual((await one('program'))['sum']);
  expect(String((await one('service'))['note'])).toMatch(/^by \d+$/);
});

test('parts of properties, Objects of them and the larger of two are computed by the service, too', async () => {
  const values =
    'stats: {n: c.stats.n + 1, most: Math.max(c.stats.most, h.by), seen: [c.stats.n, {by: h.by}]}, n: c.stats.n + Math.floor(h.by)';
  for (const [kind, use] of [
    ['part', ''],
    ['partp', 'var same = c'],
  ])
    await t.program(
      'rules',
      `RULE by${kind} WHEN INSERT OCCURS ON Hit AS h WHERE h.kind == "${kind}"
SELECT ONE FROM Counter AS c WHERE key == h.key
${use}
UPDATE Counter(${values}) WHERE _id == c._id`,
    );
  const stats = { n: 0, most: -1, seen: [] };
  await counter('part', { stats });
  await counter('partp', { stats });
  await Promise.all([hits('part', 'part'), hits('partp', 'partp')]);
  await t.engine.settled();
  for (const key of ['part', 'partp'])
    expect(await one(key)).toMatchObject({
      stats: { n: HITS, most: HITS - 1, seen: [HITS - 1, { by: expect.any(Number) }] },
      ars_version: HITS + 1,
    });
});

test('a part of nothing is an error of the program, whatever the row has become', async () => {
  await t.program(
    'rules',
    `RULE byNothing WHEN INSERT OCCURS ON Hit AS h WHERE h.kind == "nothing"
SELECT ONE FROM Counter AS c WHERE key == h.key
UPDATE Counter(stats: {n: c.stats.n}, n: c.n + 1) WHERE _id == c._id`,
  );
  await counter('nothing', { stats: { n: 1 } });
  const id = (await one('nothing'))['_id'] as string;
  await Promise.all([hits('nothing', 'nothing'), t.ask('update', 'Counter', { id, body: '{"stats":null}' })]);
  await t.engine.settled();
  const errors = async (): Promise<number> => (await t.rows('logs', { resource: '/rules/byNothing', level: 'ERROR' })).length;
  const before = await errors();
  expect(await one('nothing')).toMatchObject({ stats: null, n: HITS - before });
  await hits('nothing', 'nothing');
  await t.engine.settled();
  expect(await errors()).toBe(before + HITS);
});

test('each change is an event with its own value, and other writers lose nothing', async () => {
  await t.program(
    'rules',
    `RULE byOthers WHEN INSERT OCCURS ON Hit AS h WHERE h.kind == "others"
var c = SELECT EXACTLY ONE FROM Counter WHERE key == h.key
UPDATE Counter(n: c.n + 1) WHERE _id == c._id`,
  );
  await t.program(
    'rules',
    'RULE seeing WHEN UPDATE OCCURS ON Counter AS c WHERE c.key == "others" and c.note == null INSERT Seen(key: c.key, n: c.n)',
  );
  const id = await counter('others');
  const patches = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) {
      await t.ask('update', 'Counter', { id, body: JSON.stringify({ text: `${n}` }) });
    }
  };
  await Promise.all([hits('others', 'others'), patches()]);
  await t.engine.settled();
  expect(await one('others')).toMatchObject({ n: HITS, text: '19', ars_version: HITS + 21 });
  const seen = (await t.rows('Seen', { key: 'others' })).map(({ n }) => Number(n));
  expect([...new Set(seen)].sort((a, b) => a - b)).toEqual(Array.from({ length: HITS + 1 }, (_, n) => n).filter((n) => seen.includes(n)));
  for (let n = 1; n <= HITS; n++) expect(seen).toContain(n);
});

test('the row must still meet the condition that it was found by', async () => {
  await t.program(
    'rules',
    `RULE byFive WHEN INSERT OCCURS ON Hit AS h WHERE h.kind == "five"
SELECT ONE FROM Counter AS c WHERE key == h.key and open == true
if (c == null) { INSERT Turned(key: h.key) } else { UPDATE Counter(n: c.n + 1, open: c.n + 1 < 5) WHERE _id == c._id }`,
  );
  await counter('five');
  await hits('five', 'five');
  await t.engine.settled();
  expect(await one('five')).toMatchObject({ n: 5, open: false });
  expect(await t.rows('Turned', { key: 'five' })).toHaveLength(HITS - 5);
});

test('what cannot be computed from the newest version is an error of the program', async () => {
  await t.program(
    'rules',
    `RULE byLimit WHEN INSERT OCCURS ON Hit AS h WHERE h.kind == "limit"
SELECT ONE FROM Counter AS c WHERE key == h.key
UPDATE Counter(n: c.n + 1) WHERE _id == c._id`,
  );
  await t.ask('insert', 'Counter', { body: '{"key":"limit","n":9223372036854775800}' });
  await hits('limit', 'limit');
  await t.engine.settled();
  const { body } = await t.ask('select', 'Counter', { parameters: { where: '{"key":"limit"}' } });
  const [row] = parseJson(body ?? '') as ObjectValue[];
  expect(row && getOwn(row, 'n')).toBe(9223372036854775807n);
  expect(await t.rows('logs', { resource: '/rules/byLimit', level: 'ERROR' })).toHaveLength(HITS - 7);
});

test('a BEFORE rule may change or cancel each of them', async () => {
  await t.program('rules', 'RULE cap BEFORE UPDATE ON Counter AS c WHERE c.key == "cap" if (c.n > 10) { return null } else { return c }');
  await t.program(
    'rules',
    `RULE byCap WHEN INSERT OCCURS ON Hit AS h WHERE h.kind == "cap"
SELECT ONE FROM Counter AS c WHERE key == h.key
UPDATE Counter(n: c.n + 1) WHERE _id == c._id
INSERT Turned(key: "after " + h.key)`,
  );
  await counter('cap');
  await hits('cap', 'cap');
  await t.engine.settled();
  expect(await one('cap')).toMatchObject({ n: 10 });
  expect(await t.rows('Turned', { key: 'after cap' })).toHaveLength(HITS);
  await t.ask('delete', 'rules', { id: 'cap' });
});

const path = (root: string, p: string) => ({ k: 'path', root, p: [p] });
const read = (computed: unknown): unknown => computedIn(parseJson(JSON.stringify({ computed })) as ObjectValue);

test('only what the compiler writes is computed', () => {
  const sum = { k: 'binary', op: '+', a: path('row', 'n'), b: path('given', '0') };
  expect(read({ set: [['n', sum]], given: { 0: 1 } })).not.toBeNull();
  const parts = { k: 'object', members: [['a', { k: 'array', items: [{ k: 'path', root: 'row', p: ['a', 'b'] }] }]] };
  expect(read({ set: [['n', { k: 'call', name: 'Math.max', args: [parts, sum] }]], given: { 0: 1 } })).not.toBeNull();
  const deep = (depth: number): object => (depth === 0 ? sum : { k: 'unary', op: '-', a: deep(depth - 1) });
  for (const wrong of [
    { k: 'call', name: 'repeat', args: [path('row', 'n')] },
    { ...sum, op: 'regex' },
    { ...sum, a: path('process', 'n') },
    { ...sum, b: { k: 'path', root: 'given', p: ['0', 'b'] } },
    { ...sum, b: { k: 'path', root: 'row', p: ['a', 5] } },
    { ...sum, b: { k: 'path', root: 'row', p: [] } },
    { k: 'object', members: [['a', { k: 'call', name: 'trim', args: [path('row', 'n')] }]] },
    { k: 'object', members: { a: sum } },
    { k: 'array', items: [sum, null] },
    { ...sum, b: null },
    deep(90),
  ])
    expect(read({ set: [['n', wrong]], given: {} })).toBeNull();
  expect(read({ set: Array.from({ length: 500 }, () => ['n', sum]), given: {} })).toBeNull();
  expect(read({ set: 'n', given: {} })).toBeNull();
  expect(read(undefined)).toBeNull();
});
