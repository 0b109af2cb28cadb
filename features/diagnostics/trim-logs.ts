// Messages of programs, and details of failed runs, go after a week, and the oldest of too many (resources-and-api.md 4.18); without events.
// In pieces, so that no removal is long; where nothing is to go it costs a look at an index.

import type { Collection } from 'mongodb';
import { SNAPSHOTS } from './diagnostic-types.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

const KEPT_MS = 7 * 86_400_000;
const MOST_ROWS = 1_000_000;
const PIECE_ROWS = 5_000;
/** A round ends after that; the next one goes on. */
const ROUND_MS = 10_000;

interface Bounds {
  readonly keptMs?: number;
  readonly mostRows?: number;
  readonly pieceRows?: number;
}

/** Namespaces whose collections have the index that this needs: they are large where it is missing, and no start shall wait for it. */
const indexed = new WeakSet<Namespace>();

/** One process of a namespace does it: two would both remove what is too much. @returns how many rows have gone */
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
  // Of the collection's own count: after an unclean end it is off by what was written last, which matters little here.
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
