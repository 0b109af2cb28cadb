// Tokens to lines. What stays on a line is the author's choice, but for statements, blocks and lists: a list of which one item is on a line
// of its own, or that would be too wide, has every item on a line of its own. Line ends inside brackets mean nothing (language.md L17), and
// outside of them none is added within a statement, so the text keeps its meaning.
import { END, PUNCTUATOR, STRING, type Tokens, VERSION, WORD } from '../1-parse/index.ts';
import type { Layout } from './layout.ts';
import { spelled } from './spelling.ts';

const WIDEST = 140;
const STEP = 2;
const OPENERS = new Set(['(', '[', '{']);
const CLOSERS = new Set([')', ']', '}']);

export function write(tokens: Tokens, layout: Layout, semicolons: 'dropped' | 'kept'): string {
  const groups = new Groups(tokens, layout);
  // Each round opens the outermost lists that are too wide; nesting bounds the rounds.
  for (;;) {
    const writer = new Writer(tokens, layout, groups, semicolons === 'kept');
    writer.run();
    if (!groups.open(writer.tooWide)) return writer.text();
  }
}

/** The bracketed lists, and which of them have an item a line. */
class Groups {
  /** Closing token by opening one, for lists with a comma of their own. */
  readonly lists = new Map<number, number>();
  /** The opening token around each token, -1 for none; blocks count. */
  readonly around: Int32Array;
  readonly #opened = new Set<number>();

  constructor(tokens: Tokens, layout: Layout) {
    this.around = new Int32Array(tokens.count).fill(-1);
    const open: number[] = [];
    for (let at = 0; at < tokens.count; at += 1) {
      const partner = tokens.partners[at]!;
      if (layout.blockCloses.has(at) || (partner >= 0 && partner < at)) open.pop();
      const outer = open.at(-1) ?? -1;
      this.around[at] = outer;
      if (outer >= 0 && !layout.blockOpens.has(outer)) this.#inside(tokens, at, outer);
      if (layout.blockOpens.has(at) || (partner > at && !layout.blockOpens.has(at))) open.push(at);
    }
  }

  #inside(tokens: Tokens, at: number, outer: number): void {
    const isComma = tokens.texts[at] === ',' && tokens.kinds[at] !== STRING;
    if (isComma) this.lists.set(outer, tokens.partners[outer]!);
    const closesInner = tokens.partners[at]! >= 0 && tokens.partners[at]! < at;
    if (tokens.fresh[at] === 1 && !closesInner) this.#opened.add(outer);
  }

  /** Has the list an item a line? */
  isOpen(opener: number): boolean {
    return this.lists.has(opener) && this.#opened.has(opener);
  }

  /** @returns whether one of these was not open before */
  open(openers: readonly number[]): boolean {
    const before = this.#opened.size;
    for (const opener of openers) this.#opened.add(opener);
    return this.#opened.size > before;
  }
}

class Writer {
  /** Lists on lines that are too wide: the outermost of each line. */
  readonly tooWide: number[] = [];
  readonly #tokens: Tokens;
  readonly #layout: Layout;
  readonly #groups: Groups;
  readonly #keepsSemicolons: boolean;
  readonly #lines: string[] = [];
  #line = '';
  #indent = 0;
  /** The indentation of the lines on which the open brackets stand. */
  readonly #brackets: number[] = [];
  /** Lists that begin on the line, outermost first. */
  #begun: number[] = [];
  /** A comment over several lines stands on the line: it is not measured, and keeps its blanks. */
  #isRaw = false;
  /** The next comment. */
  #comment = 0;
  /** Where the last thing ended that was written. */
  #end = 0;
  /** The `;` that were left out since the last line began. */
  #dropped: number[] = [];

  constructor(tokens: Tokens, layout: Layout, groups: Groups, keepsSemicolons: boolean) {
    this.#tokens = tokens;
    this.#layout = layout;
    this.#groups = groups;
    this.#keepsSemicolons = keepsSemicolons;
  }

  text(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }

