// Decimals as BSON holds them: IEEE 754 decimal128 in its binary form, 16 bytes, little-endian, at most 34 digits.
import { Decimal128 } from 'mongodb';
import { Decimal, rescale } from '../../stdlib/values/index.ts';
import { fail } from '../../stdlib/errors.ts';
import type { Bytes } from './bson-bytes.ts';

const BIAS = 6176;
const MAX_COEFFICIENT = 10n ** 34n - 1n;
const HIGH_COEFFICIENT = (1n << 49n) - 1n;

/** @throws cascade.lang.arithmetic.overflow for more than 34 digits (language.md 4.6 note 2) or a scale beyond the format */
export function toDecimal128({ unscaled, scale }: Decimal): Decimal128 {
  const negative = unscaled < 0n;
  const coefficient = negative ? -unscaled : unscaled;
  if (coefficient > MAX_COEFFICIENT || scale > BIAS) fail('cascade.lang.arithmetic.overflow', 'Decimal');
  const bytes = Buffer.alloc(16);
  const high = (coefficient >> 64n) | (BigInt(BIAS - scale) << 49n) | (negative ? 1n << 63n : 0n);
  bytes.writeBigUInt64LE(coefficient & 0xffffffffffffffffn, 0);
  bytes.writeBigUInt64LE(high, 8);
  return new Decimal128(bytes);
}

/** The decimal that stands at `at`; null for the NaN and infinities that an aggregation may yield. */
export function readDecimal128(bytes: Bytes, at: number): Decimal | null {
  const high = bytes.readBigUInt64LE(at + 8);
  if (((high >> 59n) & 0xfn) === 0xfn) return null;
  const scale = BIAS - Number((high >> 49n) & 0x3fffn);
  const coefficient = ((high & HIGH_COEFFICIENT) << 64n) | bytes.readBigUInt64LE(at);
  const unscaled = high >> 63n ? -coefficient : coefficient;
  return scale < 0 ? new Decimal(unscaled * 10n ** BigInt(-scale), 0) : new Decimal(unscaled, scale);
}

/**
 * Its text, always with at least `scale` digits after the point. Coefficients below 2^48 with a point or none, nearly all, need no bigint.
 * @returns null as readDecimal128
 */
export function decimal128Text(bytes: Bytes, at: number, scale = 0): string | null {
  const top = bytes.readUInt32LE(at + 12);
  const stored = BIAS - ((top >>> 17) & 0x3fff);
  const small = (top & 0x1ffff) === 0 && bytes.readUInt32LE(at + 8) === 0 && bytes.readUInt16LE(at + 6) === 0;
  if (small && stored >= 0 && stored <= 30) {
    const digits = String(bytes.readUIntLE(at, 6));
    const negative = top >>> 31 === 1 && digits !== '0';
    return `${negative ? '-' : ''}${pointed(digits, stored, scale)}`;
  }
  const decimal = readDecimal128(bytes, at);
  if (decimal === null) return null;
  return (decimal.scale < scale ? rescale(decimal, scale) : decimal).toString();
}

function pointed(digits: string, stored: number, scale: number): string {
  const grown = scale > stored ? digits + '0'.repeat(scale - stored) : digits;
  const places = Math.max(scale, stored);
  if (places === 0) return grown;
  const padded = grown.padStart(places + 1, '0');
  return `${padded.slice(0, -places)}.${padded.slice(-places)}`;
}
