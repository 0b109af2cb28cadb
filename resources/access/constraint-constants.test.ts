// What waits for the procedures that convert constants of constraints, and for how long.
import { afterEach, expect, test, vi } from 'vitest';
import { parseType, type ScalarDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { endlessRuns } from '../scalars/testing.ts';
import { FeatureStates } from '../states.ts';
import { CONSTRAINT_CONSTANTS } from './constraint-constants.ts';

afterEach(() => void vi.useRealTimers());

const CODE: ScalarDefinition = { name: 'Code', baseType: 'String', toInternal: 'parse' };

test('who waits for constants is held up for a bounded time; what is not known by then stays unknown', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { runs, started } = endlessRuns();
  const type = parseType(
    { name: 'Site', properties: { site: { type: 'Code' } } },
    { types: new Map(), scalars: new Map([['Code', CODE]]) },
  );
  const space = {
    name: 'main',
    states: new FeatureStates(),
    log: { warn: () => undefined },
    catalog: {
      types: new Map([['Site', type]]),
      definitions: { get: () => ({}) },
      features: { policies: [{ constraints: () => [{ site: 'north' }] }] },
    },
    execution: { runs },
    clock: { now: () => 0 },
  } as unknown as Namespace;
  const constants = space.states.get(CONSTRAINT_CONSTANTS);
  const [settled, refreshed] = [vi.fn<() => void>(), vi.fn<() => void>()];
  void constants.settle(space).then(settled);
  void constants.refresh(space).then(refreshed);
  await vi.waitFor(() => expect(started).toHaveLength(1));
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([settled.mock.calls.length, refreshed.mock.calls.length]).toEqual([1, 0]);
  expect(constants.within({ site: 'north' }, type)).toBeNull();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(refreshed).toHaveBeenCalledOnce(); // conversions have a bound, too: a later pass is not held up for ever
});
