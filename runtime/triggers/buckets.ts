// Entries by key. Most keys have a single entry, so a set is made only for the second.
import type { Entry, EntrySet, Visit } from './entry.ts';

export class Buckets implements EntrySet {
  readonly #byKey = new Map<unknown, Entry | Set<Entry>>();
  readonly #keys = new Map<Entry, unknown[]>();
  size = 0;

  add(key: unknown, entry: Entry): void {
    const found = this.#byKey.get(key);
    if (found === undefined) this.#byKey.set(key, entry);
    else if (found instanceof Set) found.add(entry);
    else if (found !== entry) this.#byKey.set(key, new Set([found, entry]));
    const keys = this.#keys.get(entry);
    if (keys) keys.push(key);
    else this.#keys.set(entry, [key]);
    this.size++;
  }

  /** The number of entries of a key. */
  count(key: unknown): number {
    const found = this.#byKey.get(key);
    return found === undefined ? 0 : found instanceof Set ? found.size : 1;
  }

  /** Removes all of the entry's keys at once: later calls for the same entry do nothing. */
  forget(entry: Entry): void {
    for (const key of this.#keys.get(entry) ?? []) {
      this.size--;
      const found = this.#byKey.get(key);
      if (found instanceof Set) {
        found.delete(entry);
        if (found.size === 0) this.#byKey.delete(key);
      } else if (found === entry) this.#byKey.delete(key);
    }
    this.#keys.delete(entry);
  }

  visit(key: unknown, exact: boolean, visit: Visit): void {
    const found = this.#byKey.get(key);
    if (found === undefined) return;
    if (found instanceof Set) for (const entry of found) visit(entry, exact);
    else visit(found, exact);
  }
}
