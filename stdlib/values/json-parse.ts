// JSON text to values (builtins.md 13 `parse`): Integers keep all their digits, `5.0` stays a Real.
import { fail } from '../errors.ts';
import type { ObjectValue, Value } from './kinds.ts';
import { integer, MAX_INTEGER, MIN_INTEGER, real } from './numbers.ts';
import { MAX_DEPTH, setOwn } from './objects.ts';

/** Numbers that JSON.parse might not keep: many digits, an exponent, an empty fraction, -0. In strings they only cost time. */
const DELICATE = /[\d.]{16}|\d[eE]|\.0+(?!\d)|-0(?![.\d])/;

/** Any JSON value; other text is a parse error with its reason and position. Duplicate keys: the last one. */
export function parseJsonText(text: string): Value {
  if (!DELICATE.test(text)) {
    try {
      return JSON.parse(text) as Value;
    } catch {
      // the parser below tells where
    }
  }
  return new Parser(text).document();
}

class Parser {
  readonly #text: string;
  #at = 0;
  constructor(text: string) {
    this.#text = text;
  }

  document(): Value {
    const value = this.#value(0);
    this.#blanks();
    return this.#at < this.#text.length ? this.#refuse('unexpected text') : value;
  }

  #refuse(reason: string): never {
    return fail('cascade.builtin.parse', reason, this.#at);
  }

  #blanks(): void {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  /** Goes past the character if it comes next, blanks before it left out. */
  #takes(char: string): boolean {
    this.#blanks();
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #value(depth: number): Value {
    if (depth > MAX_DEPTH) this.#refuse('too deep');
    this.#blanks();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#list(depth);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #word(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) this.#refuse('unexpected text');
    this.#at += word.length;
    return value;
  }

  #object(depth: number): ObjectValue {
    const object: ObjectValue = {};
    this.#at++;
    if (this.#takes('}')) return object;
    do {
      this.#blanks();
      if (this.#text[this.#at] !== '"') this.#refuse('a key is expected');
      const key = this.#string();
      if (!this.#takes(':')) this.#refuse('a colon is expected');
      setOwn(object, key, this.#value(depth + 1));
    } while (this.#takes(','));
    return this.#takes('}') ? object : this.#refuse('a comma or } is expected');
  }

  #list(depth: number): Value[] {
    const list: Value[] = [];
    this.#at++;
    if (this.#takes(']')) return list;
    do list.push(this.#value(depth + 1));
    while (this.#takes(','));
    return this.#takes(']') ? list : this.#refuse('a comma or ] is expected');
  }

  /** Its end is sought here; what is inside, JSON.parse reads. */
  #string(): string {
    const end = /"(?:[^"\\]|\\[\s\S])*"/y;
    end.lastIndex = this.#at;
    const source = end.exec(this.#text)?.[0] ?? this.#refuse('a string is not closed');
    try {
      const value = JSON.parse(source) as string;
      this.#at += source.length;
      return value;
    } catch {
      return this.#refuse('a string is malformed');
    }
  }

  #number(): Value {
    const form = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
    form.lastIndex = this.#at;
    const [digits, fraction, exponent] =
      form.exec(this.#text) ?? this.#refuse(this.#at < this.#text.length ? 'unexpected text' : 'the text ends');
    this.#at += digits.length;
    if (fraction !== undefined || exponent !== undefined) return real(Number(digits));
    if (digits.length <= 15) return Number(digits) + 0;
    if (digits.length > 20) return real(Number(digits));
    const exact = BigInt(digits);
    return exact < MIN_INTEGER || exact > MAX_INTEGER ? real(Number(digits)) : integer(exact);
  }
}
