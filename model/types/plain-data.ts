// Data without a declared type, fit to be stored: the content of an Object property (resources-and-api.md 5.9).
import {
  Currency,
  Decimal,
  isObject,
  LocalValue,
  MAX_DATA_DEPTH,
  type ObjectValue,
  Real,
  real,
  setOwn,
  significantDigits,
  type Value,
} from '../../stdlib/values/index.ts';
import { type InPieces, isDivisible, runsOf } from './pieces.ts';

const STORED_DIGITS = 34;

/** Why data cannot be stored: the last param of type.property.invalid. */
export class DataError extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * A copy at every depth. Reals lose the digits that their double does not hold: nothing reads them from here on.
 * @throws DataError
 */
export function plainData(value: Value | undefined, depth = 0): Value {
  switch (typeof value) {
    case 'string':
      return wellFormed(value);
    case 'function':
      throw new DataError('format');
    case 'undefined':
      return null;
    case 'number':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      return value === null ? null : plainObject(value, depth);
  }
}

function plainObject(value: Extract<Value, object>, depth: number): Value {
  if (Array.isArray(value)) {
    const inside = deeper(depth);
    return value.map((element) => plainData(element, inside));
  }
  if (isObject(value)) {
    const inside = deeper(depth);
    const copy: ObjectValue = {};
    for (const key of Object.keys(value)) setOwn(copy, wellFormed(key), plainData(value[key], inside));
    return copy;
  }
  if (value instanceof LocalValue) return plainData(value.data() ?? refused('format'), depth);
  if (value instanceof Real) return Number.isFinite(value.value) ? real(value.value) : refused('range');
  const decimal = value instanceof Decimal ? value : value instanceof Currency ? value.amount : null;
  return decimal && significantDigits(decimal) > STORED_DIGITS ? refused('range') : value;
}

/** The same for a long value. @throws DataError */
export function* plainDataInPieces(value: Value, depth = 0): InPieces<Value> {
  if (!isDivisible(value)) return plainData(value, depth);
  const inside = deeper(depth);
  if (Array.isArray(value)) {
    const copy: Value[] = [];
    for (const run of runsOf(value.length, (index) => value[index])) {
      if (run.isDivisible) copy.push(yield* plainDataInPieces(value[run.from] as Value, inside));
      else for (let index = run.from; index < run.to; index++) copy.push(plainData(value[index], inside));
      yield;
    }
    return copy;
  }
  const copy: ObjectValue = {};
  const names = Object.keys(value);
  for (const run of runsOf(names.length, (index) => value[names[index] as string])) {
    for (let index = run.from; index < run.to; index++) {
      const name = names[index] as string;
      const member = value[name] as Value;
      setOwn(copy, wellFormed(name), run.isDivisible ? yield* plainDataInPieces(member, inside) : plainData(member, inside));
    }
    yield;
  }
  return copy;
}

const refused = (reason: string): never => {
  throw new DataError(reason);
};
const wellFormed = (text: string): string => (text.isWellFormed() ? text : refused('surrogate'));
const deeper = (depth: number): number => (depth < MAX_DATA_DEPTH ? depth + 1 : refused('depth'));
