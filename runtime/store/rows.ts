// Rows of a query as stored bytes, a batch at a time: what is held is a batch, however many rows there are and however slowly
// they are taken. Batches are sized in bytes, by what the rows of a collection have weighed so far.

import type { Db, Document, RunCommandCursor } from 'mongodb';
import { asTooExpensive, isUnavailable } from './errors.ts';

/** Of a batch, about: the store is told a number of rows. A single batch is 16 MB at most, and a row. */
const BATCH_BYTES = 256 * 1024;
/** Of the first batch from a collection of which nothing is known. */
const FIRST_ROWS = 100;
const MOST_ROWS = 10_000;
/** How much a new batch counts in the mean. */
const NEWS = 0.5;
const MAJORITY = { level: 'majority' };
/** Known to every cursor of the driver, but not to the type of this one's options. */
const RAW = { raw: true } as object;

export interface Rows {
  /** The rows of the next batch; none when all have been given. */
  next(): Promise<Uint8Array[]>;
  /** The store has no more: what was given is all. */
  readonly isDone: boolean;
  /** To be called when not all was taken; does no harm otherwise. */
  close(): Promise<void>;
}

export interface Find {
  readonly filter: Document;
  readonly sort?: Document | undefined;
  readonly projection?: Document | undefined;
  readonly skip?: number;
  /** 0: none. */
  readonly limit: number;
  /** What the store may work on it; more is query.too.expensive. */
  readonly maxTimeMS?: number;
}

/** Opens queries on the collections of a namespace. Nothing is asked of the store before the first `next`. */
export class RowReader {
  readonly #db: Db;
  /** Bytes of a row, by collection. */
  readonly #means = new Map<string, number>();

  constructor(db: Db) {
    this.#db = db;
  }

  find(collection: string, { filter, sort, projection, skip = 0, limit, maxTimeMS }: Find): Rows {
    const first = this.#rowsABatch(collection);
    const command: Document = {
      find: collection,
      filter,
      // A batch of just the limit would cost a second request, which learns that there is no more.
      batchSize: limit > 0 ? Math.min(first, limit + 1) : first,
      ...(sort ? { sort } : {}),
      ...(projection ? { projection } : {}),
      ...(skip > 0 ? { skip } : {}),
      ...(limit > 0 ? { limit } : {}),
      ...(maxTimeMS === undefined ? {} : { maxTimeMS }),
    };
    return this.#open(collection, command);
  }

  /** @param options of the command: `maxTimeMS`, `allowDiskUse` */
  aggregate(collection: string, pipeline: readonly Document[], options: Document = {}): Rows {
    // Its rows need not look like the collection's.
    return this.#open(`${collection}|`, { aggregate: collection, pipeline, cursor: { batchSize: FIRST_ROWS }, ...options });
  }

  #open(learnt: string, command: Document): Rows {
    const open = (): RunCommandCursor => this.#db.runCursorCommand({ ...command, readConcern: MAJORITY }, RAW);
    let cursor = open();
    let isBegun = false;
    let isEnded = false;
    const hasNext = async (): Promise<boolean> => {
      try {
        return await cursor.hasNext();
      } catch (error) {
        if (isBegun || !isUnavailable(error)) throw asTooExpensive(error);
        cursor = open(); // nothing was given yet, so the same again is harmless: the store may have been changing
        return cursor.hasNext();
      }
    };
    return {
      next: async () => {
        if (isEnded) return [];
        // `hasNext` fetches a batch and gives nothing away of it; then all of it is taken at once.
        const rows = (await hasNext()) ? (cursor.readBufferedDocuments() as unknown as Uint8Array[]) : [];
        isBegun = true;
        isEnded = rows.length === 0 || isExhausted(cursor);
        if (rows.length > 0) cursor.setBatchSize(this.#learn(learnt, rows));
        return rows;
      },
      get isDone() {
        return isEnded;
      },
      close: () => cursor.close(),
    };
  }

  #rowsABatch(collection: string): number {
    const mean = this.#means.get(collection);
    return mean === undefined ? FIRST_ROWS : Math.max(1, Math.min(MOST_ROWS, Math.floor(BATCH_BYTES / mean)));
  }

  /** How many rows the next batch should have. */
  #learn(collection: string, rows: readonly Uint8Array[]): number {
    let bytes = 0;
    for (const row of rows) bytes += row.byteLength;
    const mean = bytes / rows.length;
    const before = this.#means.get(collection) ?? mean;
    this.#means.set(collection, before + NEWS * (mean - before));
    return this.#rowsABatch(collection);
  }
}

const isExhausted = ({ id }: RunCommandCursor): boolean => id === undefined || id.isZero();
