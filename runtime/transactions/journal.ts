// The journal in memory: the rows that this process has written, the runs that they opened, and which rows can be removed. Rows are only
// appended; a prefix without open runs is declared void by a low-water mark and then removed, so that no completion mark outlives or leaves
// its event.

import type { Db } from 'mongodb';
import { newestIdSecond } from '../../model/types/index.ts';
import { overflowOf } from './overflow.ts';
import { removeRange } from './removal.ts';
import { EMPTY, type StoredRow } from './row-form.ts';
import {
  attemptOf,
  Fenced,
  rootOf,
  type RowId,
  type RunId,
  type Step,
  type StoredEvent,
  type JournalRow,
  type UnitOfWork,
} from './types.ts';

export const runIdOf = (event: StoredEvent, rule: string): RunId => `${event.uuid}/${rule}/${attemptOf(event)}`;

interface Standing {
  readonly seq: number;
  readonly order: number;
  readonly atMs: number;
  /** Whether the row holds nothing that is still needed. */
  isEmpty: boolean;
}

interface Slot {
  nextSeq: number;
  /** The order of the first attempt at the next row, which may still commit; null: there was none. */
  attemptedFrom: number | null;
  /** Rows in the store, oldest first. */
  rows: Standing[];
}

/** How many long runs are compacted at once. */
const LONG_AT_ONCE = 200;

export class Journal {
  readonly epoch: number;
  readonly #db: Db;
  readonly #slots: Slot[];
  /** Open runs and the order of the row that opened them. */
  readonly #open = new Map<RunId, number>();
  /** Rows with steps of open runs, by their orders. */
  readonly #steps = new Map<RunId, number[]>();
  /** Whether a row ever had overflow texts. */
  #hasOverflow = false;
  #order = 0;

  constructor(db: Db, epoch: number, slots: number) {
    this.#db = db;
    this.epoch = epoch;
    this.#slots = Array.from({ length: slots }, () => ({ nextSeq: 0, attemptedFrom: null, rows: [] }));
  }

  get openRuns(): number {
    return this.#open.size;
  }

  /** Order of the newest attempt at a row: later commits get a higher one. */
  get order(): number {
    return this.#order;
  }

  /** Makes the row of a batch. Only `committed` takes its place: an aborted batch reuses it, so that seq has no gaps. */
  row(slot: number, units: readonly UnitOfWork[]): JournalRow {
    const events: StoredEvent[] = [];
    const steps: Step[] = [];
    const done: RunId[] = [];
    for (const unit of units) {
      for (const event of unit.events) if (event.runs.length > 0) events.push(event);
      for (const step of unit.steps ?? []) steps.push(step);
      for (const run of unit.done ?? []) done.push(run);
    }
    const order = ++this.#order;
    const at = this.#slot(slot);
    at.attemptedFrom ??= order;
    return { _id: { epoch: this.epoch, slot, seq: at.nextSeq }, order, events, steps, done, idSecond: newestIdSecond() };
  }

  committed(row: JournalRow): void {
    const slot = this.#slot(row._id.slot);
    slot.nextSeq = row._id.seq + 1;
    slot.attemptedFrom = null;
    const isEmpty = row.events.length + row.steps.length + row.done.length === 0;
    slot.rows.push({ seq: row._id.seq, order: row.order, atMs: performance.now(), isEmpty });
    if (overflowOf(row).size > 0) this.#hasOverflow = true;
    for (const event of row.events) {
      for (const { rule } of event.runs) {
        const run = runIdOf(event, rule);
        this.#open.set(run, row.order);
        this.#steps.delete(run); // the copy of an event has copies of its steps
      }
    }
    for (const step of row.steps) this.#noteStep(rootOf(step.run), row.order);
    for (const run of row.done) {
      this.#open.delete(run);
      this.#steps.delete(run);
    }
  }

  /** No attempt at the next row of the slot is in doubt any more. */
  settled(slot: number): void {
    this.#slot(slot).attemptedFrom = null;
  }

