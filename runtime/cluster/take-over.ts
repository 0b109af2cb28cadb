// Recovery of a namespace from dead owners: copies their unfinished work into this owner's journal, removes their rows, and continues the
// work.

import type { Db } from 'mongodb';
import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import {
  attemptOf,
  closeEpochs,
  type Committer,
  inPieces,
  readUnfinished,
  removeOldEnds,
  removeRows,
  type RunId,
  runIdOf,
  SLOTS,
  type Step,
  type StoredEvent,
  type UnitOfWork,
} from '../transactions/index.ts';
import { executableKey, readExecutable, type Executable } from '../programs/index.ts';
import { ASYNC } from '../events/index.ts';
import { STATEMENT } from '../runs/index.ts';
import { retryUntilAvailable, type Store } from '../../platform/mongo/index.ts';

/** The parts of a namespace that a take-over needs. */
export interface TakenNamespace {
  readonly name: string;
  readonly storage: { readonly db: Db; readonly cipher: Cipher | null };
  readonly transactions: Committer;
  readonly log: Logger;
  /** The installation's time: closing rows are kept for a day of it. */
  readonly clock: Pick<Clock, 'now'>;
  /** Compiled rules by rule and program: gets the programs that open runs began with. */
  readonly execution: { readonly executables: Map<string, Executable> };
}

/**
 * The take-overs of a namespace by this process. A failed one is retried by the same process, which by then runs events that it has copied:
 * events in its own rows are not copied again, and its journal is pinned until the rows of the dead owners are gone.
 */
export class TakeOver {
  readonly #space: TakenNamespace;
  readonly #store: Pick<Store, 'client'>;
  /** Gets the recorded steps of the runs that continue. */
  readonly #recorded: Map<RunId, readonly Step[]>;
  /** Events in our rows and in those of dead owners, with the number of pieces of each. */
  readonly #copied = new Map<string, number>();
  #unpinJournal: (() => void) | null = null;

  constructor(space: TakenNamespace, store: Pick<Store, 'client'>, recorded: Map<RunId, readonly Step[]>) {
    this.#space = space;
    this.#store = store;
    this.#recorded = recorded;
  }

  /** @returns the unfinished events of the dead owners, in order */
  async take(dead: readonly number[]): Promise<readonly StoredEvent[]> {
    if (dead.length === 0) return [];
    const { storage, transactions, log, name, clock } = this.#space;
    const { db, cipher } = storage;
    // Each of these steps is idempotent, and retried however long the store is unavailable.
    await retryUntilAvailable(() => removeOldEnds(db, clock.now()));
    await fence(db, dead, clock);
    const left = await retryUntilAvailable(() => readUnfinished(db, dead, cipher));
    const fresh = left.events.filter((event) => !this.#copied.has(keyOf(event)));
    const stepsOf = this.#stepsByEvent(left.steps, new Set(fresh.map(({ uuid }) => uuid)));
    await this.#loadPrograms(fresh);
    this.#unpinJournal ??= transactions.pinJournal();
    // The copies commit in any order, some of them repeatedly. Their order numbers lie between earlier and later events of this process.
    const { order } = transactions.journal;
    const placed = left.events.map((event, index) => ({ ...event, order: order + (index + 1) / (left.events.length + 1) }));
    await Promise.all(placed.map((event) => this.#copy(event, stepsOf.get(event.uuid) ?? [])));
    // Their work is in our rows now, and must not be read a second time.
    await retryUntilAvailable(() => removeRows(this.#store.client, db, dead, clock.now()));
    this.#copied.clear();
    this.#unpinJournal();
    this.#unpinJournal = null;
    if (left.events.length > 0)
      log.info({ namespace: name, events: left.events.length }, 'events with unfinished runs were taken over from dead processes');
    return left.events;
  }

  /** Copies the event first: steps without their event would be removed. Until the take-over ends both are in the rows of the dead, too. */
  async #copy(event: StoredEvent, steps: readonly (readonly [RunId, readonly Step[]])[]): Promise<void> {
    const open = event.runs.map(({ rule }) => runIdOf(event, rule));
    const theirs = steps.flatMap(([run, of]) => (open.some((one) => isOrUnder(run, one)) ? of : []));
    const redelivered = event.sequence ? { ...event, redelivered: true as const } : event;
    const key = keyOf(event);
    for (const [index, some] of inPieces(theirs).entries()) {
      if (index < (this.#copied.get(key) ?? 0)) continue;
      const unit: UnitOfWork =
        index === 0 ? { writes: [], events: [redelivered], steps: some, isRecovered: true } : { writes: [], events: [], steps: some };
      await this.#space.transactions.submit(unit, true);
      this.#copied.set(key, index + 1);
    }
  }

  /** @param fresh uuids of the events whose runs have not begun here: only these get their recorded steps */
  #stepsByEvent(steps: ReadonlyMap<RunId, readonly Step[]>, fresh: ReadonlySet<string>): Map<string, [RunId, readonly Step[]][]> {
    const byEvent = new Map<string, [RunId, readonly Step[]][]>();
    for (const [run, of] of steps) {
      const uuid = run.slice(0, run.indexOf('/'));
      if (fresh.has(uuid)) this.#recorded.set(run, of);
      const runs = byEvent.get(uuid);
      if (runs) runs.push([run, of]);
      else byEvent.set(uuid, [[run, of]]);
    }
    return byEvent;
  }

  /** Loads the programs that the runs began with, where these are not in force any more. */
  async #loadPrograms(events: readonly StoredEvent[]): Promise<void> {
    const {
      name,
      storage: { db },
      execution: { executables },
    } = this.#space;
    for (const event of events)
      for (const reference of event.runs)
        for (let one: typeof reference | null = reference; one; one = one.asks?.next ?? null) {
          const { rule, program, places } = one;
          if (places || program === ASYNC || program === STATEMENT || executables.has(executableKey(rule, program))) continue;
          const kept = await readExecutable(db, name, rule, program);
          if (kept) executables.set(executableKey(rule, program), kept);
        }
  }
}

/**
 * Closes the journals of former owners: batches that they had in flight are stored by now, or never will be. Called before anything of the
 * namespace is read into memory.
 * @returns the second of the newest `_id` that they had given with a batch; 0: there was none
 */
export const fence = (db: Db, dead: readonly number[], clock: Pick<Clock, 'now'>): Promise<number> =>
  retryUntilAvailable(() => closeEpochs(db, dead, SLOTS, clock.now()));

const keyOf = (event: StoredEvent): string => `${event.uuid}/${attemptOf(event)}`;

const isOrUnder = (run: RunId, parent: RunId): boolean => run === parent || run.startsWith(`${parent}/`);
