// One-sided ranges: bounds in ascending order. A value above a bound is above all lower ones, so the bounds that it satisfies are a prefix.
import type { Entry, EntrySet, Visit } from './entry.ts';
import { pending } from './pending.ts';

interface Bound {
  readonly at: number;
  readonly entry: Entry;
}

export class SortedBounds implements EntrySet {
  #bounds: readonly Bound[] = [];
  readonly #pending = pending<Bound>(
    (a, b) => a.at - b.at,
    (bounds) => {
      this.#bounds = bounds.slice();
    },
  );

  get size(): number {
    return this.#pending.size;
  }

  add(at: number, entry: Entry): void {
    this.#pending.add({ at, entry });
  }

  forget(): void {
    this.#pending.forget();
  }

  /** Visits the bounds at or below `value`. */
  visit(value: number, exact: boolean, visit: Visit): void {
    for (const { at, entry } of this.#pending.unsorted()) if (at <= value) visit(entry, exact);
    for (const { at, entry } of this.#bounds) {
      if (at > value) break;
      visit(entry, exact);
    }
  }
}
