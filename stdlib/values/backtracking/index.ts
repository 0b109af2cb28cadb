// Regular expressions that no linear-time engine can run: look-ahead and look-behind, back references, possessive and atomic groups
// (builtins.md 4). A backtracking matcher over code points, with a bound on its steps in place of a bound on its time, so that a run that is
// repeated sees the same. What one character may be is asked of re2js, so that classes mean the same in both engines.
// read.ts makes a tree of a pattern, program.ts instructions of the tree, attempt.ts runs them on a text.
import { Attempt, type Patience } from './attempt.ts';
import { type Instruction, programOf } from './program.ts';
import { read, sizeAt } from './read.ts';

export type { Patience } from './attempt.ts';

/** What it offers is the part of re2js's interface that the built-ins use. */
export class Backtracking {
  readonly #program: readonly Instruction[];
  readonly #groups: number;
  readonly #marks: number;

  /** Fails with the pattern error, which has the offset of what is wrong. */
  constructor(source: string) {
    const { tree, groups } = read(source);
    const { program, marks } = programOf(tree, groups, source);
    this.#program = program;
    this.#groups = groups;
    this.#marks = marks;
  }

  programSize(): number {
    return this.#program.length;
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
