// Stores the units of a tick in one transaction with their row, whatever stands in the way: a unit that cannot be stored gets its own error and
// the others are tried again without it; a commit that nobody heard of is looked for; a store that is away is waited for.

import { type ClientSession, type Db, type MongoClient, MongoError } from 'mongodb';
import { Backoff, isLockedOut, isWriteConflict, isUnavailable, retryUntilAvailable } from '../../platform/mongo/index.ts';
import type { Cipher } from '../../model/values/index.ts';
import type { Journal } from './journal.ts';
import { sealing, withRowTexts } from './sealing.ts';
import { commitWithRow, findVersionConflicts, insertPlain, isPlain, RejectedUnits, BatchConflict } from './transaction.ts';
import { DuplicateKey, Fenced, type RunId, type JournalRow, type UnitOfWork } from './types.ts';
import { conflictOf } from './units.ts';

const TRANSIENT_TRIES = 3;
/** A transaction of ours whose connection broke may hold what it has written for a minute. */
const CONFLICT_FOR_MS = 90_000;
const LOCKED_FOR_MS = 60_000;
/** How long clients wait for a store that is away; then they are told, and further ones at once. */
const UNAVAILABLE_FOR_MS = 20_000;
const LOCKED_RETRY_MS = 20;

/** Units that one transaction has stored, with its row; null: they needed none. */
interface Stored {
  readonly row: JournalRow | null;
  readonly units: readonly UnitOfWork[];
}

/** Attempts at a tick whose commit may have happened, unheard. All have the same place in the journal. */
type Doubt = { readonly row: JournalRow; readonly units: readonly UnitOfWork[] }[]; // emptied with the end of the doubt

export interface BatchStore {
  readonly client: MongoClient;
  readonly db: Db;
  /** Those of the units whose unique keys are taken in the store. */
  readonly findTaken: (units: readonly UnitOfWork[]) => Promise<ReadonlyMap<UnitOfWork, DuplicateKey>>;
  /** What texts of journal rows are sealed with; null, or absent: they are stored as they are. */
  readonly cipher?: () => Cipher | null;
}

export interface BatchListener {
  /** These are stored, with this row or without one. Must not throw: nothing that comes after a commit undoes it. */
  readonly settled: (row: JournalRow | null, units: readonly UnitOfWork[]) => void;
  /** These marks were not stored with the tick. */
  readonly unnoted: (marks: readonly RunId[]) => void;
  /** The store is away for longer than clients wait. */
  readonly away: (error: unknown) => void;
}

/** Of one slot of the journal: one tick at a time. */
export class BatchWriter {
  readonly #slot: number;
  readonly #journal: Journal;
  readonly #at: BatchStore;
  readonly #listener: BatchListener;
  readonly #sessions: ClientSession[] = [];
  #session: ClientSession;
  /** Of the present tick. */
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
    // Nobody is told that something is stored of which that is not known.
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
   * Nothing of the last attempts could be stored in another way, but one of them may still come: an empty row takes its place in the journal.
   * @returns the units that turn out to be stored after all
   */
  async #takePlace(doubt: Doubt): Promise<readonly UnitOfWork[]> {
    const backoff = new Backoff();
    for (;;) {
      let stored: Stored | null;
      try {
        stored = await this.#attempt([], this.#row([], []), doubt);
      } catch (error) {
        stored = await this.#happened(doubt); // what stands in that place may be the attempt itself, come late
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
   * Only what the store answers decides whether an attempt failed: those who hear of a commit do so after the attempt is over.
   * @param doubt attempts of before, at others than these units, too
   * @returns what turned out to be stored by one of these
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
        stored = await this.#happened(doubt); // an earlier attempt of ours may be what stands in the way
      }
      if (stored) {
        this.#settle(stored.row, stored.units);
        if (stored.units === units) return before;
        for (const unit of stored.units) failed.delete(unit); // it was taken for lost while the attempt was in doubt
        before.push(...stored.units);
        units = units.filter((unit) => !before.includes(unit));
        continue;
      }
      if (error instanceof Fenced) throw error;
      const followers = followersIn(units);
      if (followers.length > 0) {
        // Which change of a row of them failed is not seen: those behind begin again from what is stored.
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
        // The store tells one taken key an attempt: from the second on all the others are looked up at once.
        if ([...rejected.values()].some((one) => one instanceof DuplicateKey) && ++aborts >= 2) {
          const taken = await retryUntilAvailable(() => this.#at.findTaken(units));
          for (const [unit, reason] of taken) failed.set(unit, reason);
          units = units.filter((unit) => !failed.has(unit));
        }
        continue;
      }
      // An index that is being built takes the collection for a moment at its beginning and its end.
      if (isLockedOut(error) && performance.now() - begun < LOCKED_FOR_MS) {
        await pause(LOCKED_RETRY_MS);
        continue;
      }
      // A miss that nobody is found for may be one that a majority does not hold yet.
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
   * One attempt, repeated while the store is away. A commit whose outcome was not heard is settled by looking for its row, however long that
   * takes: who is told that nothing was stored would do it a second time. Clients are told that it is not known.
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
    if (row) doubt.length = 0; // their place is taken
    return { row, units };
  }

  /**
   * That attempt of those in doubt which turns out to be stored; the doubt ends with that. Waits for the store to answer, whatever keeps it from
   * that, with what it has now: an attempt of later may have met what a majority does not hold yet.
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

  /** The units that stood in the way of an attempt; null when it failed for another reason. None: no unit is seen to do so. */
  async #rejectedOf(error: unknown, units: readonly UnitOfWork[]): Promise<ReadonlyMap<UnitOfWork, Error> | null> {
    if (error instanceof RejectedUnits) return error.units;
    return error instanceof BatchConflict ? retryUntilAvailable(() => findVersionConflicts(this.#at.db, units)) : null;
  }

  #row(units: readonly UnitOfWork[], marks: readonly RunId[]): JournalRow {
    const row = this.#journal.row(this.#slot, withMarks(units, marks));
    const cipher = this.#at.cipher?.() ?? null;
    return cipher ? withRowTexts(row, sealing(cipher)) : row;
  }

  /** An attempt at the whole that is in doubt may still be stored, while its place is free. */
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

/** Units that go on from another one of these. */
function followersIn(units: readonly UnitOfWork[]): readonly UnitOfWork[] {
  if (units.every(({ after }) => after === undefined)) return [];
  const pendings = new Set(units.map(({ pending }) => pending));
  return units.filter(({ after }) => after?.some((pending) => pendings.has(pending)));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const withMarks = (units: readonly UnitOfWork[], marks: readonly RunId[]): readonly UnitOfWork[] =>
  marks.length > 0 ? [...units, { writes: [], events: [], done: marks }] : units;
