// Entries by key. Most keys have a single entry, and most entries a single key, so a set or an array is made only for the second.
import type { Entry, EntrySet, Visit } from './entry.ts';
import type { Key } from './keys.ts';

export class Buckets implements EntrySet {
  readonly #byKey = new Map<Key, Entry | Set<Entry>>();
  readonly #keys = new Map<Entry, Key | Key[]>();
  size = 0;

  add(key: Key, entry: Entry): void {
    const found = this.#byKey.get(key);
    if (found === undefined) this.#byKey.set(key, entry);
    else if (found instanceof Set) found.add(entry);
    else if (found !== entry) this.#byKey.set(key, new Set([found, entry]));
    const keys = this.#keys.get(entry);
    if (keys === undefined) this.#keys.set(entry, key);
    else if (Array.isArray(keys)) keys.push(key);
    else this.#keys.set(entry, [keys, key]);
    this.size++;
  }

  /** The number of entries of a key. */
  count(key: Key): number {
    const found = this.#byKey.get(key);
    return found === undefined ? 0 : found instanceof Set ? found.size : 1;
  }

  /** Removes all of the entry's keys at once: later calls for the same entry do nothing. */
  forget(entry: Entry): void {
    const keys = this.#keys.get(entry);
    if (keys === undefined) return;
    const all: readonly Key[] = Array.isArray(keys) ? keys : [keys];
    for (const key of all) {
      this.size--;
      const found = this.#byKey.get(key);
      if (found instanceof Set) {
        found.delete(entry);
        if (found.size === 0) this.#byKey.delete(key);
      } else if (found === entry) this.#byKey.delete(key);
    }
    this.#keys.delete(entry);
  }

  visit(key: Key, exact: boolean, visit: Visit): void {
    const found = this.#byKey.get(key);
    if (found === undefined) return;
    if (found instanceof Set) for (const entry of found) visit(entry, exact);
    else visit(found, exact);
  }
}
