// Stores the units of a batch in one transaction with their journal row. A unit that cannot be stored gets its own error, and the others
// are retried without it; an in-doubt commit is looked up in the journal; an unavailable store is waited for.

import { type ClientSession, type Db, type MongoClient, MongoError } from 'mongodb';
import { Backoff, isLockedOut, isWriteConflict, isUnavailable, retryUntilAvailable } from '../../platform/mongo/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import type { Journal } from './journal.ts';
import { sealing, withRowTexts } from './sealing.ts';
import { commitWithRow, findVersionConflicts, insertPlain, isPlain, RejectedUnits, BatchConflict } from './transaction.ts';
import { DuplicateKey, Fenced, type RunId, type JournalRow, type UnitOfWork } from './types.ts';
import { conflictOf } from './units.ts';

const TRANSIENT_TRIES = 3;
/** A transaction of ours whose connection broke may hold what it has written for a minute. */
const CONFLICT_FOR_MS = 90_000;
const LOCKED_FOR_MS = 60_000;
/** How long clients wait for an unavailable store; then the waiting ones fail, and new ones fail at once. */
const UNAVAILABLE_FOR_MS = 20_000;
const LOCKED_RETRY_MS = 20;

/** Units that one transaction has stored, with its row; null: they needed no row. */
interface Stored {
  readonly row: JournalRow | null;
  readonly units: readonly UnitOfWork[];
}

/** Attempts at a batch whose commit is in doubt: it may have happened without an answer. All have the same place in the journal. */
type Doubt = { readonly row: JournalRow; readonly units: readonly UnitOfWork[] }[]; // emptied when the doubt is resolved

export interface BatchStore {
  readonly client: MongoClient;
  readonly db: Db;
  /** Those of the units whose unique keys are taken in the store. */
  readonly findTaken: (units: readonly UnitOfWork[]) => Promise<ReadonlyMap<UnitOfWork, DuplicateKey>>;
  /** What texts of journal rows are sealed with; null, or absent: they are stored as they are. */
  readonly cipher?: () => Cipher | null;
}

export interface BatchListener {
  /** These units are stored, with this row or without one. Must not throw: nothing after a commit undoes it. */
  readonly settled: (row: JournalRow | null, units: readonly UnitOfWork[]) => void;
  /** These completion marks were not stored with the batch. */
  readonly unnoted: (marks: readonly RunId[]) => void;
  /** The store is unavailable for longer than clients wait. */
  readonly away: (error: unknown) => void;
}

/** Writes one slot of the journal: one batch at a time. */
export class BatchWriter {
  readonly #slot: number;
  readonly #journal: Journal;
  readonly #at: BatchStore;
  readonly #listener: BatchListener;
  readonly #sessions: ClientSession[] = [];
  #session: ClientSession;
  /** Units of the present batch that are stored. */
  readonly #stored = new Set<UnitOfWork>();

  constructor(slot: number, journal: Journal, at: BatchStore, listener: BatchListener) {
    this.#slot = slot;
    this.#journal = journal;
    this.#at = at;
    this.#listener = listener;
    this.#session = at.client.startSession();
    this.#sessions.push(this.#session);
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.endSession();
  }

  /**
   * Stores what can be stored.
   * @param marks runs that have ended
   * @param failed gets those that are not stored, with their reason
   * @throws Fenced, and faults of the machinery: then all that is not known to be stored is in `failed`
   */
  async write(units: readonly UnitOfWork[], marks: readonly RunId[], failed: Map<UnitOfWork, unknown>): Promise<void> {
    const doubt: Doubt = [];
    this.#stored.clear();
    let problem: { readonly error: unknown } | null = null;
    try {
      await this.#store(units, marks, failed, doubt).catch((error: unknown) => {
        if (error instanceof Fenced) throw error;
        problem = { error };
      });
      if (doubt.length > 0) for (const unit of await this.#takePlace(doubt)) failed.delete(unit);
      this.#journal.settled(this.#slot);
    } catch (error) {
      problem = { error };
    }
    // No unit may be reported as stored while its outcome is unknown.
    const unknown = units.filter((unit) => !failed.has(unit) && !this.#stored.has(unit));
    if (!problem && unknown.length === 0) return;
    const { error } = problem ?? { error: new TypeError('units were neither stored nor refused') };
    for (const unit of unknown) failed.set(unit, error);
    throw error;
  }

