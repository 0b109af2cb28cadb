/* oxlint-disable max-lines -- the queue, its batches and their outcomes share the state of each key */
// The committer of a namespace: everything that changes the store goes through it. Units that arrive while a batch commits share the next
// one (group commit, without a timer); a unit that cannot commit gets its own error, and the batch goes on without it.

import type { Long } from 'mongodb';
import { LinkedList, type ListNode, unlinked } from '../../platform/structures/index.ts';
import { Journal } from './journal.ts';
import { compactionUnits, readHeld } from './compaction.ts';
import { referencesOf } from './recovery.ts';
import { type BatchStore, BatchWriter } from './batch-writer.ts';
import { isPlain } from './transaction.ts';
import type { Pending } from './pending.ts';
import {
  Fenced,
  type LogEntry,
  QueueFull,
  type RunId,
  type RunReference,
  type StoredEvent,
  type JournalRow,
  type UnitOfWork,
  VersionConflict,
} from './types.ts';
import { keyOf, keysOf, conflictOf, published, sizeOf, uniform, writtenTwice } from './units.ts';

const UNITS_PER_BATCH = 1_000;
const BYTES_PER_BATCH = 8_000_000;
/** Bounds of what clients bring; more is refused. */
const UNITS_WAITING = 50_000;
const BYTES_WAITING = 64_000_000;
/** Share of a batch for units that are acknowledged already, while others wait, too. */
const URGENT_PART = 0.75;
/** How far a batch looks past units that conflict with batches in flight. */
const UNITS_LOOKED_AT = 4 * UNITS_PER_BATCH;
/** Transactions in flight. */
export const SLOTS = 2;
const TRUNCATE_EVERY_MS = 1_000;
/** A run that is open for longer is moved to a new row and no longer pins the journal. */
const LONG_RUN_MS = 30_000;
/** How many callers are notified of a commit in one turn of the event loop: what they do next must not delay everybody else. */
const NOTIFIED_AT_ONCE = 256;
/** Completion marks wait this long for a batch that takes them along. */
const MARK_AFTER_MS = 25;

export interface CommitterOptions extends BatchStore {
  readonly epoch: number;
  /**
   * Called in the order of the commits, before the units' promises resolve. An error is reported and changes nothing: the commit stands.
   * @param fresh the events that no subscriber has been notified of
   */
  readonly onEvents: (events: readonly StoredEvent[], fresh: readonly StoredEvent[]) => void;
  /** The same for log messages that were stored with units, before the events of the same commit. */
  readonly onLogs?: (logs: readonly LogEntry[]) => void;
  /** Keys in unique indexes that the documents of this unit hold: two units with a common one don't share a batch. */
  readonly uniqueKeys: (unit: UnitOfWork) => readonly string[];
  /** Gives what is stored of a unit, when its batch is composed: another process may have to handle some of it. */
  readonly toStored?: (unit: UnitOfWork) => UnitOfWork;
  /** Asked before a unit is stored: an error when the unit's precondition no longer holds (a type was renamed or deleted). */
  readonly refuses?: (unit: UnitOfWork) => Error | null;
  readonly onError: (error: unknown, message: string) => void;
  /** Another process owns the namespace now: nothing can be committed any more. */
  readonly onFenced?: () => void;
  /** The reason why no new work may come from outside now; null when it may. */
  readonly isFull: () => QueueFull | null;
  /** Runs synchronous work of this namespace and measures its time. */
  readonly measure?: <Result>(work: () => Result) => Result;
  /** How long a run may pin the journal. */
  readonly longRunMs?: number;
}

/** The keys of a batch that is being composed: later units with one of them have to wait. */
class ConflictSet {
  /** Keys and paths of the batch's units, with the change that used them last, and of units that were passed over. */
  readonly #last = new Map<string, Pending | null>();
  readonly #pendings = new Set<Pending>();

