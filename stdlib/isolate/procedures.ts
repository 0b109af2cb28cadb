// Calls of user procedures: found by name, checked, run on the caller's stack (language.md 3.2, 4.9, N5).
import { fail } from '../errors.ts';
import { type ObjectValue, typeOf, type Value } from '../values/index.ts';
import { bindArguments, returned } from './arguments.ts';
import { LIMITS } from './limits.ts';
import type { Programs } from './programs.ts';
import type { ProcedureInfo } from './protocol.ts';
import type { Run } from './run.ts';
import { drain, Sequence } from './sequence.ts';
import { slice, type Steps, waitForProcedure } from './steps.ts';

export class Procedures {
  readonly #programs: Programs;
  /** What the host told; null: there is none. Bounded by what programs name; `forget` takes entries out. */
  readonly #known = new Map<string, ProcedureInfo | null>();
  /** Candidates of a call, split once. */
  readonly #candidates = new Map<string, readonly string[]>();
  constructor(programs: Programs) {
    this.#programs = programs;
  }

  learn(name: string, info: ProcedureInfo | null): void {
    this.#known.set(name, info);
  }
  forget(name: string): void {
    this.#known.delete(name);
  }

  /** `names`: candidates with `|` between, the first that exists is called. */
  *call(run: Run, site: number, names: string, args: Value[], named: ObjectValue | null): Steps<Value> {
    const info = yield* this.#find(run, names);
    if (!info) return fail('cascade.lang.procedure.unknown', names.split('|')[0] ?? names);
    return yield* this.invoke(run, `${site}/`, info, args, named);
  }

  /** `x.f(…)` where no built-in is called f: the receiver is the first argument. */
  *callMethod(run: Run, site: number, names: string, args: Value[], named: ObjectValue | null): Steps<Value> {
    const info = yield* this.#find(run, names);
    if (!info) return fail('cascade.builtin.method.unknown', names.split('|')[0] ?? names, typeOf(args[0] ?? null));
    return yield* this.invoke(run, `${site}/`, info, args, named);
  }

  /** A call from outside; the value is what crosses the border, so a Sequence is read to its end. */
  *callByName(run: Run, name: string, args: Value[] | null, named: ObjectValue | null): Steps<Value> {
    const info = yield* this.#find(run, name);
    if (!info) return fail('cascade.lang.procedure.unknown', name);
    return yield* this.invoke(run, '', info, args, named);
  }

  *#find(run: Run, names: string): Steps<ProcedureInfo | null> {
    let candidates = this.#candidates.get(names);
    if (!candidates) this.#candidates.set(names, (candidates = names.split('|')));
    for (const name of candidates) {
      while (!this.#known.has(name)) yield* waitForProcedure(run, name);
      const info = this.#known.get(name);
      if (info) return info;
    }
    return null;
  }

  *invoke(run: Run, step: string, info: ProcedureInfo, args: Value[] | null, named: ObjectValue | null): Steps<Value> {
    if (info.private && info.service !== run.service) fail('cascade.procedure.private', info.name);
    const values = bindArguments(info, args, named);
    if (run.depth >= LIMITS.callDepth) run.exceed('cascade.execution.depth', LIMITS.callDepth);
    if (--run.fuel < 0) yield* slice(run);
    const { code, isGenerator } = this.#programs.entry(info.program, 'main');
    const { path, service } = run;
    run.depth++;
    run.path = path + step;
    run.service = info.service;
    try {
      const made: unknown = code(...([run, ...values] as never[]));
      const value = (isGenerator ? yield* made as Steps<Value> : (made as Value)) ?? null;
      const wantsArray = info.returns !== null && info.returns.cardinality === 'array';
      return returned(info, wantsArray && value instanceof Sequence ? yield* drain(value.open(), run) : value);
    } finally {
      run.depth--;
      run.path = path;
      run.service = service;
    }
  }
}
