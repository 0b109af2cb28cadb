// Integer and Real: which JavaScript value stands for which (language.md 4.1), and reading them from text.
import { fail } from '../errors.ts';
import { Currency, Decimal, Real, type Value } from './kinds.ts';

export const MIN_INTEGER = -(2n ** 63n);
export const MAX_INTEGER = 2n ** 63n - 1n;

/** An Integer in its one form: a number where it is safe, else a bigint. Past 64 bits it is an overflow of `operator`. */
export function integer(n: bigint | number, operator = 'Integer'): number | bigint {
  if (typeof n === 'number') {
    if (Number.isSafeInteger(n)) return n + 0; // -0 becomes 0
    if (!Number.isFinite(n)) return fail('cascade.lang.arithmetic.overflow', operator);
    n = BigInt(Math.trunc(n));
  }
  if (n >= -9_007_199_254_740_991n && n <= 9_007_199_254_740_991n) return Number(n);
  if (n < MIN_INTEGER || n > MAX_INTEGER) return fail('cascade.lang.arithmetic.overflow', operator);
  return n;
}

/** A Real in its one form: a number where it has a fraction, else boxed. */
export function real(n: number): number | Real {
  return Number.isInteger(n) || !Number.isFinite(n) ? new Real(n) : n;
}

export function isInteger(v: unknown): v is number | bigint {
  return typeof v === 'number' ? Number.isInteger(v) : typeof v === 'bigint';
}

export function isReal(v: unknown): v is number | Real {
  return typeof v === 'number' ? !Number.isInteger(v) : v instanceof Real;
}

/** Integer or Real; not Decimal, not Currency. */
export function isNumber(v: unknown): v is number | bigint | Real {
  return typeof v === 'number' || typeof v === 'bigint' || v instanceof Real;
}

/** The double nearest to a number of any kind; NaN for anything else. */
export function numberOf(v: Value): number {
  if (typeof v === 'number') return v;
  if (typeof v === 'bigint') return Number(v);
  if (v instanceof Real) return v.value;
  if (v instanceof Decimal) return Number(v.toString());
  return v instanceof Currency ? Number(v.amount.toString()) : Number.NaN;
}

/** `[+-]?[0-9]+` without blanks; null for other text and past 64 bits. */
export function parseInteger(text: string): number | bigint | null {
  if (!/^[+-]?[0-9]+$/.test(text)) return null;
  if (text.length <= 15) return Number(text) + 0;
  const digits = text.replace(/^[+-]?0*/, '');
  if (digits.length > 19) return null;
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits); // of no digits: 0
  return value < MIN_INTEGER || value > MAX_INTEGER ? null : integer(value);
}

/** A decimal number with optional sign and exponent as a double (maybe infinite); null for other text, `NaN` and hex. */
export function parseReal(text: string): number | null {
  // One way only to read each text: with `[0-9]+\.?[0-9]*` a long one that fails would be tried from all its digits on.
  return /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : null;
}
