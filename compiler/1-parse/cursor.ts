// The parser's place in the tokens: looking ahead, taking, making nodes, and what is done about mistakes. It knows no rule of the grammar.
import type { Block, Expression, ResourceStatement, Span } from '../ast.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { RESERVED } from './keywords.ts';
import { END, INTEGER, REAL, STRING, type Tokens, WORD } from './tokens.ts';

/** Thrown when a construct cannot be read on; caught by the bracket group or the statement list around it. Never leaves the parser. */
export const PANIC: unique symbol = Symbol('panic');
/** Thrown when reading on makes no sense at all; caught where a definition is put together. Never leaves the parser. */
export const ABORT: unique symbol = Symbol('abort');

/** Nesting of blocks and expressions (language.md 10). */
const DEEPEST = 200;
/** Height of a tree without nesting in the text, as `a + b + c …` makes one: later phases walk it by recursion. */
const TALLEST = 400;

/** The rules that contain each other: handed in, so that files do not import each other in a circle. */
export interface Grammar {
  readonly expression: (p: Cursor) => Expression;
  readonly block: (p: Cursor) => Block;
  readonly resourceStatement: (p: Cursor) => ResourceStatement;
  /** Does the token look like the beginning of a statement, when it is the first on its line? */
  readonly startsStatement: (p: Cursor) => boolean;
}

/** What the place in the text allows or forbids. */
export interface Mode {
  /** Inside an open `(`, `[` or `{` literal, where line ends mean nothing (L17). */
  readonly brackets: boolean;
  /** The collection of a loop: `{` and UNTIL belong to the loop, not to the SELECT. */
  readonly collection: boolean;
  /** A WHEN clause: OR and AND may join triggers. */
  readonly trigger: boolean;
  /** The value of a SELECT binding: count(*) is allowed. */
  readonly binding: boolean;
  /** A MATCH block, where RECOMMEND is a statement whatever follows. */
  readonly match: boolean;
}
const PLAIN: Mode = { brackets: false, collection: false, trigger: false, binding: false, match: false };
const ASSIGNING = new Set(['=', '+=', '-=', '*=', '/=', '%=']);

export class Cursor {
  readonly tokens: Tokens;
  readonly found: Diagnostics;
  readonly grammar: Grammar;
  /** Expressions that stood in parentheses of their own: the tree does not show it, some rules ask. */
  readonly parenthesised = new WeakSet<object>();
  /** Stand-ins for what could not be read: nothing more is said of them. */
  readonly #standIns = new WeakSet<object>();
  /** Where a bracket group that could not be read ended: what follows it may miss what it should have held. */
  #recovered = -1;
  /** Up to this token no beginning of a statement was found by `#nextStatement`. */
  #searched = 0;
  /** The column of the statement that begins at token `of`; computed once for each. */
  #margin = { of: -2, column: Infinity };
  pos = 0;
  mode: Mode = PLAIN;
  /** Index of a reserved word that was told of and is to be read as a name; -1 for none. */
  tolerated = -1;
  /** Names that the text has introduced so far. */
  readonly declared = new Set<string>();
  /** Index of the first token of the list of statements that is being read. */
  listStart = 0;
  /** Index of the first token of the statement that is being read. */
  statementStart = -1;
  #lastEnd = 0;
  #depth = 0;
  /** The height of the tallest tree made since it was last set to 0. */
  #height = 0;

  constructor(tokens: Tokens, found: Diagnostics, grammar: Grammar) {
    this.tokens = tokens;
    this.found = found;
    this.grammar = grammar;
  }

