// Removes messages of programs and snapshots of failed runs after a week, and the oldest beyond bounds of rows and bytes
// (resources-and-api.md 4.18), without raising events.

import type { Collection } from 'mongodb';
import { type Removed, removeOldest } from '../../platform/mongo/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { SNAPSHOTS } from './diagnostic-types.ts';

const KEPT_MS = 7 * 86_400_000;
const MOST_ROWS = 1_000_000;

interface Bounds {
  readonly mostBytes: number;
  readonly keptMs?: number;
  readonly mostRows?: number;
  readonly pieceRows?: number;
}

/** Namespaces whose collections have the required index: building it takes long on large collections, and must not delay a start. */
const indexed = new WeakSet<Namespace>();

/** Removes old rows. Only the owner of a namespace calls it: two processes would both remove the excess. */
export async function trimLogs(
  space: Namespace,
  { keptMs = KEPT_MS, mostRows = MOST_ROWS, ...bounds }: Bounds,
): Promise<{ logs: Removed; snapshots: Removed }> {
  const [logs, snapshots] = ['logs', SNAPSHOTS.collection].map((name) => space.storage.db.collection(name)) as [Collection, Collection];
  if (!indexed.has(space)) {
    for (const collection of [logs, snapshots]) await collection.createIndex({ timestamp: 1 });
    indexed.add(space);
  }
  const kept = { order: 'timestamp', time: 'timestamp', since: new Date(space.clock.now() - keptMs), mostRows, ...bounds };
  return { logs: await removeOldest(logs, kept), snapshots: await removeOldest(snapshots, kept) };
}
