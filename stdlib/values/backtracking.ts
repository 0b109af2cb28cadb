// Regular expressions that no linear-time engine can run: look-ahead and look-behind, back references, possessive and atomic groups
// (builtins.md 4). A backtracking matcher over code points, with a bound on its steps in place of a bound on its time, so that a run that is
// repeated sees the same. What one character may be is asked of re2js, so that classes mean the same in both engines.
import { RE2JS } from 're2js';
import { fail } from '../errors.ts';
import { translatePattern } from './pattern-syntax.ts';

/** What a match may cost. */
export interface Patience {
  /** Steps that are left: a slow machine makes about ten million in a second. */
  left: number;
  /** Who asks: named when they are used up (`cascade.builtin.timeout`). */
  readonly of: string;
}
/** What the error tells (builtins.md 4); the bound itself is in steps. */
const STOPPED_AFTER_MS = 1000;
/** A long text may cost more. */
const STEPS_A_CHARACTER = 4;
/** Repetitions are written out, so both are bounded, as in re2js. */
const MAX_COUNT = 1000;
const MAX_PROGRAM = 100_000;
/** Nested groups: more than any text written by hand. */
const MAX_DEPTH = 200;

type Test = (point: number) => boolean;
type Assertion = 'start' | 'end' | 'lineStart' | 'lineEnd' | 'boundary' | 'inside';

type Node =
  | { readonly kind: 'set'; readonly test: Test }
  | { readonly kind: 'at'; readonly what: Assertion }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[] }
  | { readonly kind: 'group'; readonly index: number; readonly body: Node }
  | { readonly kind: 'back'; readonly index: number; readonly ignoreCase: boolean }
  | { readonly kind: 'look'; readonly behind: boolean; readonly negative: boolean; readonly body: Node }
  | { readonly kind: 'atomic'; readonly body: Node }
  | { readonly kind: 'repeat'; readonly least: number; readonly most: number; readonly lazy: boolean; readonly body: Node };

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly x: boolean;
}

/** What it offers is the part of re2js's interface that the built-ins use. */
export class Backtracking {
  readonly #program: readonly Instruction[];
  readonly #groups: number;
  readonly #marks: number;

  /** Fails with the pattern error, which has the offset of what is wrong. */
  constructor(source: string) {
    const { tree, groups } = new Parser(source).parse();
    const writer = new Writer(source, 2 * groups + 2);
    writer.write(tree);
    writer.add({ op: 'match' });
    this.#program = writer.program;
    this.#groups = groups;
    this.#marks = writer.marks;
  }

