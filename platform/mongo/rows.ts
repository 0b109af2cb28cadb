// Rows of a query as stored bytes, a batch at a time: what is held is a batch, however many rows there are and however slowly
// they are taken. Batches are sized in bytes, by what the rows of a collection have weighed so far.

import { type ClientSession, type Db, type Document, Long, type RunCommandOptions } from 'mongodb';
import { type Batch, batchIn } from './batch.ts';
import { Fifo, PerTurn } from '../structures/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { asRefused, asTooExpensive, inTime, isClosed, isUnavailable } from './errors.ts';

/** Of a batch, about: the store is told a number of rows. A single batch is 16 MB at most, and a row. */
const BATCH_BYTES = 256 * 1024;
/** Of the first batch from a collection of which nothing is known. */
const FIRST_ROWS = 100;
const MOST_ROWS = 10_000;
/** How much a new batch counts in the mean. */
const NEWS = 0.5;
const MAJORITY = { level: 'majority' };
/** A session of which the store hears nothing for 30 minutes ends, and its cursor with it. */
const KEPT_EVERY_MS = 10 * 60_000;
/** What the store works on one query at most, where the caller says nothing. */
const LONGEST_MS = 30_000;
/** Commands of one namespace that the store works on at a time; with more, some namespaces would hold all connections. */
const MOST_ASKED = 12;
/** Of these, with work that the store may need all of its time for. */
const MOST_SLOW = 2;
/** Of those that waited, how many begin in one turn of the event loop. */
const MOST_IN_A_TURN = 32;
/** Of a namespace's rows that are being collected, or wait to be written as text; with more, no further query begins before some of them are. */
const MOST_HELD_BYTES = 8 * 1024 * 1024;

export interface Rows {
  /** The rows of the next batch; none when all have been given. */
  next(): Promise<Uint8Array[]>;
  /** The store has no more: what was given is all. */
  readonly isDone: boolean;
  /** To be called when not all was taken; does no harm otherwise. */
  close(): Promise<void>;
}

/** What the store may spend on a query. */
export interface Effort {
  /** What it may work on it, 30 s where absent; more is query.too.expensive. */
  readonly maxTimeMS?: number;
  /** It may well need so long, with a processor of its own: a namespace has few of these at a time. */
  readonly isSlow?: boolean;
  /** Whether nobody waits for the result any more: what has not been asked of the store yet never is. */
  readonly isGone?: (() => boolean) | undefined;
}

export interface Find extends Effort {
  readonly filter: Document;
  readonly sort?: Document | undefined;
  readonly projection?: Document | undefined;
  readonly skip?: number;
  /** 0: none. */
  readonly limit: number;
  /** Of a batch, about. */
  readonly batchBytes?: number | undefined;
  /** The rows stay open however long the next batch is not asked for: whoever opens them closes them in any case. */
  readonly isKept?: boolean | undefined;
}

type Opened = Pick<Find, 'isSlow' | 'isGone' | 'batchBytes' | 'isKept'>;

/** Bytes of rows in memory. */
export interface Held extends Disposable {
  add(bytes: number): void;
}

/** Opens queries on the collections of a namespace. Nothing is asked of the store before the first `next`. */
export class RowReader {
  readonly #db: Db;
  /** Bytes of a row, by collection. */
  readonly #means = new Map<string, number>();

  #heldBytes = 0;
  #keptBytes = 0;
  readonly #isFull = (): boolean => this.#heldBytes >= MOST_HELD_BYTES;
  readonly #turns = new StoreTurns(MOST_ASKED, this.#isFull);
  readonly #slowTurns = new StoreTurns(MOST_SLOW, this.#isFull);

  /** @param db by connections that nothing but queries has (`Store.queries`) */
  constructor(db: Db) {
    this.#db = db;
  }

  /** Of all rows that are held, and what is kept. */
  get heldBytes(): number {
    return this.#heldBytes + this.#keptBytes;
  }

