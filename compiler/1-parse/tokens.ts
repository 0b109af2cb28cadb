// The tokens of one text, column by column in typed arrays: a megabyte of parentheses must stay a matter of a few megabytes.

export const WORD = 0;
export const PUNCTUATOR = 1;
export const INTEGER = 2;
export const REAL = 3;
export const STRING = 4;
/** What stands after `RULE name:`. */
export const VERSION = 5;
export const END = 6;
export type Kind = typeof WORD | typeof PUNCTUATOR | typeof INTEGER | typeof REAL | typeof STRING | typeof VERSION | typeof END;

/** Offsets of a comment, end exclusive. */
export interface CommentSpan {
  readonly start: number;
  readonly end: number;
  /** Index of the token that follows it. */
  readonly before: number;
}

export class Tokens {
  readonly source: string;
  readonly kinds: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** 1: the first token of its line. */
  readonly fresh: Uint8Array;
  /** Of a bracket its partner's index, else -1. */
  readonly partners: Int32Array;
  /** A word in lower case; a punctuator; the value of a String; the digits of a number. */
  readonly texts: string[] = [];
  /** All comments, in the order of the text. */
  readonly comments: CommentSpan[] = [];
  count = 0;
  /** A String or comment was never closed: what comes after it was swallowed, so nothing can be said of the end. */
  truncated = false;
  readonly #open: number[] = [];
  /** How many of each are open since the innermost open brace, and the counts of the braces around it. */
  #round = 0;
  #square = 0;
  readonly #braces: { at: number; round: number; square: number }[] = [];

  constructor(source: string) {
    this.source = source;
    const most = source.length + 1;
    this.kinds = new Uint8Array(most);
    this.starts = new Uint32Array(most);
    this.ends = new Uint32Array(most);
    this.fresh = new Uint8Array(most);
    this.partners = new Int32Array(most);
  }

  add(kind: Kind, text: string, start: number, end: number, fresh: boolean): void {
    const index = this.count;
    this.count += 1;
    this.kinds[index] = kind;
    this.texts.push(text);
    this.starts[index] = start;
    this.ends[index] = end;
    this.fresh[index] = fresh ? 1 : 0;
    this.partners[index] = -1;
    if (kind === PUNCTUATOR) this.#pair(index, text);
  }

  /** A `}` gives up on brackets left open inside its braces; a stray `)` or `]` closes nothing. Each token is pushed and popped once. */
  #pair(index: number, text: string): void {
    if (text === '(') this.#round += 1;
    else if (text === '[') this.#square += 1;
    else if (text === '{') {
      this.#braces.push({ at: this.#open.length, round: this.#round, square: this.#square });
      this.#round = this.#square = 0;
    }
    if (text === '(' || text === '[' || text === '{') this.#open.push(index);
    else if (text === '}') this.#closeBrace(index);
    else if ((text === ')' && this.#round > 0) || (text === ']' && this.#square > 0)) this.#close(index, text === ')' ? '(' : '[');
  }

  #close(index: number, opener: string): void {
    for (;;) {
      const partner = this.#open.pop()!;
      if (this.texts[partner] === '(') this.#round -= 1;
      else this.#square -= 1;
      if (this.texts[partner] === opener) return this.#marry(partner, index);
    }
  }

  #closeBrace(index: number): void {
    const brace = this.#braces.pop();
    this.#round = brace?.round ?? 0;
    this.#square = brace?.square ?? 0;
    const partner = this.#open[brace?.at ?? 0];
    this.#open.length = brace?.at ?? 0;
    if (brace) this.#marry(partner!, index);
  }

  #marry(partner: number, index: number): void {
    this.partners[partner] = index;
    this.partners[index] = partner;
  }
}
