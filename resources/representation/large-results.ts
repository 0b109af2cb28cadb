// Large results: text that is made while it is sent, so that a slow reader holds one piece in memory and not the whole.

import type { Pieces } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { availableMemory } from '../../platform/about/index.ts';
import type { Held, RowReader, Rows } from '../../platform/mongo/index.ts';
import { StateKey } from '../states.ts';

/** A result up to this size is sent as one text; of a larger one as much is read before the first piece. */
export const AHEAD_BYTES = 512 * 1024;
/** Bound of the rows of a result that is not sent in pieces, and of all such of a namespace that are being read. */
const WHOLE_BYTES = 256 * 1024 * 1024;
/** As a part of the memory, where that is less. */
const WHOLE_PART_OF_MEMORY = 1 / 16;
/** Approximate size of a piece; a row is never split. */
const PIECE_CHARS = 64 * 1024;
/** Bound of a namespace's open large results: each holds about AHEAD_BYTES, and a cursor in the store. */
const MOST_OPEN = 100;

/** The rows that were read ahead of a query. */
export interface Ahead {
  readonly rows: readonly Uint8Array[];
  readonly bytes: number;
  /** No more rows follow. */
  readonly isAll: boolean;
}

/**
 * Reads to the end of the query, or until there are more than so many bytes. Closes the query on failure.
 * @param bytes null: all has to be read
 * @throws query.too.expensive where all is more than `WHOLE_BYTES`; quota.exceeded where it is with others of the namespace
 */
export async function readAhead(reader: RowReader, rows: Rows, bytes: number | null, wholeBytes = mostWhole()): Promise<Ahead> {
  const read: Uint8Array[] = [];
  let size = 0;
  using held = reader.hold();
  try {
    while (!rows.isDone && size <= (bytes ?? Infinity)) {
      const before = size;
      for (const row of await rows.next()) {
        read.push(row);
        size += row.byteLength;
      }
      held.add(size - before);
      if (bytes === null) requireRoom(reader, size, wholeBytes);
    }
  } catch (error) {
    await rows.close();
    throw error;
  }
  return { rows: read, bytes: size, isAll: rows.isDone };
}

/**
 * Counts what is kept of the rows of a query that is read to its end: groups, say.
 * @returns its `add` throws query.too.expensive and quota.exceeded as `readAhead` does
 */
export function keepOfRows(reader: RowReader, wholeBytes = mostWhole()): Held {
  const kept = reader.keep();
  let size = 0;
  return {
    add(bytes) {
      size += bytes;
      kept.add(bytes);
      if (bytes > 0) requireRoom(reader, size, wholeBytes);
    },
    [Symbol.dispose]: () => kept[Symbol.dispose](),
  };
}

function requireRoom(reader: RowReader, size: number, wholeBytes: number): void {
  if (size > wholeBytes) throw apiError('cascade.query.too.expensive', 'memory');
  if (reader.heldBytes > wholeBytes) throw apiError('cascade.quota.exceeded', 'rowsInMemory', wholeBytes);
}

const mostWhole = (): number => Math.min(WHOLE_BYTES, Math.floor(availableMemory() * WHOLE_PART_OF_MEMORY));

/** The elements of an array that is being sent. */
export interface Elements<T> {
  /** The elements that are in memory already. */
  readonly first: readonly T[];
  /** The next elements, none at the end; absent when the first are all. */
  readonly next?: () => Promise<readonly T[]>;
  /** Bound of the elements; the rest is left out. */
  readonly most?: number;
  /** The JSON text of an element. */
  readonly write: (element: T) => string;
  /** Called once, when the pieces are closed. */
  readonly close?: () => Promise<void>;
  /** Approximate size of a piece. */
  readonly pieceChars?: number;
}

export const LARGE_RESULTS = new StateKey('large results', () => new LargeResults());

/** The large results of a namespace. */
export class LargeResults {
  #open = 0;

  /** The number of open large results. */
  get open(): number {
    return this.#open;
  }

  /** Starts the text of an array. @throws quota.exceeded when too many are open; `close` was called then */
  async begin<T>(elements: Elements<T>): Promise<Pieces> {
    const { close } = elements;
    if (this.#open >= MOST_OPEN) {
      await close?.();
      throw apiError('cascade.quota.exceeded', 'largeResults', MOST_OPEN);
    }
    this.#open++;
    let isOpen = true;
    const next = joined(elements);
    return {
      next: async () => (isOpen ? next() : null),
      close: async () => {
        if (!isOpen) return;
        isOpen = false;
        this.#open--;
        await close?.();
      },
    };
  }
}

/** Joins elements into pieces; one piece is built at a time. */
function joined<T>({ first, next, most = Infinity, write, pieceChars = PIECE_CHARS }: Elements<T>): Pieces['next'] {
  let batch = first;
  let index = 0;
  let given = 0;
  let isEnded = false;
  return async () => {
    if (isEnded) return null;
    const texts: string[] = [];
    let chars = 0;
    do {
      if (index === batch.length) {
        batch = given < most && next ? await next() : [];
        index = 0;
      }
      isEnded = batch.length === 0 || given === most;
      if (isEnded) break;
      const text = write(batch[index++] as T);
      texts.push(text);
      chars += text.length;
      given++;
    } while (chars < pieceChars);
    const opening = given === texts.length ? '[' : texts.length > 0 ? ',' : '';
    return `${opening}${texts.join(',')}${isEnded ? ']' : ''}`;
  };
}