  run(): void {
    const { count, kinds, ends } = this.#tokens;
    let before = -1;
    for (let at = 0; at < count; at += 1) {
      if (!this.#keepsSemicolons && this.#sign(at) === ';') {
        this.#dropped.push(at);
        continue;
      }
      const mustBreak = this.#comments(before, at);
      if (kinds[at] === END) break;
      this.#token(before, at, mustBreak);
      before = at;
      this.#end = ends[at]!;
    }
    this.#endLine();
  }

  /** A punctuator; '' for any other token. */
  #sign(at: number): string {
    return at >= 0 && this.#tokens.kinds[at] === PUNCTUATOR ? this.#tokens.texts[at]! : '';
  }
  #closes(at: number): boolean {
    return this.#layout.blockCloses.has(at) || CLOSERS.has(this.#sign(at));
  }

  // ---------------------------------------------------------------- tokens
  #token(before: number, at: number, isForced: boolean): void {
    const { source, starts, ends } = this.#tokens;
    const outer = this.#closes(at) ? (this.#brackets.pop() ?? 0) : null;
    if (before < 0 || isForced || this.#breaks(before, at))
      this.#newLine(outer ?? this.#indentOf(at), starts[at]!, this.#layout.lineStarts.has(at));
    else if (this.#isSpaced(before, at)) this.#line += ' ';
    const written = source.slice(starts[at], ends[at]);
    this.#line += this.#layout.names.has(at) ? written : this.#layout.loopWords.has(at) ? written.toLowerCase() : spelled(this.#tokens, at);
    if (!this.#layout.blockOpens.has(at) && !OPENERS.has(this.#sign(at))) return;
    this.#brackets.push(this.#indent);
    if (this.#groups.lists.has(at)) this.#begun.push(at);
  }

  /** Does a line begin here, be there comments or not? */
  #breaks(before: number, at: number): boolean {
    const { lineStarts, blockOpens, blockCloses } = this.#layout;
    const { fresh, kinds, partners, texts } = this.#tokens;
    if (blockOpens.has(before)) return !blockCloses.has(at);
    if (blockCloses.has(at)) return true;
    if (blockOpens.has(at) || this.#sign(at) === ';' || this.#sign(at) === ',') return false;
    if (lineStarts.has(at)) return true;
    if (blockCloses.has(before) && kinds[at] === WORD && FOLLOWING.has(texts[at]!)) return false;
    const partner = partners[at]!;
    if (partner >= 0 && partner < at && this.#groups.lists.has(partner)) return this.#groups.isOpen(partner);
    const group = this.#groups.around[at]!;
    if (this.#groups.lists.has(group) && (before === group || this.#sign(before) === ',')) return this.#groups.isOpen(group);
    return fresh[at] === 1;
  }

  /** Of a line that begins with this token: in brackets one step more than their line, and one more for the rest of a statement or item. */
  #indentOf(at: number): number {
    const outer = this.#brackets.at(-1);
    const base = outer === undefined ? 0 : outer + STEP;
    return this.#beginsItem(at) ? base : base + STEP;
  }
  #beginsItem(at: number): boolean {
    if (this.#layout.lineStarts.has(at) || this.#tokens.kinds[at] === END) return true;
    const group = this.#groups.around[at]!;
    return group >= 0 && !this.#layout.blockOpens.has(group) && (at === group + 1 || this.#sign(at - 1) === ',');
  }

  /** Is there a blank between two tokens on one line? */
  #isSpaced(before: number, at: number): boolean {
    const { blockOpens, blockCloses, prefixes, spacedColons } = this.#layout;
    const last = this.#sign(before);
    const next = this.#sign(at);
    if (TIGHT_BEFORE.has(next)) return false;
    if (blockOpens.has(before) || blockOpens.has(at)) return true;
    if (TIGHT_AFTER.has(last) || CLOSERS.has(next) || prefixes.has(before)) return false;
    if (next === ':') return spacedColons.has(at);
    if (last === ':' && this.#tokens.kinds[at] === VERSION) return false;
    return !((next === '(' || next === '[') && !blockCloses.has(before) && this.#takesBracket(before));
  }
  /** What a bracket right behind belongs to: a call, a subscript, the length of a type, the values of an INSERT. */
  #takesBracket(at: number): boolean {
    const kind = this.#tokens.kinds[at];
    if (kind === WORD) return this.#layout.names.has(at);
    return kind !== PUNCTUATOR || CLOSERS.has(this.#tokens.texts[at]!);
  }

  // ---------------------------------------------------------------- comments
  /** Writes those between two tokens. @returns whether the second must begin a line */
  #comments(before: number, at: number): boolean {
    const { comments, source, starts } = this.#tokens;
    let mustBreak = false;
    for (let comment = comments[this.#comment]; comment && comment.before <= at; comment = comments[this.#comment]) {
      const text = source.slice(comment.start, comment.end).trimEnd();
      const isOwnLine = before < 0 || hasLineEnd(source.slice(this.#end, comment.start));
      if (isOwnLine || mustBreak) this.#newLine(this.#commentIndent(at), comment.start, this.#mayStandApart(at));
      else if (!OPENERS.has(this.#line.at(-1) ?? '(') || this.#layout.blockOpens.has(before)) this.#line += ' ';
      this.#line += text;
      this.#isRaw ||= hasLineEnd(text);
      this.#end = comment.end;
      this.#comment += 1;
      mustBreak =
        text.startsWith('//') || hasLineEnd(source.slice(comment.end, Math.min(starts[at]!, comments[this.#comment]?.start ?? Infinity)));
    }
    return mustBreak;
  }
  /** Between statements an empty line stays, within them none. */
  #mayStandApart(at: number): boolean {
    return this.#layout.lineStarts.has(at) || this.#layout.blockCloses.has(at) || this.#tokens.kinds[at] === END;
  }
  #commentIndent(at: number): number {
    return this.#closes(at) ? (this.#brackets.at(-1) ?? 0) + STEP : this.#indentOf(at);
  }

  // ---------------------------------------------------------------- lines
  /** @param next where in the source the line's first thing begins: the author's empty line before it may stay */
  #newLine(indent: number, next: number, mayStandApart: boolean): void {
    const opened = /(?:[{]|\bdo)$/.test(this.#line);
    this.#endLine();
    const isApart = this.#isApart(next);
    if (mayStandApart && isApart && !opened && this.#lines.length > 0) this.#lines.push('');
    this.#indent = indent;
    this.#line = ' '.repeat(indent);
  }

  /** Does an empty line part what was written last from what begins at `next`? A line with nothing but a `;` that is dropped is none. */
  #isApart(next: number): boolean {
    const { source, starts, ends } = this.#tokens;
    let from = this.#end;
    const gaps = this.#dropped.splice(0).flatMap((at) => {
      if (ends[at]! <= from || starts[at]! >= next) return [];
      const gap = source.slice(from, starts[at]);
      from = ends[at]!;
      return [gap];
    });
    return [...gaps, source.slice(from, next)].some((gap) => (gap.match(/\r\n|\r|\n/g) ?? []).length > 1);
  }

  #endLine(): void {
    if (this.#line.trim() !== '') {
      if (this.#line.length > WIDEST && !this.#isRaw) this.#reportWide();
      this.#lines.push(this.#isRaw ? this.#line : this.#line.trimEnd());
    }
    this.#line = '';
    this.#begun = [];
    this.#isRaw = false;
  }

  #reportWide(): void {
    const opener = this.#begun.find((one) => !this.#groups.isOpen(one));
    if (opener !== undefined) this.tooWide.push(opener);
  }
}

/** What goes on behind a block on the same line. */
const FOLLOWING = new Set(['else', 'catch', 'finally']);
const TIGHT_BEFORE = new Set([',', ';', '.', '++', '--']);
const TIGHT_AFTER = new Set([...OPENERS, '.', '@']);
const hasLineEnd = (text: string): boolean => /[\r\n]/.test(text);
