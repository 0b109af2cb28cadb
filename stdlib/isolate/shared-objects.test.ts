// Map, Cache, Value and Lock as a run sees them (builtins.md 10): what it asks for, what a lambda makes of an entry, and what a Map is elsewhere.
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import type { StartOptions } from './index.ts';
import { type Host, type Outcome, TestLane } from './testing/lane.ts';
import { StateHost } from './testing/state-host.ts';

const builtins = builtinTable();
const openLane = (): TestLane => new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });
const MAP = 'var m = Concurrent.Map()  m.put("a", 1)  ';

function run(body: string, beside?: Host, options: Partial<StartOptions> = {}): Outcome & { open: number } {
  const state = new StateHost(beside);
  const outcome = openLane().eval(body, [], state.host, options);
  return { ...outcome, open: state.begun.size };
}
const given = ({ value, failure }: Outcome): unknown => (failure ? `${failure.code} ${JSON.stringify(failure.params)}` : value);
/** What becomes of entries after lambdas: `[change, value]` each. */
const changes = ({ ops }: Outcome): unknown[] =>
  ops.flatMap(({ payload }) => (payload.op === 'end' ? [[payload.change, payload.value]] : []));

test.each([
  ['m.put("b", 2)', null],
  ['m.put("a", 2)', 1],
  ['m.putIfAbsent("a", 2)', 1],
  ['m.putIfAbsent("b", 2)  m.size()', 2],
  ['m.get("a")', 1],
  ['m.get("b")', null],
  ['m.getOrDefault("b", 9)', 9],
  ['m.containsKey("a")', true],
  ['m.containsValue(2)', false],
  ['m.remove("a")', 1],
  ['m.remove("a", 9)', false],
  ['m.remove("a", 1)', true],
  ['m.remove("a", null)', 1],
  ['m.put(7, "x")  m.get("7")', 'x'],
  [
    'm.put("7", "x")  return [m.get(7), m.containsKey(7), m.getOrDefault(7, 0), m.putIfAbsent(7, 1), m.remove(7)]',
    ['x', true, 'x', 'x', 'x'],
  ],
  ['m.put(7, 1)  m.compute(7, (k, v) => [k, v])', ['7', 1]],
  ['return [typeOf(m.keySet()), typeOf(m.values()), typeOf(m.entrySet())]', ['Sequence', 'Sequence', 'Sequence']],
  ['return [toArray(m.keySet()), toArray(m.values()), toArray(m.entrySet())]', [['a'], [1], [{ key: 'a', value: 1 }]]],
  ['m.clear()  m.isEmpty()', true],
  ['m.put("s", MAP (x in [1, 2]) { x * 2 })  m.s', [2, 4]],
  ['m.put(null, 1)', 'cascade.lang.null ["key"]'],
  ['m.put("b", null)', 'cascade.lang.null ["value"]'],
])('Map: %s', (body, expected) => {
  expect(given(run(MAP + body))).toEqual(expected);
});

test.each([
  ['m.compute("a", (k, v) => v + 1)', 2, ['set', 2]],
  ['m.compute("b", (k, v) => [k, v])', ['b', null], ['set', ['b', null]]],
  ['m.compute("a", (k, v) => null)', null, ['remove', null]],
  ['m.computeIfAbsent("a", k => 7)', 1, ['none', null]],
  ['m.computeIfAbsent("b", k => k + 7)', 'b7', ['set', 'b7']],
  ['m.computeIfAbsent("b", k => null)', null, ['none', null]],
  ['m.computeIfPresent("a", (k, v) => k + v)', 'a1', ['set', 'a1']],
  ['m.computeIfPresent("a", (k, v) => null)', null, ['remove', null]],
  ['m.computeIfPresent("b", (k, v) => 1)', null, ['none', null]],
  ['m.merge("a", 5, (old, value) => [old, value])', [1, 5], ['set', [1, 5]]],
  ['m.merge("b", 5, (old, value) => 0)', 5, ['set', 5]],
  ['m.merge("a", 5, (old, value) => null)', null, ['remove', null]],
  ['v.updateAndGet(v => v * 2)', 6, ['set', 6]],
  ['v.getAndUpdate(v => v * 2)', 3, ['set', 6]],
  ['v.updateAndGet(v => null)', null, ['set', null]],
  ['l.synchronize(() => 5)', 5, ['none', null]],
  ['m.compute("a", (k, v) => { MAP (x in [v]) { x + 1 } })  m.a', [2], ['set', [2]]],
])('what a lambda makes of an entry: %s', (body, expected, change) => {
  const outcome = run(`${MAP}var v = Concurrent.Value()  v.setValue(3)  var l = Concurrent.Lock()  ${body}`);
  expect([given(outcome), changes(outcome), outcome.open]).toEqual([expected, [change], 0]);
});

