// Statements on nodes (language.md 7): what is asked, and what becomes of the pages that the nodes answer with.
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import type { ObjectValue, Value } from '../values/index.ts';
import { type Host, type Outcome, TestLane } from './testing/lane.ts';

const builtins = builtinTable();
const openLane = (): TestLane => new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });

type Item = [string, 'value' | 'error' | 'end', Value?];
const ERROR = { code: 'c', message: 'm', params: [1], status: 409 };
const REFUSED = { code: 'c', message: 'm', params: [1] };
/** Answers with these pages, one after the other. */
const pagesOf = (...pages: Item[][]): Host => {
  const nodes = { a: { name: 'a' }, b: { name: 'b' } };
  let at = 0;
  return (kind) => {
    if (kind === 'nodeClose') return { ok: null };
    const items = pages[at++] ?? [];
    return { ok: { nodes, items: items as Value, cursor: at < pages.length ? { page: at } : null } };
  };
};
const run = (body: string, ...pages: Item[][]): Outcome => openLane().eval(body, [], pagesOf(...pages));
const given = ({ value, failure }: Outcome): unknown =>
  failure ? `${failure.code} ${failure.status} ${JSON.stringify(failure.params)}` : value;
const kinds = ({ ops }: Outcome): string[] => ops.map(({ kind }) => kind);

test('D3: the block runs once an item of every page, the end of a node is none', () => {
  const body = 'var o = []  SELECT FROM Pump AS p PROCESSED BY ALL { o.push(p.n) }  return o';
  const outcome = run(
    body,
    [
      ['a', 'value', { n: 1 }],
      ['b', 'value', { n: 2 }],
    ],
    [],
    [
      ['a', 'end'],
      ['b', 'value', { n: 3 }],
      ['b', 'end'],
    ],
  );
  expect([given(outcome), kinds(outcome)]).toEqual([
    [1, 2, 3],
    ['nodeOpen', 'nodeNext', 'nodeNext'],
  ]);
  const [open, next] = outcome.ops as unknown as [{ payload: ObjectValue }, { payload: ObjectValue }];
  expect(open.payload).toMatchObject({ where: {}, cardinality: null, limited: false, streams: true, statement: { resource: 'Pump' } });
  expect(next.payload).toEqual({ ...open.payload, cursor: { page: 1 } });
});

test('D4, D6: the context of an item, and what the handler is given', () => {
  const pages: Item[][] = [
    [
      ['a', 'value', 5],
      ['b', 'error', ERROR],
    ],
  ];
  const body = (handler: string) => `var o = []  EXECUTE g(1) AS r PROCESSED BY ALL CONTEXT TO c { o.push([r, c]) } ${handler}  return o`;
  const success = [5, { node: { name: 'a' }, status: 'SUCCESS' }];
  const failure = { node: { name: 'b' }, status: 'FAILURE', error: REFUSED };
  expect(given(run(body('ON REMOTE ERROR (e) { o.push(e) }'), ...pages))).toEqual([success, failure]);
  expect(given(run(body(''), ...pages))).toEqual([success]);
});

test('D7, D11: UNTIL is tested after each run, and an error of the block ends the statement; what is left is dropped on the nodes', () => {
  const pages: Item[][] = [
    [
      ['a', 'value', 1],
      ['a', 'value', 2],
      ['a', 'value', 3],
    ],
    [['b', 'value', 4]],
  ];
  const ended = run('var n = 0  EXECUTE g() AS r PROCESSED BY ALL UNTIL n == 3 { n += r }  return n', ...pages);
  expect([given(ended), kinds(ended), ended.ops.at(-1)?.payload]).toEqual([3, ['nodeOpen', 'nodeClose'], { cursor: { page: 1 } }]);
  const failed = run('EXECUTE g() AS r PROCESSED BY ALL { exception("x", "y") }', ...pages);
  expect([failed.failure?.code, kinds(failed)]).toEqual(['x', ['nodeOpen']]);
  const whole = run('var n = 0  EXECUTE g() AS r PROCESSED BY ALL UNTIL n == 10 { n += r }  return n', ...pages);
  expect([given(whole), kinds(whole)]).toEqual([10, ['nodeOpen', 'nodeNext']]);
});

