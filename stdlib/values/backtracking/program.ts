// The instructions that a tree stands for.
import { fail } from '../../errors.ts';
import type { Assertion, Node, Test } from './read.ts';

/** Repetitions are written out, so what they come to is bounded. */
const MAX_PROGRAM = 100_000;
/** Parts of the tree that are written for it: those that come to no instruction, as empty groups, may be repeated as often. */
const MAX_WRITTEN = 4 * MAX_PROGRAM;

type Jump = Extract<Instruction, { to: number }>;
export type Instruction =
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

/** @returns the program, and how many places a match remembers; fails with the pattern error when it is too long */
export function programOf(tree: Node, groups: number, source: string): { program: readonly Instruction[]; marks: number } {
  const writer = new Writer(source, 2 * groups + 2);
  writer.write(tree);
  writer.add({ op: 'match' });
  return writer;
}

class Writer {
  readonly program: Instruction[] = [];
  readonly #source: string;
  /** How many marks there are: those of the groups, and behind them those that tell where a turn of a repetition began. */
  marks: number;
  #written = 0;
  constructor(source: string, marks: number) {
    this.#source = source;
    this.marks = marks;
  }

  add<I extends Instruction>(instruction: I): I {
    if (this.program.length >= MAX_PROGRAM) this.#refuse();
    this.program.push(instruction);
    return instruction;
  }

  #refuse(): never {
    return fail('cascade.builtin.pattern', this.#source, this.#source.length);
  }

  write(node: Node): void {
    const { program } = this;
    if (++this.#written > MAX_WRITTEN) this.#refuse();
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
    const before = this.program.length;
    if (least > 0) this.write(body);
    // What writes nothing matches nothing, however often it is repeated: nested, its repetitions would be 1,000 times 1,000 and so on.
    if (least > 0 && this.program.length === before) return;
    for (let i = 1; i < least; i++) this.write(body);
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
