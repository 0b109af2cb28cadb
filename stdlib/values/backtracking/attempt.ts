// A program run on a text.
import { fail } from '../../errors.ts';
import type { Instruction } from './program.ts';
import type { Assertion } from './read.ts';

/** What a match may cost. */
export interface Patience {
  /** Steps that are left: a slow machine makes about ten million in a second. */
  left: number;
  /** Who asks: named when they are used up (`cascade.builtin.timeout`). */
  readonly of: string;
}
/** What the error tells (builtins.md 4); the bound itself is in steps. */
const STOPPED_AFTER_MS = 1000;
/** The matcher of one text; its steps are counted over all its matches. */
export class Attempt {
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
  }

  /** @param wanted where the match must end; -1: anywhere @returns its end, -1 without one */
  run(start: number, from: number, wanted: number): number {
    for (let i = 0; i < 2 * this.#groups + 2; i++) this.marks[i] = -1;
    this.#patience.left -= this.#groups >> 3; // one begins at each character
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
