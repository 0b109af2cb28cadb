// Removes messages of programs and snapshots of failed runs after a week, and the oldest beyond a bound (resources-and-api.md 4.18),
// without raising events. Removal is in batches, so that none takes long; where nothing is old it costs one look-up in an index.

import type { Collection } from 'mongodb';
import { SNAPSHOTS } from './diagnostic-types.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

const KEPT_MS = 7 * 86_400_000;
const MOST_ROWS = 1_000_000;
const PIECE_ROWS = 5_000;
/** A round ends after this time; the next one continues. */
const ROUND_MS = 10_000;

interface Bounds {
  readonly keptMs?: number;
  readonly mostRows?: number;
  readonly pieceRows?: number;
}

/** Namespaces whose collections have the required index: building it takes long on large collections, and must not delay a start. */
const indexed = new WeakSet<Namespace>();

/**
 * Removes old rows. Only the owner of a namespace calls it: two processes would both remove the excess.
 * @returns the number of removed rows
 */
export async function trimLogs(space: Namespace, bounds: Bounds = {}): Promise<number> {
  const collections = ['logs', SNAPSHOTS.collection].map((name) => space.storage.db.collection(name));
  if (!indexed.has(space)) {
    for (const collection of collections) await collection.createIndex({ timestamp: 1 });
    indexed.add(space);
  }
  let gone = 0;
  for (const collection of collections) gone += await trim(collection, space.clock.now(), bounds);
  return gone;
}

async function trim(
  collection: Collection,
  nowMs: number,
  { keptMs = KEPT_MS, mostRows = MOST_ROWS, pieceRows = PIECE_ROWS }: Bounds,
): Promise<number> {
  const until = performance.now() + ROUND_MS;
  const expired = new Date(nowMs - keptMs);
  // The store's own estimate: after an unclean shutdown it may be off by the last writes, which matters little here.
  const tooMany = Math.max((await collection.estimatedDocumentCount()) - mostRows, 0);
  let gone = 0;
  do {
    const oldest = await collection
      .find({}, { projection: { timestamp: 1 } })
      .sort({ timestamp: 1 })
      .limit(pieceRows)
      .toArray();
    const some = oldest.filter(({ timestamp }, i) => gone + i < tooMany || ((timestamp as Date | null) ?? expired) < expired);
    if (some.length > 0) gone += (await collection.deleteMany({ _id: { $in: some.map(({ _id }) => _id) } })).deletedCount;
    if (some.length < pieceRows) break;
  } while (performance.now() < until);
  return gone;
}
