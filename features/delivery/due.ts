// Redelivers events that a target has not acknowledged in time, or gives them up.

import type { Filter, Sort } from 'mongodb';
import type { Timer } from '../../platform/clock/index.ts';
import {
  attemptOf,
  Fenced,
  isRedelivered,
  type RunReference,
  type StoredEvent,
  VersionConflict,
} from '../../runtime/transactions/index.ts';
import { eventObject, referenceOf, valueOf } from '../../runtime/events/index.ts';
import { deadLetter } from './dead-letters.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { baseNameOf } from '../../model/types/index.ts';
import { Failing } from './failing.ts';
import { LastErrors } from './last-errors.ts';
import { fromStored, DELIVERIES, type Delivery, intervalMs, continued, removal, replacing, untilDeadline } from './stored-delivery.ts';
import type { PersistentSubscriptions } from './persistent.ts';
import type { Sending } from './sending.ts';

/** Deliveries read per query. */
const BATCH = 500;
/** A delivery to a rule that is still running is checked again after this time. */
const STILL_RUNNING_MS = 500;

export interface DueOptions {
  readonly space: () => Namespace;
  /** Whether the run of the rule for the event has not ended. */
  readonly isOpen: (event: StoredEvent, rule: string) => boolean;
}

export class DueDeliveries {
  readonly #options: DueOptions;
  readonly #persistent: PersistentSubscriptions;
  readonly #sending: Sending;
  #timer: { at: number; timer: Timer } | null = null;
  #polling: Promise<void> | null = null;
  /** The timer fired during a poll. */
  #isDueAgain = false;
  /** Deliveries that failed wait for a retry, so that they do not delay others. */
  readonly #failing = new Failing();
  readonly errors = new LastErrors();
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

