// Text to tokens (language.md 1). Every wrong character is told of once and skipped or read as what was meant: the parser need not know.
import type { Diagnostics } from '../diagnostics.ts';
import { FOREIGN_CHARACTERS, FOREIGN_OPERATORS } from './foreign.ts';
import { UNIT_MS } from './keywords.ts';
import { unescape } from './strings.ts';
import { END, INTEGER, PUNCTUATOR, REAL, STRING, Tokens, VERSION, WORD } from './tokens.ts';

const THREE = new Set(['===', '!==', '**=', '...', '>>>']);
const TWO = new Set('== != <= >= && || ++ -- ** += -= *= /= %= => ?. ?? << >> -> <> ::'.split(' '));
const ONE = new Set('(){}[],.:;=<>+-*/%!?@&|^~'.split(''));
const WORD_RUN = /[A-Za-z0-9_]*/y;
const DIGITS = /[0-9]+/y;
const FRACTION = /\.[0-9]+/y;
const EXPONENT = /[eE][+-]?[0-9]+/y;
const VERSION_RUN = /[A-Za-z0-9._-]+/y;
/** A name as other languages would have it: told of as a whole. */
const FOREIGN_WORD = /[\p{L}\p{N}\p{M}_$]+/uy;

export function lex(source: string, found: Diagnostics): Tokens {
  return new Lexer(source, found).run();
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isWordStart = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;

class Lexer {
  readonly #source: string;
  readonly #found: Diagnostics;
  readonly #tokens: Tokens;
  #at = 0;
  #fresh = true;
  /** A String with a line end in it: should a quote be missing, it is likely there. */
  #longString: number | null = null;

  constructor(source: string, found: Diagnostics) {
    this.#source = source;
    this.#found = found;
    this.#tokens = new Tokens(source);
  }

  run(): Tokens {
    if (this.#source.charCodeAt(0) === 0xfeff) this.#at = 1;
    for (;;) {
      this.#skipBlanks();
      if (this.#at >= this.#source.length) break;
      this.#token();
    }
    this.#tokens.add(END, '', this.#at, this.#at, this.#fresh);
    return this.#tokens;
  }

  #skipBlanks(): void {
    const source = this.#source;
    for (; this.#at < source.length; this.#at += 1) {
      const code = source.charCodeAt(this.#at);
      if (code === 10 || code === 13) this.#fresh = true;
      else if (code === 47 && this.#comment()) this.#at -= 1;
      else if (code !== 32 && code !== 9 && code !== 12 && code !== 160) return;
    }
  }

  #comment(): boolean {
    const start = this.#at;
    const second = this.#source.charCodeAt(start + 1);
    if (second !== 47 && second !== 42) return false;
    if (second === 47) this.#at = this.#lineEnd(start);
    else {
      const close = this.#source.indexOf('*/', start + 2);
      if (close < 0) this.#unclosed(start, 'this comment is never closed', 'it ends at the first */');
      this.#at = close < 0 ? this.#source.length : close + 2;
      if (/[\r\n]/.test(this.#source.slice(start, this.#at))) this.#fresh = true;
    }
    this.#tokens.comments.push({ start, end: this.#at, before: this.#tokens.count });
    return true;
  }

  #lineEnd(from: number): number {
    let at = from;
    for (; at < this.#source.length; at += 1) {
      const code = this.#source.charCodeAt(at);
      if (code === 10 || code === 13) break;
    }
    return at;
  }

  #token(): void {
    const code = this.#source.charCodeAt(this.#at);
    if (isWordStart(code)) this.#word();
    else if (isDigit(code)) this.#number();
    else if (code === 34 || code === 39) this.#string(code);
    else this.#punctuator();
  }

  #add(kind: Parameters<Tokens['add']>[0], text: string, end: number): void {
    this.#tokens.add(kind, text, this.#at, end, this.#fresh);
    this.#at = end;
    this.#fresh = false;
  }

  /** The end of what the sticky pattern matches at `from`; `from` itself when it does not. */
  #end(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.test(this.#source) ? pattern.lastIndex : from;
  }

  #word(): void {
    const end = this.#end(WORD_RUN, this.#at);
    if (this.#isForeignLetter(end)) return this.#foreignWord();
    this.#add(WORD, this.#source.slice(this.#at, end).toLowerCase(), end);
  }

  #isForeignLetter(at: number): boolean {
    return this.#source.charCodeAt(at) > 127 && this.#end(FOREIGN_WORD, at) > at;
  }

  #foreignWord(): void {
    const end = this.#end(FOREIGN_WORD, this.#at);
    const text = this.#source.slice(this.#at, end);
    this.#syntax(this.#at, end, `'${text.slice(0, 40)}' is not a name`, 'names have the letters A to Z, digits and _ only');
    this.#add(WORD, text.toLowerCase(), end);
  }

  #number(): void {
    const start = this.#at;
    const whole = this.#end(DIGITS, start);
    const end = this.#end(EXPONENT, this.#end(FRACTION, whole));
    const text = this.#source.slice(start, end);
    const next = this.#source.charCodeAt(end);
    const kind = end > whole ? REAL : INTEGER;
    if (!isWordStart(next) && !this.#isForeignLetter(end)) return this.#add(kind, text, end);
    const tail = Math.max(this.#end(WORD_RUN, end), this.#end(FOREIGN_WORD, end));
    const run = this.#source.slice(end, tail);
    const isUnit = UNIT_MS.has(run.toLowerCase());
    const hint = isUnit
      ? `write a blank before the unit: ${text.slice(0, 20)} ${run}`
      : 'a number has decimal digits only: no hex, octal, underscores or suffixes';
    this.#syntax(start, tail, `a number cannot be followed directly by '${run.slice(0, 20)}'`, hint);
    this.#add(kind, text, isUnit ? end : tail);
  }

  #string(quote: number): void {
    const source = this.#source;
    let at = this.#at + 1;
    let isLong = false;
    for (; at < source.length; at += 1) {
      const code = source.charCodeAt(at);
      if (code === quote) break;
      if (code === 92) at += 1;
      else if (code === 10 || code === 13) isLong = true;
    }
    if (at >= source.length) {
      this.#unclosed(this.#at, 'this String is never closed', this.#longString === null ? undefined : 'a quote may be missing further up');
      return this.#add(STRING, '', source.length);
    }
    if (isLong) this.#longString ??= this.#at;
    this.#add(STRING, unescape(source.slice(this.#at + 1, at), this.#at + 1, this.#found), at + 1);
  }

  #punctuator(): void {
    const { source } = this.#tokens;
    const start = this.#at;
    const three = source.slice(start, start + 3);
    const two = three.slice(0, 2);
    const one = three.slice(0, 1);
    const text = THREE.has(three) ? three : TWO.has(two) ? two : one;
    if (text === one && !ONE.has(one)) return this.#foreignCharacter();
    const foreign = FOREIGN_OPERATORS.get(text);
    if (foreign) {
      this.#syntax(start, start + text.length, `'${text}' is not in the language`, foreign.hint);
      if (foreign.instead === '') this.#at += text.length;
      else this.#add(PUNCTUATOR, foreign.instead, start + text.length);
      return;
    }
    this.#add(PUNCTUATOR, text, start + text.length);
    if (text === ':') this.#version();
  }

  /** `RULE name:version`, without blanks around the colon: the only place where these characters make one token. */
  #version(): void {
    const { count, kinds, texts, ends } = this.#tokens;
    const name = count - 2;
    if (name < 1 || kinds[name] !== WORD || kinds[name - 1] !== WORD || ends[name] !== this.#at - 1) return;
    if (texts[name - 1] !== 'rule' && texts[name - 1] !== 'ruleset') return;
    const end = this.#end(VERSION_RUN, this.#at);
    if (end > this.#at) this.#add(VERSION, this.#source.slice(this.#at, end), end);
  }

  #foreignCharacter(): void {
    const start = this.#at;
    const character = String.fromCodePoint(this.#source.codePointAt(start)!);
    if (character !== '$' && this.#isForeignLetter(start)) return this.#foreignWord();
    const name = /[\p{C}\p{Z}]/u.test(character) ? `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}` : character;
    const hint = FOREIGN_CHARACTERS.get(character);
    this.#syntax(start, start + character.length, `the character ${name} cannot stand here`, hint);
    if (character === '#') this.#at = this.#lineEnd(start);
    else if (character === '`') this.#backquoted();
    else this.#at += character.length;
  }

  /** Read as the name or String that was meant. */
  #backquoted(): void {
    const close = this.#source.indexOf('`', this.#at + 1);
    if (close < 0) {
      this.#at += 1;
      return;
    }
    const inside = this.#source.slice(this.#at + 1, close);
    const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(inside);
    this.#add(isName ? WORD : STRING, isName ? inside.toLowerCase() : inside, close + 1);
  }

  #unclosed(start: number, message: string, hint?: string): void {
    this.#syntax(start, start + 1, message, hint);
    this.#tokens.truncated = true;
  }

  #syntax(start: number, end: number, message: string, hint?: string): void {
    this.#found.report({ start, end }, 'cascade.lang.syntax', message, hint);
  }
}
