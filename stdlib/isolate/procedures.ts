// Calls of user procedures: found by name, checked, run on the caller's stack (language.md 3.2, 4.9, N5).
import { fail } from '../errors.ts';
import { type ObjectValue, typeOf, type Value } from '../values/index.ts';
import { bindArguments, returned } from './arguments.ts';
import { describedArguments, describedResult, hasDescribed, isDescribed } from './described.ts';
import { isLimit, LIMITS } from './limits.ts';
import type { Programs } from './programs.ts';
import type { ProcedureInfo, RefusedProcedure } from './protocol.ts';
import { encoded } from './operations.ts';
import type { Run } from './run.ts';
import { drain, Sequence } from './sequence.ts';
import { ask, flushState, initializerOf, isInitializer, keyOf, scopesOf, type StateScope } from './state.ts';
import { request, slice, type Steps, waitForProcedure } from './steps.ts';
import { errorFromWire } from './wire-errors.ts';

export class Procedures {
  readonly #programs: Programs;
  /** What the host told; null: there is none. Bounded by what programs name; `forget` takes entries out. */
  readonly #known = new Map<string, ProcedureInfo | RefusedProcedure | null>();
  /** Candidates of a call, split once. */
  readonly #candidates = new Map<string, readonly string[]>();
  constructor(programs: Programs) {
    this.#programs = programs;
  }

  learn(name: string, info: ProcedureInfo | RefusedProcedure | null): void {
    this.#known.set(name, info);
  }
  forget(name: string): void {
    this.#known.delete(name);
  }

  /**
   * `names`: candidates with `|` between, the first that exists is called.
   * @param executed by EXECUTE: empty, or with the key of the partition
   */
  *call(run: Run, site: number, names: string, args: Value[], named: ObjectValue | null, executed?: Value[]): Steps<Value> {
    const info = yield* this.#find(run, names);
    if (!info) return fail('cascade.lang.procedure.unknown', names.split('|')[0] ?? names);
    return yield* this.invoke(run, `${site}/`, info, args, named, executed);
  }

  /** `x.f(…)` where no built-in is called f: the receiver is the first argument. */
  *callMethod(run: Run, site: number, names: string, args: Value[], named: ObjectValue | null): Steps<Value> {
    const info = yield* this.#find(run, names);
    if (!info) return fail('cascade.builtin.method.unknown', names.split('|')[0] ?? names, typeOf(args[0] ?? null));
    return yield* this.invoke(run, `${site}/`, info, args, named);
  }

  /** A call from outside; the value is what crosses the border, so a Sequence is read to its end. */
  *callByName(run: Run, name: string, args: Value[] | null, named: ObjectValue | null, executed?: Value[]): Steps<Value> {
    const info = yield* this.#find(run, name);
    if (!info) return fail('cascade.lang.procedure.unknown', name);
    const values = bindAllowed(run, info, args, named);
    const own = hasDescribed(info) ? yield* describedArguments(run, '', info, values) : values;
    return yield* this.#invokeHere(run, '', info, own, executed);
  }

  *#find(run: Run, names: string): Steps<ProcedureInfo | null> {
    let candidates = this.#candidates.get(names);
    if (!candidates) this.#candidates.set(names, (candidates = names.split('|')));
    for (const name of candidates) {
      while (!this.#known.has(name)) yield* waitForProcedure(run, name);
      const info = this.#known.get(name);
      if (info && 'refused' in info) throw errorFromWire(info.refused);
      if (info) return info;
    }
    return null;
  }

  /** Not a generator itself: each one between two bodies costs every resume of the run. */
  invoke(run: Run, step: string, info: ProcedureInfo, args: Value[] | null, named: ObjectValue | null, executed?: Value[]): Steps<Value> {
    const values = bindAllowed(run, info, args, named);
    return hasDescribed(info) ? this.#afterHost(run, step, info, values, executed) : this.#invokeBound(run, step, info, values, executed);
  }

