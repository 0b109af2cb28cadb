// What waits for the procedures that convert constants of constraints, and for how long.
import { afterEach, expect, test, vi } from 'vitest';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { parseType, type ScalarDefinition } from '../../model/types/index.ts';
import { VirtualClock } from '../../platform/clock/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { convertingRuns, endlessRuns } from '../scalars/testing.ts';
import { FeatureStates } from '../states.ts';
import { CONSTRAINT_CONSTANTS } from './constraint-constants.ts';

afterEach(() => void vi.useRealTimers());

const CODE: ScalarDefinition = { name: 'Code', baseType: 'String', toInternal: 'parse' };

const siteOf = (scalar: ScalarDefinition) =>
  parseType({ name: 'Site', properties: { site: { type: 'Code' } } }, { types: new Map(), scalars: new Map([['Code', scalar]]) });

/** A namespace with a type, on which there are these constraints. */
function spaceWith(runs: object, constraints: () => readonly ObjectValue[]) {
  const clock = new VirtualClock(0);
  const space = {
    name: 'main',
    states: new FeatureStates(),
    log: { warn: () => undefined },
    catalog: {
      types: new Map([['Site', siteOf(CODE)]]),
      definitions: { get: () => ({}) },
      features: { policies: [{ constraints }] },
    },
    execution: { runs },
    clock,
  } as unknown as Namespace;
  return { space, clock, constants: space.states.get(CONSTRAINT_CONSTANTS) };
}

test('who waits for constants is held up for a bounded time; what is not known by then stays unknown', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { runs, started } = endlessRuns();
  const type = siteOf(CODE);
  const { space, constants } = spaceWith(runs, () => [{ site: 'north' }]);
  const [settled, refreshed] = [vi.fn<() => void>(), vi.fn<() => void>()];
  void constants.settle(space).then(settled);
  void constants.refresh(space).then(refreshed);
  await vi.waitFor(() => expect(started).toHaveLength(1));
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20_000);
  expect([settled.mock.calls.length, refreshed.mock.calls.length]).toEqual([1, 0]);
  expect(constants.within({ site: 'north' }, type)).toBeNull();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(refreshed).toHaveBeenCalledOnce(); // conversions have a bound, too: a later pass is not held up for ever
});

test('a conversion whose time is over is no refusal of the constant: it means what it did before, and is asked for again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const endless = endlessRuns();
  const { runs } = convertingRuns((value) => `old ${String(value)}`);
  const type = siteOf(CODE);
  const { space, clock, constants } = spaceWith(runs, () => [{ site: 'north' }]);
  await constants.refresh(space);
  Object.assign(runs, { sandbox: endless.runs.sandbox });
  constants.changed(space, 'procedures');
  const refreshed = constants.refresh(space);
  await vi.waitFor(() => expect(endless.started).toHaveLength(1));
  await vi.advanceTimersByTimeAsync(600_000);
  await refreshed;
  expect(constants.within({ site: 'north' }, type)).toEqual({ site: { $eq: 'old north' } });
  Object.assign(runs, { sandbox: convertingRuns((value) => `new ${String(value)}`).runs.sandbox });
  await clock.advanceTo(clock.next() ?? 0);
  await vi.waitFor(() => expect(constants.within({ site: 'north' }, type)).toEqual({ site: { $eq: 'new north' } }));
});

test('what a constant stands for counts on until it is converted anew, whatever converts it by then', async () => {
  let prefix = 'old';
  const asked: Value[] = [];
  const { runs } = convertingRuns((value) => {
    asked.push(value);
    return `${prefix} ${String(value)}`;
  });
  const { space, constants } = spaceWith(runs, () => [{ site: 'north' }]);
  await constants.refresh(space);
  const later = siteOf({ ...CODE, toConstraint: 'other' });
  expect(constants.within({ site: 'north' }, later)).toEqual({ site: { $eq: 'old north' } });
  prefix = 'new';
  constants.changed(space, 'scalars');
  expect(constants.within({ site: 'north' }, later)).toEqual({ site: { $eq: 'old north' } });
  await constants.refresh(space);
  expect(constants.within({ site: 'north' }, later)).toEqual({ site: { $eq: 'new north' } });
  expect(asked).toEqual(['north', 'north']);
});

test('constants are converted ahead: they are known as soon as they are in force, whatever passes come before', async () => {
  let prefix = 'old';
  const asked: Value[] = [];
  const { runs } = convertingRuns((value) => {
    asked.push(value);
    return `${prefix} ${String(value)}`;
  });
  let constraints: ObjectValue[] = [];
  const { space, constants } = spaceWith(runs, () => constraints);
  const type = siteOf(CODE);
  const ahead = spaceWith(runs, () => [{ site: 'north' }, { site: 'south' }]).space;
  await constants.foresee(space, ahead, [type], () => false);
  expect(constants.within({ site: 'north' }, type)).toBeNull();
  await constants.foresee(space, ahead, [type]);
  await constants.refresh(space);
  constraints = [{ site: 'north' }];
  expect(constants.within({ site: 'north' }, type)).toEqual({ site: { $eq: 'old north' } });
  await constants.refresh(space);
  expect([asked.length, constants.within({ site: 'north' }, type)]).toEqual([2, { site: { $eq: 'old north' } }]);
  prefix = 'new';
  constants.changed(space, 'procedures');
  await constants.refresh(space);
  constraints.push({ site: 'south' }); // stored only now: its constant was converted by what has changed since
  expect(constants.within({ site: 'south' }, type)).toEqual({ site: { $eq: 'old south' } });
  await constants.refresh(space);
  expect(constants.within({ $and: constraints }, type)).toEqual({ $and: [{ site: { $eq: 'new north' } }, { site: { $eq: 'new south' } }] });
});

test('an alternative whose constants are not known is left out', async () => {
  const { runs } = convertingRuns((value) => (value === 'bad' ? undefined : `stored ${String(value)}`));
  const [good, bad] = [{ site: 'north' }, { site: 'bad' }];
  const { space, constants } = spaceWith(runs, () => [good, bad]);
  await constants.refresh(space);
  const type = siteOf(CODE);
  const stored = { site: { $eq: 'stored north' } };
  expect(constants.within({ $or: [bad, good] }, type)).toEqual({ $or: [stored] });
  expect(constants.within({ $and: [{ $or: [good, { $or: [bad] }] }, { _id: 'x' }] }, type)).toEqual({
    $and: [{ $or: [stored] }, { _id: 'x' }],
  });
  expect(constants.within({ $or: [] }, type)).toEqual({ $or: [] });
  const unknown: ObjectValue[] = [bad, { $or: [bad] }, { $and: [good, bad] }, { $nor: [good, bad] }, { $or: [good], ...bad }];
  for (const where of unknown) expect(constants.within(where, type)).toBeNull();
});
