// Queries for equality with a text that come together – the instances of one site, the readings of one sensor – are one request to the
// store, and its rows are dealt out again. As with reads by id the request, not the row, is what costs. It is an offer: whoever gets
// nothing here asks for himself, and what turns out to be too much to be shared is not shared again for a while.

import { asBytes, KIND, nameEnd, sizeOf, stringAt } from '../../model/values/index.ts';
import type { RowReader } from './rows.ts';

/** Requests of a group under way; what comes meanwhile shares the next. */
const MOST_UNDER_WAY = 2;
/** Texts of a request: of the first one, and at most; in between by how many rows they have had. */
const FIRST_TEXTS = 32;
const MOST_TEXTS = 256;
/** Rows that a request is meant to have, and those from which on it is given up. */
const ROWS = 2_000;
const MOST_ROWS = 6_000;
const MOST_BYTES = 4 * 1024 * 1024;
/** How long a group that was too large is left alone. */
const APART_MS = 10_000;

type Answer = (rows: Uint8Array[] | null) => void;

/** Queries of one property. */
interface Group {
  readonly collection: string;
  readonly property: string;
  /** By text. */
  waiting: Map<string, Answer[]>;
  underWay: number;
  isPlanned: boolean;
  texts: number;
  /** Milliseconds of `performance.now()`. */
  apartUntil: number;
}

export class EqualityReads {
  readonly #reader: RowReader;
  readonly #groups = new Map<string, Group>();

  constructor(reader: RowReader) {
    this.#reader = reader;
  }

  /**
   * All documents whose property is this text, in the order of their ids; null where they are not read together with others. They are read
   * after the call, so they have what was committed before.
   * @param property a top-level name that never holds an array
   */
  read(collection: string, property: string, text: string): Promise<Uint8Array[] | null> {
    const key = `${collection} ${property}`;
    let group = this.#groups.get(key);
    if (!group) {
      group = { collection, property, waiting: new Map(), underWay: 0, isPlanned: false, texts: FIRST_TEXTS, apartUntil: 0 };
      this.#groups.set(key, group);
    }
    if (group.apartUntil > performance.now()) return Promise.resolve(null);
    return new Promise((resolve) => {
      const others = group.waiting.get(text);
      if (others) others.push(resolve);
      else group.waiting.set(text, [resolve]);
      this.#plan(group);
    });
  }

  /** At the end of this turn of the event loop, so that all requests that came with it share a read. */
  #plan(group: Group): void {
    if (group.isPlanned || group.underWay >= MOST_UNDER_WAY) return;
    group.isPlanned = true;
    setImmediate(() => {
      group.isPlanned = false;
      void this.#take(group);
    });
  }

  /** Never rejects: where the shared read fails, each caller reads for itself and gets its own error. */
  async #take(group: Group): Promise<void> {
    const entries = [...group.waiting];
    const asked = new Map(entries.slice(0, group.texts));
    group.waiting = new Map(entries.slice(group.texts));
    if (group.waiting.size > 0) this.#plan(group);
    const [only, second] = asked.values();
    if (!second && only?.length === 1) return answer(asked, null);
    group.underWay++;
    const found = await this.#fetch(group, [...asked.keys()]).catch(() => null);
    group.underWay--;
    learn(group, asked.size, found);
    answer(asked, found);
    if (group.waiting.size > 0) this.#plan(group);
  }

  /** The rows by text; null when they are too many. */
  async #fetch({ collection, property }: Group, texts: string[]): Promise<Map<string, Uint8Array[]> | null> {
    const found = new Map<string, Uint8Array[]>(texts.map((text) => [text, []]));
    // Without an order: the store need not sort what is parted again.
    const rows = this.#reader.find(collection, { filter: { [property]: { $in: texts } }, limit: MOST_ROWS + 1 });
    let count = 0;
    let bytes = 0;
    try {
      while (!rows.isDone)
        for (const row of await rows.next()) {
          found.get(textOf(row, property) ?? '')?.push(row);
          count++;
          bytes += row.byteLength;
          if (count > MOST_ROWS || bytes > MOST_BYTES) return null;
        }
    } finally {
      await rows.close();
    }
    for (const list of found.values()) list.sort(byId);
    return found;
  }
}

/** How many texts fit a request; none when even two are too many. */
function learn(group: Group, texts: number, found: ReadonlyMap<string, Uint8Array[]> | null): void {
  let rows = 0;
  for (const list of found?.values() ?? []) rows += list.length;
  group.texts = found ? Math.min(MOST_TEXTS, Math.max(2, Math.floor((ROWS * texts) / (rows + 1)))) : Math.floor(texts / 4);
  if (group.texts >= 2) return;
  group.apartUntil = performance.now() + APART_MS;
  group.texts = FIRST_TEXTS;
}

function answer(asked: ReadonlyMap<string, Answer[]>, found: ReadonlyMap<string, Uint8Array[]> | null): void {
  for (const [text, answers] of asked) for (const give of answers) give(found?.get(text) ?? null);
}

/** Twelve bytes behind the length, the kind and the name of `_id`, which every stored document begins with. */
const byId = (a: Uint8Array, b: Uint8Array): number => asBytes(a).compare(b, 9, 21, 9, 21);

function textOf(row: Uint8Array, property: string): string | null {
  const bytes = asBytes(row);
  for (let at = 4; bytes[at] !== 0; ) {
    const end = nameEnd(bytes, at + 1);
    if (bytes[at] === KIND.string && end - at - 1 === property.length && bytes.latin1Slice(at + 1, end) === property)
      return stringAt(bytes, end + 1);
    at = end + 1 + sizeOf(bytes[at] as number, bytes, end + 1);
  }
  return null;
}