test('a lambda is called where its entry says so only', () => {
  const called = (body: string): readonly string[] => run(MAP + body).logs;
  const say = '{ log.info("called")  return 1 }';
  expect(called(`m.computeIfAbsent("b", k => ${say})  m.computeIfPresent("a", (k, v) => ${say})`)).toHaveLength(2);
  expect(
    called(`m.computeIfAbsent("a", k => ${say})  m.computeIfPresent("b", (k, v) => ${say})  m.merge("b", 1, (a, b) => ${say})`),
  ).toEqual([]);
});

test('an error inside a lambda leaves the entry, frees it and propagates; after a limit nothing is asked any more', () => {
  const failing = run(`${MAP}try { m.compute("a", (k, v) => exception("x", "y")) } catch (e) { return [e.code, m.a] }`);
  expect([given(failing), changes(failing), failing.open]).toEqual([['x', 1], [['none', null]], 0]);
  const released = run('var l = Concurrent.Lock()  l.synchronize(() => exception("x", "y"))');
  expect([released.failure?.code, changes(released)]).toEqual(['x', [['none', null]]]);
  const dead = run(`${MAP}m.compute("a", (k, v) => { var a = []  a[10000000] = 1 })`);
  expect([dead.failure?.code, changes(dead), dead.open]).toEqual(['cascade.execution.memory', [], 1]);
});

test('a lambda may ask the host, with its entry locked', () => {
  const outcome = run(`${MAP}m.compute("a", (k, v) => { INSERT T(n: v) })`, (_kind, payload) => ({ ok: payload.values ?? null }));
  expect(given(outcome)).toEqual({ n: 1 });
  expect(outcome.ops.slice(-3).map(({ kind, payload }) => payload.op ?? kind)).toEqual(['begin', 'insert', 'end']);
});

test('Value: it is null at first', () => {
  expect(
    given(
      run('var v = Concurrent.Value()  return [v.getValue(), v.getValueOrDefault(9), v.setValue(3), v.getValue(), v.getValueOrDefault(9)]'),
    ),
  ).toEqual([null, 9, 3, 3, 3]);
});

test('Cache: -1 is no limit, what is below it no number of entries or milliseconds', () => {
  const made = (args: string): unknown => {
    const outcome = run(`var c = Concurrent.Cache(${args})  typeOf(c)`);
    return outcome.failure ? given(outcome) : [outcome.value, outcome.ops[0]?.payload];
  };
  const cache = (...options: number[]) => ['Map', { op: 'create', kind: 'Cache', options }];
  expect(made('')).toEqual(cache(-1, -1, -1));
  expect(made('0, 5, -1')).toEqual(cache(0, 5, -1));
  expect(made('expireAfterWriteMs: 7')).toEqual(cache(-1, -1, 7));
  expect(made('-2')).toBe('cascade.lang.range ["maximumSize",-2]');
  expect(made('1, -3')).toBe('cascade.lang.range ["expireAfterAccessMs",-3]');
  expect(made('1, 1, -4')).toBe('cascade.lang.range ["expireAfterWriteMs",-4]');
  for (const kind of ['Map', 'Value', 'Lock'])
    expect(run(`Concurrent.${kind}()`).ops[0]?.payload, kind).toEqual({ op: 'create', kind, options: [] });
});

