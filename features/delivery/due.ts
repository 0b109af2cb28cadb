// What is due of the deliveries: an event that a target has not acknowledged in time is brought to it again, or given up.

import type { Filter } from 'mongodb';
import { decodeInner, type Value } from '../../stdlib/values/index.ts';
import type { Timer } from '../../platform/clock/index.ts';
import { Fenced, type RunReference, type StoredEvent, VersionConflict } from '../../runtime/transactions/index.ts';
import { eventObject, referenceOf } from '../../runtime/events/index.ts';
import { deadLetter } from './dead-letters.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { baseNameOf } from '../../model/types/index.ts';
import { Failing } from './failing.ts';
import { asNumbers, DELIVERIES, type Delivery, distanceMs, goingOn, removal, replacing, untilDeadline } from './stored-delivery.ts';
import type { PersistentSubscriptions } from './persistent.ts';
import type { Sending } from './sending.ts';

/** Deliveries looked at in one go. */
const BATCH = 500;
/** How soon a rule that still runs is looked at again. */
const STILL_RUNNING_MS = 500;

export interface DueOptions {
  readonly space: () => Namespace;
  /** Whether the rule still runs for the event. */
  readonly isOpen: (event: StoredEvent, rule: string) => boolean;
}

export class DueDeliveries {
  readonly #options: DueOptions;
  readonly #persistent: PersistentSubscriptions;
  readonly #sending: Sending;
  #timer: { at: number; timer: Timer } | null = null;
  #polling: Promise<void> | null = null;
  /** A time came while a look was under way. */
  #isDueAgain = false;
  /** Those that could not be brought on, which stand back so that they keep no others waiting. */
  readonly #failing = new Failing();
  #closed = false;

  constructor(options: DueOptions, persistent: PersistentSubscriptions, sending: Sending) {
    this.#options = options;
    this.#persistent = persistent;
    this.#sending = sending;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#polling;
  }

