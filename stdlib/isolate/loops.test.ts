// Lazy sequences and the rows of SELECT: what they take, who is asked, and when reading stops (language.md 4.2, 5.2, 5.3).
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import { type Host, TestLane } from './testing/lane.ts';

const builtins = builtinTable();
const openLane = (): TestLane => new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });
const value = (body: string, host: Host): unknown => {
  const outcome = openLane().eval(body, [], host);
  return outcome.failure ?? outcome.value;
};

test('each element of a lazy sequence takes a turn, whether its body and its end wait or not', () => {
  const slices = (body: string): number => {
    const lane = openLane();
    lane.load('PROCEDURE yes(x) return true');
    lane.load(`PROCEDURE f() ${body}`);
    return lane.call('f', [], undefined, { fuel: 100 }).slices;
  };
  const table: [string, number][] = [
    ['var m = MAP (x in range(0, 450, 1)) { x }  for (x in m) { }', 8],
    ['for (x in FILTER (x in range(0, 450, 1)) { return true }) { }', 8],
    ['for (x in FILTER (x in range(0, 450, 1)) { return false }) { }', 4],
    ['for (x in FILTER (x in range(0, 450, 1)) { return yes(x) }) { }', 13],
    ['for (x in FILTER (x in range(0, 450, 1) until yes(x) == false) { return true }) { }', 13],
    ['var a = toArray(range(0, 450, 1))', 4],
  ];
  expect(table.map(([body]) => [body, slices(body)])).toEqual(table);
});

test('computed bindings of a Sequence, of one row, of none, and the steps of a long group', () => {
  const page: Host = (kind) => (kind === 'select' ? { ok: null } : { ok: { cursor: 'c', rows: [{ n: 1 }, { n: 2 }], done: true } });
  expect(value('var t = []  for (r in SELECT m = n + 1 FROM T) { t.push(r.m) }  t', page)).toEqual([2, 3]);
  expect(value('SELECT ONE m = n + 1 FROM T', page)).toBe(null);
  expect(value('SELECT ONE m = n + 1 FROM T', () => ({ ok: { n: 1 } }))).toMatchObject({ m: 2 });
  const rows = Array.from({ length: 350 }, () => ({ k: 'a', v: 1 }));
  const many = openLane().eval('SELECT k, s = sum(v * 1) FROM T GROUP BY k', [], () => ({ ok: { cursor: 'c', rows, done: true } }), {
    fuel: 100,
  });
  expect(many).toMatchObject({ value: [{ k: 'a', s: 350 }], slices: 3 });
});

test('merge reads its parts in turn, those that ask the host, too, and closes them where reading stops', () => {
  const host: Host = (kind, { cursor = null }) =>
    kind === 'open' ? { ok: { cursor: 'c', rows: [{ n: 1 }], done: false } } : { ok: { cursor, rows: [{ n: 2 }], done: true } };
  const all = openLane().eval('var s = SELECT SEQUENCE FROM T  return toArray(merge({a: [7], b: s, c: range(0, 2, 1)}))', [], host);
  expect(all.failure ?? all.value).toEqual([{ a: 7 }, { b: { n: 1 } }, { c: 0 }, { b: { n: 2 } }, { c: 1 }]);
  const some = openLane().eval('var s = SELECT SEQUENCE FROM T  for (x in merge({a: [7], b: s}) until x.b != null) { }', [], host);
  expect(some.failure ?? some.ops.map(({ kind }) => kind)).toEqual(['open', 'close']);
});

test('what a program reads is closed where an error ends the reading that the program catches', () => {
  const host: Host = (kind) => (kind === 'open' ? { ok: { cursor: 'c', rows: [{ n: 1 }, { n: 2 }], done: false } } : { ok: null });
  const kinds = (body: string): unknown => {
    const { failure, ops } = openLane().eval(body, [], host);
    return failure ?? ops.map(({ kind }) => kind);
  };
  const caught = (reading: string): string => `try { ${reading} } catch (e) { SELECT ONE FROM U }`;
  const closed = ['open', 'close', 'select'];
  expect(kinds(caught('for (r in SELECT FROM T) { exception("a.b", "c") }'))).toEqual(closed);
  expect(kinds(caught('for (r in MAP (q in SELECT FROM T) { return q.n / 0 }) { }'))).toEqual(closed);
  expect(kinds(caught('toArray(MAP (q in SELECT FROM T) { return q.n / 0 })'))).toEqual(closed);
  expect(kinds(caught('SELECT s = sum(n / 0) FROM T'))).toEqual(closed);
});

test('a run whose limit is hit asks for nothing any more, not to close what it reads either', () => {
  const host: Host = (kind) => (kind === 'open' ? { ok: { cursor: 'c', rows: [{ n: 1 }], done: false } } : { ok: null });
  const { failure, ops } = openLane().eval('for (r in SELECT FROM T) { for (i in [1, 2, 3]) { } }', [], host, { iterations: 2 });
  expect(failure).toMatchObject({ code: 'cascade.execution.iteration.limit' });
  expect(ops.map(({ kind }) => kind)).toEqual(['open']);
});

test('FILTER and MAP close what they read once their UNTIL holds, whether it waits or not', () => {
  const host: Host = (kind) => (kind === 'open' ? { ok: { cursor: 'c', rows: [{ n: 1 }, { n: 2 }], done: false } } : { ok: null });
  const lane = openLane();
  lane.load('PROCEDURE isTwo(n) return n == 2');
  for (const until of ['r.n == 2', 'isTwo(r.n)']) {
    const { failure, value: read, ops } = lane.eval(`toArray(MAP (r in SELECT FROM T until ${until}) { return r.n })`, [], host);
    expect(failure ?? { read, kinds: ops.map(({ kind }) => kind) }).toEqual({ read: [1], kinds: ['open', 'close'] });
  }
});
