// Events that another process than the leader has committed and that rules wait for: a document each, in the transaction of the event. The leader
// takes them into its own journal, in the order of their commits, and removes the document in the same transaction: none is lost or counted twice.

import { type Db, type Document, Long, ObjectId } from 'mongodb';
import {
  type Committer,
  Fenced,
  opening,
  sealing,
  type StoredEvent,
  type Unit,
  VersionMiss,
  withEventTexts,
  type Write,
} from '../commit/index.ts';
import { isPassing } from '../store/index.ts';
import type { Cipher } from '../values/index.ts';

export const ARRIVALS = 'arrivals';
/** Events in one unit: they stay in their order. */
const MOST_AT_ONCE = 500;
const BYTES_AT_ONCE = 4_000_000;
const UNAVAILABLE_RETRY_MS = 500;

interface Arrival extends Document {
  readonly _id: ObjectId;
  readonly event: StoredEvent;
}

interface ArrivalsOptions {
  readonly db: Db;
  readonly committer: () => Committer;
  /** Events are sealed on their way; null while the namespace has no key. */
  readonly cipher: () => Cipher | null;
  /** Who subscribes has heard of it where it was committed. */
  readonly onTaken: (events: readonly StoredEvent[]) => void;
  readonly onError: (error: unknown) => void;
}

export class Arrivals {
  readonly #options: ArrivalsOptions;
  /** In the order of their commits. Null: another process takes them. */
  #waiting: Map<string, Arrival> | null = null;
  #taking: Promise<void> | null = null;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /** The unit with a document for what its events are awaited for, for a process that does not lead. */
  hand(unit: Unit): Unit {
    if (!unit.events.some(isAwaited)) return unit;
    const writes: Write[] = [];
    const events = unit.events.map((event) => {
      if (!isAwaited(event)) return event;
      const { deliveries: _, ...awaited } = { ...event, runs: event.runs.filter(({ places }) => places) };
      const sealed = withEventTexts(awaited, sealing(this.#options.cipher()));
      writes.push({ collection: ARRIVALS, op: 'insert', document: { _id: new ObjectId(), event: sealed, ars_version: Long.ONE } });
      return { ...event, runs: event.runs.filter(({ places }) => !places) };
    });
    return { ...unit, writes: [...unit.writes, ...writes], events };
  }

  /** From now on they are taken here, those first that wait already. */
  async start(): Promise<void> {
    this.#waiting ??= new Map();
    await this.look();
  }

  /** Looks for those that are stored. */
  async look(): Promise<void> {
    if (!this.#waiting) return;
    const stored = await this.#options.db.collection<Arrival>(ARRIVALS).find().sort({ 'event.at': 1, _id: 1 }).toArray();
    for (const one of stored) this.#waiting.set(one._id.toHexString(), one);
    this.#take();
  }

  /** One has been committed. */
  saw(document: Document): void {
    if (!this.#waiting) return;
    this.#waiting.set((document as Arrival)._id.toHexString(), document as Arrival);
    this.#take();
  }

  get isBusy(): boolean {
    return this.#taking !== null;
  }

  async close(): Promise<void> {
    this.#waiting = null;
    await this.#taking;
  }

  async settled(): Promise<void> {
    while (this.#taking) await this.#taking;
  }

  #take(): void {
    if (!this.#waiting?.size) return;
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = null;
      this.#take();
    });
  }

  async #takeAll(): Promise<void> {
    while (this.#waiting && this.#waiting.size > 0) {
      const some: Arrival[] = [];
      let bytes = 0;
      for (const one of this.#waiting.values()) {
        if (some.length >= MOST_AT_ONCE || bytes >= BYTES_AT_ONCE) break;
        some.push(one);
        bytes += one.event.value.length;
      }
      try {
        await this.#store(some);
      } catch (error) {
        if (!(error instanceof VersionMiss)) {
          this.#options.onError(error);
          if (error instanceof Fenced) return this.#give();
          await new Promise((resolve) => setTimeout(resolve, UNAVAILABLE_RETRY_MS));
          if (isPassing(error)) continue;
        }
        // One of them has been taken before: one by one.
        for (const one of some)
          await this.#store([one]).catch((reason: unknown) => reason instanceof VersionMiss || this.#options.onError(reason));
      }
      for (const { _id } of some) this.#waiting?.delete(_id.toHexString());
    }
  }

  #give(): void {
    this.#waiting = null;
  }

  async #store(some: readonly Arrival[]): Promise<void> {
    const open = opening(this.#options.cipher());
    const events = some.map(({ event }) => withEventTexts(event, open));
    this.#options.onTaken(events);
    await this.#options.committer().submit(
      {
        writes: some.map(({ _id }): Write => ({ collection: ARRIVALS, op: 'delete', id: _id, version: 1n })),
        events,
      },
      true,
    );
  }
}

const isAwaited = ({ runs }: StoredEvent): boolean => runs.some(({ places }) => places !== undefined);
