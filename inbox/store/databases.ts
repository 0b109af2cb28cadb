// The databases of the page: the browser's, or where it refuses one, one that is gone with the page.
import { type Database, deleteDatabase, openDatabase } from './database.ts';
import { openMemory } from './memory.ts';

export interface Databases {
  open(name: string, stores: readonly string[]): Promise<Database>;
  delete(name: string): Promise<void>;
  /** Whether all that is kept is still there when the page is opened again. */
  readonly isKept: boolean;
}

export function openDatabases(): Databases {
  const passing = new Map<string, Database>();
  return {
    async open(name, stores) {
      const known = passing.get(name);
      if (known) return known;
      try {
        return await openDatabase(name, stores);
      } catch {
        // Storage is blocked, or full, or there is none: why makes no difference to what can be done here.
        const database = openMemory(stores);
        passing.set(name, database);
        return database;
      }
    },
    async delete(name) {
      if (!passing.delete(name)) await deleteDatabase(name);
    },
    get isKept() {
      return passing.size === 0;
    },
  };
}