test('a Cache is a Map that tells of what it lets go, and Map, Value and Lock are three things', () => {
  const made = 'var m = Concurrent.Map()  var c = Concurrent.Cache()  var v = Concurrent.Value()  var l = Concurrent.Lock()  ';
  const called = (body: string): unknown => given(run(made + body));
  expect([called('c.put("a", 1)  c.get("a")'), called('c.put("a", 1)  c.a'), called('c.compute("a", (k, v) => 2)')]).toEqual([1, 1, 2]);
  expect(run(`${made}c.notifyOnEviction("/t")`).ops.at(-1)?.payload).toMatchObject({ method: 'notifyOnEviction', args: ['/t'] });
  for (const body of [
    'm.notifyOnEviction("/t")',
    'v.get("a")',
    'm.getValue()',
    'l.setValue(1)',
    'v.synchronize(() => 1)',
    'l.updateAndGet(x => x)',
  ])
    expect(called(body), body).toMatch(/^cascade\.builtin\.method\.unknown/);
});

test.each([
  ['m.a', 1],
  ['m["a"]', 1],
  ['m.put(7, "x")  m[7]', 'x'],
  ['m.nothing', null],
  ['m.a = 2', 'cascade.lang.map.assign []'],
  ['m["a"] += 2', 'cascade.lang.map.assign []'],
  ['"m=" + m', 'm={"a":1}'],
  ['m + "!"', '{"a":1}!'],
  ['stringify(m)', '{"a":1}'],
  ['stringify({in: [m]})', '{"in":[{"a":1}]}'],
  ['var s = MAP (x in [m]) { x }  stringify({in: [s], other: 5})', '{"in":[[{"a":1}]],"other":5}'],
  ['var t = ""  for (e in m) { t += e.key + e.value }  t', 'a1'],
  ['var t = ""  for (e in m) { m.put("b", 2)  t += e.key }  t', 'a'],
  ['toArray(MAP (e in m) { e.value + 1 })', [2]],
  ['var n = Concurrent.Map()  var o = {m: m}  return [m == o.m, m == n]', [true, false]],
  ['typeOf(m)', 'Map'],
])('a Map elsewhere: %s', (body, expected) => {
  expect(given(run(MAP + body))).toEqual(expected);
});

test('what is logged holds the contents of Maps', () => {
  expect(run(`${MAP}log.info(m)  log.info("{} {}", [m, [m]])`).logs).toEqual(['INFO {"a":1}', 'INFO {"a":1} [{"a":1}]']);
});

test('C6: a shared object stays in its service: no argument of a public procedure, no result, no part of either, nothing that is stored', () => {
  const state = new StateHost();
  const lane = openLane();
  lane.load('PROCEDURE S.pub(o) 1');
  lane.load('PRIVATE PROCEDURE S.own(o) o.put("b", 2)  o');
  const code = (name: string, body: string): unknown => {
    lane.load(`PROCEDURE S.${name}() var m = Concurrent.Map()  ${body}`);
    return given(lane.call(`S.${name}`, [], state.host));
  };
  expect(code('a', 'S.pub(m)')).toBe('cascade.procedure.parameter.type ["S.pub","o","data","Map"]');
  expect(code('b', 'S.pub([{m: m}])')).toBe('cascade.procedure.parameter.type ["S.pub","o","data","Map"]');
  expect(code('c', 'return m')).toBe('cascade.procedure.parameter.type ["S.c","the result","data","Map"]');
  expect(code('d', 'return {m: m}')).toMatch(/^cascade\.procedure\.parameter\.type/);
  expect(code('e', 'INSERT T(m: m)')).toMatch(/^cascade\.procedure\.parameter\.type/);
  expect(code('f', 'PUBLISH {m: m} TO TOPIC "/t"')).toBe('cascade.lang.publish.value ["Map","published"]');
  expect(code('g', 'S.own(m)  m.size()')).toBe(1);
});
