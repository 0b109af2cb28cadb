// Events that a process of an earlier version has handed off to its leader: one document each, stored in the transaction of the event. The
// owner of the namespace copies them into its own journal, in the order of their commits, and removes the document in the same transaction:
// none is lost or doubled.

import { type Db, type Document, Long, ObjectId } from 'mongodb';
import {
  type SplitText,
  type Committer,
  Fenced,
  opening,
  splitTexts,
  readTexts,
  removeTexts,
  sealing,
  type StoredEvent,
  type UnitOfWork,
  VersionConflict,
  type Write,
} from '../transactions/index.ts';
import { Backoff, isRetryable, retryUntilAvailable } from '../../platform/mongo/index.ts';
import type { Cipher } from '../../model/types/index.ts';

export const HANDED_OFF_EVENTS = 'arrivals';
/** Long texts of the events are stored in pieces: an event may be larger than a document. */
export const HANDED_OFF_TEXTS = 'arrivalTexts';
/** Bound of an event's members besides its texts. */
const BESIDES_TEXT_BYTES = 100_000;
const CHARACTERS_A_PIECE = 2_000_000;
/** Bound of the events in one unit, which keep their order. */
const MOST_AT_ONCE = 500;
const BYTES_AT_ONCE = 4_000_000;

interface HandedOffEvent extends Document {
  readonly _id: ObjectId;
  readonly event: StoredEvent;
  /** Texts of the event that are stored in pieces. */
  readonly beside?: readonly SplitText[];
}

interface HandedOffEventsOptions {
  readonly db: Db;
  readonly committer: () => Committer;
  /** Seals the events; null while the namespace has no key. */
  readonly cipher: () => Cipher | null;
  readonly onError: (error: unknown) => void;
}

type Commit = (unit: UnitOfWork) => Promise<void>;

export class HandedOffEvents {
  readonly #options: HandedOffEventsOptions;
  /** Waiting events in the order of their commits. Null: this process does not take them. */
  #waiting: Map<string, HandedOffEvent> | null = null;
  #taking: Promise<void> | null = null;

  constructor(options: HandedOffEventsOptions) {
    this.#options = options;
  }

  /** Hands off events that rules wait for: adds their documents to the unit. */
  handOff(unit: UnitOfWork): UnitOfWork {
    if (!unit.events.some(isAwaited)) return unit;
    const writes: Write[] = [];
    const events = unit.events.map((event) => {
      if (!isAwaited(event)) return event;
      const awaited = { ...event, runs: event.runs.filter(({ places }) => places) };
      const _id = new ObjectId();
      const seal = sealing(this.#options.cipher());
      const parted = splitTexts(HANDED_OFF_TEXTS, _id, textsOf(awaited), (text) => seal(text, awaited.uuid));
      const kept = withTexts(awaited, parted.inside as readonly string[]);
      const document = { _id, event: kept, ...(parted.beside.length > 0 && { beside: parted.beside }), ars_version: Long.ONE };
      writes.push(...parted.writes, {
        collection: HANDED_OFF_EVENTS,
        op: 'insert',
        document,
        mostBytes: parted.mostBytes + BESIDES_TEXT_BYTES,
      });
      return { ...event, runs: event.runs.filter(({ places }) => !places) };
    });
    return { ...unit, writes: [...unit.writes, ...writes], events };
  }

  /** Takes handed-off events from now on. @param commit stores those that wait already, while nothing else is stored */
  async start(commit: Commit): Promise<void> {
    this.#waiting ??= new Map(); // later events queue behind
    const reading = this.#stored().catch((error: unknown) => {
      this.#give(); // they wait until the next attempt
      throw error;
    });
    await (this.#taking = reading.then((stored) => this.#takeAll(stored, commit)).finally(() => this.#taken()));
  }