  *#afterHost(run: Run, step: string, info: ProcedureInfo, values: Value[], executed?: Value[]): Steps<Value> {
    return yield* this.#invokeBound(run, step, info, yield* describedArguments(run, step, info, values), executed);
  }

  #invokeBound(run: Run, step: string, info: ProcedureInfo, values: Value[], executed?: Value[]): Steps<Value> {
    return info.apart ? this.#callApart(run, step, info, values, executed) : this.#invokeHere(run, step, info, values, executed);
  }

  /** Whether the caller may call it, and as whom it runs, is the host's to say: it is a run of its own there. */
  *#callApart(run: Run, step: string, info: ProcedureInfo, args: Value[], executed?: Value[]): Steps<Value> {
    requireDepth(run);
    const asked = { name: info.name, args, service: run.service, executed: executed ?? null };
    const value = yield* request(run, `${run.path}${step}`, 'call', yield* encoded(run, asked), false);
    return info.returns?.cardinality === 'sequence' && Array.isArray(value) ? run.sequence(value) : value;
  }

  #invokeHere(run: Run, step: string, info: ProcedureInfo, values: readonly Value[], executed?: Value[]): Steps<Value> {
    return info.state ? this.#inState(run, step, info, values, executed) : this.#body(run, step, info, values, null);
  }

  *#inState(run: Run, step: string, info: ProcedureInfo, values: readonly Value[], executed?: Value[]): Steps<Value> {
    const how = { execute: executed !== undefined, ...(executed && executed.length > 0 && { partitionKey: executed[0] ?? null }) };
    const scopes = yield* scopesOf(run, info, values, how);
    if (info.state !== 'partitions') return yield* this.#body(run, step, info, values, scopes[0] ?? null);
    const results: Value[] = [];
    for (const scope of scopes) results.push(yield* this.#body(run, `${step}${results.length}/`, info, values, scope));
    return run.sequence(results);
  }

  /** Runs the body once, with the state it has. */
  *#body(run: Run, step: string, info: ProcedureInfo, values: readonly Value[], scope: StateScope | null): Steps<Value> {
    requireDepth(run);
    if (--run.fuel < 0) yield* slice(run);
    const { code, isGenerator } = this.#programs.entry(info.program, 'main');
    const { path, service, scope: outer } = run;
    run.depth++;
    run.path = path + step;
    run.service = info.service;
    run.scope = scope;
    try {
      if (scope) yield* this.#enter(run, scope);
      const made: unknown = code(...([run, ...values] as never[]));
      const value = (isGenerator ? yield* made as Steps<Value> : (made as Value)) ?? null;
      const wantsArray = info.returns !== null && info.returns.cardinality === 'array';
      let whole = value;
      if (value instanceof Sequence && (scope || wantsArray)) {
        // Its elements may read the state, which is there as long as the body runs.
        const elements = yield* drain(value.open(), run);
        whole = wantsArray ? elements : run.sequence(elements);
      }
      if (scope) yield* flushState(run);
      const result = returned(info, whole);
      return isDescribed(info.returns?.type ?? null) ? yield* describedResult(run, info, result) : result;
    } catch (error) {
      if (scope && !run.dead && !isLimit(error)) yield* flushState(run); // what was changed before the error stays (T6)
      throw error;
    } finally {
      run.depth--;
      run.path = path;
      run.service = service;
      run.scope = outer;
    }
  }

  /** Makes sure that the state is there; whoever finds it new calls the initialising procedure, once (language.md Y6). */
  *#enter(run: Run, scope: StateScope): Steps<void> {
    const { service, partition } = scope;
    const entered = (run.entered ??= new Set());
    if (entered.has(keyOf(scope, ''))) return;
    entered.add(keyOf(scope, ''));
    if ((yield* ask(run, 'enter', { op: 'enter', service, partition })) !== true) return;
    let failed = true;
    try {
      const initializer = yield* this.#find(run, initializerOf(scope));
      if (initializer) yield* this.#body(run, 'init/', initializer, [], scope);
      yield* flushState(run);
      failed = false;
    } finally {
      if (!run.dead) yield* ask(run, 'entered', { op: 'entered', service, partition, failed });
      if (failed) entered.delete(keyOf(scope, ''));
    }
  }
}

/** @throws cascade.procedure.private, and what is wrong with the arguments */
function bindAllowed(run: Run, info: ProcedureInfo, args: Value[] | null, named: ObjectValue | null): Value[] {
  if (info.private && (info.service !== run.service || isInitializer(info.name))) fail('cascade.procedure.private', info.name);
  return bindArguments(info, args, named);
}

function requireDepth(run: Run): void {
  const most = run.options.callDepth ?? LIMITS.callDepth;
  if (run.depth >= most) run.exceed('cascade.execution.depth', most);
}
