// Passes over the constants of constraints that meet a fault of the moment.
import { expect, test, vi } from 'vitest';
import { parseType, type ScalarDefinition } from '../../model/types/index.ts';
import { VirtualClock } from '../../platform/clock/index.ts';
import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { FeatureStates } from '../states.ts';
import { CONSTRAINT_CONSTANTS } from './constraint-constants.ts';

const CODE: ScalarDefinition = { name: 'Code', baseType: 'String', toInternal: 'parse' };
const SITE = parseType({ name: 'Site', properties: { site: { type: 'Code' } } }, { types: new Map(), scalars: new Map([['Code', CODE]]) });
const WHERE = { site: 'north' };
const converted = (to: string) => ({ site: { $eq: `${to} north` } });

/** A namespace with one constraint. @param convert the procedure, as the sandbox tells its outcome */
function spaceWith(convert: (value: Value) => Value, constraints: readonly ObjectValue[] = [WHERE]) {
  const clock = new VirtualClock(0);
  const runs = {
    clock,
    limits: () => ({}),
    executionTimes: { begin: () => undefined, end: () => undefined },
    logLevel: () => 0,
    mapOf: () => null,
    release: () => undefined,
    committer: { submit: async () => undefined },
    sandbox: {
      start({ argsJson, observer }: { argsJson: string; observer: { done: (json: string) => void } }) {
        const [values = []] = decodeInner(argsJson) as Value[][];
        observer.done(encodeInner(values.map(convert)));
        return argsJson;
      },
      drop: () => undefined,
    },
  };
  const space = {
    name: 'main',
    states: new FeatureStates(),
    log: { warn: () => undefined, error: () => undefined },
    catalog: {
      types: new Map([['Site', SITE]]),
      definitions: { get: () => ({}) },
      features: { policies: [{ constraints: () => constraints }] },
    },
    execution: { runs },
    clock,
  } as unknown as Namespace;
  return { space, clock, runs, constants: space.states.get(CONSTRAINT_CONSTANTS) };
}

const failed = (code: string): Value => ({ error: { code, message: 'no', params: [] } });

test('a constant that meets a fault of the moment is converted soon, and means what it did before until then', async () => {
  let outcome = failed('cascade.server.unavailable');
  const { space, clock, constants } = spaceWith(() => outcome);
  await constants.refresh(space);
  expect(constants.within(WHERE, SITE)).toBeNull();
  await clock.advanceTo(1_000);
  await vi.waitFor(() => expect(clock.next()).toBe(3_000)); // failed again: the next waits twice as long
  outcome = { value: 'old north' };
  await clock.advanceTo(3_000);
  await vi.waitFor(() => expect(constants.within(WHERE, SITE)).toEqual(converted('old')));
  expect(clock.next()).toBeNull();
  outcome = failed('cascade.quota.exceeded');
  constants.changed(space, 'procedures');
  await constants.refresh(space);
  expect([constants.within(WHERE, SITE), clock.next()]).toEqual([converted('old'), 4_000]);
  outcome = { value: 'new north' };
  await clock.advanceTo(4_000);
  await vi.waitFor(() => expect(constants.within(WHERE, SITE)).toEqual(converted('new')));
  outcome = failed('code.bad');
  constants.changed(space, 'procedures');
  await constants.refresh(space);
  expect([constants.within(WHERE, SITE), clock.next()]).toEqual([null, null]); // refused: nothing is made up for
});

test('a pass that fails as a whole is made up for, unless the namespace is closed', async () => {
  let outcome: Value = { value: 'old north' };
  let isBroken = false;
  const { space, clock, constants } = spaceWith(() => {
    if (isBroken) throw new TypeError('the store is away');
    return outcome;
  });
  await constants.refresh(space);
  [isBroken, outcome] = [true, { value: 'new north' }];
  constants.changed(space, 'procedures');
  await constants.refresh(space);
  expect(constants.within(WHERE, SITE)).toEqual(converted('old'));
  isBroken = false;
  await clock.advanceTo(1_000);
  await vi.waitFor(() => expect(constants.within(WHERE, SITE)).toEqual(converted('new')));
  isBroken = true;
  constants.changed(space, 'procedures');
  await constants.refresh(space);
  expect(clock.next()).toBe(2_000);
  constants.close();
  expect(clock.next()).toBeNull();
});

test('what was converted ahead, and has changed since, is made up for where the pass that would do so fails as a whole', async () => {
  let outcome: Value = { value: 'old north' };
  let isBroken = false;
  const constraints: ObjectValue[] = [];
  const convert = (): Value => {
    if (isBroken) throw new TypeError('the store is away');
    return outcome;
  };
  const { space, clock, constants } = spaceWith(convert, constraints);
  await constants.foresee(space, spaceWith(convert).space, [SITE]);
  constants.changed(space, 'procedures');
  await constants.refresh(space);
  constraints.push(WHERE);
  [isBroken, outcome] = [true, { value: 'new north' }];
  await constants.refresh(space);
  expect(constants.within(WHERE, SITE)).toEqual(converted('old'));
  isBroken = false;
  await clock.advanceTo(clock.next() ?? 0);
  await vi.waitFor(() => expect(constants.within(WHERE, SITE)).toEqual(converted('new')));
});
