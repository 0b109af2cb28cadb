// JSON for the service, exact (resources-and-api.md 1.4): what becomes of numbers. parse-json.ts decides when the faster JSON.parse may stand in.
import { type JsonBounds, Real, readJson, type Value, real, withoutTrailing } from '../../stdlib/values/index.ts';

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * @param onLoneSurrogate told where a text begins that has one; absent: that is a problem like any other
 * @throws JsonProblem
 */
export const parseExactly = (text: string, bounds: JsonBounds, onLoneSurrogate?: (index: number) => void): Value =>
  readJson(text, { ...bounds, toNumber, onLoneSurrogate });

/**
 * The value of a number token: without point and exponent an Integer, else a Real. Integers beyond 64 bits have no type of their own:
 * they become a Real that keeps its digits, so that a Decimal gets them exactly, and an Integer is refused with the reason `range`.
 */
export function toNumber(token: string): Value {
  if (/[.eE]/.test(token)) return toReal(token);
  if (token.length <= 15) return Number(token) + 0; // + 0: there is no Integer -0
  if (token.length > 20) return new Real(Number(token), token);
  const whole = BigInt(token);
  if (whole < MIN_INTEGER || whole > MAX_INTEGER) return new Real(Number(token), token);
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
}

function toReal(token: string): Value {
  const value = Number(token);
  return token.length > 15 || !Number.isFinite(value) || value === 0 ? withDigits(value, token) : real(value);
}

/** Keeps the digits as written where the shortest text of the double is another number. */
function withDigits(value: number, token: string): Value {
  return significand(String(value)) === significand(token) ? real(value) : new Real(value, token);
}

/** A number text in one form: digits without zeros at either end, and the power of ten of the last one; its sign is left out. */
function significand(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace('-', '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = withoutTrailing(digits, '0');
  if (kept !== '' && exponent.length > 20) return text; // beyond any double, and costly as a bigint
  return kept === '' ? '0' : `${kept}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - kept.length)}`;
}
