// Sequences: lazy, in order, read once (language.md 4.2). A cursor gives an element at once (`step`) or with the host's help (`pull`).
import { fail } from '../errors.ts';
import { LocalValue, type Value } from '../values/index.ts';
import { isLimit } from './limits.ts';
import type { Run } from './run.ts';
import { slice, type Steps } from './steps.ts';

/** The reading end of a collection. `value` is the element after a true `step` or `pull`. */
export interface Cursor {
  value: Value;
  /** true: there is an element. false: ask `pull`, which knows whether it was the end. */
  step(): boolean;
  pull(): Steps<boolean>;
  /** Reading stops before the end. */
  close(): Steps<void>;
}

export class Sequence extends LocalValue {
  readonly typeName = 'Sequence';
  #open: (() => Cursor) | null;

  /** @param open makes the only cursor, when the first element is wanted */
  constructor(open: () => Cursor) {
    super();
    this.#open = open;
  }

  open(): Cursor {
    const open = this.#open;
    if (!open) return fail('cascade.lang.sequence.consumed', 'a second reading');
    this.#open = null;
    return open();
  }
  override text(): never {
    return fail('cascade.lang.sequence.conversion', 'conversion to text');
  }
}

/** A cursor that needs no host: its `pull` tells the end. */
export abstract class PlainCursor implements Cursor {
  value: Value = null;
  abstract step(): boolean;
  // The interface is a generator; this one has nothing to wait for.
  *pull(): Steps<boolean> {
    return false;
  }
  *close(): Steps<void> {}
}

/** An Array as it was when the reading began (language.md F4). */
export class ListCursor extends PlainCursor {
  readonly #list: readonly Value[];
  readonly #length: number;
  readonly #run: Run | null;
  readonly #most: number;
  #index = 0;

  /** @param most elements, above which the run dies; for a FOR */
  constructor(list: readonly Value[], run: Run | null = null, most = Number.POSITIVE_INFINITY) {
    super();
    this.#list = list;
    this.#length = list.length;
    this.#run = run;
    this.#most = most;
  }
  step(): boolean {
    if (this.#index >= this.#length) return false;
    if (this.#index >= this.#most) this.#run?.exceed('cascade.execution.iteration.limit', this.#most);
    this.value = this.#list[this.#index++] ?? null;
    return true;
  }
}

/** What a built-in produces by itself, as range() does. */
export class IterableCursor extends PlainCursor {
  readonly #elements: Iterator<Value>;
  constructor(elements: Iterator<Value>) {
    super();
    this.#elements = elements;
  }
  step(): boolean {
    const next = this.#elements.next();
    if (next.done) return false;
    this.value = next.value ?? null;
    return true;
  }
}

/** Reading ends with an error, and a TRY may go on with the run; not after a limit, where nothing is asked for any more. */
export function* afterError(cursor: Cursor, error: unknown): Steps<never> {
  if (isLimit(error)) throw error;
  try {
    yield* cursor.close();
  } catch (later) {
    if (isLimit(later)) throw later;
  }
  throw error;
}

/** @param reading goes through the cursor */
export function* toTheEnd<T>(cursor: Cursor, reading: Steps<T>): Steps<T> {
  try {
    return yield* reading;
  } catch (error) {
    return yield* afterError(cursor, error);
  }
}

/** All elements, as an Array. */
export const drain = (cursor: Cursor, run: Run): Steps<Value[]> => toTheEnd(cursor, elementsOf(cursor, run));

function* elementsOf(cursor: Cursor, run: Run): Steps<Value[]> {
  const list: Value[] = [];
  while (cursor.step() || (yield* cursor.pull())) {
    if (--run.fuel < 0) yield* slice(run);
    run.charge(16);
    list.push(cursor.value);
  }
  return list;
}
