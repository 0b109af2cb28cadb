// merge(): several collections as one Sequence, each element under its label (builtins.md 8).
import type { Value } from '../values/index.ts';
import { cursorOn } from './loops.ts';
import type { Run } from './run.ts';
import { type Cursor, Sequence } from './sequence.ts';
import type { Steps } from './steps.ts';

/** One element of each label in turn, those that have ended left out. */
export function merged(run: Run, labelled: readonly (readonly [label: string, collection: Value])[]): Sequence {
  return new Sequence(
    () => new MergeCursor(labelled.map(([label, collection]) => ({ label, cursor: cursorOn(run, collection, Number.POSITIVE_INFINITY) }))),
  );
}

class MergeCursor implements Cursor {
  value: Value = null;
  readonly #waiting: { readonly label: string; readonly cursor: Cursor }[];

  constructor(parts: { label: string; cursor: Cursor }[]) {
    this.#waiting = parts;
  }

  step(): boolean {
    const [next] = this.#waiting;
    return next?.cursor.step() === true && this.#take();
  }

  *pull(): Steps<boolean> {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      if (next.cursor.step() || (yield* next.cursor.pull())) return this.#take();
      this.#waiting.shift();
    }
    return false;
  }

  *close(): Steps<void> {
    for (const { cursor } of this.#waiting.splice(0)) yield* cursor.close();
  }

  /** The first one's element; its turn comes again after the others. */
  #take(): true {
    const turn = this.#waiting.shift();
    if (turn) {
      this.value = { [turn.label]: turn.cursor.value };
      this.#waiting.push(turn);
    }
    return true;
  }
}