  /** Whether the unit shares a key with the batch, and does not follow the change that holds it. */
  conflictsWith({ unit, holds }: Waiting): boolean {
    if (this.#last.size === 0) return false;
    return holds.some((key) => {
      const last = this.#last.get(key);
      return last !== undefined && (last === null || !unit.after?.includes(last));
    });
  }

  /** Whether all changes that the unit follows are stored, or in this batch. */
  hasPredecessors({ unit: { after } }: Waiting): boolean {
    return !after || after.every((pending) => pending.isStored === true || this.#pendings.has(pending));
  }

  /** Paths of events do not conflict within a batch: the row keeps their order. */
  take({ unit: { pending }, keys }: Waiting): void {
    for (const key of keys) this.#last.set(key, pending ?? null);
    if (pending) this.#pendings.add(pending);
  }

  pass({ holds }: Waiting): void {
    for (const key of holds) this.#last.set(key, null);
  }
}

interface Waiting extends ListNode {
  /** Sequence number of the submission. */
  readonly nth: number;
  /** Belongs to work that is acknowledged already: it waits for as long as the store is unavailable. */
  readonly urgent: boolean;
  /** The unit in its stored form once its batch is composed. */
  unit: UnitOfWork;
  /** Keys that no two units of a batch may share. */
  readonly keys: readonly string[];
  /** The keys and the paths that the unit publishes on: units that share one keep their order. */
  readonly holds: readonly string[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export class Committer implements AsyncDisposable {
  readonly journal: Journal;
  readonly #options: CommitterOptions;
  readonly #writers: readonly BatchWriter[];
  /** Writers without a batch in flight. */
  readonly #free: BatchWriter[];
  /** Keys (ids and unique keys) and ordered paths of the batches in flight. */
  readonly #held = new Set<string>();
  /** Collections whose writes are held back for now. */
  readonly #blocked = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  /** Acknowledged work goes before new requests: else each effect of a rule would wait behind all of them. */
  #urgent: Waiting[] = [];
  #queue: Waiting[] = [];
  /** Bytes of the units in #queue. */
  #bytesWaiting = 0;
  #marks: RunId[] = [];
  #isClosed = false;
  #marking: NodeJS.Timeout | null = null;
  #paused = false;
  #isPlanned = false;
  #truncating: Promise<void> | null = null;
  #pins = 0;
  #idle: (() => void)[] = [];
  /** Units that are neither stored nor refused, in the order of their submission. */
  readonly #unsettled = new LinkedList<Waiting>();
  #submitted = 0;
  #fenced: Fenced | null = null;
  /** The error while the store is unavailable for longer than clients wait. */
  #away: unknown = null;
  /** Compaction is tried again when the journal has that many rows. */
  #copiesFrom = 0;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.journal = new Journal(options.db, options.epoch, SLOTS);
    const listener = {
      settled: (row: JournalRow | null, units: readonly UnitOfWork[]) => this.#settled(row, units),
      unnoted: (marks: readonly RunId[]) => this.#marks.push(...marks),
      away: (error: unknown) => this.#failWaiting(error),
    };
    this.#writers = Array.from({ length: SLOTS }, (_, slot) => new BatchWriter(slot, this.journal, options, listener));
    this.#free = [...this.#writers];
    this.#timer = setInterval(() => {
      if (this.#pins > 0 || this.#fenced) return;
      this.#truncating ??= this.journal
        .truncate()
        .then(() => this.#compact())
        .catch((error: unknown) => {
          this.#noteFenced(error);
          if (!(error instanceof Fenced)) options.onError(error, 'the journal could not be cleaned');
        })
        .finally(() => (this.#truncating = null));
    }, TRUNCATE_EVERY_MS);
    this.#timer.unref();
  }

  /**
   * Keeps all rows until the pin is released: during a take-over events of dead processes stand in our rows and in theirs, and only our
   * rows have the completion marks that keep their runs from being repeated.
   */
  pinJournal(): () => void {
    this.#pins++;
    return () => void this.#pins--;
  }

  /** Number of units that wait for a batch. */
  get waiting(): number {
    return this.#urgent.length + this.#queue.length;
  }

  /** The rules, with their texts, that events name which are not stored yet. */
  *references(): Iterable<RunReference> {
    for (const { unit } of this.#unsettled) for (const { runs } of unit.events) yield* referencesOf(runs);
  }

  /** The reason why a unit of a client cannot be accepted now; null when it can. */
  refusal({ events }: UnitOfWork): QueueFull | null {
    if (this.#queue.length >= UNITS_WAITING || this.#bytesWaiting >= BYTES_WAITING) return new QueueFull('waitingWrites', UNITS_WAITING);
    return events.every((event) => event.runs.length === 0) ? null : this.#options.isFull();
  }

  /**
   * Stores the unit as a whole. Resolves after the majority commit.
   * @param urgent the unit belongs to acknowledged work: the bounds of the queue do not apply
   * @throws DuplicateKey, VersionConflict: the unit's own; QueueFull: try later; Fenced; the driver's error when the store is unavailable
   *   for long; TypeError: the unit names one instance twice, which is a bug of the caller
   */
  submit(given: UnitOfWork, urgent = false): Promise<void> {
    return new Promise<void>((resolve, reject) => this.enqueue(given, urgent, resolve, reject));
  }

  /** As `submit`, without a promise for the hot path: one of the two callbacks is called. */
  enqueue(given: UnitOfWork, urgent: boolean, resolve: () => void, reject: (reason: unknown) => void): void {
    const refusal = this.#fenced ?? (urgent ? null : this.#away !== null && this.#free.length < SLOTS ? this.#away : this.refusal(given));
    if (refusal !== null) {
      given.pending?.settle(false);
      return reject(refusal);
    }
    const unit = uniform(given);
    const keys = keysOf(unit);
    const twice = writtenTwice(keys);
    if (twice !== null) {
      given.pending?.settle(false);
      return reject(new TypeError(`two writes of one unit name ${twice}`));
    }
    for (const key of this.#options.uniqueKeys(unit)) keys.push(key);
    const paths = published(unit);
    const waiting: Waiting = {
      nth: ++this.#submitted,
      urgent,
      unit,
      keys,
      holds: paths.length > 0 ? [...keys, ...paths] : keys,
      bytes: sizeOf(unit),
      resolve,
      reject,
      ...unlinked,
    };
    if (urgent) this.#urgent.push(waiting);
    else {
      this.#queue.push(waiting);
      this.#bytesWaiting += waiting.bytes;
    }
    this.#unsettled.add(waiting);
    if (!waits(waiting, this.#held)) this.#plan(); // else the new unit has to wait anyway
  }

  /**
   * Records that a run has ended, with the next batch or soon with one of its own. A crash before that replays the run from its history.
   */
  markDone(run: RunId): void {
    if (this.#isClosed) return; // the store is closed: a timer that retried would keep the process alive
    this.#marks.push(run);
    this.#marking ??= setTimeout(() => this.#flushMarks(), MARK_AFTER_MS);
  }

  /** Resolves when everything submitted so far is stored or refused. */
  async settled(): Promise<void> {
    const last = this.#submitted;
    const isWaited = (): boolean => (this.#unsettled.first?.nth ?? Number.POSITIVE_INFINITY) <= last;
    while (isWaited()) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /**
   * Runs `change` (of collections or indexes, or of what turns units into writes) while no batch is in flight.
   * @param change may commit units itself, each in a batch of its own
   */
  async exclusive<T>(change: (commit: (unit: UnitOfWork) => Promise<void>) => Promise<T>): Promise<T> {
    while (this.#paused) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#paused = true;
    try {
      while (this.#free.length < SLOTS) await new Promise<void>((resolve) => this.#idle.push(resolve));
      return await change((unit) => this.#commitAlone(unit));
    } finally {
      this.#paused = false;
      this.#wake();
      this.#pump();
    }
  }

  /**
   * Holds back all units that write to these collections until the block is lifted; batches in flight go on (`exclusive` waits for them).
   * The type that a unit was made for may have changed by then: see `refuses`.
   */
  block(collections: readonly string[]): () => void {
    for (const name of collections) this.#blocked.add(name);
    return () => {
      for (const name of collections) this.#blocked.delete(name);
      this.#pump();
    };
  }

  /** Stores everything submitted, then stops. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#truncating;
    if (this.#marking) this.#flushMarks();
    while (this.#unsettled.size > 0 || this.#free.length < SLOTS) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#isClosed = true;
    this.#fenced ??= new Fenced('the namespace is closed here'); // what still comes is the next owner's: of runs, and of requests that lasted too long
    if (this.#marking) clearTimeout(this.#marking);
    for (const writer of this.#writers) await writer.close();
  }

  /** Copies the events and steps of long runs into new rows (compaction). Most is read before, so that batches are paused only shortly. */
  async #compact(): Promise<void> {
    const { db, longRunMs = LONG_RUN_MS, cipher = () => null } = this.#options;
    const long = this.journal.longOpen(longRunMs);
    if (!long || long.rows < this.#copiesFrom) return;
    const known = this.journal.rowsOf(long.runs);
    const early = await readHeld(db, known, long.runs, cipher());
    await this.exclusive(async (commit) => {
      const late = await readHeld(db, this.journal.rowsOf(long.runs, known), long.runs, cipher());
      const held = { events: [...early.events, ...late.events], steps: [...early.steps, ...late.steps] };
      const units = this.#pins > 0 ? [] : compactionUnits(held, (run) => this.journal.isOpen(run), long.rows);
      // Not worth copying again and again: rows that mostly belong to long runs, or rows that another process has taken over.
      this.#copiesFrom = units && units.length > 0 ? 0 : 2 * long.rows;
      for (const unit of units ?? []) await commit(unit);
    });
  }

  /** Within `exclusive`: commits a batch of this one unit. */
  #commitAlone(unit: UnitOfWork): Promise<void> {
    const twice = writtenTwice(keysOf(unit));
    if (twice !== null) return Promise.reject(new TypeError(`two writes of one unit name ${twice}`));
    const writer = this.#free.pop();
    if (!writer) throw new TypeError('a tick is in flight');
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { nth: ++this.#submitted, urgent: true, unit, keys: [], holds: [], bytes: 0, resolve, reject, ...unlinked };
      this.#unsettled.add(waiting);
      void this.#commit(writer, [waiting]);
    });
  }

  #flushMarks(): void {
    if (this.#marking) clearTimeout(this.#marking);
    this.#marking = null;
    const done = this.#marks;
    if (done.length === 0) return;
    this.#marks = [];
    this.submit({ writes: [], events: [], done }, true).catch((error: unknown) => {
      if (error instanceof Fenced) return;
      this.#options.onError(error, 'the end of runs could not be noted: it is tried again');
      for (const run of done) this.markDone(run);
    });
  }

  /** Plans a batch for the end of this turn of the event loop, so that requests that came together share it. */
  #plan(): void {
    if (this.#isPlanned || this.#free.length === 0) return; // the end of a batch plans the next one
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (!this.#paused && this.waiting > 0) {
      const writer = this.#free.pop();
      if (!writer) return;
      const batch = this.#take();
      if (batch.length === 0) {
        this.#free.push(writer);
        return; // every waiting unit conflicts with a batch in flight
      }
      void this.#commit(writer, batch);
    }
  }

  /**
   * Composes the next batch: units in order, except those that share a key with a batch in flight or an earlier unit. Events on an ordered
   * path do not overtake each other: a unit waits while a batch in flight has one of its paths.
   */
  #take(): Waiting[] {
    const batch: Waiting[] = [];
    const conflicts = new ConflictSet();
    let bytes = 0;
    /** Takes units from a queue up to that share of the batch; gives the rest of the queue. */
    const takeFrom = (line: Waiting[], part: number): Waiting[] => {
      const kept: Waiting[] = [];
      const end = Math.min(line.length, UNITS_LOOKED_AT);
      let index = 0;
      for (; index < end && batch.length < part * UNITS_PER_BATCH && bytes < part * BYTES_PER_BATCH; index++) {
        const next = line[index] as Waiting;
        if (next.unit.after?.some((pending) => pending.isStored === false)) {
          this.#drop(next, conflictOf(next.unit));
          continue;
        }
        if (waits(next, this.#held) || conflicts.conflictsWith(next) || !conflicts.hasPredecessors(next) || this.#isBlocked(next.unit)) {
          conflicts.pass(next);
          kept.push(next);
          continue;
        }
        const refusal = this.#options.refuses?.(next.unit);
        if (refusal) {
          this.#drop(next, refusal);
          continue;
        }
        if (!next.urgent) this.#bytesWaiting -= next.bytes;
        conflicts.take(next);
        bytes += next.bytes;
        next.unit = this.#options.toStored?.(next.unit) ?? next.unit;
        batch.push(next);
      }
      return kept.length > 0 ? [...kept, ...line.slice(index)] : line.slice(index);
    };
    if (this.#urgent.length > 0) this.#urgent = takeFrom(this.#urgent, this.#queue.length > 0 ? URGENT_PART : 1);
    if (this.#queue.length > 0) this.#queue = takeFrom(this.#queue, 1);
    for (const one of batch) for (const key of one.holds) this.#held.add(key);
    return batch;
  }

  /** Refuses a unit that is no longer in its queue. */
  #drop(waiting: Waiting, reason: Error): void {
    if (!waiting.urgent) this.#bytesWaiting -= waiting.bytes;
    this.#unsettled.remove(waiting);
    waiting.unit.pending?.settle(false);
    waiting.reject(reason);
    queueMicrotask(() => this.#wake());
  }

  #isBlocked({ writes, makes }: UnitOfWork): boolean {
    return this.#blocked.size > 0 && writes.some(({ collection }) => this.#blocked.has(collection) && makes?.has(collection) !== true);
  }

  #measured<Result>(work: () => Result): Result {
    const { measure } = this.#options;
    return measure ? measure(work) : work();
  }

  async #commit(writer: BatchWriter, batch: readonly Waiting[]): Promise<void> {
    const marks = this.#marks.length > 0 && !batch.every((one) => isPlain(one.unit)) ? this.#marks.splice(0) : [];
    const units = batch.map((one) => one.unit);
    const failed = new Map<UnitOfWork, unknown>();
    try {
      await this.#measured(() => writer.write(units, marks, failed));
    } catch (error) {
      this.#marks.push(...marks);
      this.#noteFenced(error);
      this.#options.onError(error, 'a batch could not be committed');
    }
    for (const one of batch) {
      for (const key of one.holds) this.#held.delete(key);
      one.unit.pending?.settle(!failed.has(one.unit));
    }
    this.#free.push(writer);
    this.#failOvertaken(batch.filter((one) => !failed.has(one.unit)));
    const notify = (from: number): void => {
      for (const one of batch.slice(from, from + NOTIFIED_AT_ONCE)) {
        this.#unsettled.remove(one);
        if (failed.has(one.unit)) one.reject(failed.get(one.unit));
        else one.resolve();
      }
      if (from + NOTIFIED_AT_ONCE < batch.length) setImmediate(notify, from + NOTIFIED_AT_ONCE);
      else this.#wake();
    };
    notify(0);
    this.#wake();
    this.#pump();
  }

  #noteFenced(error: unknown): void {
    if (!(error instanceof Fenced) || this.#fenced) return;
    this.#fenced = error;
    this.#options.onFenced?.();
  }

  /** Fails waiting units that expect a version which the batch has just replaced, without a batch of their own. */
  #failOvertaken(stored: readonly Waiting[]): void {
    const versions = new Map<string, bigint | null>();
    for (const { unit } of stored)
      for (const write of unit.writes)
        if (write.op !== 'insert')
          versions.set(keyOf(write), write.op === 'replace' ? (write.document['ars_version'] as Long).toBigInt() : null);
    if (versions.size === 0) return;
    const stays = (waiting: Waiting): boolean => {
      const { unit, reject } = waiting;
      for (const write of unit.writes) {
        if (write.op === 'insert') continue;
        const version = versions.get(keyOf(write));
        if (version === undefined || version === write.version) continue;
        if (unit.after?.some(({ key, isStored }) => isStored === null && key === keyOf(write))) continue; // it follows a change that waits as well
        this.#unsettled.remove(waiting);
        if (!waiting.urgent) this.#bytesWaiting -= waiting.bytes;
        unit.pending?.settle(false);
        reject(new VersionConflict(write.collection, write.id));
        return false;
      }
      return true;
    };
    this.#urgent = this.#urgent.filter(stays);
    this.#queue = this.#queue.filter(stays);
  }

  /** Fails client requests when the store is unavailable for long: queued ones are refused, of those in flight the outcome is unknown. */
  #failWaiting(error: unknown): void {
    this.#away = error;
    this.#bytesWaiting = 0;
    for (const waiting of this.#queue.splice(0)) {
      this.#unsettled.remove(waiting);
      waiting.reject(error);
    }
    this.#wake();
    for (const waiting of [...this.#unsettled]) if (!waiting.urgent) waiting.reject(error);
  }

  #settled(row: JournalRow | null, units: readonly UnitOfWork[]): void {
    this.#away = null;
    if (row) this.journal.committed(row);
    const events: StoredEvent[] = [];
    for (const unit of units) if (!unit.isCompaction) for (const event of unit.events) events.push(event);
    const areFresh = !units.some(({ isRecovered }) => isRecovered);
    const fresh = areFresh ? events : units.flatMap((unit) => (unit.isCompaction || unit.isRecovered ? [] : unit.events));
    const { onLogs, onEvents } = this.#options;
    if (onLogs && units.some(({ logs }) => logs && logs.length > 0)) this.#notify(() => onLogs(units.flatMap(({ logs = [] }) => logs)));
    if (events.length > 0) this.#notify(() => onEvents(events, fresh));
  }

  #notify(work: () => void): void {
    try {
      this.#measured(work);
    } catch (error) {
      this.#options.onError(error, 'a listener to what was committed failed');
    }
  }

  #wake(): void {
    for (const resume of this.#idle.splice(0)) resume();
  }
}

const waits = ({ holds }: Waiting, conflicts: ReadonlySet<string>): boolean =>
  conflicts.size > 0 && holds.some((key) => conflicts.has(key));
