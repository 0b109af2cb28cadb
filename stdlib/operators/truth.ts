// The truth value of anything (language.md 4.4).
import { Currency, Decimal, isObject, LocalValue, Real, type Value } from '../values/index.ts';

/** False: false, null, every zero, "", [], {}. NaN is no zero, so true. */
export function truth(v: Value | undefined): boolean {
  if (typeof v === 'boolean') return v;
  if (typeof v === 'number') return v !== 0;
  if (typeof v === 'string') return v !== '';
  if (v === null || v === undefined) return false;
  if (Array.isArray(v)) return v.length > 0;
  if (v instanceof Real) return v.value !== 0;
  if (v instanceof Decimal) return v.unscaled !== 0n;
  if (v instanceof Currency) return v.amount.unscaled !== 0n;
  if (v instanceof LocalValue) return v.truth();
  return !isObject(v) || Object.keys(v).length > 0;
}

export function not(v: Value | undefined): boolean {
  return !truth(v);
}
