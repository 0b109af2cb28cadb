// Requests to the host: the payload as text, Sequences in it read to their end first (language.md Q5).
import { fail } from '../errors.ts';
import {
  encodeInner,
  encodeStatement,
  failDeep,
  getOwn,
  isObject,
  MAX_DEPTH,
  type ObjectValue,
  setOwn,
  type Value,
} from '../values/index.ts';
import { LIMITS } from './limits.ts';
import type { OpKind } from './protocol.ts';
import type { Run } from './run.ts';
import { drain, Sequence } from './sequence.ts';
import { request, type Steps } from './steps.ts';
import { misfit } from './weight.ts';

/** Statements on the store: a property's type or a condition's path says there whether XML is meant as its text. */
const KEEPS_XML: ReadonlySet<OpKind> = new Set<OpKind>(['select', 'open', 'insert', 'upsert', 'update', 'delete']);

/** One operation at a place of the text. */
export function* operation(run: Run, site: number, kind: OpKind, payload: Value, tail: boolean): Steps<Value> {
  // Outbound events of a service are its own code's to publish, its PRIVATE procedures to call (language.md B3, N5).
  const isOfService = kind === 'publishServiceEvent' || kind === 'execute';
  const whole = isOfService ? { ...(payload as ObjectValue), from: run.service } : payload;
  return yield* request(
    run,
    `${run.path}${site}`,
    kind,
    yield* encoded(run, whole, KEEPS_XML.has(kind) ? encodeStatement : encodeInner),
    tail,
  );
}

/** Inner JSON of a value; what cannot cross the border is an error of the program. */
export function* encoded(run: Run, value: Value, encode: (value: Value) => string = encodeInner): Steps<string> {
  refuseGiant(run, value);
  if (!run.madeSequence || !holds(value, (inner) => inner instanceof Sequence)) return encode(value);
  const whole = yield* materialized(run, value);
  refuseGiant(run, whole);
  return encode(whole);
}

/** The same of a value for another node: the items of a Sequence are an Array there, one inside a value cannot cross (language.md Q5). */
export function* encodedForNode(run: Run, value: Value): Steps<string> {
  const whole = value instanceof Sequence ? yield* drain(value.open(), run) : value;
  refuseGiant(run, whole);
  if (holds(whole, (inner) => inner instanceof Sequence)) fail('cascade.lang.sequence.embedded', 'a value for another node');
  return encodeInner(whole);
}

/** Inner JSON text, unless it would be larger than what may be stored, as one part may stand at many places of a value, or too deep. */
export function outward(run: Run, value: Value): string {
  refuseGiant(run, value);
  return encodeInner(value);
}
/** What is too deep to cross is an error of the program, what is too large the end of the run. */
export function refuseGiant(run: Run, value: Value): void {
  const reason = misfit(value, LIMITS.weight);
  if (reason === 'deep') failDeep('the value', value);
  if (reason === 'heavy') run.exceed('cascade.execution.memory', LIMITS.weight);
}

/** Whether something stands in a value, which is neither a giant nor too deep: one part may stand at very many places (weight.ts). */
export function holds(value: Value, isWanted: (inner: Value) => boolean): boolean {
  if (isWanted(value)) return true;
  if (Array.isArray(value)) return value.some((element) => holds(element, isWanted));
  if (!isObject(value)) return false;
  for (const key of Object.keys(value)) if (holds(value[key] as Value, isWanted)) return true;
  return false;
}

/** A copy, of what is no giant, in which every Sequence is an Array. */
export function* materialized(run: Run, value: Value, whole = value, depth = 0): Steps<Value> {
  if (value instanceof Sequence) {
    const list = yield* drain(value.open(), run);
    refuseGiant(run, list);
    return yield* materialized(run, list, whole, depth);
  }
  if (depth > MAX_DEPTH) failDeep('the value', whole);
  if (Array.isArray(value)) {
    const list: Value[] = [];
    for (const element of value) list.push(yield* materialized(run, element, whole, depth + 1));
    return list;
  }
  if (!isObject(value)) return value;
  const copy: ObjectValue = {};
  for (const key of Object.keys(value)) setOwn(copy, key, yield* materialized(run, getOwn(value, key), whole, depth + 1));
  return copy;
}
