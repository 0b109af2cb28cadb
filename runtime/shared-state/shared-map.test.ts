// Maps and Caches by themselves (builtins.md 10).
import { expect, test } from 'vitest';
import { VirtualClock } from '../../platform/clock/index.ts';
import { valueOf } from './stored-value.ts';
import { isWalk, type Walk } from './walks.ts';
import { Entries, type Eviction, evictionOf, NO_EVICTION } from './shared-map.ts';

function entries(eviction: Eviction = NO_EVICTION) {
  const clock = new VirtualClock(1_000);
  const reported: unknown[] = [];
  const map = new Entries({ owner: 'n', clock, evicted: (topic, key, value) => reported.push([topic, key, valueOf(value)]) }, eviction);
  const call = (method: string, ...args: unknown[]): unknown => {
    const result = map.call(
      method,
      args.map((arg) => ({ json: JSON.stringify(arg), refs: [] })),
    );
    if (!isWalk(result)) return result && valueOf(result);
    for (;;) {
      const { done, value } = result.next();
      if (done) return valueOf(value);
    }
  };
  return { map, call, clock, reported };
}

test('entries come, change and go', () => {
  const { call, map } = entries();
  expect([call('put', 'a', 1), call('put', 'a', 2), call('putIfAbsent', 'a', 3), call('putIfAbsent', 'b', 4)]).toEqual([null, 1, 2, null]);
  expect([call('get', 'a'), call('get', 'x'), call('getOrDefault', 'x', 9), call('size'), call('isEmpty')]).toEqual([2, null, 9, 2, false]);
  expect([call('containsKey', 'a'), call('containsKey', 'x'), call('containsValue', 4), call('containsValue', 5)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect([call('keySet'), call('values'), call('entrySet')]).toEqual([
    ['a', 'b'],
    [2, 4],
    [
      { key: 'a', value: 2 },
      { key: 'b', value: 4 },
    ],
  ]);
  expect([call('remove', 'a', 9), call('remove', 'a', 2), call('remove', 'a'), call('remove', 'b')]).toEqual([false, true, null, 4]);
  expect(map.size).toBe(0);
  expect(call('nonsense')).toBeUndefined();
});

test('what it takes is counted, and given back', () => {
  const { call, map } = entries();
  call('put', 'a', 'x'.repeat(1_000));
  expect(map.size).toBeGreaterThan(1_000);
  call('put', 'a', 1);
  expect(map.size).toBeLessThan(100);
  call('clear');
  expect(map.size).toBe(0);
});

test('a full Cache lets the one go that was used longest ago', () => {
  const { call, reported } = entries(evictionOf([2]));
  call('notifyOnEviction', '/gone');
  for (const key of ['a', 'b']) call('put', key, key);
  call('get', 'a');
  call('put', 'c', 'c');
  expect([call('keySet'), reported]).toEqual([['a', 'c'], [['/gone', 'b', 'b']]]);
  call('notifyOnEviction', null);
  call('put', 'd', 'd');
  expect(reported).toHaveLength(1);
});

test('an entry whose time is over is not given any more, and is told of without being asked for', async () => {
  const { call, clock, reported } = entries(evictionOf([-1, 100, 250]));
  call('notifyOnEviction', '/gone');
  call('put', 'a', 1);
  call('put', 'b', 2);
  await clock.advanceTo(clock.now() + 80);
  expect(call('get', 'a')).toBe(1);
  await clock.advanceTo(clock.now() + 80);
  expect([call('get', 'b'), call('size'), reported]).toEqual([null, 1, [['/gone', 'b', 2]]]);
  expect(call('get', 'a')).toBe(1);
  await clock.advanceTo(clock.now() + 89);
  expect(call('get', 'a')).toBe(1);
  await clock.advanceTo(clock.now() + 1);
  expect(reported).toEqual([
    ['/gone', 'b', 2],
    ['/gone', 'a', 1],
  ]);
});

test('a Cache of no size keeps nothing', () => {
  const { call } = entries(evictionOf([0]));
  call('put', 'a', 1);
  expect(call('size')).toBe(0);
});

test('entries that are used or written again expire later, in the order of their ends', async () => {
  const { call, clock, reported } = entries(evictionOf([-1, 100, 150]));
  call('notifyOnEviction', '/gone');
  for (const key of ['a', 'b', 'c']) call('put', key, 1);
  await clock.advanceTo(clock.now() + 60);
  call('get', 'a');
  call('put', 'b', 2);
  await clock.advanceTo(clock.now() + 60);
  expect(call('keySet')).toEqual(['a', 'b']);
  await clock.advanceTo(clock.now() + 30);
  expect(call('keySet')).toEqual(['b']);
  await clock.advanceTo(clock.now() + 30);
  expect([call('keySet'), reported.map((one) => (one as unknown[])[1])]).toEqual([[], ['c', 'a', 'b']]);
});

test('a call of a large Cache of which entries expire all the time costs little more than of one where none does', async () => {
  const filled = async (lifeMs: number) => {
    const { call, clock } = entries(evictionOf([-1, -1, lifeMs]));
    let n = 0;
    const turn = async () => {
      await clock.advanceTo(clock.now() + 1);
      call('put', `k${n++}`, n);
    };
    while (n < 10_000) await turn();
    const from = performance.now();
    for (let i = 0; i < 2_000; i++) await turn();
    return { size: call('size'), ms: performance.now() - from };
  };
  const [calm, busy] = [await filled(1_000_000), await filled(10_000)];
  expect([calm.size, busy.size]).toEqual([12_000, 10_000]);
  expect(busy.ms / calm.ms).toBeLessThan(15);
});

test('what goes through all entries gives way, and shows them as they were at the call', () => {
  const { map, call } = entries();
  for (let i = 0; i < 1_000; i++) call('put', `k${i}`, { n: i });
  const walks = (['keySet', 'values', 'entrySet', 'containsValue'] as const).map(
    (method) => map.call(method, method === 'containsValue' ? [{ json: '{"n":999}', refs: [] }] : []) as Walk,
  );
  call('clear');
  call('put', 'late', 1);
  const results = walks.map((walk) => {
    let pauses = 0;
    for (;;) {
      const { done, value } = walk.next();
      if (done) return [pauses, valueOf(value)] as const;
      pauses++;
    }
  });
  expect(results.map(([pauses]) => pauses)).toEqual([3, 3, 3, 3]);
  expect(results.map(([, value]) => (Array.isArray(value) ? [value.length, value.at(-1)] : value))).toEqual([
    [1_000, 'k999'],
    [1_000, { n: 999 }],
    [1_000, { key: 'k999', value: { n: 999 } }],
    true,
  ]);
});

test('large values give way one by one, and too many of them are refused on the way', () => {
  const { map, call } = entries();
  for (let i = 0; i < 70; i++) call('put', `k${i}`, 'x'.repeat(1024 * 1024));
  const walk = map.call('values', []) as Walk;
  for (let i = 0; i < 60; i++) expect(walk.next().done).toBe(false);
  expect(() => [...walk]).toThrow(expect.objectContaining({ code: 'cascade.execution.memory', params: ['Map', 64 * 1024 * 1024] }));
});