  /** Reads the stored events. */
  async look(): Promise<void> {
    if (!this.#waiting) return;
    for (const [id, one] of await this.#stored()) this.#waiting.set(id, one);
    this.#take();
  }

  /** Adds an event that was committed. */
  add(document: Document): void {
    if (!this.#waiting) return;
    this.#waiting.set((document as HandedOffEvent)._id.toHexString(), document as HandedOffEvent);
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
    const commit: Commit = (unit) => this.#options.committer().submit(unit, true);
    this.#taking ??= this.#takeAll(this.#waiting, commit).finally(() => this.#taken());
  }

  #taken(): void {
    this.#taking = null;
    this.#take();
  }

  async #stored(): Promise<Map<string, HandedOffEvent>> {
    const stored = await this.#options.db.collection<HandedOffEvent>(HANDED_OFF_EVENTS).find().sort({ 'event.at': 1, _id: 1 }).toArray();
    return new Map(stored.map((one) => [one._id.toHexString(), one]));
  }

  async #takeAll(waiting: Map<string, HandedOffEvent>, commit: Commit): Promise<void> {
    const backoff = new Backoff();
    while (this.#waiting && waiting.size > 0) {
      const some: HandedOffEvent[] = [];
      let bytes = 0;
      for (const one of waiting.values()) {
        if (some.length >= MOST_AT_ONCE || bytes >= BYTES_AT_ONCE) break;
        some.push(one);
        bytes += lengthOf(one);
      }
      try {
        await this.#store(some, commit);
        backoff.reset();
      } catch (error) {
        if (!(error instanceof VersionConflict)) {
          this.#options.onError(error);
          if (error instanceof Fenced) return this.#give();
          if (isRetryable(error)) {
            await backoff.pause();
            continue;
          }
        }
        // One of them was taken before: each is retried alone.
        for (const one of some)
          await retryUntilAvailable(() => this.#store([one], commit), { isWanted: () => this.#waiting !== null }).catch(
            (reason: unknown) => reason instanceof VersionConflict || this.#options.onError(reason),
          );
      }
      for (const { _id } of some) {
        waiting.delete(_id.toHexString());
        this.#waiting?.delete(_id.toHexString());
      }
    }
  }

  #give(): void {
    this.#waiting = null;
  }

  async #store(some: readonly HandedOffEvent[], commit: Commit): Promise<void> {
    const events: StoredEvent[] = [];
    for (const one of some) events.push(await this.#whole(one));
    await commit({
      writes: some.flatMap(({ _id, beside = [] }): Write[] => [
        ...removeTexts(
          HANDED_OFF_TEXTS,
          _id,
          beside.map(([place, pieces]): SplitText => [Number(place), Number(pieces)]),
        ),
        { collection: HANDED_OFF_EVENTS, op: 'delete', id: _id, version: 1n },
      ]),
      events,
      isRecovered: true,
    });
  }

  async #whole({ _id, event, beside = [] }: HandedOffEvent): Promise<StoredEvent> {
    const open = opening(this.#options.cipher());
    const opened = (text: string): string => open(text, event.uuid);
    const apart = await readTexts(this.#options.db, HANDED_OFF_TEXTS, _id, beside, opened);
    return withTexts(
      event,
      textsOf(event).map((text: string | null, place) => apart.get(place) ?? opened(text ?? '')),
    );
  }
}

const textsOf = ({ value, transport }: StoredEvent): string[] => (transport ? [value, transport.properties] : [value]);
const withTexts = (event: StoredEvent, [value = '', properties = '']: readonly string[]): StoredEvent => ({
  ...event,
  value,
  ...(event.transport && { transport: { ...event.transport, properties } }),
});

/** Approximate length in characters. */
const lengthOf = ({ event, beside = [] }: HandedOffEvent): number =>
  beside.reduce((sum, [, pieces]) => sum + Number(pieces) * CHARACTERS_A_PIECE, (event.value as string | null)?.length ?? 0);

const isAwaited = ({ runs }: StoredEvent): boolean => runs.some(({ places }) => places !== undefined);
