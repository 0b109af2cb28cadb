// Equality inside Objects and Lists: kinds must agree, numbers count by value, the order of keys does not count.
import { fail } from '../errors.ts';
import {
  compareDecimals,
  Currency,
  DateTime,
  Decimal,
  failDeep,
  isNumber,
  isObject,
  LocalValue,
  MAX_DEPTH,
  MAX_ELEMENTS,
  Real,
  typeOf,
  type Value,
} from '../values/index.ts';

/** Never fails, but for cycles and giants. Used by `==`, `in` and the built-ins that search; GROUP BY has `equalText`. */
export function deepEquals(a: Value, b: Value): boolean {
  return same(a, b, 0, { whole: a, left: MAX_ELEMENTS });
}

interface Budget {
  readonly whole: Value;
  /** Elements that may still be looked at: one part may stand at many places of a value. */
  left: number;
}

function same(a: Value, b: Value, depth: number, budget: Budget): boolean {
  if (a === b) return true;
  if (isNumber(a)) return isNumber(b) && plain(a) >= plain(b) && plain(a) <= plain(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return (a ?? null) === (b ?? null);
  if (depth > MAX_DEPTH) failDeep('the value', budget.whole);
  if (--budget.left < 0) fail('cascade.execution.memory', typeOf(a), MAX_ELEMENTS);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!same(a[i] as Value, b[i] as Value, depth + 1, budget)) return false;
    return true;
  }
  if (a instanceof DateTime) return b instanceof DateTime && a.ms === b.ms;
  if (a instanceof Decimal) return b instanceof Decimal && compareDecimals(a, b) === 0;
  if (a instanceof Currency) return b instanceof Currency && a.code === b.code && compareDecimals(a.amount, b.amount) === 0;
  if (a instanceof LocalValue) return a.same(b);
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && same(a[key] as Value, b[key] as Value, depth + 1, budget));
}

/** What JavaScript orders exactly, double with bigint too. */
function plain(v: number | bigint | Real): number | bigint {
  return v instanceof Real ? v.value : v;
}
