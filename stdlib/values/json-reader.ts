// The reader of JSON: well-formed strings, bounds on depth and number of values, and the place of an error. What becomes of a number is its
// caller's matter: programs and the service keep other things of it. JSON.parse is faster and stands in where it cannot differ. It reads as far as it
// is told, so that a service can do something else between two pieces of a long text.
import { type ObjectValue, Real, type Value } from './kinds.ts';
import { real } from './numbers.ts';
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

const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const EXPONENT = 101;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Digits that a double holds, whatever they are. */
const SHORT = 15;
const POWERS: readonly number[] = Array.from({ length: SHORT + 1 }, (_, exponent) => 10 ** exponent);
const ESCAPES = '"\\/bfnrt';
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
  /** The value of a number token that is long, has an exponent, or is a zero with a fraction; it follows JSON's grammar. */
  readonly toNumber: (token: string) => Value;
  /** Told where a text begins that has a lone surrogate; absent: that is a problem like any other. */
  readonly onLoneSurrogate?: ((index: number) => void) | undefined;
  /** Told where a number begins that is beyond every double, such as 1e400. */
  readonly onBeyondDoubles?: ((index: number) => void) | undefined;
}

/**
 * The last of equal member names wins; `__proto__` is plain data.
 * @throws JsonProblem
 */
export function readJson(text: string, reading: JsonReading): Value {
  const reader = new JsonReader(text, reading);
  reader.read(text.length + 1);
  return reader.value;
}

/** A list or object that has been begun; of an object the name of the member that is read. */
interface Open {
  readonly list: Value[] | null;
  readonly members: ObjectValue | null;
  name: string;
}

export class JsonReader {
  readonly #text: string;
  readonly #reading: JsonReading;
  readonly #open: Open[] = [];
  #at = 0;
  #values = 0;
  #value: Value = null;

  constructor(text: string, reading: JsonReading) {
    this.#text = text;
    this.#reading = reading;
  }

  /** What was read; to be asked when `read` has given true. */
  get value(): Value {
    return this.#value;
  }

