// The reader of JSON: well-formed strings, bounds on depth and number of values, and the place of an error. What becomes of a number is its
// caller's matter: programs and the service keep other things of it. JSON.parse is faster and stands in where it cannot differ.
import type { ObjectValue, Value } from './kinds.ts';
import { setOwn } from './objects.ts';

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

export interface JsonReading extends JsonBounds {
  /** The value of a number token, which follows JSON's grammar. */
  readonly toNumber: (token: string) => Value;
  /** Told where a text begins that has a lone surrogate; absent: that is a problem like any other. */
  readonly onLoneSurrogate?: ((index: number) => void) | undefined;
}

/**
 * The last of equal member names wins; `__proto__` is plain data.
 * @throws JsonProblem
 */
export function readJson(text: string, { maxDepth, maxValues, toNumber, onLoneSurrogate }: JsonReading): Value {
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
    if (!result.isWellFormed()) {
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
