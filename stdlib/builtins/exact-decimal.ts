// The exact decimal value of any number, and rounding HALF_EVEN on it: what number patterns print (builtins.md 3.2).
import { Currency, Decimal, numberOf, type Real } from '../values/index.ts';

/** `digits` / 10 ** `scale`, never negative; the sign stands apart so that -0 has one. */
export interface Exact {
  readonly digits: bigint;
  readonly scale: number;
  readonly negative: boolean;
}

/** A double is taken by its binary value, all digits of it. It is finite. */
export function exactOf(v: number | bigint | Real | Decimal | Currency): Exact {
  if (v instanceof Currency) return exactOf(v.amount);
  if (v instanceof Decimal) return { digits: v.unscaled < 0n ? -v.unscaled : v.unscaled, scale: v.scale, negative: v.unscaled < 0n };
  if (typeof v === 'bigint') return { digits: v < 0n ? -v : v, scale: 0, negative: v < 0n };
  const number = numberOf(v);
  const size = Math.abs(number);
  const negative = number < 0 || Object.is(number, -0);
  if (Number.isInteger(size)) return { digits: BigInt(size), scale: 0, negative };
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, size);
  const word = bits.getBigUint64(0);
  const biased = Number(word >> 52n);
  const mantissa = (word & 0xfffffffffffffn) | (biased === 0 ? 0n : 1n << 52n);
  const scale = 1075 - Math.max(biased, 1); // size = mantissa / 2 ** scale = mantissa * 5 ** scale / 10 ** scale
  return { digits: mantissa * 5n ** BigInt(scale), scale, negative };
}

/** `scale` digits after the point, a tie to the even neighbour; a negative scale rounds before the point. Digits are at that scale. */
export function roundHalfEven({ digits, scale }: Exact, to: number): bigint {
  if (to >= scale) return digits * 10n ** BigInt(to - scale);
  const divisor = 10n ** BigInt(scale - to);
  const quotient = digits / divisor;
  const twice = (digits % divisor) * 2n;
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient;
}
