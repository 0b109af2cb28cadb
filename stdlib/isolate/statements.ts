// Checks of what statements carry (language.md 2.5, 5.5 to 5.15), and the shapes that they hand out.
import { CascadeError, fail } from '../errors.ts';
import {
  Decimal,
  getOwn,
  isNumber,
  isObject,
  LocalValue,
  MAX_DEPTH,
  type ObjectValue,
  Pattern,
  text,
  typeOf,
  type Value,
} from '../values/index.ts';
import { refuseGiant } from './operations.ts';
import { resultList } from './result-lists.ts';
import type { WireError } from './protocol.ts';
import type { Run } from './run.ts';
import { Sequence } from './sequence.ts';
import { errorFromWire, exceptionObject } from './wire-errors.ts';

/** `@v`: the name in a variable (S9). */
export function reference(value: Value, variable: string): string {
  return typeof value === 'string' ? value : fail('cascade.lang.reference.type', variable, typeOf(value));
}

/** A where-object in a variable (W5). */
export function query(value: Value): ObjectValue {
  if (isObject(value)) return value;
  const type = typeOf(value);
  throw new CascadeError('cascade.query.condition.type', `A condition must be an Object, not ${type}.`, [type]);
}

/** The pattern of REGEX as text. */
export function pattern(value: Value): Value {
  return value instanceof Pattern ? value.source : value;
}

/** Keys of a geo operand are also accepted without `$` (W7). */
export function geoOperand(value: Value): Value {
  if (!isObject(value)) return value;
  const operand: ObjectValue = {};
  for (const key of Object.keys(value)) operand[GEO_KEYS.has(key) ? `$${key}` : key] = getOwn(value, key);
  return operand;
}
const GEO_KEYS: ReadonlySet<string> = new Set(['geometry', 'minDistance', 'maxDistance']);

/** An Object or an Array of what is to be stored (I5). */
export function valueSet(value: Value, statement: string): Value {
  if (isObject(value) || Array.isArray(value)) return value;
  return fail(statement === 'published' ? 'cascade.lang.publish.value' : 'cascade.lang.insert.value', typeOf(value), statement);
}

/** An operand beside a property of a row, for the service: of what cannot leave the program an operator takes the text. */
export const given = (value: Value): Value => (typeof value === 'function' || value instanceof LocalValue ? text(value) : value);

/** INSERT SERIES needs `window` and `key` (I6). */
export function series(values: Value): Value {
  for (const property of ['window', 'key'])
    if (!isObject(values) || getOwn(values, property) === null) fail('cascade.lang.insert.series', property);
  return values;
}

/** What is published: to a source an Object, elsewhere anything that is data through and through (B1, B2). */
export function publishValue(run: Run, value: Value, kind: string): Value {
  refuseGiant(run, value);
  const wrong = kind === 'source' && !isObject(value) ? value : notData(value, 0);
  return wrong === undefined ? value : fail('cascade.lang.publish.value', typeOf(wrong), 'published');
}

/** A part that cannot leave the program. Sequences can, once they are read; what is too deep is told of when it is written. */
function notData(value: Value, depth: number): Value | undefined {
  if (typeof value === 'function') return value;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  if (value instanceof LocalValue) return value instanceof Sequence || value.data() !== undefined ? undefined : value;
  const parts = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  for (const part of parts) {
    const wrong = notData(part, depth + 1);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** The value of SELECT … FROM SOURCE by its cardinality (E13). */
export function sourceResult(value: Value, cardinality: string): Value {
  return cardinality === 'one' || cardinality === 'exactlyOne' ? value : resultList([value]);
}

/** The variable of ON ERROR, from what the host tells of a failed instance (U6). */
export function failure(item: Value): Value {
  const error = isObject(item) ? getOwn(item, 'error') : null;
  if (!isObject(item) || !isObject(error)) return item;
  const exception = exceptionObject(errorFromWire(error as unknown as WireError));
  exception.instance = getOwn(item, 'instance');
  return exception;
}

/** RECOMMEND: one more entry of the result (5.15). */
export function recommend(run: Run, list: Value, candidate: Value, relevance: Value, reason: Value): Value {
  if (relevance !== null && !isNumber(relevance) && !(relevance instanceof Decimal)) fail('cascade.lang.recommend', 'relevance');
  if (reason !== null && typeof reason !== 'string') fail('cascade.lang.recommend', 'reason');
  const entry = { candidate, relevance, reason };
  run.charge(64);
  if (Array.isArray(list)) list.push(entry);
  return entry;
}
