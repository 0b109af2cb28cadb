// Counts the stored objects of a namespace, accurately enough for quotas: the store counts, and increments are added in memory until the
// count is near the limit or old.

import { apiError } from '../../model/errors/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { databasesIn } from '../../resources/quotas/index.ts';
import { StateKey } from '../../resources/states.ts';

/** A count is valid for this time, since other processes store and delete, too. */
const REMEMBERED_MS = 1_000;

interface Counted {
  count: number;
  readonly at: number;
}

export class StoredCounts {
  /** Counts of instances, by collection. */
  readonly #instances = new Map<string, Counted>();
  readonly #counting = new Map<string, Promise<void>>();
  #bytes: Counted | null = null;

  /** @throws cascade.quota.exceeded */
  addInstance(space: Namespace, collection: string, limit: number): MaybePromise<void> {
    const counted = this.#instances.get(collection);
    if (!counted || counted.count >= limit || performance.now() - counted.at > REMEMBERED_MS)
      return this.#count(space, collection, limit).then(() => this.#add(collection, limit));
    return this.#add(collection, limit);
  }

  /** @throws cascade.quota.exceeded */
  requireBytes(space: Namespace, namespaces: readonly string[], limit: number): MaybePromise<void> {
    const check = ({ count }: Counted): void => {
      if (count >= limit) throw apiError('cascade.quota.exceeded', 'storageBytes', limit);
    };
    const known = this.#bytes;
    if (known && known.count < limit && performance.now() - known.at <= REMEMBERED_MS) return check(known);
    return storedBytes(space, namespaces).then((count) => {
      this.#bytes = { count, at: performance.now() };
      check(this.#bytes);
    });
  }

  #add(collection: string, limit: number): void {
    const counted = this.#instances.get(collection);
    if (!counted) return;
    if (counted.count >= limit) throw apiError('cascade.quota.exceeded', 'instancesPerType', limit);
    counted.count++;
  }

  /** Counts once for concurrent callers. */
  #count(space: Namespace, collection: string, limit: number): Promise<void> {
    const counting = this.#counting.get(collection);
    if (counting) return counting;
    const began = space.storage.db
      .collection(collection)
      .countDocuments({}, { limit: limit + 1 })
      .then((count) => void this.#instances.set(collection, { count, at: performance.now() }))
      .finally(() => this.#counting.delete(collection));
    this.#counting.set(collection, began);
    return began;
  }
}

export const STORED_COUNTS = new StateKey('stored counts', () => new StoredCounts());

async function storedBytes(space: Namespace, namespaces: readonly string[]): Promise<number> {
  const all = await Promise.all(databasesIn(space, namespaces).map((db) => db.stats()));
  return all.reduce((sum, stats) => sum + Number(stats['dataSize']), 0);
}
