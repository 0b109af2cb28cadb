// `== != < <= > >=`: the left operand's type decides (language.md 4.7).
import { fail } from '../errors.ts';
import {
  compareCodeUnits,
  compareDecimals,
  Currency,
  DateTime,
  Decimal,
  decimalOfNumber,
  isInteger,
  isNumber,
  isObject,
  isReference,
  LocalValue,
  numberOf,
  parseCurrency,
  parseDateTime,
  parseDecimal,
  Real,
  text,
  typeOf,
  type Value,
} from '../values/index.ts';
import { deepEquals } from './deep-equals.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

export function eq(a: Value, b: Value): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a === b : equal(a, b, '==');
}
export function ne(a: Value, b: Value): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a !== b : !equal(a, b, '!=');
}
export function lt(a: Value, b: Value): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a < b : order(a, b, '<') < 0;
}
export function le(a: Value, b: Value): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a <= b : order(a, b, '<=') <= 0;
}
export function gt(a: Value, b: Value): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a > b : order(a, b, '>') > 0;
}
export function ge(a: Value, b: Value): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a >= b : order(a, b, '>=') >= 0;
}

/** The order between two numbers of Integer and Real, by mathematical value; NaN beside a NaN. */
function orderNumbers(a: number | bigint | Real, b: number | bigint | Real): number {
  const left = a instanceof Real ? a.value : a;
  const right = b instanceof Real ? b.value : b;
  return left < right ? -1 : left > right ? 1 : left >= right ? 0 : Number.NaN; // JavaScript orders bigint and double exactly
}

/**
 * The order of two scalars, where the left one's row has a conversion for the right one: negative, 0 or positive, NaN when neither holds;
 * undefined when the right one does not convert, so that `==` is false and `<` a class cast; a code mismatch is 'code'.
 */
function scalarOrder(a: Value, b: Value): number | undefined | 'code' {
  if (isNumber(a)) {
    if (isNumber(b)) return orderNumbers(a, b);
    return b instanceof DateTime && isInteger(a) ? orderNumbers(a, b.ms) : undefined;
  }
  if (typeof a === 'string') {
    if (typeof b === 'string') return compareCodeUnits(a, b);
    const right =
      isNumber(b) || typeof b === 'boolean' || b instanceof DateTime ? text(b) : b instanceof LocalValue ? b.asString() : undefined;
    return right === undefined ? undefined : compareCodeUnits(a, right);
  }
  if (a instanceof DateTime) {
    const right = b instanceof DateTime ? b : typeof b === 'string' ? parseDateTime(b.trim()) : isInteger(b) ? { ms: b } : null;
    return right ? orderNumbers(a.ms, right.ms) : undefined;
  }
  if (a instanceof Decimal) return orderAmount(a, b instanceof Currency ? b.amount : b);
  if (a instanceof Currency) {
    const right = typeof b === 'string' ? (parseCurrency(b.trim()) ?? b) : b;
    if (!(right instanceof Currency)) return orderAmount(a.amount, right);
    return right.code === a.code ? compareDecimals(a.amount, right.amount) : 'code';
  }
  return undefined;
}

function orderAmount(a: Decimal, b: Value): number | undefined {
  if (b instanceof Decimal) return compareDecimals(a, b);
  if (isNumber(b)) {
    const right = decimalOfNumber(b);
    return right ? compareDecimals(a, right) : -Math.sign(numberOf(b)); // an infinity, or NaN
  }
  const right = typeof b === 'string' ? parseDecimal(b.trim()) : null;
  return right ? compareDecimals(a, right) : undefined;
}

function equal(a: Value, b: Value, operator: Comparison): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b;
  if (a === null || a === undefined || b === null || b === undefined) return (a ?? null) === (b ?? null);
  refuseSequence(a, b, operator);
  refuseFixed(a, b, operator);
  if (typeof a === 'boolean') return typeof b === 'string' ? b === String(a) : a === b;
  if (isObject(a)) return isReference(a) && typeof b === 'string' ? text(a) === b : deepEquals(a, b);
  if (typeof a === 'string' && isReference(b)) return a === text(b);
  if (Array.isArray(a)) return deepEquals(a, b);
  if (a instanceof LocalValue) return a.same(b);
  return typeof a === 'function' ? a === b : scalarOrder(a, b) === 0;
}

function order(a: Value, b: Value, operator: Comparison): number {
  if (typeof a === 'string' && typeof b === 'string') return compareCodeUnits(a, b);
  if (a === null || a === undefined || b === null || b === undefined) return Number.NaN;
  refuseSequence(a, b, operator);
  refuseFixed(a, b, operator);
  const result = scalarOrder(a, b);
  if (result === 'code') return fail('cascade.lang.currency.mismatch', (a as Currency).code, currencyCode(b));
  return result ?? fail('cascade.lang.class.cast', operator, typeOf(a), typeOf(b));
}

function currencyCode(v: Value): string {
  return v instanceof Currency ? v.code : text(v).trim().slice(0, 3);
}

/** A Decimal or Currency to the right of an Integer, Real, String or DateTime: refused by all six operators. */
function refuseFixed(a: Value, b: Value, operator: Comparison): void {
  if (!(b instanceof Decimal || b instanceof Currency)) return;
  if (isNumber(a) || typeof a === 'string' || a instanceof DateTime) fail('cascade.lang.class.cast', operator, typeOf(a), typeOf(b));
}

function refuseSequence(a: Value, b: Value, operator: Comparison): void {
  if ((a instanceof LocalValue && a.typeName === 'Sequence') || (b instanceof LocalValue && b.typeName === 'Sequence'))
    fail('cascade.lang.sequence.operation', operator);
}
