// Fixed-point arithmetic on bigint: reading, rounding HALF_UP, and the four operations with the scale that the caller wants.
import { fail } from '../errors.ts';
import type { Real } from './kinds.ts';
import { Decimal } from './kinds.ts';

/** No Decimal has more digits than this (language.md 4.6 note 2). */
export const MAX_DIGITS = 1000;

/** 10 ** n; n is a scale, so not above some thousands. */
function tenTo(n: number): bigint {
  return n < SMALL_POWERS.length ? (SMALL_POWERS[n] as bigint) : 10n ** BigInt(n);
}
const SMALL_POWERS = Array.from({ length: 40 }, (_, n) => 10n ** BigInt(n));
const TOO_LARGE = 10n ** BigInt(MAX_DIGITS);

/** A Decimal after the check of its size: the one way to make one from a result. */
export function decimal(unscaled: bigint, scale: number, operator = 'Decimal'): Decimal {
  if (scale > MAX_DIGITS || unscaled >= TOO_LARGE || unscaled <= -TOO_LARGE) fail('cascade.lang.arithmetic.overflow', operator);
  return new Decimal(unscaled, scale);
}

/** Digits before and after the point, as a database counts them: `-12.50` has 4, `0.05` has 1. */
export function significantDigits(value: Decimal): number {
  return (value.unscaled < 0n ? -value.unscaled : value.unscaled).toString().length;
}

/** n / d, rounded HALF_UP (away from zero on a tie). */
function divideHalfUp(n: bigint, d: bigint): bigint {
  const quotient = n / d;
  const rest = n % d;
  const twice = rest < 0n ? -2n * rest : 2n * rest;
  if (twice < (d < 0n ? -d : d)) return quotient;
  return n < 0n === d < 0n ? quotient + 1n : quotient - 1n;
}

/** The same value with `scale` digits after the point, rounded HALF_UP. */
export function rescale(value: Decimal, scale: number): Decimal {
  if (scale === value.scale) return value;
  if (scale > value.scale) return decimal(value.unscaled * tenTo(scale - value.scale), scale);
  return decimal(divideHalfUp(value.unscaled, tenTo(value.scale - scale)), scale);
}

const NUMBER = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;

/** `12.50`, `-.5`, `1e3` with the scale as written; null for other text; too many digits are an overflow. */
export function parseDecimal(text: string): Decimal | null {
  const parts = NUMBER.exec(text);
  if (!parts) return null;
  const [, sign, whole = '', fraction = '', exponentText] = parts;
  if (whole === '' && fraction === '') return null;
  const exponent = exponentText === undefined ? 0 : Number(exponentText);
  const digits = (whole + fraction).replace(/^0+(?=.)/, '');
  const scale = fraction.length - exponent;
  if (digits.length > MAX_DIGITS || scale > MAX_DIGITS || (digits !== '0' && digits.length - scale > MAX_DIGITS))
    fail('cascade.lang.arithmetic.overflow', 'Decimal');
  const unscaled = sign === '-' ? -BigInt(digits) : BigInt(digits);
  if (scale >= 0) return new Decimal(unscaled, scale);
  return digits === '0' ? new Decimal(0n, 0) : decimal(unscaled * tenTo(-scale), 0);
}

/** A finite number by the digits of its text (`0.1` is exactly 0.1); null for NaN and infinities. */
export function decimalOfNumber(value: number | bigint | Real): Decimal | null {
  if (typeof value === 'bigint') return new Decimal(value, 0);
  if (typeof value === 'number') return Number.isInteger(value) ? new Decimal(BigInt(value), 0) : parseDecimal(String(value));
  if (!Number.isFinite(value.value) && value.text === undefined) return null;
  return parseDecimal(value.text ?? String(value.value));
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  if (a.scale === b.scale) return decimal(a.unscaled + b.unscaled, a.scale, '+');
  const scale = Math.max(a.scale, b.scale);
  return decimal(a.unscaled * tenTo(scale - a.scale) + b.unscaled * tenTo(scale - b.scale), scale, '+');
}

export function negateDecimal(a: Decimal): Decimal {
  return new Decimal(-a.unscaled, a.scale);
}

export function multiplyDecimals(a: Decimal, b: Decimal, scale: number): Decimal {
  const exact = a.unscaled * b.unscaled;
  const exactScale = a.scale + b.scale;
  if (scale >= exactScale) {
    if (scale > MAX_DIGITS) fail('cascade.lang.arithmetic.overflow', '*');
    return decimal(exact * tenTo(scale - exactScale), scale, '*');
  }
  return decimal(divideHalfUp(exact, tenTo(exactScale - scale)), scale, '*');
}

export function divideDecimals(a: Decimal, b: Decimal, scale: number): Decimal {
  if (b.unscaled === 0n) fail('cascade.lang.arithmetic.zero.divide', '/');
  const shift = scale + b.scale - a.scale;
  const n = shift >= 0 ? a.unscaled * tenTo(shift) : a.unscaled;
  const d = shift >= 0 ? b.unscaled : b.unscaled * tenTo(-shift);
  return decimal(divideHalfUp(n, d), scale, '/');
}

/** Negative, 0 or positive: by value, whatever the scales. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const left = a.scale === scale ? a.unscaled : a.unscaled * tenTo(scale - a.scale);
  const right = b.scale === scale ? b.unscaled : b.unscaled * tenTo(scale - b.scale);
  return left < right ? -1 : left > right ? 1 : 0;
}
