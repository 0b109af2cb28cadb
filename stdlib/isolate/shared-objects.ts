// Shared objects seen from a run (builtins.md 10): the host keeps them (runtime/shared-state), a run has handles. What a lambda decides is a
// request before it, with the entry locked for the run, and one after it; so it runs once, and alone.
import type { HostDeclaration } from '../builtins/index.ts';
import { fail } from '../errors.ts';
import { add } from '../operators/index.ts';
import { getOwn, isObject, LocalValue, type ObjectValue, pictureOf, setOwn, Shared, stringify, text, type Value } from '../values/index.ts';
import { LIMITS } from './limits.ts';
import { holds, materialized, refuseGiant } from './operations.ts';
import type { Run } from './run.ts';
import { type Cursor, drain, ListCursor, Sequence } from './sequence.ts';
import { ask } from './state.ts';
import type { Steps } from './steps.ts';
import { misfit } from './weight.ts';

export const isShared = (value: Value): boolean => value instanceof Shared;
/** Map and Cache are what a FOR goes through. */
export const isSharedMap = (value: Value): value is Shared => value instanceof Shared && value.typeName === 'Map';

/** One call of a built-in that concerns a shared object; its arguments are checked. */
export function* shared(run: Run, site: string, name: string, step: HostDeclaration['shared'], args: readonly Value[]): Steps<Value> {
  if (step === 'create') return yield* ask(run, site, { op: 'create', kind: kindOf(name), options: optionsOf(name, args) });
  const [object = null, ...rest] = args;
  if (step === 'lambda') return yield* decide(run, site, object, name, rest);
  const result = yield* call(run, site, object, name, rest);
  return SEQUENCES.has(name) ? run.sequence(result as Value[]) : result;
}

const SEQUENCES: ReadonlySet<string> = new Set(['keySet', 'values', 'entrySet']);
const KEYED: ReadonlySet<string> = new Set(['containsKey', 'get', 'getOrDefault', 'put', 'putIfAbsent', 'remove']);

type Kind = Shared['kind'];
const kindOf = (name: string): Kind => name.slice('Concurrent.'.length) as Kind;

function optionsOf(name: string, args: readonly Value[]): Value[] {
  if (name !== 'Concurrent.Cache') return [];
  const names = ['maximumSize', 'expireAfterAccessMs', 'expireAfterWriteMs'];
  args.forEach((option, i) => Number(option) < -1 && fail('cascade.lang.range', names[i] ?? '', option));
  return [...args];
}

function* call(run: Run, site: string, object: Value, method: string, given: readonly Value[]): Steps<Value> {
  const args = method === 'remove' && given[1] === null ? given.slice(0, 1) : [...given];
  if (KEYED.has(method)) args[0] = text(args[0] ?? null);
  refuseGiant(run, args);
  return yield* ask(run, site, { op: 'call', object, method, args: (yield* materialized(run, args)) as Value[] });
}

/** What a lambda makes of an entry. `unchanged`: it stays as it was. */
type Outcome = { readonly change: 'set' | 'remove' | 'none'; readonly value?: Value; readonly result: Value };
/** @param present whether there is an entry @param value the entry's, null without one */
type Decision = (present: boolean, value: Value, args: readonly Value[]) => Steps<Outcome>;

const setTo = (value: Value): Outcome => (value === null ? { change: 'remove', result: null } : { change: 'set', value, result: value });
const unchanged = (result: Value): Outcome => ({ change: 'none', result });

const DECISIONS: Readonly<Record<string, Decision>> = {
  *compute(_present, value, [key = null, fn = null]) {
    return setTo(yield* apply(fn, key, value));
  },
  *computeIfAbsent(present, value, [key = null, fn = null]) {
    if (present) return unchanged(value);
    const made = yield* apply(fn, key);
    return made === null ? unchanged(null) : setTo(made);
  },
  *computeIfPresent(present, value, [key = null, fn = null]) {
    return present ? setTo(yield* apply(fn, key, value)) : unchanged(null);
  },
  *merge(present, value, [, added = null, fn = null]) {
    return setTo(present ? yield* apply(fn, value, added) : added);
  },
  *updateAndGet(_present, value, [fn = null]) {
    const next = yield* apply(fn, value);
    return { change: 'set', value: next, result: next };
  },
  *getAndUpdate(_present, value, [fn = null]) {
    return { change: 'set', value: yield* apply(fn, value), result: value };
  },
  *synchronize(_present, _value, [fn = null]) {
    return unchanged(yield* apply(fn));
  },
};
const OF_ENTRIES: ReadonlySet<string> = new Set(['compute', 'computeIfAbsent', 'computeIfPresent', 'merge']);

function* decide(run: Run, site: string, object: Value, name: string, given: readonly Value[]): Steps<Value> {
  const args = [...given];
  if (OF_ENTRIES.has(name)) args[0] = text(args[0] ?? null);
  const key = OF_ENTRIES.has(name) ? String(args[0]) : '';
  const { token, present, value: held } = (yield* ask(run, site, { op: 'begin', object, key })) as Begun;
  let done: { change: 'set' | 'remove' | 'none'; value: Value } = { change: 'none', value: null };
  try {
    const outcome = yield* (DECISIONS[name] as Decision)(present, held, args);
    refuseGiant(run, outcome.value ?? null);
    const value = outcome.value ?? null;
    const hasSequences = run.madeSequence && holds(value, (inner) => inner instanceof Sequence);
    done = { change: outcome.change, value: yield* materialized(run, value) };
    // A Sequence can be read once: the program gets what is kept.
    return hasSequences && outcome.result === value ? done.value : outcome.result;
  } finally {
    if (!run.dead) yield* ask(run, site, { op: 'end', token, ...done });
  }
}
type Begun = { token: number; present: boolean; value: Value } & ObjectValue;

