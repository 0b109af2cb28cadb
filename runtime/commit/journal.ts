// The journal's memory: which rows this process has written, which runs they opened, and up to where they can go.
// Rows are only appended; a prefix without open runs is removed in one transaction, so that no mark outlives or leaves its event.

import type { Db, Document, MongoClient } from 'mongodb';
import { ASIDE, asideOf, asideRange } from './aside.ts';
import type { RowRange } from './long-runs.ts';
import { EMPTY, type StoredRow } from './row-form.ts';
import { attemptOf, type RowId, type RunId, type Step, type StoredEvent, type TickRow, type Unit } from './types.ts';

export const runIdOf = (event: StoredEvent, rule: string): RunId => `${event.uuid}/${rule}/${attemptOf(event)}`;

interface Standing {
  readonly seq: number;
  readonly order: number;
  readonly atMs: number;
  /** It holds nothing, or nothing any more. */
  isEmpty: boolean;
}

interface Slot {
  nextSeq: number;
  /** Rows that stand in the store, oldest first. */
  rows: Standing[];
}

/** Runs that are copied together when they keep rows from going. */
const LONG_AT_ONCE = 200;

export class Journal {
  readonly epoch: number;
  readonly #db: Db;
  readonly #client: MongoClient;
  readonly #slots: Slot[];
  /** Open runs and the order of the row that opened them. */
  readonly #open = new Map<RunId, number>();
  /** Anything ever stood beside a row. */
  #hasAside = false;
  #order = 0;

  constructor(client: MongoClient, db: Db, epoch: number, slots: number) {
    this.#client = client;
    this.#db = db;
    this.epoch = epoch;
    this.#slots = Array.from({ length: slots }, () => ({ nextSeq: 0, rows: [] }));
  }

  get openRuns(): number {
    return this.#open.size;
  }

  /** The row of a tick. Its place is taken only by `committed`: an aborted tick uses it again, so that seq has no gaps. */
  row(slot: number, units: readonly Unit[]): TickRow {
    const events: StoredEvent[] = [];
    const steps: Step[] = [];
    const done: RunId[] = [];
    for (const unit of units) {
      for (const event of unit.events) if (event.runs.length > 0) events.push(event);
      for (const step of unit.steps ?? []) steps.push(step);
      for (const run of unit.done ?? []) done.push(run);
    }
    return { _id: { epoch: this.epoch, slot, seq: this.#slot(slot).nextSeq }, order: ++this.#order, events, steps, done };
  }

  committed(row: TickRow): void {
    const slot = this.#slot(row._id.slot);
    slot.nextSeq = row._id.seq + 1;
    const isEmpty = row.events.length + row.steps.length + row.done.length === 0;
    slot.rows.push({ seq: row._id.seq, order: row.order, atMs: performance.now(), isEmpty });
    if (asideOf(row).size > 0) this.#hasAside = true;
    for (const event of row.events) {
      for (const run of event.runs) this.#open.set(runIdOf(event, run.rule), row.order);
    }
    for (const run of row.done) this.#open.delete(run);
  }

  /**
   * Removes the rows that are older than the oldest open run. The newest of a slot stays, as the next one follows it without a gap, but what
   * it holds goes with the others: a mark of its may have been in one of them. Gives how many went.
   */
  async clean(): Promise<number> {
    const keepFrom = this.#oldestOpen();
    const old = this.#slots.flatMap((slot, index) => {
      const count = slot.rows.findIndex((row) => row.order >= keepFrom);
      const rows = count < 0 ? slot.rows : slot.rows.slice(0, count);
      const newest = rows.length === slot.rows.length ? rows[rows.length - 1] : undefined;
      const gone = newest ? rows.length - 1 : rows.length;
      return gone > 0 || newest?.isEmpty === false ? [{ index, slot, gone, newest, before: slot.rows[gone]?.seq ?? slot.nextSeq }] : [];
    });
    if (old.length === 0) return 0;
    const id = (slot: number, seq: number): RowId => ({ epoch: this.epoch, slot, seq });
    const either: Document[] = old.map(({ index, before }) => ({ _id: { $gte: id(index, 0), $lt: id(index, before) } }));
    const emptied = old.flatMap(({ index, newest }) => (newest && !newest.isEmpty ? [{ index, newest }] : []));
    const rows = this.#db.collection<StoredRow>('journal');
    await this.#client.withSession((session) =>
      session.withTransaction(async () => {
        await rows.deleteMany({ $or: either }, { session });
        if (emptied.length > 0)
          await rows.bulkWrite(
            emptied.map(({ index, newest: { seq, order } }) => ({
              replaceOne: {
                filter: { _id: id(index, seq), closed: { $ne: true } },
                replacement: { order, ...EMPTY },
              },
            })),
            { session },
          );
        if (this.#hasAside)
          for (const { index, before, newest } of old) {
            const range = asideRange({ epoch: this.epoch, slot: index }, 0, newest ? newest.seq + 1 : before);
            await this.#db.collection(ASIDE).deleteMany(range as Document, { session });
          }
      }),
    );
    for (const { slot, gone, newest } of old) {
      slot.rows.splice(0, gone);
      if (newest) newest.isEmpty = true;
    }
    return old.reduce((sum, { gone }) => sum + gone, 0);
  }

  isOpen(run: RunId): boolean {
    return this.#open.has(run);
  }

  /**
   * The oldest runs that have been open for so long, and how many rows of their time stand; null when there are none, or when they are more than
   * the rows: then it is not a few that keep the others.
   */
  longOpen(forMs: number): { runs: Set<RunId>; rows: number } | null {
    const since = performance.now() - forMs;
    if (!this.#slots.some(({ rows: [oldest] }) => oldest && oldest.atMs <= since)) return null;
    const old = this.#slots.flatMap(({ rows }) => rows.filter(({ atMs }) => atMs <= since));
    const last = old.reduce((most, { order }) => Math.max(most, order), 0);
    const open = [...this.#open].filter(([, order]) => order <= last).sort(([, a], [, b]) => a - b);
    if (open.length === 0 || open.length > old.length) return null;
    const end = open[Math.min(open.length, LONG_AT_ONCE) - 1]?.[1] ?? 0; // all of a row: an event's runs stay together
    return { runs: new Set(open.flatMap(([run, order]) => (order <= end ? [run] : []))), rows: old.length };
  }

  /** The rows that stand. @param before only those that have come since these ranges were asked for */
  standing(earlier: readonly RowRange[] = []): RowRange[] {
    return this.#slots.flatMap(({ rows, nextSeq }, slot) => {
      const from = earlier.find((range) => range.from.slot === slot)?.before.seq ?? rows[0]?.seq ?? nextSeq;
      const place = { epoch: this.epoch, slot };
      return from < nextSeq || earlier.length === 0 ? [{ from: { ...place, seq: from }, before: { ...place, seq: nextSeq } }] : [];
    });
  }

  #oldestOpen(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const order of this.#open.values()) if (order < oldest) oldest = order;
    return oldest;
  }

  #slot(index: number): Slot {
    const slot = this.#slots[index];
    if (!slot) throw new RangeError(`slot ${index}`);
    return slot;
  }
}