  /**
   * Removes the rows before the oldest open run. First a low-water mark in the newest row declares them void; then they are removed in
   * pieces, in any order and without a transaction. The newest row of each slot stays, emptied, since the next one follows it without a
   * gap.
   * @returns how many were removed
   * @throws Fenced
   */
  async truncate(): Promise<number> {
    const low = this.#lowWater();
    const old = this.#slots.flatMap((slot, index) => {
      const count = slot.rows.findIndex((row) => row.order >= low);
      const rows = count < 0 ? slot.rows : slot.rows.slice(0, count);
      const newest = rows.length === slot.rows.length ? rows[rows.length - 1] : undefined;
      const gone = newest ? rows.length - 1 : rows.length;
      return gone > 0 || newest?.isEmpty === false ? [{ index, slot, gone, newest, before: slot.rows[gone]?.seq ?? slot.nextSeq }] : [];
    });
    if (old.length === 0) return 0;
    const rows = this.#db.collection<StoredRow>('journal');
    const bearer = this.#newest();
    if (!bearer) return 0;
    const marked = await rows.updateOne({ _id: bearer, closed: { $ne: true } }, { $set: { low } });
    if (marked.matchedCount === 0) throw new Fenced('the journal of this process was closed by its successor');
    for (const { index, slot, gone, newest, before } of old) {
      const from = slot.rows[0]?.seq ?? before;
      await removeRange(this.#db, { epoch: this.epoch, slot: index }, from, before, newest ? newest.seq + 1 : before, this.#hasOverflow);
      if (newest && !newest.isEmpty) {
        await rows.updateOne({ _id: { epoch: this.epoch, slot: index, seq: newest.seq }, closed: { $ne: true } }, { $set: EMPTY });
        newest.isEmpty = true;
      }
      slot.rows.splice(0, gone);
    }
    return old.reduce((sum, { gone }) => sum + gone, 0);
  }

  /** The order below which no row has an open run, and below which no row can still be committed. */
  #lowWater(): number {
    const under = this.#slots.flatMap(({ attemptedFrom }) => attemptedFrom ?? []);
    return Math.min(this.#oldestOpen(), this.#order + 1, ...under);
  }

  /** Id of the row that was committed last; null when there is none. */
  #newest(): RowId | null {
    const last = this.#slots.flatMap(({ rows }, slot) => rows.slice(-1).map(({ seq, order }) => ({ slot, seq, order })));
    const [newest] = last.sort((a, b) => b.order - a.order);
    return newest ? { epoch: this.epoch, slot: newest.slot, seq: newest.seq } : null;
  }

  isOpen(run: RunId): boolean {
    return this.#open.has(run);
  }

  /**
   * The oldest runs that have been open for so long, and how many rows they pin; null when there are none, or more of them than rows: then
   * it is not a few runs that pin the journal.
   */
  longOpen(forMs: number): { runs: Set<RunId>; rows: number } | null {
    const since = performance.now() - forMs;
    if (!this.#slots.some(({ rows: [oldest] }) => oldest && oldest.atMs <= since)) return null;
    const old = this.#slots.flatMap(({ rows }) => rows.filter(({ atMs }) => atMs <= since));
    const last = old.reduce((most, { order }) => Math.max(most, order), 0);
    const open = [...this.#open].filter(([, order]) => order <= last).sort(([, a], [, b]) => a - b);
    if (open.length === 0 || open.length > old.length) return null;
    const end = open[Math.min(open.length, LONG_AT_ONCE) - 1]?.[1] ?? 0; // runs of one event stay together
    return { runs: new Set(open.flatMap(([run, order]) => (order <= end ? [run] : []))), rows: old.length };
  }

  /** The rows with events or steps of these runs, oldest first. @param known rows to leave out */
  rowsOf(runs: Iterable<RunId>, known: readonly RowId[] = []): RowId[] {
    const orders = new Set<number>();
    for (const run of runs) for (const order of [this.#open.get(run) ?? 0, ...(this.#steps.get(run) ?? [])]) orders.add(order);
    const isKnown = new Set(known.map(({ slot, seq }) => `${slot} ${seq}`));
    const rows = this.#slots.flatMap((one, slot) =>
      one.rows.filter(({ seq, order }) => orders.has(order) && !isKnown.has(`${slot} ${seq}`)).map((row) => ({ slot, ...row })),
    );
    return rows.sort((a, b) => a.order - b.order).map(({ slot, seq }) => ({ epoch: this.epoch, slot, seq }));
  }

  #noteStep(run: RunId, order: number): void {
    if (!this.#open.has(run)) return;
    const rows = this.#steps.get(run);
    if (!rows) this.#steps.set(run, [order]);
    else if (rows[rows.length - 1] !== order) rows.push(order);
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
