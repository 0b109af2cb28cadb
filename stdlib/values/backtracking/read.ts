// A pattern's text read to a tree.
import { RE2JS } from 're2js';
import { fail } from '../../errors.ts';
import { translatePattern } from '../pattern-text/index.ts';

/** Repetitions are written out, so they are bounded, as in re2js. */
const MAX_COUNT = 1000;
/** Nested groups: more than any text written by hand. */
const MAX_DEPTH = 200;

export type Test = (point: number) => boolean;
export type Assertion = 'start' | 'end' | 'lineStart' | 'lineEnd' | 'boundary' | 'inside';

export type Node =
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

/** Fails with the pattern error, which has the offset of what is wrong. @returns the tree, and how many groups capture */
export const read = (source: string): { tree: Node; groups: number } => new Parser(source).parse();

/** How many code units the character there takes. */
export const sizeAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

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
