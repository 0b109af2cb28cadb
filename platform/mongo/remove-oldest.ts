// Bounds a collection whose rows come of themselves (messages of programs, dead letters…): removes what has expired, and the oldest rows
// beyond a number and beyond an amount of bytes. In batches, so that none takes long; where nothing is to be removed it costs two look-ups.

import type { Collection, Document } from 'mongodb';

const PIECE_ROWS = 5_000;
/** Of one batch, about: the store reads the rows to know their sizes. */
const PIECE_BYTES = 32 * 1024 * 1024;
/** A call ends after this time; the next one continues. */
const ROUND_MS = 10_000;
/** What is left of an amount of bytes that was exceeded: so removal is not needed again at once. */
const LEFT = 7 / 8;

export interface Kept {
  /** The indexed member by which rows are the older the smaller it is. */
  readonly order: string;
  /** The member with the time of a row. */
  readonly time: string;
  /** Rows from before are removed. */
  readonly since: Date;
  readonly mostRows: number;
  readonly mostBytes: number;
  /** Bound of a batch; a parameter for the tests. */
  readonly pieceRows?: number;
}

export interface Removed {
  /** Since they were too old. */
  readonly expired: number;
  /** Since there were too many rows or bytes. */
  readonly excess: number;
}

/** Rows without a time are expired. Only one process may do this for a collection: two would both remove the excess. */
export async function removeOldest(
  collection: Collection,
  { order, time, since, mostRows, mostBytes, pieceRows = PIECE_ROWS }: Kept,
): Promise<Removed> {
  const until = performance.now() + ROUND_MS;
  const { rows, bytes } = await sizeOf(collection);
  const tooMany = Math.max(rows - mostRows, 0);
  const tooMuch = bytes > mostBytes ? bytes - mostBytes * LEFT : 0;
  const piece = Math.max(1, Math.min(pieceRows, Math.floor(PIECE_BYTES / Math.max(bytes / Math.max(rows, 1), 1))));
  const isOld = (row: Document): boolean => !(row[time] instanceof Date) || row[time] < since;
  let [expired, excess, goneBytes] = [0, 0, 0];
  do {
    if (expired + excess >= tooMany && goneBytes >= tooMuch) {
      const first = await collection.findOne({}, { sort: { [order]: 1 }, projection: { [time]: 1 } });
      if (!first || !isOld(first)) break;
    }
    const oldest = await collection
      .aggregate<{ _id: never; bytes: number } & Document>([
        { $sort: { [order]: 1 } },
        { $limit: piece },
        { $project: { [time]: 1, bytes: { $bsonSize: '$$ROOT' } } },
      ])
      .toArray();
    const some: never[] = [];
    for (const row of oldest) {
      const isExcess = expired + excess < tooMany || goneBytes < tooMuch;
      if (!isExcess && !isOld(row)) break;
      some.push(row._id);
      goneBytes += row.bytes;
      if (isOld(row)) expired++;
      else excess++;
    }
    if (some.length > 0) await collection.deleteMany({ _id: { $in: some } });
    if (some.length < piece) break;
  } while (performance.now() < until);
  return { expired, excess };
}

/** Of a collection, by the store's own figures: after an unclean shutdown they may be off by the last writes, which matters little here. */
export async function sizeOf(collection: Collection): Promise<{ rows: number; bytes: number }> {
  const [stats] = await collection
    .aggregate<{ storageStats: { count: number; size: number } }>([{ $collStats: { storageStats: {} } }])
    .toArray()
    .catch((error: unknown) => (isMissing(error) ? [] : Promise.reject(error)));
  return { rows: stats?.storageStats.count ?? 0, bytes: stats?.storageStats.size ?? 0 };
}

/** Whether an error says that there is no such collection. */
const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 26;