  /** Schedules a poll, unless an earlier one is scheduled. */
  arm(at: number): void {
    if (this.#closed || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    this.#timer = { at, timer: this.#options.space().clock.at(at, () => this.#poll()) };
  }

  /** Schedules the poll for the next due delivery. */
  async armNext(): Promise<void> {
    if (this.#closed) return;
    const { storage, clock } = this.#options.space();
    const deliveries = storage.db.collection<Delivery>(DELIVERIES);
    const { beginning } = this.#persistent;
    const others = this.#failing.without(clock.now());
    const first = (target: Filter<Delivery>, sort: Sort): Promise<Delivery | null> =>
      deliveries.findOne({ $and: [target, others] }, { sort });
    const [next, ending] = await Promise.all([
      first(beginning.length > 0 ? { target: { $nin: beginning } } : {}, { nextAt: 1 }),
      beginning.length > 0 ? first({ target: { $in: beginning } }, { deadline: 1 }) : null,
    ]);
    for (const at of [next?.nextAt, ending?.deadline]) if (at) this.arm(Math.max(at.getTime(), clock.now()));
  }

  #poll(): void {
    this.#timer = null;
    if (this.#closed) return;
    if (this.#polling) return void (this.#isDueAgain = true); // the running poll may have missed the delivery
    this.#polling = this.#deliverDue()
      .catch((error: unknown) => {
        this.#options.space().log.error({ err: error }, 'due deliveries could not be read and will be read again');
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
      // due deliveries stay in the store, rather than in memory, while the service is under pressure
      await space.execution.runs.backpressure.whenRelieved();
      const now = space.clock.now();
      const due = await space.storage.db
        .collection<Delivery>(DELIVERIES)
        .find(
          { $and: [{ nextAt: { $lte: new Date(now) }, ...this.#withoutCatchingUp(now) }, this.#failing.without(now)] },
          { promoteLongs: false },
        )
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

  /** Subscriptions whose stored events are being sent get no redelivery beside it; what is given up is so whether or not it is sent. */
  #withoutCatchingUp(now: number): Filter<Delivery> {
    const { beginning } = this.#persistent;
    return beginning.length > 0 ? { $or: [{ target: { $nin: beginning } }, { deadline: { $lte: new Date(now) } }] } : {};
  }

  /** Handles one due delivery: redelivers it, or gives it up. */
  async #deliver(stored: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    try {
      const delivery = fromStored(stored, space.storage.cipher);
      if (now >= delivery.deadline.getTime()) await this.#giveUp(delivery);
      else if (delivery.target.startsWith('/')) await this.#runAgain(delivery, now);
      else await this.#sendAgain(delivery, now);
      this.#failing.remove(stored._id);
    } catch (error) {
      if (error instanceof VersionConflict) return this.#failing.remove(stored._id); // another process or request has changed it
      if (error instanceof Fenced) return this.#stop(); // this process no longer owns the namespace
      const isNew = this.#failing.add(stored._id, now);
      if (isNew) space.log.error({ err: error, target: stored.target }, 'a redelivery failed and will be retried');
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
      return space.transactions.submit(replacing(delivery, { nextAt }, space.storage.cipher), true);
    }
    const run = runOf(space, event, delivery.target);
    // A rule that is deleted, inactive, or no longer matches the event acknowledges implicitly.
    if (!run) return space.transactions.submit({ writes: [removal(delivery)], events: [] }, true);
    const nextAt = untilDeadline(delivery, now + intervalMs(delivery.frequencyMs, attempt));
    const error = this.errors.of(delivery._id);
    const change = { attempts: attempt, nextAt, ...(error && { error }) };
    const writes = continued(delivery, `/rules/${run.rule}`, change, space.storage.cipher);
    await space.transactions.submit({ writes, events: [{ ...event, runs: [run] }] }, true);
    if (error) this.errors.stored(delivery._id, error);
  }

  async #sendAgain(delivery: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    const subscription = this.#persistent.get(delivery.target);
    if (!subscription) return space.transactions.submit({ writes: [removal(delivery)], events: [] }, true);
    if (!subscription.socket)
      return space.transactions.submit(replacing(delivery, { nextAt: delivery.deadline }, space.storage.cipher), true);
    const attempts = delivery.attempts + 1;
    this.#sending.send(subscription.socket, { ...delivery.event, runs: [] }, delivery.attempts > 0);
    const nextAt = untilDeadline(delivery, now + intervalMs(delivery.frequencyMs, attempts));
    await space.transactions.submit(replacing(delivery, { attempts, nextAt }, space.storage.cipher), true);
  }

  async #giveUp(delivery: Delivery): Promise<void> {
    const space = this.#options.space();
    const subscription = this.#persistent.get(delivery.target);
    // Nobody misses what was for a user without the right to it.
    if (subscription && !(await this.#persistent.mayListen(subscription)))
      return space.transactions.submit({ writes: [removal(delivery)], events: [] }, true);
    const event: StoredEvent = { ...delivery.event, runs: [] };
    const error = this.errors.of(delivery._id) ?? delivery.error ?? null;
    const dead = deadLetter(space, { event, target: delivery.target, reason: 'ttl', error, deliveries: delivery.attempts });
    await space.transactions.submit({ writes: [removal(delivery), ...dead.writes], events: dead.events }, true);
    if (error) this.errors.stored(delivery._id, error);
  }
}

/** The version of the rule that would run for this delivery of the event, if any: all versions are one rule (language.md V2). */
export function runOf(space: Namespace, event: StoredEvent, target: string): RunReference | null {
  const { uuid, path, at, by, transport } = event;
  const payload = valueOf(event);
  const name = baseNameOf(target.slice('/rules/'.length));
  const facts = {
    uuid,
    path,
    atMs: at.getTime(),
    redelivered: isRedelivered(event),
    deliveryCount: attemptOf(event),
    ...(transport && { transport }),
  };
  const matched = space.events.when.match(path, payload, () => eventObject(facts, payload, space.name), by);
  const chosen = matched.find(({ rule }) => rule.baseName === name);
  return chosen ? referenceOf(chosen, path) : null;
}