  /**
   * Reads about as many characters on; a single string or number is read as a whole.
   * @returns whether that was all
   * @throws JsonProblem
   */
  read(characters: number): boolean {
    const until = this.#at + characters;
    while (this.#at < until) {
      const first = this.#next();
      if (++this.#values > this.#reading.maxValues) throw this.#problem(`more than ${this.#reading.maxValues} values`);
      if (first === OPEN_OBJECT || first === OPEN_LIST) {
        if (this.#begin(first)) continue;
      } else this.#value = first === QUOTE ? this.#string() : this.#word();
      if (!this.#put()) continue;
      if (!Number.isNaN(this.#next())) throw this.#problem('unexpected character');
      return true;
    }
    return false;
  }

  /** The bracket of a list or object. @returns whether a value comes next; else it is empty, and the value */
  #begin(bracket: number): boolean {
    if (this.#open.length + 1 > this.#reading.maxDepth) throw this.#problem(`nesting deeper than ${this.#reading.maxDepth}`);
    this.#at++;
    if (bracket === OPEN_LIST) {
      const list: Value[] = [];
      if (this.#next() !== CLOSE_LIST) return this.#open.push({ list, members: null, name: '' }) > 0;
      this.#value = list;
    } else {
      const members: ObjectValue = {};
      if (this.#next() !== CLOSE_OBJECT) return this.#open.push({ list: null, members, name: this.#name() }) > 0;
      this.#value = members;
    }
    this.#at++;
    return false;
  }

  /** The value goes where it belongs, and what ends with it likewise. @returns whether it is the whole */
  #put(): boolean {
    for (;;) {
      const inner = this.#open[this.#open.length - 1];
      if (!inner) return true;
      const { list, members } = inner;
      if (list) list.push(this.#value);
      else setOwn(members as ObjectValue, inner.name, this.#value);
      const separator = this.#next();
      if (separator !== COMMA && separator !== (list ? CLOSE_LIST : CLOSE_OBJECT)) throw this.#problem('unexpected character');
      this.#at++;
      if (separator === COMMA) {
        if (members) {
          this.#next();
          inner.name = this.#name();
        }
        return false;
      }
      this.#open.pop();
      this.#value = list ?? members;
    }
  }

  /** The name of a member and its colon. */
  #name(): string {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#problem('a member name was expected');
    const name = this.#string();
    if (this.#next() !== COLON) throw this.#problem('unexpected character');
    this.#at++;
    return name;
  }

  #word(): Value {
    const short = this.#shortNumber();
    if (short !== undefined) return short;
    for (const [word, meaning] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return meaning;
    }
    const start = this.#at;
    const end = endOfNumber(this.#text, start);
    if (end === start) throw this.#problem('unexpected character');
    this.#at = end;
    const value = this.#reading.toNumber(this.#text.slice(start, end));
    if (this.#reading.onBeyondDoubles && value instanceof Real && !Number.isFinite(value.value)) this.#reading.onBeyondDoubles(start);
    return value;
  }

  /**
   * A number of up to 15 digits without an exponent, but for a zero with a fraction, whose digits may count. The double next to it is the quotient
   * of two that are exact, so it needs no text of its own, which would cost more than all else here.
   * @returns undefined where something else stands
   */
  #shortNumber(): Value | undefined {
    const text = this.#text;
    const start = text.charCodeAt(this.#at) === MINUS ? this.#at + 1 : this.#at;
    let at = start;
    let whole = 0;
    let c = text.charCodeAt(at);
    if (c === ZERO) c = text.charCodeAt(++at);
    else
      for (; c >= ZERO && c <= NINE; c = text.charCodeAt(++at)) {
        if (at - start >= SHORT) return undefined;
        whole = whole * 10 + (c - ZERO);
      }
    if (at === start) return undefined;
    let fraction = 0;
    if (c === POINT) {
      const point = at;
      for (c = text.charCodeAt(++at); c >= ZERO && c <= NINE; c = text.charCodeAt(++at)) {
        if (at - start > SHORT) return undefined;
        whole = whole * 10 + (c - ZERO);
      }
      fraction = at - point - 1;
      if (fraction === 0 || whole === 0) return undefined;
    }
    if ((c | 32) === EXPONENT) return undefined;
    const isNegative = start > this.#at;
    this.#at = at;
    const value = isNegative ? 0 - whole : whole; // there is no Integer -0
    return fraction === 0 ? value : real(value / (POWERS[fraction] as number));
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let at = start + 1;
    let isPlain = true;
    for (;;) {
      const c = text.charCodeAt(at);
      if (c === QUOTE) break;
      if (c === BACKSLASH) {
        isPlain = false;
        this.#requireEscape(at);
        at += 2;
      } else if (c >= 32) at++;
      else throw this.#problem('control character in a string', at);
    }
    this.#at = at + 1;
    const result = isPlain ? text.slice(start + 1, at) : (JSON.parse(text.slice(start, at + 1)) as string);
    if (!result.isWellFormed()) {
      if (!this.#reading.onLoneSurrogate) throw this.#problem('lone surrogate', start);
      this.#reading.onLoneSurrogate(start);
    }
    return result;
  }

  #requireEscape(at: number): void {
    const letter = this.#text.charAt(at + 1);
    if (letter !== '' && ESCAPES.includes(letter)) return;
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(this.#text.slice(at + 2, at + 6))) throw this.#problem('invalid escape', at);
  }

  /** @returns the code of the next character that is no blank; NaN at the end */
  #next(): number {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return c;
      this.#at++;
    }
  }

  #problem(reason: string, index = this.#at): JsonProblem {
    const { length } = this.#text;
    return new JsonProblem(index >= length ? 'unexpected end' : reason, Math.min(index, length));
  }
}

/** @returns the index after the longest number that begins there; `start` where none does */
function endOfNumber(text: string, start: number): number {
  const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
  let at = text.charCodeAt(first) === ZERO ? first + 1 : endOfDigits(text, first);
  if (at === first) return start;
  if (text.charCodeAt(at) === POINT) {
    const end = endOfDigits(text, at + 1);
    if (end > at + 1) at = end;
  }
  if ((text.charCodeAt(at) | 32) !== 101) return at;
  const sign = text.charCodeAt(at + 1);
  const digits = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
  const end = endOfDigits(text, digits);
  return end > digits ? end : at;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  for (;;) {
    const c = text.charCodeAt(at);
    if (!(c >= ZERO && c <= NINE)) return at;
    at++;
  }
}
