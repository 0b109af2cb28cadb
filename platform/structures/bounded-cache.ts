// Caches that are bounded by the number of their entries.
import { LRUCache } from 'lru-cache';

export type BoundedCache<K extends string, V extends {}> = LRUCache<K, V>;

/**
 * A cache of at most as many entries: the longest unused one goes first. Its memory is taken as it fills; LRUCache's own `max` takes all of it at
 * once, 28 bytes an entry, which a service with a dozen of them never uses.
 * @param ttl after as many ms an entry is no longer there; absent: it stays
 */
export const boundedCache = <K extends string, V extends {}>(most: number, ttl?: number): BoundedCache<K, V> =>
  new LRUCache<K, V>({ maxSize: most, sizeCalculation: () => 1, ...(ttl !== undefined && { ttl }) });
