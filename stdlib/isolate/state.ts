// The state of services seen from a run (language.md 8): the host keeps it (runtime/shared-state), a run works on copies. A copy stays one
// object as long as the run lives, so that what is changed inside it is seen through every name; what has changed goes back before the
// run asks the host for anything, and when the procedure ends.
import { fail } from '../errors.ts';
import {
  encodeShared,
  getOwn,
  isObject,
  isReal,
  isReference,
  setOwn,
  text,
  typeOf,
  type ObjectValue,
  type Value,
} from '../values/index.ts';
import { materialized, refuseGiant } from './operations.ts';
import type { ProcedureInfo, StatePayload } from './protocol.ts';
import type { Run } from './run.ts';
import { request, type Steps } from './steps.ts';

/** Which state the code that runs has. */
export interface StateScope {
  readonly service: string;
  /** The key's text; null for the global state. */
  readonly partition: string | null;
}

/** An Array or Object of the state that the run has. */
export interface HeldState {
  readonly scope: StateScope;
  readonly name: string;
  readonly value: Value;
  /** What the host has. */
  json: string;
  version: number;
}

/** The value of a state variable. */
export function* stateGet(run: Run, site: number, name: string): Steps<Value> {
  const scope = scopeOf(run);
  const key = keyOf(scope, name);
  const before = run.held?.get(key);
  const answer = (yield* ask(run, `${site}`, { op: 'get', ...scope, name, version: before?.version ?? 0 })) as ObjectValue;
  const held = run.held?.get(key);
  if (!Object.hasOwn(answer, 'value') && held) return held.value;
  const value = getOwn(answer, 'value');
  if (typeof value !== 'object' || !(Array.isArray(value) || isObject(value))) {
    run.held?.delete(key);
    return value;
  }
  const own = held ? renewed(held.value, value) : value;
  hold(run, key, { scope, name, value: own, json: encodeShared(own), version: Number(getOwn(answer, 'version')) });
  return own;
}

function hold(run: Run, key: string, held: HeldState): void {
  run.held ??= new Map();
  run.held.set(key, held);
  run.flush = () => flushState(run);
  run.charge(64 + held.json.length);
}

/** Assigns; the value is the assigned one. */
export function* stateSet(run: Run, site: number, name: string, value: Value): Steps<Value> {
  const scope = scopeOf(run);
  refuseGiant(run, value);
  const own = run.madeSequence ? yield* materialized(run, value) : value;
  const version = Number(yield* ask(run, `${site}`, { op: 'set', ...scope, name, value: own }));
  const key = keyOf(scope, name);
  if (Array.isArray(own) || isObject(own)) hold(run, key, { scope, name, value: own, json: encodeShared(own), version });
  else run.held?.delete(key);
  return own;
}

/** Sends back what has changed inside Arrays and Objects of the state. */
export function* flushState(run: Run): Steps<void> {
  for (const held of run.held?.values() ?? []) {
    refuseGiant(run, held.value);
    const json = encodeShared(held.value);
    if (json === held.json) continue;
    held.json = json;
    held.version = Number(yield* ask(run, `state:${held.name}`, { op: 'set', ...held.scope, name: held.name, value: held.value }));
  }
}

/** A request of the kind `state`. */
export function* ask(run: Run, site: string, payload: StatePayload): Steps<Value> {
  refuseGiant(run, payload as unknown as Value);
  return yield* request(run, run.path + site, 'state', encodeShared(payload as unknown as Value), false);
}

// ---------------------------------------------------------------- scopes of calls

/** How a call was written: by name, or by EXECUTE, which may give the partition (language.md Y4, Y7). */
export type How = { readonly execute: boolean; readonly partitionKey?: Value };

/**
 * The state that a call of this procedure has: one scope, or one for each partition.
 * @throws CascadeError cascade.procedure.private for a PRIVATE procedure of another access pattern that is called without EXECUTE
 */
export function* scopesOf(run: Run, info: ProcedureInfo, values: readonly Value[], how: How): Steps<StateScope[]> {
  const service = info.service ?? '';
  if (info.state === 'global') {
    if (info.private && !how.execute && !inside(run, service, 'global')) fail('cascade.procedure.private', info.name);
    return [{ service, partition: null }];
  }
  if (info.state === 'partitions') {
    if (info.private && !how.execute) fail('cascade.procedure.private', info.name);
    const keys = (yield* ask(run, `partitions:${service}`, { op: 'partitions', service })) as string[];
    return keys.map((partition) => ({ service, partition }));
  }
  if (how.partitionKey !== undefined) return [{ service, partition: partitionOf(info, how.partitionKey) }];
  if (!info.private) return [{ service, partition: partitionOf(info, values[0] ?? null) }];
  const scope = inside(run, service, 'partition');
  return [scope ?? fail('cascade.procedure.private', info.name)];
}

function inside(run: Run, service: string, access: 'global' | 'partition'): StateScope | null {
  const { scope } = run;
  return scope?.service === service && (scope.partition === null) === (access === 'global') ? scope : null;
}

/** A key is a scalar, though neither a Boolean nor a Real (language.md Y4); its text names the partition. */
function partitionOf(info: ProcedureInfo, key: Value): string {
  if (key === null) return fail('cascade.lang.null', 'partitionKey');
  if (Array.isArray(key) || typeof key === 'boolean' || isReal(key) || (isObject(key) && !isReference(key)))
    return fail('cascade.procedure.parameter.type', info.name, 'partitionKey', 'String', typeOf(key));
  return text(key);
}

/** The initialising procedure of a scope. */
export const initializerOf = ({ service, partition }: StateScope): string =>
  `${service}.${partition === null ? 'initializeGlobalState' : 'initializePartitionedState'}`;
export const isInitializer = (name: string): boolean => /\.initialize(Global|Partitioned)State$/.test(name);

export const keyOf = ({ service, partition }: StateScope, name: string): string => `${service}\0${partition ?? '\0'}\0${name}`;

/** Emitted code asks for state only in procedures that have it. */
function scopeOf(run: Run): StateScope {
  if (!run.scope) throw new Error('a procedure without state asks for it');
  return run.scope;
}

/** The object that the run has, with the members that the host has now. */
function renewed(mine: Value, theirs: Value): Value {
  if (Array.isArray(mine) && Array.isArray(theirs)) {
    mine.length = 0;
    for (const element of theirs) mine.push(element);
    return mine;
  }
  if (!isObject(mine) || !isObject(theirs)) return theirs;
  for (const key of Object.keys(mine)) delete mine[key];
  for (const key of Object.keys(theirs)) setOwn(mine, key, getOwn(theirs, key)); // not assigned: `__proto__` is a name like any other
  return mine;
}
