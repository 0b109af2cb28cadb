// Counts messages per source since its creation (integrations.md 1.8). Counts are kept in memory and stored every ten seconds as
// increments, so that those of several processes add up. They are informational: nothing depends on them.
import type { Db } from 'mongodb';

export interface Counts {
  received: number;
  published: number;
  dropped: number;
  failed: number;
  lastMessageAt: number | null;
}

interface Logged {
  readonly at: number;
  readonly same: Set<string>;
  again: number;
}

type Counted = 'received' | 'published' | 'dropped' | 'failed';

interface CountsDocument extends Counts {
  /** The source's name. */
  readonly _id: string;
}

const SOURCE_COUNTS = 'sourceCounts';
const STORED_EVERY_MS = 10_000;
/** The same error of a source is logged at most once in this time. */
const SAME_LOGGED_EVERY_MS = 60_000;
/** Of one code so many errors are told apart in that time: further ones may well hold what came from outside, and differ each time. */
const MOST_TOLD_APART = 4;
const COUNTED: readonly Counted[] = ['received', 'published', 'dropped', 'failed'];

const none = (): Counts => ({ received: 0, published: 0, dropped: 0, failed: 0, lastMessageAt: null });

export class SourceCounts {
  readonly #db: Db;
  readonly #isKnown: (source: string) => boolean;
  /** The stored counts, of all processes. */
  readonly #stored = new Map<string, Counts>();
  /** Increments that are not stored yet. */
  readonly #added = new Map<string, Counts>();
  readonly #forgotten = new Set<string>();
  /** Per source and code, the errors that were logged last, and how many more there were since. */
  readonly #logged = new Map<string, Map<string, Logged>>();
  #storedAt = 0;

  /** @param isKnown whether there is such a source: what ends after its deletion counts for none, also not for the next of its name */
  constructor(db: Db, isKnown: (source: string) => boolean) {
    this.#db = db;
    this.#isKnown = isKnown;
  }

  async load(): Promise<void> {
    const rows = await this.#db.collection<CountsDocument>(SOURCE_COUNTS).find().toArray();
    this.#stored.clear();
    for (const { _id, ...found } of rows) if (!this.#forgotten.has(_id)) this.#stored.set(_id, { ...none(), ...found });
  }

  of(source: string): Readonly<Counts> {
    const [stored, added] = [this.#stored.get(source) ?? none(), this.#added.get(source) ?? none()];
    const sum = { ...added };
    for (const what of COUNTED) sum[what] += stored[what];
    sum.lastMessageAt = added.lastMessageAt ?? stored.lastMessageAt;
    return sum;
  }

  add(source: string, what: Counted, now: number): void {
    if (!this.#isKnown(source)) return;
    const counts = this.#added.get(source) ?? none();
    this.#added.set(source, counts);
    counts[what]++;
    if (what === 'received' || what === 'published') counts.lastMessageAt = now;
  }

  /**
   * The line to log for an error; null where the same one was logged within the last minute.
   * @param same what makes two errors of a code the same: the message, but for what it cites
   */
  lineOf(source: string, code: string, message: string, same: string, now: number): string | null {
    const logged = this.#logged.get(source) ?? new Map<string, Logged>();
    this.#logged.set(source, logged);
    const line = `${code}: ${message}`;
    const last = logged.get(code);
    if (last && now - last.at < SAME_LOGGED_EVERY_MS) {
      if (last.same.has(same) || last.same.size >= MOST_TOLD_APART) {
        last.again++;
        return null;
      }
      last.same.add(same);
      return line;
    }
    logged.set(code, { at: now, same: new Set([same]), again: 0 });
    return last && last.again > 0 ? `${line} (${last.again} more of these since the last line)` : line;
  }

  forget(source: string): void {
    this.#logged.delete(source);
    this.#stored.delete(source);
    this.#added.delete(source);
    this.#forgotten.add(source);
  }

  /** Stores the increments and reads the counts of other processes; every ten seconds at most, or at once where it is the last time. */
  async settle(now: number, last = false): Promise<void> {
    if (!last && now - this.#storedAt < STORED_EVERY_MS) return;
    this.#storedAt = now;
    const [added, forgotten] = [[...this.#added], [...this.#forgotten]];
    if (added.length === 0 && forgotten.length === 0) return;
    this.#added.clear();
    for (const [source, counts] of added) this.#stored.set(source, plus(this.#stored.get(source) ?? none(), counts));
    const collection = this.#db.collection<CountsDocument>(SOURCE_COUNTS);
    await collection.bulkWrite([
      ...forgotten.map((source) => ({ deleteOne: { filter: { _id: source } } })),
      ...added.map(([source, { lastMessageAt, ...counted }]) => ({
        updateOne: {
          filter: { _id: source },
          update: { $inc: counted, ...(lastMessageAt === null ? {} : { $max: { lastMessageAt } }) },
          upsert: true,
        },
      })),
    ]);
    for (const source of forgotten) this.#forgotten.delete(source);
    await this.load();
  }
}

function plus(stored: Counts, added: Counts): Counts {
  const sum = { ...stored, lastMessageAt: added.lastMessageAt ?? stored.lastMessageAt };
  for (const what of COUNTED) sum[what] += added[what];
  return sum;
}
