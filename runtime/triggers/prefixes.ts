// Entries of `regex "^literal…"` by their literal. A text is looked up by each of its prefixes with a length that occurs.
import { Buckets } from './buckets.ts';
import type { Entry, EntrySet, Visit } from './entry.ts';

export class Prefixes implements EntrySet {
  readonly #buckets = new Buckets();
  /** The number of entries by the length of their prefix. */
  readonly #lengths = new Map<number, number>();
  readonly #lengthOf = new Map<Entry, number[]>();

  get size(): number {
    return this.#buckets.size;
  }

  add(prefix: string, entry: Entry): void {
    this.#buckets.add(prefix, entry);
    this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1);
    this.#lengthOf.set(entry, [...(this.#lengthOf.get(entry) ?? []), prefix.length]);
  }

  forget(entry: Entry): void {
    this.#buckets.forget(entry);
    for (const length of this.#lengthOf.get(entry) ?? []) {
      const left = (this.#lengths.get(length) ?? 0) - 1;
      if (left > 0) this.#lengths.set(length, left);
      else this.#lengths.delete(length);
    }
    this.#lengthOf.delete(entry);
  }

  visit(text: string, visit: Visit): void {
    for (const length of this.#lengths.keys()) if (length <= text.length) this.#buckets.visit(text.slice(0, length), false, visit);
  }
}