  /** Counts rows in memory until it is disposed of (`MOST_HELD_BYTES`): not while anything is waited for that may itself begin a query. */
  hold(bytes = 0): Held {
    const held = counted(
      (more) => void (this.#heldBytes += more),
      () => {
        for (const turns of [this.#turns, this.#slowTurns]) turns.beginWaiting();
      },
    );
    held.add(bytes);
    return held;
  }

  /** Counts what is kept in memory until it is disposed of: other than for `hold`, no query waits for its end, so it may itself wait for some. */
  keep(): Held {
    return counted((more) => void (this.#keptBytes += more));
  }

  /** How many documents meet a filter. @param most 0: all are counted */
  count(
    collection: string,
    filter: Document,
    { most = 0, maxTimeMS = LONGEST_MS, isSlow = false, isGone }: Effort & { most?: number } = {},
  ): Promise<number> {
    const options = { maxTimeMS, ...(most > 0 ? { limit: most } : {}) };
    const turns = isSlow ? this.#slowTurns : this.#turns;
    return turns.take(() => inTime(this.#db.collection(collection).countDocuments(filter, options), filter), { isGone });
  }

  find(
    collection: string,
    { filter, sort, projection, skip = 0, limit, maxTimeMS = LONGEST_MS, isSlow = false, isGone, batchBytes, isKept }: Find,
  ): Rows {
    const first = this.#rowsABatch(collection, batchBytes);
    const command: Document = {
      find: collection,
      filter,
      // A batch of just the limit would cost a second request, which learns that there is no more.
      batchSize: limit > 0 ? Math.min(first, limit + 1) : first,
      ...(sort ? { sort } : {}),
      ...(projection ? { projection } : {}),
      ...(skip > 0 ? { skip } : {}),
      ...(limit > 0 ? { limit } : {}),
      maxTimeMS,
    };
    return this.#open(collection, collection, command, { isSlow, isGone, batchBytes, isKept });
  }

  /** @param options of the command: `maxTimeMS`, `allowDiskUse` */
  aggregate(
    collection: string,
    pipeline: readonly Document[],
    { isSlow = false, isGone, isKept, ...options }: Document & Effort & Pick<Find, 'isKept'> = {},
  ): Rows {
    // Its rows need not look like the collection's.
    const command = { aggregate: collection, pipeline, cursor: { batchSize: FIRST_ROWS }, maxTimeMS: LONGEST_MS, ...options };
    return this.#open(`${collection}|`, collection, command, { isSlow, isGone, isKept });
  }

  #open(learnt: string, collection: string, command: Document, { isSlow, isGone, batchBytes, isKept }: Opened): Rows {
    const db = this.#db;
    // A cursor belongs to the session that it was opened in. Nothing else is done in this one, so it need not order anything. It is begun
    // when the turn has come: a session that is given back costs the driver the more, the more of them there are.
    let session: ClientSession | null = null;
    let cursor: bigint | null = null; // 0: the store has no more
    let keeping: NodeJS.Timeout | null = null;
    const keep = (): void => {
      if (session) db.command({ refreshSessions: [session.id] }).catch(() => undefined); // a store that is away is heard of by the next batch
    };
    const ask = async (): Promise<Document> => {
      session ??= db.client.startSession({ causalConsistency: false });
      const options = { raw: true, session } as RunCommandOptions;
      if (cursor !== null)
        return db.command({ getMore: Long.fromBigInt(cursor), collection, batchSize: this.#rowsABatch(learnt, batchBytes) }, options);
      // Nothing was given yet, so the same again is harmless: the store may have been changing.
      const first = (): Promise<Document> => db.command({ ...command, readConcern: MAJORITY }, options);
      return first().catch((error: unknown) => (isUnavailable(error) ? first() : Promise.reject(error)));
    };
    const end = (): void => {
      cursor = 0n;
      if (keeping) clearInterval(keeping);
      session?.endSession().catch(() => undefined); // gives it back to the pool; that cannot fail without a transaction
    };
    const turns = isSlow ? this.#slowTurns : this.#turns;
    return {
      next: async () => {
        while (cursor !== 0n) {
          let batch: Batch;
          try {
            batch = batchIn((await turns.take(ask, { isGone, isFirst: cursor === null }))['cursor'] as Uint8Array);
          } catch (error) {
            end();
            if (isClosed(error)) throw apiError('cascade.server.unavailable');
            throw 'find' in command ? asRefused(error, command['filter'] as Document) : asTooExpensive(error);
          }
          // Closed meanwhile: what came is nobody's.
          if (cursor === 0n) break;
          if (batch.cursor === 0n) end();
          else {
            cursor = batch.cursor;
            if (isKept) keeping ??= setInterval(keep, KEPT_EVERY_MS).unref();
          }
          if (batch.rows.length === 0) continue;
          this.#learn(learnt, batch.rows);
          return batch.rows;
        }
        return [];
      },
      get isDone() {
        return cursor === 0n;
      },
      async close() {
        if (cursor === 0n) return;
        const open = cursor;
        cursor = 0n;
        // A cursor that cannot be closed now is closed by the store with its session.
        if (open !== null && session)
          await db.command({ killCursors: collection, cursors: [Long.fromBigInt(open)] }, { session }).catch(() => undefined);
        end();
      },
    };
  }

  #rowsABatch(collection: string, bytes = BATCH_BYTES): number {
    const mean = this.#means.get(collection);
    return mean === undefined ? FIRST_ROWS : Math.max(1, Math.min(MOST_ROWS, Math.floor(bytes / mean)));
  }

  #learn(collection: string, rows: readonly Uint8Array[]): void {
    let bytes = 0;
    for (const row of rows) bytes += row.byteLength;
    const mean = bytes / rows.length;
    const before = this.#means.get(collection) ?? mean;
    this.#means.set(collection, before + NEWS * (mean - before));
  }
}

/** @param count takes what is added, and all of it back at the end */
function counted(count: (bytes: number) => void, ended?: () => void): Held {
  let all = 0;
  const add = (bytes: number): void => {
    all += bytes;
    count(bytes);
  };
  return {
    add,
    [Symbol.dispose]: () => {
      add(-all);
      ended?.();
    },
  };
}

interface Asked {
  readonly isGone?: (() => boolean) | undefined;
  /** Whether a query begins with it, whose rows will take memory. */
  readonly isFirst?: boolean;
}

/** So many at a time, and none begins while what was read is too much; the others in the order in which they came, queries that have begun first. */
class StoreTurns {
  readonly #most: number;
  readonly #isFull: () => boolean;
  #taken = 0;
  readonly #begun = new Fifo<() => void>();
  readonly #first = new Fifo<() => void>();
  readonly #inTurn = new PerTurn(MOST_IN_A_TURN, () => this.beginWaiting());

  constructor(most: number, isFull: () => boolean) {
    this.#most = most;
    this.#isFull = isFull;
  }

  /** @throws cascade.server.unavailable when nobody waits for the result any more, which so nobody gets to know */
  async take<Result>(ask: () => Promise<Result>, { isGone, isFirst = false }: Asked): Promise<Result> {
    if (this.#hasRoom(isFirst)) this.#taken++;
    else await new Promise<void>((begin) => (isFirst ? this.#first : this.#begun).push(begin));
    try {
      if (isGone?.()) throw apiError('cascade.server.unavailable');
      return await ask();
    } finally {
      this.#taken--;
      this.beginWaiting();
    }
  }

  beginWaiting(): void {
    for (const [waiting, isFirst] of [[this.#begun, false] as const, [this.#first, true] as const])
      while (waiting.size > 0 && this.#hasRoom(isFirst) && this.#inTurn.take()) {
        this.#taken++;
        waiting.shift()?.();
      }
  }

  #hasRoom(isFirst: boolean): boolean {
    return this.#taken < this.#most && !(isFirst && this.#isFull());
  }
}
