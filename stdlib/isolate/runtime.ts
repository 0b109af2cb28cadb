// `$rt`: all that an emitted module can reach, name by name (compiler/runtime-names.ts). Plain functions; nothing here is an object whose
// members a program could ask for.
import type { BuiltinForm, RuntimeName } from '../../compiler/types.ts';
import { lookup } from '../builtins/index.ts';
import { CascadeError, fail } from '../errors.ts';
import * as operators from '../operators/index.ts';
import { Binary, fromBase64, type ObjectValue, real, type Value } from '../values/index.ts';
import { aggregateRows } from './aggregates.ts';
import { CAUGHT_BYTES, CAUGHT_FUEL, isLimit } from './limits.ts';
import * as loops from './loops.ts';
import { operation } from './operations.ts';
import { stateGet, stateSet } from './state.ts';
import type { Procedures } from './procedures.ts';
import * as nodes from './nodes.ts';
import * as references from './references.ts';
import type { Run } from './run.ts';
import * as statements from './statements.ts';
import { contents, entry, isShared, joined, shared } from './shared-objects.ts';
import { slice, type Steps } from './steps.ts';
import { traceLine } from './trace.ts';
import { exceptionObject } from './wire-errors.ts';

// The callers are emitted text; the verifier, not the type checker, sees to them.
// oxlint-disable-next-line typescript/no-explicit-any
type Helper = (...args: any[]) => unknown;
export type Runtime = Readonly<Record<RuntimeName | BuiltinForm, Helper>>;

/** A sum that is longer than this is counted. */
const COUNTED_LENGTH = 1024;

/** @param current the run whose code is running */
// oxlint-disable-next-line max-lines-per-function -- a table: what compiled code may call, by name
export function makeRuntime(procedures: Procedures, current: () => Run): Runtime {
  const get = (object: Value, key: string, path: string): Value => {
    const found = references.get(object, key, path);
    if (Array.isArray(object) && Array.isArray(found)) current().charge(32 + found.length * 8); // made here, of all elements
    return found;
  };
  const runtime: Record<RuntimeName | BuiltinForm, Helper> = {
    real,
    made: (run: Run, bytes: number, value: Value): Value => {
      run.charge(bytes);
      return value;
    },
    add: (a: Value, b: Value): Value => {
      const sum = operators.add(a, b);
      if (typeof sum === 'number') return sum;
      if (typeof sum === 'string' && sum.length > COUNTED_LENGTH) current().charge(sum.length * 2);
      else if (Array.isArray(sum)) current().charge(sum.length * 16);
      return sum;
    },
    sub: operators.sub,
    mul: operators.mul,
    div: operators.div,
    mod: operators.mod,
    pow: operators.pow,
    neg: operators.neg,
    pos: operators.pos,
    inc: operators.inc,
    dec: operators.dec,
    eq: operators.eq,
    ne: operators.ne,
    lt: operators.lt,
    le: operators.le,
    gt: operators.gt,
    ge: operators.ge,
    inArray: (x: Value, list: Value) => {
      if (Array.isArray(list)) current().spend(list.length);
      return operators.inArray(x, list);
    },
    regex: (s: Value, pattern: Value) => operators.regexSearch(s, pattern, current()),
    geo: (operator: string, left: Value, right: Value) => operators.geo(operator, left, right, current()),
    truth: operators.truth,
    get,
    at: references.at,
    atInside: references.atInside,
    getOrNull: (object: Value, key: string, path: string): Value =>
      object === null || object === undefined ? null : get(object, key, path),
    atOrNull: (object: Value, index: Value, path: string): Value =>
      object === null || object === undefined ? null : references.at(object, index, path),
    set: references.set,
    setAt: references.setAt,
    receiver: references.receiver,
    iterate: loops.iterate,
    step: loops.step,
    pull: loops.pull,
    value: loops.value,
    close: loops.close,
    left: loops.left,
    elements: loops.elements,
    filter: loops.filter,
    map: loops.map,
    rows: loops.rows,
    array: loops.array,
    arrayNow: loops.arrayNow,
    block: (body: () => Steps<Value>) => body(),
    op: operation,
    slice,
    call: (run: Run, site: number, names: string, args: Value[], named: ObjectValue | null, executed?: Value[]) =>
      procedures.call(run, site, names, args, named, executed),
    stateGet,
    stateSet,
    callMethod: (run: Run, site: number, names: string, args: Value[], named: ObjectValue | null) =>
      procedures.callMethod(run, site, names, args, named),
    host,
    isShared,
    contents,
    joined,
    entry: (run: Run, site: number, object: Value, key: Value, path: string, isSubscript: boolean) =>
      entry(run, `${site}`, object, key, () =>
        isSubscript ? references.at(object, key, path) : references.get(object, String(key), path),
      ),
    caught: (run: Run, error: unknown): Value => {
      if (!isLimit(error)) {
        run.charge(CAUGHT_BYTES);
        run.fuel -= CAUGHT_FUEL;
        return exceptionObject(error);
      }
      run.dead = true;
      throw error;
    },
    passed: (run: Run, error: unknown): never => {
      if (isLimit(error)) run.dead = true;
      throw error;
    },
    live: (run: Run): boolean => !run.dead,
    line: traceLine,
    raise: (_run: Run, code: string, ...params: Value[]) => raise(code, params),
    reference: statements.reference,
    query: statements.query,
    pattern: statements.pattern,
    geoOperand: statements.geoOperand,
    valueSet: statements.valueSet,
    given: statements.given,
    series: statements.series,
    publishValue: (value: Value, kind: string) => statements.publishValue(current(), value, kind),
    project: (collection: Value, make: (row: Value) => Value) => loops.project(collection, make, current()),
    aggregate: aggregateRows,
    sourceResult: statements.sourceResult,
    sourceRows: loops.sourceRows,
    failure: statements.failure,
    recommend: statements.recommend,
    nodeItems: nodes.nodeItems,
    nodeResults: nodes.nodeResults,
    nodeValue: nodes.nodeValue,
    builtin: (name: string) => {
      const found = known(name);
      return (run: Run, ...args: Value[]) => found.call(run, args);
    },
    method: (name: string) => {
      const found = known(name);
      return (run: Run, ...args: Value[]) => found.callMethod(run, args);
    },
    named: (name: string) => {
      const found = known(name);
      return (run: Run, named: ObjectValue) => found.callNamed(run, named);
    },
    namedMethod: (name: string) => {
      const found = known(name);
      return (run: Run, receiver: Value, named: ObjectValue) => found.callNamed(run, named, receiver);
    },
  };
  return Object.freeze(runtime);
}

