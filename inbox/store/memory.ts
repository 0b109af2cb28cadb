// A database of the page alone, for browsers that refuse theirs (storage is blocked): gone when the page is.
import type { Database, Writer } from './database.ts';

export function openMemory(names: readonly string[]): Database {
  const stores = new Map(names.map((name) => [name, new Map<string, unknown>()]));
  const entries = (store: string): Map<string, unknown> => {
    const found = stores.get(store);
    if (!found) throw new Error(store);
    return found;
  };
  return {
    get: async <T>(store: string, key: string) => entries(store).get(key) as T | undefined,
    all: async <T>(store: string) => [...inOrder(entries(store)).values()] as T[],
    keys: async (store) => [...inOrder(entries(store)).keys()],
    async change(changed, changes) {
      const drafts = new Map(changed.map((store) => [store, new Map(entries(store))]));
      changes(writerTo((store) => drafts.get(store) ?? entries(store)));
      for (const [store, draft] of drafts) stores.set(store, draft);
    },
    async replace<T>(store: string, key: string, fits: (before: T | undefined) => boolean, value: T) {
      const isFit = fits(entries(store).get(key) as T | undefined);
      if (isFit) entries(store).set(key, value);
      return isFit;
    },
    close: () => undefined,
  };
}

/** A browser's database is read in the order of its keys. */
const inOrder = (entries: ReadonlyMap<string, unknown>): Map<string, unknown> =>
  new Map([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

const writerTo = (draft: (store: string) => Map<string, unknown>): Writer => ({
  put: (store, key, value) => void draft(store).set(key, value),
  add: (store, key, value) => {
    if (draft(store).has(key)) throw new DOMException(key, 'ConstraintError');
    draft(store).set(key, value);
  },
  delete: (store, key) => void draft(store).delete(key),
  clear: (store) => draft(store).clear(),
  look: <T>(store: string, key: string, then: (value: T | undefined) => void) => then(draft(store).get(key) as T | undefined),
});
