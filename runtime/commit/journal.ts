// The journal's memory: which rows this process has written, which runs they opened, and up to where they can go.
// Rows are only appended; a prefix without open runs is removed in one transaction, so that no mark outlives or leaves its event.

import type { Db, Document, MongoClient } from 'mongodb';
import { ASIDE, asideOf, asideRange } from './aside.ts';
import { attemptOf, type RunId, type StoredEvent, type TickRow, type Unit } from './types.ts';

export const runIdOf = (event: StoredEvent, rule: string): RunId => `${event.uuid}/${rule}/${attemptOf(event)}`;

interface Slot {
  nextSeq: number;
  /** Rows that stand in the store, oldest first. */
  rows: { seq: number; order: number }[];
}

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
    return {
      _id: { epoch: this.epoch, slot, seq: this.#slot(slot).nextSeq },
      order: ++this.#order,
      events: units.flatMap((unit) => unit.events.filter((event) => event.runs.length > 0)),
      steps: units.flatMap((unit) => unit.steps ?? []),
      done: units.flatMap((unit) => unit.done ?? []),
    };
  }

  committed(row: TickRow): void {
    const slot = this.#slot(row._id.slot);
    slot.nextSeq = row._id.seq + 1;
    slot.rows.push({ seq: row._id.seq, order: row.order });
    if (asideOf(row).size > 0) this.#hasAside = true;
    for (const event of row.events) {
      for (const run of event.runs) this.#open.set(runIdOf(event, run.rule), row.order);
    }
    for (const run of row.done) this.#open.delete(run);
  }

  /** Removes the rows that are older than the oldest open run, but never the newest of a slot. Gives how many went. */
  async clean(): Promise<number> {
    const keepFrom = this.#oldestOpen();
    const ranges = this.#slots.flatMap((slot, index) => {
      const count = slot.rows.findIndex((row) => row.order >= keepFrom);
      const end = Math.min(count < 0 ? slot.rows.length : count, slot.rows.length - 1);
      return end > 0 ? [{ index, slot, end, before: (slot.rows[end] as { seq: number }).seq }] : [];
    });
    if (ranges.length === 0) return 0;
    const id = (index: number, seq: number) => ({ epoch: this.epoch, slot: index, seq });
    const either: Document[] = ranges.map(({ index, before }) => ({ _id: { $gte: id(index, 0), $lt: id(index, before) } }));
    await this.#client.withSession((session) =>
      session.withTransaction(async () => {
        await this.#db.collection('journal').deleteMany({ $or: either }, { session });
        if (this.#hasAside)
          for (const { index, before } of ranges)
            await this.#db.collection(ASIDE).deleteMany(asideRange({ epoch: this.epoch, slot: index }, 0, before) as Document, { session });
      }),
    );
    for (const { slot, end } of ranges) slot.rows.splice(0, end);
    return ranges.reduce((sum, { end }) => sum + end, 0);
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