/** A lambda in its plain form, or in the one that may ask the host. */
function* apply(fn: Value, ...args: Value[]): Steps<Value> {
  const made = (fn as unknown as (...args: Value[]) => unknown)(...args);
  return (isSteps(made) ? yield* made : (made as Value)) ?? null;
}

// Every generator function's own prototype descends from this one; no value of a program does.
const GENERATORS = Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())) as object;
const isSteps = (made: unknown): made is Steps<Value> =>
  typeof made === 'object' && made !== null && Object.prototype.isPrototypeOf.call(GENERATORS, made);

/** A Map as it is now. */
export class MapSnapshot extends LocalValue {
  readonly typeName = 'Map';
  readonly #entries: readonly Value[];
  constructor(entries: readonly Value[]) {
    super();
    this.#entries = entries;
  }
  entries(): Value[] {
    return [...this.#entries];
  }
  override data(): Value {
    const object: ObjectValue = {};
    for (const entry of this.#entries) setOwn(object, text(getOwn(entry as ObjectValue, 'key')), getOwn(entry as ObjectValue, 'value'));
    return object;
  }
  override text(): string {
    return stringify(this.data());
  }
}

export function* snapshotOf(run: Run, map: Shared): Steps<MapSnapshot> {
  return pictureOf(
    map,
    new MapSnapshot((yield* ask(run, 'entries', { op: 'call', object: map, method: 'entrySet', args: [] })) as Value[]),
  );
}

/**
 * A value in which the contents of shared Maps stand for them; Sequences, too, where `sequences`. It is a copy where there were any.
 * What is too large to be copied is too large for the run. Where `maps` is false the text can hold none.
 */
export function* contents(run: Run, value: Value, sequences: boolean, maps: boolean): Steps<Value> {
  if (typeof value !== 'object' || value === null || !(maps || run.madeSequence)) return value;
  if (isSharedMap(value)) return yield* snapshotOf(run, value);
  if (value instanceof Sequence) return sequences ? yield* contents(run, yield* drain(value.open(), run), true, maps) : value;
  const isHeld = (inner: Value): boolean => isSharedMap(inner) || (sequences && inner instanceof Sequence);
  if (!Array.isArray(value) && !isObject(value)) return value;
  const reason = misfit(value, LIMITS.weight);
  if (reason === 'deep') return value; // who writes it tells of that, or cuts it
  if (reason === 'heavy') run.exceed('cascade.execution.memory', LIMITS.weight);
  return holds(value, isHeld) ? pictureOf(value, (yield* replaced(run, value, sequences)) as Value & object) : value;
}

function* replaced(run: Run, value: Value, sequences: boolean): Steps<Value> {
  if (Array.isArray(value)) {
    const list: Value[] = [];
    for (const element of value) list.push(yield* replaced(run, element, sequences));
    return list;
  }
  if (!isObject(value)) return isSharedMap(value) || value instanceof Sequence ? yield* contents(run, value, sequences, true) : value;
  const copy: ObjectValue = {};
  for (const key of Object.keys(value)) setOwn(copy, key, yield* replaced(run, getOwn(value, key), sequences));
  return copy;
}

/** `a + b` of which one is a shared object: beside a text a Map is written with its contents. */
export function* joined(run: Run, a: Value, b: Value): Steps<Value> {
  if (typeof a === 'string' && isSharedMap(b)) return add(a, yield* snapshotOf(run, b));
  return typeof b === 'string' && isSharedMap(a) ? add(yield* snapshotOf(run, a), b) : add(a, b);
}

/** `map.key`, `map[key]`; `other` reads what is no Map. */
export function* entry(run: Run, site: string, object: Value, key: Value, other: () => Value): Steps<Value> {
  if (!isSharedMap(object)) return other();
  return yield* ask(run, site, { op: 'call', object, method: 'get', args: [text(key)] });
}

/** A FOR goes through the entries as they were when it began. */
export class EntriesCursor implements Cursor {
  value: Value = null;
  readonly #run: Run;
  readonly #map: Shared;
  readonly #most: number;
  #entries: ListCursor | null = null;

  constructor(run: Run, map: Shared, most: number = run.options.iterations ?? LIMITS.iterations) {
    this.#run = run;
    this.#map = map;
    this.#most = most;
  }
  step(): boolean {
    if (!this.#entries?.step()) return false;
    this.value = this.#entries.value;
    return true;
  }
  *pull(): Steps<boolean> {
    if (this.#entries) return false;
    const snapshot = yield* snapshotOf(this.#run, this.#map);
    this.#entries = new ListCursor(snapshot.entries(), this.#run, this.#most);
    return this.step();
  }
  *close(): Steps<void> {}
}