  #settle(row: JournalRow | null, units: readonly UnitOfWork[]): void {
    for (const unit of units) this.#stored.add(unit);
    this.#listener.settled(row, units);
  }

  /**
   * No other attempt was stored, but one in doubt may still commit late: an empty row takes its place in the journal, which fences it.
   * @returns the units that turn out to be stored after all
   */
  async #takePlace(doubt: Doubt): Promise<readonly UnitOfWork[]> {
    const backoff = new Backoff();
    for (;;) {
      let stored: Stored | null;
      try {
        stored = await this.#attempt([], this.#row([], []), doubt);
      } catch (error) {
        stored = await this.#happened(doubt); // the row in that place may be the attempt itself, committed late
        if (!stored && error instanceof Fenced) throw error;
      }
      if (stored) {
        this.#settle(stored.row, stored.units);
        return stored.units;
      }
      await backoff.pause();
    }
  }

  /**
   * Only the store's answer decides whether an attempt failed: listeners are notified after the attempt is over.
   * @param doubt earlier attempts in doubt, also of other units than these
   * @returns the units that one of those attempts turns out to have stored
   */
  async #store(
    all: readonly UnitOfWork[],
    marks: readonly RunId[],
    failed: Map<UnitOfWork, unknown>,
    doubt: Doubt,
  ): Promise<readonly UnitOfWork[]> {
    const begun = performance.now(); // the time of day may jump
    let units = all;
    const before: UnitOfWork[] = [];
    let aborts = 0;
    let transient = 0;
    while (units.length > 0) {
      const row = marks.length === 0 && units.every(isPlain) ? null : this.#row(units, marks);
      let stored: Stored | null;
      let error: unknown;
      try {
        stored = await this.#attempt(units, row, doubt);
      } catch (reason) {
        error = reason;
        stored = await this.#happened(doubt); // an earlier attempt of ours may be what conflicts
      }
      if (stored) {
        this.#settle(stored.row, stored.units);
        if (stored.units === units) return before;
        for (const unit of stored.units) failed.delete(unit); // it counted as failed while the attempt was in doubt
        before.push(...stored.units);
        units = units.filter((unit) => !before.includes(unit));
        continue;
      }
      if (error instanceof Fenced) throw error;
      const followers = followersIn(units);
      if (followers.length > 0) {
        // The store does not say which of several chained changes failed: the later ones start again from what is stored.
        for (const unit of followers) failed.set(unit, conflictOf(unit));
        units = units.filter((unit) => !failed.has(unit));
        continue;
      }
      const rejected = await this.#rejectedOf(error, units);
      if (rejected && rejected.size > 0) {
        for (const [unit, reason] of rejected) failed.set(unit, reason);
        units = units.filter((unit) => !failed.has(unit));
        if (!row) {
          this.#settle(null, units);
          return before;
        }
        // The store reports one duplicate key an attempt: from the second on, all duplicates are looked up at once.
        if ([...rejected.values()].some((one) => one instanceof DuplicateKey) && ++aborts >= 2) {
          const taken = await retryUntilAvailable(() => this.#at.findTaken(units));
          for (const [unit, reason] of taken) failed.set(unit, reason);
          units = units.filter((unit) => !failed.has(unit));
        }
        continue;
      }
      // An index build locks the collection for a moment at its beginning and its end.
      if (isLockedOut(error) && performance.now() - begun < LOCKED_FOR_MS) {
        await pause(LOCKED_RETRY_MS);
        continue;
      }
      // A version conflict that no unit explains may be a write that a majority does not hold yet.
      const mayPass = rejected !== null || isWriteConflict(error);
      if (mayPass && ++transient <= TRANSIENT_TRIES) continue;
      if (mayPass && units.length === 1 && performance.now() - begun < CONFLICT_FOR_MS) {
        await pause(LOCKED_RETRY_MS);
        continue;
      }
      if (units.length === 1) {
        failed.set(units[0] as UnitOfWork, error);
        this.#listener.unnoted(marks);
        return before;
      }
      return [...before, ...(await this.#halves(units, marks, failed, doubt))];
    }
    this.#listener.unnoted(marks);
    return before;
  }

  /**
   * One attempt, retried while the store is unavailable. An in-doubt commit is resolved by looking for its row, however long that takes: a
   * client that got an error would send the request again. Clients get the answer that the outcome is unknown.
   * @returns what is stored: these units, or those of an attempt that was in doubt
   */
  async #attempt(units: readonly UnitOfWork[], row: JournalRow | null, doubt: Doubt): Promise<Stored> {
    const { client, db } = this.#at;
    const backoff = new Backoff();
    for (let goneSince: number | null = null; ; ) {
      try {
        const happened = goneSince !== null ? await this.#happened(doubt) : null;
        if (happened) return happened;
        if (row) await commitWithRow(db, this.#session, units, row);
        else await insertPlain(db, units);
        break;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (row && doubt.at(-1)?.row !== row) doubt.push({ row, units });
        goneSince ??= performance.now();
        if (performance.now() - goneSince > UNAVAILABLE_FOR_MS) {
          this.#listener.away(error);
          if (!row) throw error;
        }
        await backoff.pause();
        this.#session = client.startSession();
        this.#sessions.push(this.#session);
      }
    }
    if (row) doubt.length = 0; // the place of the attempts in doubt is taken
    return { row, units };
  }

  /**
   * The attempt in doubt that turns out to be stored; this ends the doubt. Waits until the store answers with a linearizable read, since a
   * later attempt may have met a row that a majority does not hold yet.
   */
  async #happened(doubt: Doubt): Promise<Stored | null> {
    const [first] = doubt;
    if (!first) return null;
    const backoff = new Backoff();
    for (;;) {
      try {
        const stored = await this.#at.db
          .collection<JournalRow>('journal')
          .findOne({ _id: first.row._id }, { readConcern: { level: 'linearizable' }, projection: { order: 1 } });
        const happened = stored && doubt.find(({ row }) => row.order === Number(stored.order));
        if (!happened) return null;
        doubt.length = 0;
        return happened;
      } catch (error) {
        if (!(error instanceof MongoError)) throw error;
        await backoff.pause();
      }
    }
  }

  /** The units that made an attempt fail; null when it failed for another reason. Empty: a conflict that no unit explains. */
  async #rejectedOf(error: unknown, units: readonly UnitOfWork[]): Promise<ReadonlyMap<UnitOfWork, Error> | null> {
    if (error instanceof RejectedUnits) return error.units;
    return error instanceof BatchConflict ? retryUntilAvailable(() => findVersionConflicts(this.#at.db, units)) : null;
  }

  #row(units: readonly UnitOfWork[], marks: readonly RunId[]): JournalRow {
    const row = this.#journal.row(this.#slot, withMarks(units, marks));
    const cipher = this.#at.cipher?.() ?? null;
    return cipher ? withRowTexts(row, sealing(cipher)) : row;
  }

  /** Splits the batch. An attempt at the whole that is in doubt may still be stored while its place is free. */
  async #halves(
    units: readonly UnitOfWork[],
    marks: readonly RunId[],
    failed: Map<UnitOfWork, unknown>,
    doubt: Doubt,
  ): Promise<readonly UnitOfWork[]> {
    const middle = units.length >> 1;
    const stored = await this.#store(units.slice(0, middle), [], failed, doubt);
    const rest = units.slice(middle).filter((unit) => !stored.includes(unit));
    return [...stored, ...(await this.#store(rest, marks, failed, doubt))];
  }
}

/** Units that depend on another one of these. */
function followersIn(units: readonly UnitOfWork[]): readonly UnitOfWork[] {
  if (units.every(({ after }) => after === undefined)) return [];
  const pendings = new Set(units.map(({ pending }) => pending));
  return units.filter(({ after }) => after?.some((pending) => pendings.has(pending)));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const withMarks = (units: readonly UnitOfWork[], marks: readonly RunId[]): readonly UnitOfWork[] =>
  marks.length > 0 ? [...units, { writes: [], events: [], done: marks }] : units;
