// Map, Cache, Value and Lock (builtins.md 10), by programs through an engine with two lanes: all runs share their state.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { evaluator } from './testing/value.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
});
afterAll(() => t[Symbol.asyncDispose]());

const value = evaluator(() => t);

test('a Map stores entries', async () => {
  const made = 'var m = Concurrent.Map()\n';
  expect(
    await value(
      `${made}return [m.put("a", 1), m.compute("a", (k, v) => v + 1), m.computeIfAbsent("b", k => 7), m.size(), m.remove("a", 9)]`,
    ),
  ).toEqual([null, 2, 7, 2, false]);
  expect(
    await value(`${made}m.put(5, "x")\nreturn [m.get("5"), m.containsKey(5), m.getOrDefault("y", 3), m.isEmpty(), typeOf(m)]`),
  ).toEqual(['x', true, 3, false, 'Map']);
  expect(
    await value(
      `${made}m.put("a", {n: 1})\nreturn [m.containsValue({n: 1}), m.containsValue({n: 2}), m.putIfAbsent("a", 2), m.remove("a").n]`,
    ),
  ).toEqual([true, false, { n: 1 }, 1]);
  expect(
    await value(
      `${made}m.put("a", 1)\nm.put("b", 2)\nreturn [m.computeIfPresent("a", (k, v) => k + v), m.computeIfPresent("x", (k, v) => 1), m.merge("b", 5, (old, new) => old + new), m.merge("c", 5, (old, new) => 0), m.compute("a", (k, v) => null), toArray(m)]`,
    ),
  ).toEqual([
    'a1',
    null,
    7,
    5,
    null,
    [
      { key: 'b', value: 7 },
      { key: 'c', value: 5 },
    ],
  ]);
  expect(
    await value(
      `${made}m.put("a", 1)\nvar s = []\nfor (e in m) { s.push(e.key + e.value) }\nreturn [s, toArray(m.keySet()), toArray(m.values()), stringify(m)]`,
    ),
  ).toEqual([['a1'], ['a'], [1], '{"a":1}']);
  expect(await value(`${made}m.put("a", 1)\nm.clear()\nreturn m.size()`)).toBe(0);
});

test('a variable that is declared as a Map can be read by subscript and member, and not assigned so', async () => {
  const made = 'var m = Concurrent.Map()\nm.put("a", 1)\nm.put("b", {c: 2})\n';
  expect(await value(`${made}var k = "a"\nreturn [m["a"], m[k], m.a, m.x, m.b.c]`)).toEqual([1, 1, 1, null, 2]);
  expect(await value(`${made}return toArray(MAP (k IN ["a", "b"]) { return m[k] })`)).toEqual([1, { c: 2 }]);
  expect(await value(`${made}m["a"] = 2`)).toMatch(/^cascade\.lang\.map\.assign/);
  expect(await value(`${made}m.a = 2`)).toMatch(/^cascade\.lang\.map\.assign/);
});

test('a Map refuses invalid keys, values and calls', async () => {
  const made = 'var m = Concurrent.Map()\n';
  expect(await value(`${made}m.put(null, 1)`)).toBe('cascade.lang.null ["key"]');
  expect(await value(`${made}m.put("a", null)`)).toBe('cascade.lang.null ["value"]');
  expect(await value(`${made}m.putIfAbsent("a", null)`)).toBe('cascade.lang.null ["value"]');
  expect(await value(`${made}m.put(true, 1)`)).toBe('cascade.procedure.parameter.type ["put","key","String or Integer","Boolean"]');
  expect(await value(`${made}m.put("a", 1, 2)`)).toBe('cascade.procedure.argument.count ["put",4]');
  expect(await value(`${made}m.push(1)`)).toMatch(/^cascade\.(builtin\.method\.unknown|procedure\.parameter\.type)/);
  expect(await value(`${made}return m`)).toMatch(/^cascade\.procedure\.parameter\.type/);
  expect(await value('Concurrent.Cache(-2)')).toBe('cascade.lang.range ["maximumSize",-2]');
  expect(await value('var x = null\nreturn x.size()')).toMatch(/^cascade\.lang\.null/);
  expect(await value('return [({a: 1}).size(), "ab".size(), [1].size(), ({a: 1}).get("a"), [7].get(0)]')).toEqual([1, 2, 1, 1, 7]);
});

test('an exception in a lambda leaves the entry unchanged and propagates', async () => {
  expect(
    await value(`var m = Concurrent.Map()
m.put("a", 1)
var told = null
try { m.compute("a", (k, v) => exception("my.code", "no")) } catch (e) { told = e.code }
return [told, m.get("a"), m.compute("a", (k, v) => v + 1)]`),
  ).toEqual(['my.code', 1, 2]);
});

test('a Value and a Lock', async () => {
  expect(
    await value(
      'var x = Concurrent.Value()\nreturn [x.getValue(), x.getValueOrDefault(4), x.setValue(3), x.getAndUpdate(v => v * 2), x.getValue(), x.updateAndGet(v => v + 1)]',
    ),
  ).toEqual([null, 4, 3, 3, 6, 7]);
  expect(await value('var l = Concurrent.Lock()\nreturn [l.synchronize(() => l.synchronize(() => 5)), typeOf(l)]')).toEqual([5, 'Lock']);
});

test('a lambda may call the host while it holds its entry', async () => {
  await t.type('Noted', { n: { type: 'Integer' } });
  expect(
    await value('var m = Concurrent.Map()\nvar r = m.compute("a", (k, v) => { INSERT Noted(n: 1)\n return 2 })\nreturn [r, m.get("a")]'),
  ).toEqual([2, 2]);
  expect(await t.rows('Noted')).toHaveLength(1);
});

test('a Cache evicts the least recently used entry, and publishes that on a topic', async () => {
  await t.type('Gone', { m: { type: 'Object' } });
  await t.program('rules', 'RULE gone WHEN PUBLISH OCCURS ON "/cache/gone" AS e INSERT Gone(m: e.value)');
  expect(
    await value(
      'var c = Concurrent.Cache(maximumSize: 2)\nc.notifyOnEviction("/cache/gone")\nc.put("a", 1)\nc.put("b", 2)\nc.get("a")\nc.put("c", 3)\nreturn toArray(c.keySet())',
    ),
  ).toEqual(['a', 'c']);
  expect((await t.eventually('Gone', {}, 1))[0]?.['m']).toEqual({ key: 'b', value: 2 });
});

test('concurrent runs of all lanes share the state and lose no update', async () => {
  await t.type('CounterState', { m: { type: 'Map' }, v: { type: 'Value' } }, { role: 'schema' });
  await t.ask('insert', 'services', { body: '{"name":"Counting","globalType":"CounterState"}' });
  const program = (text: string): Promise<void> => t.program('procedures', text);
  await program(
    'PROCEDURE Counting.count(n Integer)\nm.compute("n", (k, v) => v == null ? 1 : v + 1)\nv.updateAndGet(x => x == null ? n : x + n)\nreturn 1',
  );
  await program('PROCEDURE Counting.read()\nreturn [m.n, v.getValue()]');
  await Promise.all(Array.from({ length: 100 }, (_, n) => t.ask('execute', 'procedures', { id: 'Counting.count', body: `[${n}]` })));
  const { body } = await t.ask('execute', 'procedures', { id: 'Counting.read', body: '[]' });
  expect(JSON.parse(body ?? '')).toEqual([100, 4950]);
});