  groupCount(): number {
    return this.#groups;
  }
  matches(text: string, patience: Patience): boolean {
    return new Attempt(this.#program, text, this.#groups, this.#marks, patience).run(0, 0, text.length) >= 0;
  }
  matcher(text: string, patience: Patience): Finder {
    return new Finder(new Attempt(this.#program, text, this.#groups, this.#marks, patience), text, this.#groups);
  }
}

/** One match after the other. */
export class Finder {
  readonly #attempt: Attempt;
  readonly #text: string;
  readonly #groups: number;
  #start = 0;
  #end = -1;
  constructor(attempt: Attempt, text: string, groups: number) {
    this.#attempt = attempt;
    this.#text = text;
    this.#groups = groups;
  }
  find(): boolean {
    const text = this.#text;
    // Behind an empty match the next one begins a character later, as in re2js.
    let from = this.#end < 0 ? 0 : this.#end === this.#start ? this.#end + sizeAt(text, this.#end) : this.#end;
    for (; from <= text.length; from += sizeAt(text, from)) {
      const end = this.#attempt.run(0, from, -1);
      if (end < 0) continue;
      this.#start = from;
      this.#end = end;
      return true;
    }
    return false;
  }
  start(): number {
    return this.#start;
  }
  end(): number {
    return this.#end;
  }
  groupCount(): number {
    return this.#groups;
  }
  group(index = 0): string | null {
    if (index === 0) return this.#text.slice(this.#start, this.#end);
    const [start = -1, end = -1] = [this.#attempt.marks[2 * index], this.#attempt.marks[2 * index + 1]];
    return start < 0 || end < 0 ? null : this.#text.slice(start, end);
  }
}

const sizeAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

// ---------------------------------------------------------------- reading

class Parser {
  readonly #source: string;
  readonly #names = new Map<string, number>();
  #at = 0;
  #groups = 0;
  #depth = 0;
  #flags: Flags = { i: false, m: false, s: false, x: false };
  /** Back references, to be looked at when all groups are known. */
  readonly #references: { readonly index: number; readonly at: number }[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  parse(): { tree: Node; groups: number } {
    const tree = this.#alternatives();
    if (this.#at < this.#source.length) this.#refuse(this.#at); // a `)` too many
    for (const { index, at } of this.#references) if (index > this.#groups) this.#refuse(at);
    return { tree, groups: this.#groups };
  }

  #refuse(at: number): never {
    return fail('cascade.builtin.pattern', this.#source, at);
  }
  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #alternatives(): Node {
    if (++this.#depth > MAX_DEPTH) this.#refuse(this.#at);
    const outer = this.#flags;
    const parts = [this.#sequence()];
    while (this.#takes('|')) parts.push(this.#sequence());
    this.#flags = outer; // flags set inside a group end with it
    this.#depth--;
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'any', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined || char === '|' || char === ')') return { kind: 'all', parts };
      if (this.#flags.x && this.#skipsBlank(char)) continue;
      const atoms = this.#atom(char);
      if (atoms.length === 0) continue;
      parts.push(...atoms.slice(0, -1), this.#quantified(atoms.at(-1) as Node));
    }
  }

  #skipsBlank(char: string): boolean {
    if (/\s/.test(char)) this.#at++;
    else if (char === '#') {
      const end = this.#source.indexOf('\n', this.#at);
      this.#at = end < 0 ? this.#source.length : end + 1;
    } else return false;
    return true;
  }

  /** Several for `\Q…\E`, none for flags. */
  #atom(char: string): Node[] {
    const at = this.#at;
    if (char === '(') return this.#group();
    if (char === '[') return [this.#set(this.#classEnd())];
    if (char === '\\') return this.#escape();
    if (/[*+?]/.test(char) || /^\{\d+(,\d*)?\}/.test(this.#source.slice(at, at + 12))) this.#refuse(at);
    this.#at += sizeAt(this.#source, at);
    if (char === '.') return [{ kind: 'set', test: this.#flags.s ? () => true : (point) => point !== 0x0a }];
    if (char === '^') return [{ kind: 'at', what: this.#flags.m ? 'lineStart' : 'start' }];
    if (char === '$') return [{ kind: 'at', what: this.#flags.m ? 'lineEnd' : 'end' }];
    return [this.#literal(this.#source.codePointAt(at) as number)];
  }

  #literal(point: number): Node {
    if (!this.#flags.i || !/\p{L}|\p{M}/u.test(String.fromCodePoint(point))) return { kind: 'set', test: (other) => other === point };
    return { kind: 'set', test: askedOf(`(?i)\\x{${point.toString(16)}}`) };
  }

  /** What stands from here up to `end` is one character for re2js. */
  #set(end: number): Node {
    const from = this.#at;
    const text = `${this.#flags.i ? '(?i)' : ''}${this.#source.slice(from, end)}`;
    this.#at = end;
    try {
      return { kind: 'set', test: askedOf(translatePattern(text).text) };
    } catch {
      return this.#refuse(from); // whatever it is, it is no class: the error names the place in the whole pattern
    }
  }

  #classEnd(): number {
    const source = this.#source;
    let i = this.#at + 1;
    if (source[i] === '^') i++;
    if (source[i] === ']') i++;
    for (; i < source.length; i++) {
      if (source.startsWith('\\Q', i)) {
        const end = source.indexOf('\\E', i);
        i = end < 0 ? source.length : end + 1;
      } else if (source[i] === '\\') i++;
      else if (source.startsWith('[:', i) && source.includes(':]', i)) i = source.indexOf(':]', i) + 1;
      else if (source[i] === ']') return i + 1;
    }
    return this.#refuse(this.#at);
  }

  #escape(): Node[] {
    const at = this.#at;
    const rest = this.#source.slice(at);
    const kind = rest[1];
    const assertion = ASSERTIONS.get(kind ?? '');
    if (assertion) {
      this.#at += 2;
      return [{ kind: 'at', what: assertion }];
    }
    if (kind === 'Q') {
      const end = this.#source.indexOf('\\E', at + 2);
      this.#at = end < 0 ? this.#source.length : end + 2;
      return Array.from(this.#source.slice(at + 2, end < 0 ? undefined : end), (char) => this.#literal(char.codePointAt(0) as number));
    }
    const named = /^\\k<(\w+)>/.exec(rest);
    const numbered = /^\\[1-9]\d?/.exec(rest);
    if (named) return [this.#reference(this.#names.get(named[1] as string) ?? this.#refuse(at), named[0])];
    if (numbered) {
      const two = Number(numbered[0].slice(1));
      const isOne = two > 9 && two > this.#groups; // `\12` with fewer groups is `\1` and a 2
      return [this.#reference(isOne ? Math.floor(two / 10) : two, isOne ? numbered[0].slice(0, 2) : numbered[0])];
    }
    const length = /^\\(?:[pP]\{[^}]*\}|[pP].|x\{[^}]*\}|x..|uD[89AB]..\\uD[C-F]..|u....|[\s\S])/i.exec(rest)?.[0].length;
    return [this.#set(at + (length ?? this.#refuse(at)))];
  }

  #reference(index: number, text: string): Node {
    this.#references.push({ index, at: this.#at });
    this.#at += text.length;
    return { kind: 'back', index, ignoreCase: this.#flags.i };
  }

  #group(): Node[] {
    const at = this.#at;
    const look = /^\(\?(<)?([=!])/.exec(this.#source.slice(at, at + 4));
    const name = /^\(\?P?<(\w+)>/.exec(this.#source.slice(at))?.[0];
    const flags = /^\(\?([imsx]*)(?:-([imsx]+))?([:)])/.exec(this.#source.slice(at, at + 16));
    if (look)
      return [this.#inside(look[0], at, (body) => ({ kind: 'look', behind: look[1] !== undefined, negative: look[2] === '!', body }))];
    if (this.#source.startsWith('(?>', at)) return [this.#inside('(?>', at, (body) => ({ kind: 'atomic', body }))];
    if (flags) return this.#flagged(flags, at);
    if (name === undefined && this.#source.startsWith('(?', at)) this.#refuse(at);
    const index = ++this.#groups;
    if (name !== undefined) {
      const key = name.slice(name.indexOf('<') + 1, -1);
      if (this.#names.has(key)) this.#refuse(at);
      this.#names.set(key, index);
    }
    return [this.#inside(name ?? '(', at, (body) => ({ kind: 'group', index, body }))];
  }

  /** `(?i)`: up to the end of the group that it stands in; `(?i:…)` is a group of its own. */
  #flagged([whole, on = '', off = '', end]: RegExpExecArray, at: number): Node[] {
    const set = { ...this.#flags };
    for (const flag of on) set[flag as keyof Flags] = true;
    for (const flag of off) set[flag as keyof Flags] = false;
    if (end === ')') {
      this.#at += whole.length;
      this.#flags = set;
      return [];
    }
    const outer = this.#flags;
    this.#flags = set;
    const body = this.#inside(whole, at, (each) => each);
    this.#flags = outer;
    return [body];
  }

  #inside(opening: string, at: number, make: (body: Node) => Node): Node {
    this.#at += opening.length;
    const body = this.#alternatives();
    if (!this.#takes(')')) this.#refuse(at);
    return make(body);
  }

  #quantified(body: Node): Node {
    const found = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(this.#source.slice(this.#at, this.#at + 24));
    if (!found) return body;
    const [text, count, comma, bound] = found;
    const least = count !== undefined ? Number(count) : text === '+' ? 1 : 0;
    const most = count === undefined ? (text === '?' ? 1 : Infinity) : comma === undefined ? least : bound ? Number(bound) : Infinity;
    if (least > MAX_COUNT || (most !== Infinity && most > MAX_COUNT) || most < least) this.#refuse(this.#at);
    this.#at += text.length;
    const lazy = this.#takes('?');
    const possessive = !lazy && this.#takes('+');
    if (/^[*+?]/.test(this.#source.slice(this.#at, this.#at + 1))) this.#refuse(this.#at);
    const repeat: Node = { kind: 'repeat', least, most, lazy, body };
    return possessive ? { kind: 'atomic', body: repeat } : repeat;
  }
}

const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ['b', 'boundary'],
  ['B', 'inside'],
  ['A', 'start'],
  ['z', 'end'],
]);

/** Whether a character is what re2js says the pattern of one character matches; its answers are kept. */
function askedOf(pattern: string): Test {
  const engine = RE2JS.compile(pattern);
  const known = new Map<number, boolean>();
  return (point) => {
    let answer = known.get(point);
    if (answer !== undefined) return answer;
    answer = engine.matches(String.fromCodePoint(point));
    if (known.size < 4096) known.set(point, answer);
    return answer;
  };
}

// ---------------------------------------------------------------- the program

type Jump = Extract<Instruction, { to: number }>;
type Instruction =
  | { readonly op: 'set'; readonly test: Test }
  | { readonly op: 'at'; readonly what: Assertion }
  | { readonly op: 'jump'; to: number }
  /** Goes on behind, and at `to` when that comes to nothing; `lazy` the other way round. */
  | { readonly op: 'split'; to: number; readonly lazy: boolean }
  | { readonly op: 'mark'; readonly mark: number }
  /** Ends a repetition that has not moved since `mark`. */
  | { readonly op: 'moved'; readonly mark: number }
  | { readonly op: 'back'; readonly index: number; readonly ignoreCase: boolean }
  /** The body follows and ends in a match; then it goes on at `to`. */
  | { readonly op: 'look'; readonly negative: boolean; readonly least: number; readonly most: number; to: number; readonly behind: boolean }
  | { readonly op: 'atomic'; to: number }
  | { readonly op: 'match' };

class Writer {
  readonly program: Instruction[] = [];
  readonly #source: string;
  /** How many marks there are: those of the groups, and behind them those that tell where a turn of a repetition began. */
  marks: number;
  constructor(source: string, marks: number) {
    this.#source = source;
    this.marks = marks;
  }

  add<I extends Instruction>(instruction: I): I {
    if (this.program.length >= MAX_PROGRAM) fail('cascade.builtin.pattern', this.#source, this.#source.length);
    this.program.push(instruction);
    return instruction;
  }

  write(node: Node): void {
    const { program } = this;
    switch (node.kind) {
      case 'set':
        this.add({ op: 'set', test: node.test });
        break;
      case 'at':
        this.add({ op: 'at', what: node.what });
        break;
      case 'back':
        this.add({ op: 'back', index: node.index, ignoreCase: node.ignoreCase });
        break;
      case 'all':
        for (const part of node.parts) this.write(part);
        break;
      case 'any':
        this.#alternatives(node.parts);
        break;
      case 'group':
        this.add({ op: 'mark', mark: 2 * node.index });
        this.write(node.body);
        this.add({ op: 'mark', mark: 2 * node.index + 1 });
        break;
      case 'look': {
        const [least, most] = widthOf(node.body);
        const look = this.add({ op: 'look', negative: node.negative, behind: node.behind, least, most, to: 0 });
        this.write(node.body);
        this.add({ op: 'match' });
        look.to = program.length;
        break;
      }
      case 'atomic': {
        const atomic = this.add({ op: 'atomic', to: 0 });
        this.write(node.body);
        this.add({ op: 'match' });
        atomic.to = program.length;
        break;
      }
      case 'repeat':
        this.#repeat(node);
        break;
    }
  }

  #alternatives(parts: readonly Node[]): void {
    const ends: Jump[] = [];
    for (const [i, part] of parts.entries()) {
      const split = i < parts.length - 1 ? this.add({ op: 'split', to: 0, lazy: false }) : null;
      this.write(part);
      if (!split) break;
      ends.push(this.add({ op: 'jump', to: 0 }));
      split.to = this.program.length;
    }
    for (const end of ends) end.to = this.program.length;
  }

  #repeat({ least, most, lazy, body }: Extract<Node, { kind: 'repeat' }>): void {
    for (let i = 0; i < least; i++) this.write(body);
    if (most === Infinity) {
      const mark = this.marks++;
      const start = this.program.length;
      const split = this.add({ op: 'split', to: 0, lazy });
      this.add({ op: 'mark', mark });
      this.write(body);
      this.add({ op: 'moved', mark });
      this.add({ op: 'jump', to: start });
      split.to = this.program.length;
      return;
    }
    const splits: Jump[] = [];
    for (let i = least; i < most; i++) {
      splits.push(this.add({ op: 'split', to: 0, lazy }));
      this.write(body);
    }
    for (const split of splits) split.to = this.program.length;
  }
}

/** How many code units a node may take: a look-behind begins no farther away. */
function widthOf(node: Node): [least: number, most: number] {
  switch (node.kind) {
    case 'set':
      return [1, 2];
    case 'at':
    case 'look':
      return [0, 0];
    case 'back':
      return [0, Infinity];
    case 'all':
      return node.parts.map(widthOf).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case 'any':
      return node.parts.map(widthOf).reduce(([a, b], [c, d]) => [Math.min(a, c), Math.max(b, d)]);
    case 'group':
    case 'atomic':
      return widthOf(node.body);
    case 'repeat': {
      const [least, most] = widthOf(node.body);
      return [least * node.least, most === 0 ? 0 : most * node.most];
    }
  }
}

// ---------------------------------------------------------------- running it

/** The matcher of one text; its steps are counted over all its matches. */
class Attempt {
  /** Start and end of each group, -1 when it took no part; behind them what repetitions remember. */
  readonly marks: Int32Array;
  readonly #program: readonly Instruction[];
  readonly #text: string;
  readonly #groups: number;
  readonly #patience: Patience;

  constructor(program: readonly Instruction[], text: string, groups: number, marks: number, patience: Patience) {
    this.#program = program;
    this.#text = text;
    this.#groups = groups;
    this.#patience = patience;
    this.marks = new Int32Array(marks);
    patience.left += STEPS_A_CHARACTER * text.length;
  }

  /** @param wanted where the match must end; -1: anywhere @returns its end, -1 without one */
  run(start: number, from: number, wanted: number): number {
    for (let i = 0; i < 2 * this.#groups + 2; i++) this.marks[i] = -1;
    return this.#from(start, from, wanted);
  }

  /** The stack holds triples: the way not taken (instruction, place, -1), or a mark to be set back (mark, value, -2). */
  #from(start: number, from: number, wanted: number): number {
    const text = this.#text;
    const program = this.#program;
    const { marks } = this;
    const patience = this.#patience;
    const stack: number[] = [];
    let pc = start;
    let at = from;
    for (;;) {
      if (--patience.left < 0) fail('cascade.builtin.timeout', patience.of, STOPPED_AFTER_MS);
      const next = program[pc] as Instruction;
      let holds = true;
      switch (next.op) {
        case 'set': {
          const point = text.codePointAt(at);
          holds = point !== undefined && next.test(point);
          if (holds) at += (point as number) > 0xffff ? 2 : 1;
          pc++;
          break;
        }
        case 'at':
          holds = this.#stands(next.what, at);
          pc++;
          break;
        case 'jump':
          pc = next.to;
          break;
        case 'split':
          stack.push(next.lazy ? pc + 1 : next.to, at, -1);
          pc = next.lazy ? next.to : pc + 1;
          break;
        case 'mark':
          stack.push(next.mark, marks[next.mark] ?? -1, -2);
          marks[next.mark] = at;
          pc++;
          break;
        case 'moved':
          holds = marks[next.mark] !== at;
          pc++;
          break;
        case 'back': {
          const [begin = -1, end = -1] = [marks[2 * next.index], marks[2 * next.index + 1]];
          const size = end - begin;
          holds = begin >= 0 && end >= 0 && same(text.slice(begin, end), text.slice(at, at + size), next.ignoreCase);
          patience.left -= size >> 3;
          at += size;
          pc++;
          break;
        }
        case 'look':
        case 'atomic': {
          patience.left -= this.#groups;
          const before = marks.slice(0, 2 * this.#groups + 2);
          const end = next.op === 'atomic' ? this.#from(pc + 1, at, -1) : this.#looked(next, pc + 1, at);
          holds = next.op === 'look' && next.negative ? end < 0 : end >= 0;
          if (holds && next.op === 'look' && next.negative) for (let i = 0; i < before.length; i++) marks[i] = before[i] as number;
          else for (let i = 0; i < before.length; i++) if (before[i] !== marks[i]) stack.push(i, before[i] as number, -2);
          if (holds && next.op === 'atomic') at = end;
          pc = next.to;
          break;
        }
        case 'match':
          if (wanted < 0 || at === wanted) return at;
          holds = false;
      }
      if (holds) continue;
      for (;;) {
        const what = stack.pop();
        if (what === undefined) return -1;
        const place = stack.pop() as number;
        const where = stack.pop() as number;
        if (what === -1) {
          pc = where;
          at = place;
          break;
        }
        marks[where] = place;
      }
    }
  }

  /** A look-behind ends here, and is tried from the nearest place on. */
  #looked(look: Extract<Instruction, { op: 'look' }>, body: number, at: number): number {
    if (!look.behind) return this.#from(body, at, -1);
    for (let from = at - look.least; from >= 0 && from >= at - look.most; from--) if (this.#from(body, from, at) >= 0) return at;
    return -1;
  }

  #stands(what: Assertion, at: number): boolean {
    const text = this.#text;
    if (what === 'start') return at === 0;
    if (what === 'end') return at === text.length;
    if (what === 'lineStart') return at === 0 || text.charCodeAt(at - 1) === 0x0a;
    if (what === 'lineEnd') return at === text.length || text.charCodeAt(at) === 0x0a;
    return (isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at))) === (what === 'boundary');
  }
}

/** ASCII letters, digits and `_`; NaN beyond the ends is none. */
const isWord = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || (unit >= 0x61 && unit <= 0x7a);

const same = (a: string, b: string, ignoreCase: boolean): boolean =>
  a === b || (ignoreCase && a.length === b.length && folded(a) === folded(b));
const folded = (text: string): string => text.toUpperCase().toLowerCase();