  // ---------------------------------------------------------------- looking
  #index(ahead: number): number {
    return Math.min(this.pos + ahead, this.tokens.count - 1);
  }
  /** Is the token this word (in lower case) or punctuator? */
  at(text: string, ahead = 0): boolean {
    const index = this.#index(ahead);
    return this.tokens.kinds[index]! < INTEGER && this.tokens.texts[index] === text;
  }
  kind(ahead = 0): number {
    return this.tokens.kinds[this.#index(ahead)]!;
  }
  isWord(ahead = 0): boolean {
    return this.kind(ahead) === WORD;
  }
  isEnd(): boolean {
    return this.kind() === END;
  }
  /** The word in lower case, or the punctuator; of other tokens the value. */
  text(ahead = 0): string {
    return this.tokens.texts[this.#index(ahead)]!;
  }
  /** As written. */
  written(ahead = 0): string {
    const index = this.#index(ahead);
    return this.tokens.source.slice(this.tokens.starts[index], this.tokens.ends[index]);
  }
  /** Is the token the first on its line? */
  isFresh(ahead = 0): boolean {
    return this.tokens.fresh[this.#index(ahead)] === 1;
  }
  /** First on its line, where that ends an expression (L17). */
  breaksLine(ahead = 0): boolean {
    return !this.mode.brackets && this.isFresh(ahead);
  }
  isReserved(ahead = 0): boolean {
    return this.isWord(ahead) && RESERVED.has(this.text(ahead)) && this.#index(ahead) !== this.tolerated;
  }
  /** A reserved word that was told of where it was declared, and is used as a value here: what follows begins no statement of it. */
  isMisnamed(): boolean {
    if (!this.declared.has(this.written())) return false;
    if (this.isFresh(1) || this.kind(1) === END) return true;
    return this.kind(1) < INTEGER && !this.isWord(1) && !['*', '@', '(', '{'].some((text) => this.at(text, 1));
  }
  /** How many tokens ahead the one after this bracket's partner is; -1 when the bracket is never closed. */
  afterPartner(ahead = 0): number {
    const partner = this.tokens.partners[this.#index(ahead)]!;
    return partner < 0 ? -1 : partner + 1 - this.pos;
  }
  /** Can the token begin an operand? */
  startsOperand(ahead = 0): boolean {
    const kind = this.kind(ahead);
    if (kind === WORD || kind === STRING || kind === INTEGER || kind === REAL) return true;
    return ['(', '[', '{', '-', '+', '!', '@'].some((text) => this.at(text, ahead));
  }
  isAssigning(ahead = 0): boolean {
    return this.kind(ahead) < INTEGER && ASSIGNING.has(this.text(ahead));
  }
  /** The word ahead is used as a name, as what follows it shows: so it is no keyword here. */
  isPlainName(ahead = 0): boolean {
    const next = ahead + 1;
    if (this.isAssigning(next) || this.at('.', next) || this.at('=>', next)) return true;
    return !this.isFresh(next) && ['++', '--', '(', '['].some((text) => this.at(text, next));
  }
  /** The keyword of a clause that goes on with an operand, a `(` included. */
  clause(word: string, ahead = 0): boolean {
    return this.at(word, ahead) && this.startsOperand(ahead + 1);
  }

  // ---------------------------------------------------------------- taking
  /** Takes the token; gives its index. */
  take(): number {
    const index = this.pos;
    this.#lastEnd = this.tokens.ends[index]!;
    if (!this.isEnd()) this.pos += 1;
    return index;
  }
  accept(text: string): boolean {
    if (!this.at(text)) return false;
    this.take();
    return true;
  }
  expect(text: string, hint?: string): void {
    if (!this.accept(text)) this.fail(`expected ${quoted(text)}, found ${this.describe()}`, hint);
  }
  /** Where the next token begins. */
  start(): number {
    return this.tokens.starts[this.pos]!;
  }
  span(index: number): Span {
    return { start: this.tokens.starts[index]!, end: this.tokens.ends[index]! };
  }
  here(): Span {
    return this.span(this.pos);
  }
  /** Makes the fields a node, from `start` to the end of the last token taken. They are not copied: that would be a third of the parse. */
  node<const N extends { readonly type: string }>(start: number, fields: N): N & Span {
    const node = fields as N & { start: number; end: number };
    node.start = start;
    node.end = Math.max(start, this.#lastEnd);
    return node;
  }
  /** The inside of a pair of brackets; when it cannot be read, the parser goes on after the closing one. */
  group<T>(open: '(' | '[' | '{', parse: () => T, instead: () => T): T {
    const opener = this.pos;
    const height = this.#height;
    this.expect(open);
    const partner = this.tokens.partners[opener]!;
    try {
      return this.nested(() => {
        const inside = this.within({ brackets: true, collection: false, trigger: false, binding: this.mode.binding }, parse);
        this.expect(open === '(' ? ')' : open === '[' ? ']' : '}');
        return inside;
      }, opener);
    } catch (error) {
      if (error !== PANIC || partner < this.pos || this.#nextStatement(partner) < partner) throw error;
      this.#height = height;
      this.pos = partner;
      this.take();
      this.#recovered = this.pos;
      return instead();
    }
  }
  within<T>(mode: Partial<Mode>, parse: () => T): T {
    const outer = this.mode;
    this.mode = { ...outer, ...mode };
    try {
      return parse();
    } finally {
      this.mode = outer;
    }
  }
  /** A new beginning: inside a block nothing of the place around it holds. */
  plain<T>(parse: () => T): T {
    return this.within({ ...PLAIN, match: this.mode.match }, parse);
  }

  // ---------------------------------------------------------------- depth
  nested<T>(parse: () => T, opener = this.pos): T {
    if (this.#depth >= DEEPEST) this.#tooDeep(opener, `more than ${DEEPEST} levels of nesting`);
    const outer = this.#height;
    this.#height = 0;
    this.#depth += 1;
    try {
      return parse();
    } finally {
      this.#depth -= 1;
      this.#height = Math.max(outer, this.#height + 1);
    }
  }
  /** For what grows to one side without nesting: `parse` calls `grow` for every step. */
  chained<T>(parse: () => T): T {
    const outer = this.#height;
    this.#height = 0;
    const result = parse();
    this.#height = Math.max(outer, this.#height);
    return result;
  }
  grow(): void {
    this.#height += 1;
    if (this.#height > TALLEST) this.#tooDeep(this.pos, `more than ${TALLEST} steps in one expression`);
  }
  #tooDeep(at: number, what: string): never {
    this.soft(this.span(at), what, 'divide it, with variables or procedures for the parts');
    throw ABORT;
  }

  // ---------------------------------------------------------------- mistakes
  soft(at: Span, message: string, hint?: string): void {
    this.found.report(at, 'cascade.lang.syntax', message, hint);
  }
  /** Tells of the token here and gives the construct up. */
  fail(message: string, hint?: string): never {
    this.#giveUp(this.here(), message, hint);
  }
  /** Expected something that is missing before the token here: shown right after the token before, if that ended its line. */
  missing(what: string, hint?: string): never {
    const at = this.pos > 0 && this.isFresh() && !this.isEnd() ? { start: this.#lastEnd, end: this.#lastEnd + 1 } : this.here();
    this.#giveUp(at, `expected ${what}, found ${this.describe()}`, hint);
  }
  #giveUp(at: Span, message: string, hint?: string): never {
    const isSilent = this.pos === this.#recovered || (this.isEnd() && this.tokens.truncated);
    if (!isSilent) this.soft(at, message, hint ?? this.#unclosedHint());
    throw this.isEnd() || !this.found.hasRoom ? ABORT : PANIC;
  }
  /** A stand-in for an expression that could not be read. */
  nothing(): Expression {
    const node: Expression = { type: 'Null', ...this.span(Math.max(0, this.pos - 1)) };
    this.#standIns.add(node);
    return node;
  }
  isStandIn(node: object): boolean {
    return this.#standIns.has(node);
  }
  /** Gives the construct up without a further word. */
  giveUp(): never {
    throw PANIC;
  }
  /** Gives the whole text up without a further word. */
  stop(): never {
    throw ABORT;
  }
  /** At the end of the text: the innermost bracket that is open, if any. */
  #unclosedHint(): string | undefined {
    if (!this.isEnd()) return undefined;
    const { partners, texts, kinds, source, starts } = this.tokens;
    for (let index = this.pos - 1; index >= 0; index -= 1) {
      const isOpener = kinds[index]! < INTEGER && (texts[index] === '(' || texts[index] === '[' || texts[index] === '{');
      if (!isOpener || partners[index]! >= 0) continue;
      const line = source.slice(0, starts[index]).split(/\r\n|\r|\n/).length;
      return `'${texts[index]}' of line ${line} is not closed`;
    }
    return undefined;
  }
  /** How a message names the token. */
  describe(ahead = 0): string {
    const kind = this.kind(ahead);
    if (kind === END) return 'the end of the text';
    if (kind === STRING) return 'a String';
    return quoted(this.written(ahead).slice(0, 40));
  }
  /**
   * After a mistake in the statement that began at token `first`: on to where the next statement of the same block begins, or to the
   * block's end. Brackets that were opened in the statement are left behind whole, unless their end is missing.
   * @param margin how far to the right the next statement may begin; without it no further than this one
   */
  synchronise(first: number, margin?: number): void {
    if (margin !== undefined) this.#margin = { of: this.statementStart, column: margin };
    let at = this.#outOfBrackets(first);
    if (at === first && !this.at('}')) at += 1;
    for (this.pos = Math.min(at, this.tokens.count - 1); !this.isEnd() && !this.at('}') && !this.#beginsStatement(); ) {
      if (this.accept(';')) break;
      const partner = this.tokens.partners[this.pos]!;
      this.pos = partner > this.pos && this.#nextStatement(partner) === partner ? partner + 1 : this.pos + 1;
    }
  }
  #outOfBrackets(first: number): number {
    for (let index = first; index < this.pos; ) {
      const partner = this.tokens.partners[index]!;
      if (partner >= this.pos) return this.#nextStatement(partner) === partner ? partner + 1 : this.#nextStatement(partner);
      index = partner > index ? partner + 1 : index + 1;
    }
    return this.pos;
  }
  /**
   * The first token from here on that begins a line no further to the right than the statement does, and looks like a statement of its
   * own: a bracket that is still open there lacks its end. `least` when there is none before it.
   */
  #nextStatement(least: number): number {
    const here = this.pos;
    let at = Math.max(here, Math.min(this.#searched, least));
    for (; at < least; at += 1) {
      if (this.tokens.fresh[at] === 0) continue;
      this.pos = at;
      if (this.#beginsStatement()) break;
    }
    this.pos = here;
    this.#searched = at;
    return at;
  }
  #beginsStatement(): boolean {
    if (!this.isFresh() || !this.grammar.startsStatement(this)) return false;
    return this.#column(this.pos) <= this.#statementColumn();
  }
  /** Of the line on which the statement begins; without limit when the line began with something else. */
  #statementColumn(): number {
    if (this.#margin.of === this.statementStart) return this.#margin.column;
    let first = Math.max(0, this.statementStart);
    while (first > this.listStart && this.tokens.fresh[first] === 0) first -= 1;
    this.#margin = { of: this.statementStart, column: this.tokens.fresh[first] === 0 ? Infinity : this.#column(first) };
    return this.#margin.column;
  }
  /** How far to the right a token stands that is the first on its line. */
  #column(index: number): number {
    const start = this.tokens.starts[index]!;
    let at = start;
    while (at > 0 && !'\r\n'.includes(this.tokens.source[at - 1]!)) at -= 1;
    return start - at;
  }
}

export const quoted = (text: string): string => `'${text}'`;
