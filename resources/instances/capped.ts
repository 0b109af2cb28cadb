// Capped types (resources-and-api.md 4.1): the oldest instances go, by size before by number. An insert is answered when that is done.

import { MongoServerError } from 'mongodb';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { StateKey } from '../states.ts';

/** Instances looked at in one go for their size. */
const BATCH = 1_000;
const NAMESPACE_NOT_FOUND = 26;

/** A trim that runs, and the next one, for which all later callers wait. */
interface Rounds {
  running: Promise<void>;
  next: Promise<void> | null;
}

/** By type. */
const ROUNDS = new StateKey<Map<string, Rounds>>('rounds of trimming', () => new Map());

/** Removes what is too much now. One round a type at a time: two would both remove what one of them has to. */
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

/** The type was deleted meanwhile, and its collection with it. */
function unlessGone(error: unknown): [] {
  if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return [];
  throw error;
}

async function trim(space: Namespace, { collection: stored, maxStorage, maxObjects }: TypeDefinition): Promise<void> {
  const collection = space.storage.db.collection(stored);
  for (;;) {
    // The oldest are read before it is counted: what another process removes in between is of these, and not counted any more.
    const oldest = await collection
      .aggregate([{ $sort: { _id: 1 } }, { $limit: BATCH }, { $project: { bytes: { $bsonSize: '$$ROOT' } } }])
      .toArray();
    if (oldest.length === 0) return;
    const [stats] = await collection
      .aggregate<{ storageStats: { size: number; count: number } }>([{ $collStats: { storageStats: {} } }])
      .toArray()
      .catch(unlessGone);
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