/** A built-in that the host answers, unless the run itself knows; its arguments are checked here. */
function* host(run: Run, site: number, name: string, args: Value[], named: ObjectValue | null, isMethod: boolean): Steps<Value> {
  const builtin = lookup(name);
  if (!builtin) return fail('cascade.lang.procedure.unknown', name);
  const asked = builtin.ask(run, args, named, isMethod);
  if ('value' in asked) return asked.value;
  const { known, pages, binary, shared: step } = asked.host;
  if (known) return known(run);
  if (step) return yield* shared(run, `${site}`, name, step, asked.args);
  // As for PUBLISH: whether the service's own code publishes is known only here (operations.ts).
  const passed = name === 'Event.request' ? [...asked.args, run.service] : asked.args;
  const answer = yield* operation(run, site, 'builtin', { name, args: passed }, false);
  if (binary) return new Binary(fromBase64(String(answer)) as Uint8Array);
  return pages ? loops.rowsAfter(run, site, answer as ObjectValue) : answer;
}

function known(name: string): NonNullable<ReturnType<typeof lookup>> {
  const found = lookup(name);
  if (!found) throw new Error(`no built-in ${name}`); // the compiler's table is ours, so this is a fault of ours
  return found;
}

/** Errors that the emitter knows must come, with codes of the host's catalogue. */
const MESSAGES: Readonly<Record<string, (params: readonly Value[]) => string>> = {
  'cascade.query.group': ([type, property]) => `${String(property)} of ${String(type)} is neither grouped nor aggregated.`,
  'cascade.federation.statement.unsupported': ([what]) => `${String(what)} is not supported.`,
};
function raise(code: string, params: Value[]): never {
  throw new CascadeError(code, MESSAGES[code]?.(params) ?? code, params, 400);
}
