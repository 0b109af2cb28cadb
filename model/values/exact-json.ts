// The reference parser of JSON: exact numbers, well-formed strings, a depth limit, and the place of an error (resources-and-api.md 1.4).
// parse-json.ts decides when the faster JSON.parse may stand in for it.
import { type ObjectValue, Real, type Value, real, setOwn, withoutTrailing } from '../../stdlib/values/index.ts';
import { isWellFormed } from './well-formed.ts';

/** What is wrong with a JSON text, and where: `index` counts UTF-16 code units. */
export class JsonProblem extends Error {
  readonly reason: string;
  readonly index: number;
  constructor(reason: string, index: number) {
    super(reason);
    this.reason = reason;
    this.index = index;
  }
}

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const BLANKS = /[ \t\n\r]*/y;
/** A run of a string without quote, backslash and control characters. */
const RUN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const WORDS: readonly [string, Value][] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** What a text may hold; one that holds more is a problem. */
export interface JsonBounds {
  readonly maxDepth: number;
  /** Members and elements at all depths, and the whole. */
  readonly maxValues: number;
}

/**
 * @param onLoneSurrogate told where a text begins that has one; absent: that is a problem like any other
 * @throws JsonProblem
 */
export function parseExactly(text: string, { maxDepth, maxValues }: JsonBounds, onLoneSurrogate?: (index: number) => void): Value {
  let at = 0;
  let values = 0;

  const problem = (reason: string, index = at): JsonProblem =>
    new JsonProblem(index >= text.length ? 'unexpected end' : reason, Math.min(index, text.length));

  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const next = (): string => {
    match(BLANKS);
    return text.charAt(at);
  };

  const value = (depth: number): Value => {
    const first = next();
    if (++values > maxValues) throw problem(`more than ${maxValues} values`);
    if (first === '{') return object(depth + 1);
    if (first === '[') return array(depth + 1);
    if (first === '"') return string();
    for (const [word, meaning] of WORDS) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return meaning;
    }
    const number = match(NUMBER);
    if (number === '') throw problem('unexpected character');
    return toNumber(number);
  };

  const enter = (depth: number): void => {
    if (depth > maxDepth) throw problem(`nesting deeper than ${maxDepth}`);
    at++;
  };

  const array = (depth: number): Value[] => {
    enter(depth);
    const items: Value[] = [];
    if (next() === ']') {
      at++;
      return items;
    }
    for (;;) {
      items.push(value(depth));
      const separator = next();
      if (separator !== ',' && separator !== ']') throw problem('unexpected character');
      at++;
      if (separator === ']') return items;
    }
  };

  const object = (depth: number): ObjectValue => {
    enter(depth);
    const members: ObjectValue = {};
    if (next() === '}') {
      at++;
      return members;
    }
    for (;;) {
      if (next() !== '"') throw problem('a member name was expected');
      const key = string();
      if (next() !== ':') throw problem('unexpected character');
      at++;
      setOwn(members, key, value(depth));
      const separator = next();
      if (separator !== ',' && separator !== '}') throw problem('unexpected character');
      at++;
      if (separator === '}') return members;
    }
  };

  const string = (): string => {
    const start = at++;
    let result = match(RUN);
    for (;;) {
      const c = text.charAt(at);
      if (c === '"') break;
      if (c !== '\\') throw problem('control character in a string');
      result += escape() + match(RUN);
    }
    at++;
    if (!isWellFormed(result)) {
      if (!onLoneSurrogate) throw problem('lone surrogate', start);
      onLoneSurrogate(start);
    }
    return result;
  };

  const escape = (): string => {
    const letter = text.charAt(at + 1);
    const simple = ESCAPES[letter];
    if (simple !== undefined) {
      at += 2;
      return simple;
    }
    const hex = text.slice(at + 2, at + 6);
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) throw problem('invalid escape');
    at += 6;
    return String.fromCharCode(Number.parseInt(hex, 16));
  };

  const result = value(0);
  if (next() !== '') throw problem('unexpected character');
  return result;
}

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