test('D9: the array form has what the nodes gave that did not fail, and a status of each, both by name', () => {
  const pages: Item[][] = [
    [
      ['b', 'value', 2],
      ['a', 'value', { n: 1 }],
    ],
    [
      ['b', 'value', 3],
      ['b', 'end'],
      ['a', 'value', { n: 4 }],
      ['a', 'error', ERROR],
    ],
  ];
  const statuses = [
    { node: { name: 'a' }, status: 'FAILURE', error: REFUSED },
    { node: { name: 'b' }, status: 'SUCCESS' },
  ];
  const made = run('var r = EXECUTE g() PROCESSED BY ALL STATUS TO s  return [r, s]', ...pages);
  expect(given(made)).toEqual([[2, 3], statuses]);
  expect(given(run('var r = EXECUTE g() PROCESSED BY ALL STATUS TO s  return [r, s]', [['a', 'end']]))).toEqual([
    [],
    [{ node: { name: 'a' }, status: 'SUCCESS' }],
  ]);
  const rows: Item[][] = [
    [
      ['b', 'value', { n: 2 }],
      ['a', 'value', { n: 1 }],
    ],
  ];
  expect(given(run('var r = SELECT FROM T PROCESSED BY ALL  return r', ...rows))).toEqual([{ n: 1 }, { n: 2 }]);
  const one: Item[][] = [[['b', 'value', { n: 2 }]]];
  expect(given(run('var r = SELECT FROM T PROCESSED BY ALL  return r.n', ...one))).toBe(2); // a result list (language.md Q7)
  expect(given(run('var r = EXECUTE g() PROCESSED BY ALL  return r.n', ...one))).toEqual([2]); // no rows
});

test('D10: with ONE node the value is as it would be here, and errors are thrown', () => {
  const value = (statement: string, ...items: Item[]): unknown => given(run(`return ${statement} PROCESSED BY ONE name == "a"`, items));
  expect([value('EXECUTE g()', ['a', 'value', 5]), value('EXECUTE g()', ['a', 'end']), value('EXECUTE g()')]).toEqual([5, null, null]);
  expect(value('EXECUTE g()', ['a', 'error', ERROR])).toBe('c 409 [1]');
  expect(value('EXECUTE g()', ['a', 'error', { ...REFUSED, params: null }])).toBe('c 500 []');
  expect(value('SELECT FROM T', ['a', 'value', { n: 1 }], ['a', 'value', { n: 2 }])).toEqual([{ n: 1 }, { n: 2 }]);
  expect([value('SELECT FROM T'), value('SELECT ONE FROM T'), value('SELECT ONE FROM T', ['a', 'value', { n: 1 }])]).toEqual([
    [],
    null,
    { n: 1 },
  ]);
  expect(given(run('var r = SELECT FROM T PROCESSED BY EXACTLY ONE name == "a"  return r.n', [['a', 'value', { n: 1 }]]))).toBe(1);
  expect(run('return EXECUTE g() PROCESSED BY EXACTLY ONE name == "a" WITHIN 2 seconds').ops[0]?.payload).toMatchObject({
    cardinality: 'exactlyOne',
    where: { name: { $eq: 'a' } },
    within: 2000,
    limited: true,
  });
});

test('what is worked out of rows is worked out here, for each node by itself (D8)', () => {
  const rows: Item[] = [['a', 'value', { a: 2, b: 3, _id: '1' }]];
  expect(given(run('var o = []  SELECT a, sum = a + b FROM T AS t PROCESSED BY ALL { o.push([t.a, t.sum]) }  return o', rows))).toEqual([
    [2, 5],
  ]);
  const pages: Item[] = [
    [
      'a',
      'value',
      [
        { k: 'x', v: 1 },
        { k: 'y', v: 5 },
        { k: 'x', v: 2 },
      ],
    ],
    ['b', 'value', [{ k: 'x', v: 7 }]],
  ];
  const grouped = run(
    'var o = []  SELECT k, s = sum(v * 2) FROM T AS t GROUP BY k PROCESSED BY ALL { o.push([t.k, t.s]) }  return o',
    pages,
  );
  expect(given(grouped)).toEqual([
    ['x', 6],
    ['y', 10],
    ['x', 14],
  ]);
  expect(grouped.ops[0]?.payload.gathers).toBe(true);
  expect(
    given(run('return SELECT ONE s = sum(v + 1) FROM T PROCESSED BY ONE name == "a"', [['a', 'value', [{ v: 1 }, { v: 2 }]]])),
  ).toEqual({ s: 5 });
});

test('many items give way', () => {
  const lane = openLane();
  lane.load('PROCEDURE f() var n = 0 EXECUTE g() AS r PROCESSED BY ALL { n += r } return n');
  const page = Array.from({ length: 500 }, (): Item => ['a', 'value', 1]);
  const outcome = lane.call('f', [], pagesOf(page, page), { fuel: 100 });
  expect(outcome.value).toBe(1000);
  expect(outcome.slices).toBeGreaterThan(15);
});

test('integrations.md 11.3: only data goes to a node', () => {
  const code = (body: string): unknown => given(run(body));
  const refused = (type: string): string => `cascade.federation.value 400 ["${type} is no data"]`;
  const lambda = 'var f = x => x  ';
  expect(code(`${lambda}INSERT T(n: f) PROCESSED BY ALL { }`)).toBe(refused('Function'));
  expect(code(`${lambda}EXECUTE g([1, {a: [f]}]) PROCESSED BY ALL { }`)).toBe(refused('Function'));
  expect(code('var s = MAP (x in [1]) { x }  INSERT T(n: s) PROCESSED BY ALL { }')).toMatch(/^cascade\.lang\.sequence\.embedded 400 /);
  expect(run('var s = MAP (x in [1]) { x }  INSERT T(n: [s]) PROCESSED BY ALL { }').ops).toEqual([]);
});
