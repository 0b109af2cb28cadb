// Capped types (resources-and-api.md 4.1): the oldest instances are removed, first by the size bound, then by the number. An insert is
// answered after that.

import { MongoServerError } from 'mongodb';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { StateKey } from '../states.ts';

/** Number of instances whose sizes are read at a time. */
const BATCH = 1_000;
const NAMESPACE_NOT_FOUND = 26;

/** The trim in progress, and the next one, for which all later callers wait. */
interface Rounds {
  running: Promise<void>;
  next: Promise<void> | null;
}

/** Trims by type. */
const ROUNDS = new StateKey<Map<string, Rounds>>('rounds of trimming', () => new Map());

/** Removes the instances beyond the bounds. Only one trim runs per type: two at once would both remove the same surplus. */
export function trimCapped(space: Namespace, type: TypeDefinition): Promise<void> {
  const ofSpace = space.states.get(ROUNDS);
  const current = ofSpace.get(type.name);
  if (current?.next) return current.next;
  const begin = (): Promise<void> => {
    const round: Rounds = { running: Promise.resolve(), next: null };
    ofSpace.set(type.name, round);
    round.running = trim(space, type).finally(() => {
      if (ofSpace.get(type.name) === round && !round.next) ofSpace.delete(type.name);
    });
    return round.running;
  };
  if (!current) return begin();
  current.next = current.running.catch(() => undefined).then(begin);
  return current.next;
}

/** An empty result when the type, and its collection, was deleted meanwhile. */
function emptyIfDropped(error: unknown): [] {
  if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return [];
  throw error;
}

async function trim(space: Namespace, { collection: stored, maxStorage, maxObjects }: TypeDefinition): Promise<void> {
  const collection = space.storage.db.collection(stored);
  for (;;) {
    // The oldest are read before all are counted: another process may remove some of these in between, and they are not counted any more.
    const oldest = await collection
      .aggregate([{ $sort: { _id: 1 } }, { $limit: BATCH }, { $project: { bytes: { $bsonSize: '$$ROOT' } } }])
      .toArray();
    if (oldest.length === 0) return;
    const [stats] = await collection
      .aggregate<{ storageStats: { size: number; count: number } }>([{ $collStats: { storageStats: {} } }])
      .toArray()
      .catch(emptyIfDropped);
    let { size = 0, count = 0 } = stats?.storageStats ?? {};
    const tooMany = (): boolean => size > maxStorage || (maxObjects > 0 && count > maxObjects);
    let last: unknown;
    for (const { _id, bytes } of oldest) {
      if (!tooMany()) break;
      last = _id;
      size -= Number(bytes);
      count--;
    }
    if (last === undefined) return;
    await collection.deleteMany({ _id: { $lte: last } as never });
    if (!tooMany()) return;
  }
}