  #stop(): void {
    this.#closed = true;
    this.#timer?.timer.cancel();
  }

  /** Something will be due at that time. */
  arm(at: number): void {
    if (this.#closed || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    this.#timer = { at, timer: this.#options.space().clock.at(at, () => this.#poll()) };
  }

  /** Looks for what is due next. */
  async armNext(): Promise<void> {
    if (this.#closed) return;
    const { storage, clock } = this.#options.space();
    const { db } = storage;
    const [first] = await db
      .collection<Delivery>(DELIVERIES)
      .find({ $and: [this.#ours(), this.#failing.without(clock.now())] })
      .sort({ nextAt: 1 })
      .limit(1)
      .toArray();
    if (first) this.arm(Math.max(first.nextAt.getTime(), clock.now()));
  }

  #poll(): void {
    this.#timer = null;
    if (this.#closed) return;
    if (this.#polling) return void (this.#isDueAgain = true); // the look that is under way may have missed it
    this.#polling = this.#deliverDue()
      .catch((error: unknown) => {
        this.#options.space().log.error({ err: error }, 'redeliveries failed');
        this.arm(this.#options.space().clock.now() + STILL_RUNNING_MS);
      })
      .finally(() => {
        this.#polling = null;
        if (!this.#isDueAgain) return;
        this.#isDueAgain = false;
        this.#poll();
      });
  }

  async #deliverDue(): Promise<void> {
    const space = this.#options.space();
    for (;;) {
      await space.execution.runs.backpressure.whenRelieved(); // they are in the store: no need for them to wait in memory
      const now = space.clock.now();
      const due = await space.storage.db
        .collection<Delivery>(DELIVERIES)
        .find({ $and: [{ nextAt: { $lte: new Date(now) }, ...this.#ours() }, this.#failing.without(now)] }, { promoteLongs: false })
        .sort({ nextAt: 1 })
        .limit(BATCH)
        .toArray();
      await Promise.all(due.map((delivery) => this.#deliver(delivery, now)));
      if (due.length < BATCH || this.#closed) break;
    }
    await this.armNext();
    const retryAt = this.#failing.nextMs(space.clock.now());
    if (retryAt !== null) this.arm(retryAt);
  }

  /** Who is being sent what is stored gets nothing beside it. */
  #ours(): Filter<Delivery> {
    const { beginning } = this.#persistent;
    return beginning.length > 0 ? { target: { $nin: beginning } } : {};
  }

  /** One that is due: delivered again, or given up. */
  async #deliver(stored: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    try {
      const delivery = asNumbers(stored);
      if (now >= delivery.deadline.getTime()) await this.#giveUp(delivery);
      else if (delivery.target.startsWith('/')) await this.#runAgain(delivery, now);
      else await this.#sendAgain(delivery, now);
      this.#failing.remove(stored._id);
    } catch (error) {
      if (error instanceof VersionConflict) return this.#failing.remove(stored._id); // somebody else has brought it on
      if (error instanceof Fenced) return this.#stop(); // nothing can be stored here any more
      const isNew = this.#failing.add(stored._id, now);
      if (isNew) space.log.error({ err: error, target: stored.target }, 'a redelivery failed: it is tried again');
    }
  }

  async #runAgain(delivery: Delivery, now: number): Promise<void> {
    const { isOpen } = this.#options;
    const space = this.#options.space();
    const attempt = delivery.attempts + 1;
    const event: StoredEvent = { ...delivery.event, runs: [], attempt, redelivered: true };
    const rule = delivery.target.slice('/rules/'.length);
    if (isOpen(event, rule)) {
      const nextAt = untilDeadline(delivery, now + STILL_RUNNING_MS);
      return space.transactions.submit(replacing(delivery, { nextAt }), true);
    }
    const run = runOf(space, event, delivery.target);
    // A rule that is gone, inactive, or whose condition the event does not meet any more acknowledges by itself.
    if (!run) return space.transactions.submit({ writes: [removal(delivery)], events: [] }, true);
    const nextAt = untilDeadline(delivery, now + distanceMs(delivery.frequencyMs, attempt));
    const writes = goingOn(delivery, `/rules/${run.rule}`, { attempts: attempt, nextAt });
    await space.transactions.submit({ writes, events: [{ ...event, runs: [run] }] }, true);
  }

  async #sendAgain(delivery: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    const subscription = this.#persistent.get(delivery.target);
    if (!subscription) return space.transactions.submit({ writes: [removal(delivery)], events: [] }, true);
    if (!subscription.socket) return space.transactions.submit(replacing(delivery, { nextAt: delivery.deadline }), true);
    const attempts = delivery.attempts + 1;
    this.#sending.send(subscription.socket, { ...delivery.event, runs: [] }, delivery.attempts > 0);
    const nextAt = untilDeadline(delivery, now + distanceMs(delivery.frequencyMs, attempts));
    await space.transactions.submit(replacing(delivery, { attempts, nextAt }), true);
  }

  async #giveUp(delivery: Delivery): Promise<void> {
    const space = this.#options.space();
    const event: StoredEvent = { ...delivery.event, runs: [] };
    const dead = deadLetter(space, { event, target: delivery.target, reason: 'ttl', error: null, deliveries: delivery.attempts });
    await space.transactions.submit({ writes: [removal(delivery), ...dead.writes], events: dead.events }, true);
  }
}

/** The version of the rule that would run for the event now, if any: all versions are one rule (language.md V2). */
export function runOf(space: Namespace, { uuid, path, value, at, transport }: StoredEvent, target: string): RunReference | null {
  const payload: Value = decodeInner(value);
  const name = baseNameOf(target.slice('/rules/'.length));
  const facts = { uuid, path, atMs: at.getTime(), ...(transport && { transport }) };
  const matched = space.events.when.match(path, payload, () => eventObject(facts, payload, space.name));
  const chosen = matched.find(({ rule }) => rule.baseName === name);
  return chosen ? referenceOf(chosen, path) : null;
}
