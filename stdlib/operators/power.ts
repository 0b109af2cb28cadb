// `**` of Decimals: exact where that stays small, else with guard digits.
import { fail } from '../errors.ts';
import { Decimal, decimalOfNumber, divideDecimals, multiplyDecimals, numberOf, real, rescale, significantDigits } from '../values/index.ts';

const ONE = new Decimal(1n, 0);
/** Digits that an exact power may have on the way; a result has at most 1,000 (language.md 4.6). */
const EXACT_DIGITS = 900;
const GUARD_DIGITS = 40;

/** `base ** exponent` rounded HALF_UP to `scale`. A fractional exponent goes through a double. */
export function decimalPower(base: Decimal, exponent: Decimal, scale: number): Decimal {
  const whole = rescale(exponent, 0);
  if (whole.unscaled * 10n ** BigInt(exponent.scale) !== exponent.unscaled) return throughDouble(base, exponent, scale);
  const negative = whole.unscaled < 0n;
  if (base.unscaled === 0n && negative) fail('cascade.lang.arithmetic.zero.divide', '**');
  const power = wholePower(base, negative ? -whole.unscaled : whole.unscaled, scale);
  return negative ? divideDecimals(ONE, power, scale) : rescale(power, scale);
}

function wholePower(base: Decimal, exponent: bigint, scale: number): Decimal {
  const exact = BigInt(Math.max(significantDigits(base), base.scale)) * exponent <= BigInt(EXACT_DIGITS);
  const working = Math.max(scale, base.scale) + GUARD_DIGITS;
  const times = (a: Decimal, b: Decimal): Decimal =>
    multiplyDecimals(a, b, exact ? a.scale + b.scale : Math.min(a.scale + b.scale, working));
  let result = ONE;
  let square = base;
  for (let left = exponent; left > 0n; ) {
    if (left % 2n === 1n) result = times(result, square);
    left /= 2n;
    if (left > 0n) square = times(square, square);
  }
  return result;
}

function throughDouble(base: Decimal, exponent: Decimal, scale: number): Decimal {
  const result = decimalOfNumber(real(numberOf(base) ** numberOf(exponent)));
  return result ? rescale(result, scale) : fail('cascade.lang.arithmetic.overflow', '**');
}
