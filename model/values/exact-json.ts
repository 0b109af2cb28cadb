// JSON for the service, exact (resources-and-api.md 1.4): what becomes of numbers. parse-json.ts decides when the faster JSON.parse may stand in.
import { type JsonBounds, JsonReader, type JsonReading, Real, type Value, real, withoutTrailing } from '../../stdlib/values/index.ts';

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;

/** Who is told of what the reader lets pass. */
export type JsonReports = Partial<Pick<JsonReading, 'onLoneSurrogate' | 'onBeyondDoubles'>>;

/** @throws JsonProblem */
export function parseExactly(text: string, bounds: JsonBounds, reports: JsonReports = {}): Value {
  const reader = exactReader(text, bounds, reports);
  reader.read(text.length + 1);
  return reader.value;
}

/** The same, to be read piece by piece. */
export const exactReader = (text: string, bounds: JsonBounds, reports: JsonReports = {}): JsonReader =>
  new JsonReader(text, { ...bounds, toNumber, ...reports });

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
  if (token.length <= 15 && Number.isFinite(value) && value !== 0) return real(value);
  // A double holds up to 15 digits, whatever they are.
  if (Math.abs(value) >= SMALLEST_NORMAL && Number.isFinite(value) && digitsIn(token) <= 15) return real(value);
  return withDigits(value, token);
}

const SMALLEST_NORMAL = 2.3e-308;
const [POINT, ZERO] = [46, 48];

/** How many digits the number has between the first and the last that is not zero. */
function digitsIn(token: string): number {
  let digits = 0;
  let kept = 0;
  for (let at = 0; at < token.length; at++) {
    const c = token.charCodeAt(at);
    if ((c | 32) === 101) break;
    if (c === POINT || c < ZERO || (c === ZERO && digits === 0)) continue;
    digits++;
    if (c !== ZERO) kept = digits;
  }
  return kept;
}

/** Keeps the digits as written where the shortest text of the double is another number. */
function withDigits(value: number, token: string): Value {
  return significand(String(value)) === significand(token) ? real(value) : new Real(value, token);
}

/** A number text in one form: digits without zeros at either end, and the power of ten of the last one; its sign is left out. */
function significand(text: string): string {
  let digits = '';
  let fraction = 0;
  let at = text.startsWith('-') ? 1 : 0;
  const start = at;
  while (at < text.length && (text.charCodeAt(at) | 32) !== 101) at++;
  const mantissa = text.slice(start, at);
  const point = mantissa.indexOf('.');
  if (point < 0) digits = mantissa;
  else {
    digits = mantissa.slice(0, point) + mantissa.slice(point + 1);
    fraction = mantissa.length - point - 1;
  }
  let zeros = 0;
  while (digits.charCodeAt(zeros) === ZERO) zeros++;
  const kept = withoutTrailing(digits.slice(zeros), '0');
  if (kept === '') return '0';
  const exponent = text.slice(at + 1);
  if (exponent.length > 12) return text; // beyond any double
  return `${kept}e${Number(exponent) - fraction + digits.length - zeros - kept.length}`;
}
