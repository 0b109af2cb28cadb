// What comes of a call whose run fails for another reason than the value.
import { afterEach, expect, test, vi } from 'vitest';
import type { ScalarDefinition } from '../../model/types/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { FeatureStates } from '../states.ts';
import { convertEach, sortBy } from './calls.ts';
import { endlessRuns } from './testing.ts';

afterEach(() => void vi.useRealTimers());

function raise(broken: Error): never {
  throw broken;
}

const spaceWith = (runs: object) =>
  ({ states: new FeatureStates(), catalog: { definitions: { get: () => ({}) } }, execution: { runs } }) as unknown as Namespace;

test('all who wait for a run get its fault', async () => {
  const broken = new TypeError('the run is gone');
  const runs = new Proxy({}, { ownKeys: () => raise(broken) });
  const space = spaceWith(runs);
  const scalar: ScalarDefinition = { name: 'Percent', baseType: 'Integer', toInternal: 'parsePercent' };
  const actor = { identity: { username: 'ann', namespace: 'main', profiles: [] }, depth: 0 } as unknown as Actor;
  const asked = [1, 2].map((value) => convertEach(space, scalar, 'toInternal', [value], actor));
  for (const one of asked) await expect(one).rejects.toBe(broken);
});

test('values whose procedure waits are refused in time, without runs for parts of the batch', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { runs, started, dropped } = endlessRuns();
  const space = spaceWith(runs);
  const actor = { identity: { username: 'ann', namespace: 'main', profiles: [] }, depth: 0 } as unknown as Actor;
  const scalar: ScalarDefinition = { name: 'Percent', baseType: 'Integer', toInternal: 'parsePercent' };
  const outcomes = convertEach(space, scalar, 'toInternal', [1, 2, 3, 4], { ...actor, childRunIds: null });
  await vi.waitFor(() => expect(started).toHaveLength(1));
  vi.advanceTimersByTime(600_000);
  expect(await outcomes).toMatchObject(Array.from({ length: 4 }, () => ({ error: { code: 'cascade.scalar.procedure.signature' } })));
  expect([started.length, dropped.length]).toEqual([1, 1]);
});

test('values of a run are waited for: it has a bound of its own, and its statements wait until the store is back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { runs, started, dropped } = endlessRuns();
  const space = spaceWith(runs);
  const identity = { username: 'ann', namespace: 'main', profiles: [] };
  const actor = { identity, depth: 0, childRunIds: null, event: { event: { uuid: 'x' } } } as unknown as Actor;
  const scalar: ScalarDefinition = { name: 'Percent', baseType: 'Integer', toInternal: 'parsePercent', comparator: 'compare' };
  void convertEach(space, scalar, 'toInternal', [1], actor);
  void sortBy(space, scalar, [2], actor);
  await vi.waitFor(() => expect(started).toHaveLength(2));
  vi.advanceTimersByTime(600_000);
  expect(dropped).toEqual([]);
});

test('values of who goes are not those of others: the run goes on, and other rights have one of their own', async () => {
  const { runs, started, dropped } = endlessRuns();
  const space = spaceWith(runs);
  const identity = { username: 'ann', namespace: 'main', profiles: ['user'] };
  const leaving = new AbortController();
  const scalar: ScalarDefinition = { name: 'Percent', baseType: 'Integer', toInternal: 'parsePercent' };
  const ask = (by: object, value: number) => {
    const actor = { identity, depth: 0, childRunIds: null, ...by } as unknown as Actor;
    void convertEach(space, scalar, 'toInternal', [value], actor);
  };
  ask({ signal: leaving.signal }, 1);
  ask({}, 2);
  ask({ identity: { ...identity, ofToken: 'edge' } }, 3);
  ask({ event: { event: { uuid: 'x' } } }, 4);
  await vi.waitFor(() => expect(started.sort()).toEqual(['[[1,2]]', '[[3]]', '[[4]]']));
  leaving.abort();
  expect(dropped).toEqual([]);
});
