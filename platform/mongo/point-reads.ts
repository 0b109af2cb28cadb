// Reads by id that come together are one request to the store: those of a turn of the event loop, and those that come while others
// are under way. A document by itself costs the store and its driver many times what it costs among a hundred.

import { BSON, type Document, ObjectId } from 'mongodb';
import { type RowReader } from './rows.ts';

/** Requests of a group under way; what comes meanwhile shares the next. */
const MOST_UNDER_WAY = 2;
const MOST_IDS = 1_000;

interface Asker {
  readonly resolve: (row: Uint8Array | null) => void;
  readonly reject: (reason: unknown) => void;
}

/** Reads of one collection with one projection, by those who may see the same of it. */
interface Group {
  readonly collection: string;
  readonly projection: Document | undefined;
  readonly visible: Document | undefined;
  /** By id; an id that is asked for twice is read once. */
  waiting: Map<string, Asker[]>;
  underWay: number;
  isPlanned: boolean;
}

export class PointReads {
  readonly #reader: RowReader;
  readonly #groups = new Map<string, Group>();
  /** Conditions on what may be seen, as text: they come again with each request of who has them. */
  readonly #texts = new WeakMap<Document, string>();

  constructor(reader: RowReader) {
    this.#reader = reader;
  }

  /**
   * The stored document; null when there is none. It is read after the call, so it has what was committed before.
   * @param id 24 hex digits
   * @param visible what the document must meet for who asks, never changed afterwards; absent: it may see all
   */
  read(collection: string, id: string, projection?: Document, visible?: Document): Promise<Uint8Array | null> {
    const shape = projection ? `${collection} ${JSON.stringify(projection)}` : collection;
    const key = visible ? `${shape} ${this.#textOf(visible)}` : shape;
    let group = this.#groups.get(key);
    if (!group) {
      group = { collection, projection, visible, waiting: new Map(), underWay: 0, isPlanned: false };
      this.#groups.set(key, group);
    }
    return new Promise((resolve, reject) => {
      const asker: Asker = { resolve, reject };
      const others = group.waiting.get(id);
      if (others) others.push(asker);
      else group.waiting.set(id, [asker]);
      this.#plan(key, group);
    });
  }

  #textOf(visible: Document): string {
    let text = this.#texts.get(visible);
    if (text === undefined) {
      text = BSON.EJSON.stringify(visible, { relaxed: false });
      this.#texts.set(visible, text);
    }
    return text;
  }

  /** At the end of this turn of the event loop, so that all requests that came with it share a read. */
  #plan(key: string, group: Group): void {
    if (group.isPlanned || group.underWay >= MOST_UNDER_WAY) return;
    group.isPlanned = true;
    setImmediate(() => {
      group.isPlanned = false;
      void this.#take(key, group);
    });
  }

  /** Never rejects: each caller gets the result or the error. */
  async #take(key: string, group: Group): Promise<void> {
    const asked = firstOf(group, MOST_IDS);
    if (group.waiting.size > 0) this.#plan(key, group);
    group.underWay++;
    try {
      await this.#fetch(group, asked);
      for (const askers of asked.values()) for (const { resolve } of askers) resolve(null);
    } catch (error) {
      for (const askers of asked.values()) for (const { reject } of askers) reject(error);
    } finally {
      group.underWay--;
      if (group.waiting.size > 0) this.#plan(key, group);
      else if (group.underWay === 0) this.#groups.delete(key);
    }
  }

  /** Answers those whose document is there, and takes them out of `asked`. */
  async #fetch({ collection, projection, visible }: Group, asked: Map<string, Asker[]>): Promise<void> {
    const ids = Array.from(asked.keys(), (id) => ObjectId.createFromHexString(id));
    const named = { _id: ids.length === 1 ? ids[0] : { $in: ids } };
    const filter = visible ? { $and: [named, visible] } : named;
    const rows = this.#reader.find(collection, { filter, projection, limit: ids.length });
    try {
      while (asked.size > 0 && !rows.isDone)
        for (const row of await rows.next()) {
          const id = idOf(row);
          for (const { resolve } of asked.get(id) ?? []) resolve(row);
          asked.delete(id);
        }
    } finally {
      await rows.close();
    }
  }
}

function firstOf(group: Group, most: number): Map<string, Asker[]> {
  const all = group.waiting;
  if (all.size <= most) {
    group.waiting = new Map();
    return all;
  }
  const entries = [...all];
  group.waiting = new Map(entries.slice(most));
  return new Map(entries.slice(0, most));
}

/** `_id` is the first element of every stored document, whatever the projection: kind, `_id`, its end, twelve bytes. */
const idOf = (row: Uint8Array): string => Buffer.from(row.buffer, row.byteOffset + 9, 12).toString('hex');
