// Reliable events (integrations.md 12.3, resources-and-api.md 8.5): what is stored with an event for those who must acknowledge it, the
// redeliveries, their end, and the persistent subscriptions with the sockets that are open for them.

import type { Document, Filter, ObjectId } from 'mongodb';
import { decodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../actor.ts';
import type { Identity, Notice } from '../api.ts';
import type { Timer } from '../clock/index.ts';
import { attemptOf, runIdOf, type RunReference, type StoredEvent, VersionMiss, type Write } from '../commit/index.ts';
import { eventObject } from '../event-object.ts';
import { fault } from '../faults.ts';
import { deadLetter } from '../resources/dead-letters.ts';
import { ACKNOWLEDGEMENTS } from '../resources/delivery-types.ts';
import { asyncRun } from '../resources/events.ts';
import { laidOut } from '../resources/instances/late-collections.ts';
import { serviceActor } from '../resources/service-actor.ts';
import { stampNew } from '../resources/stamp.ts';
import { type Namespace, referenceOf } from '../resources/types.ts';
import { isPassing } from '../store/index.ts';
import type { Present } from '../subscriptions/subscribers.ts';
import { baseNameOf } from '../types/index.ts';
import { instanceToBson } from '../values/index.ts';
import {
  DELIVERIES,
  type Delivery,
  deliveryId,
  distanceMs,
  goingOn,
  insertion,
  newDelivery,
  removal,
  replacement,
  requireKeepable,
  sequenceDeliveryId,
} from './kept.ts';
import { type Persistent, PersistentSubscriptions, type Socket } from './persistent.ts';
import { reliabilityOf } from './reliability.ts';

/** Deliveries looked at in one go. */
const BATCH = 500;
/** How soon what another process has stored for a socket of this one is found. */
const LOOK_EVERY_MS = 1_000;
/** How soon a rule that still runs is looked at again. */
const STILL_RUNNING_MS = 500;
const TRIES = 10;
/** What counts for an event whose resource is not reliable any more. */
const UNTIL_THEN = { frequencyMs: 30_000, ttlMs: 3_600_000 };
/** Characters of stored events that are sent before the client has to have read most of them. */
const MOST_AHEAD = 1_000_000;

export interface DeliveriesOptions {
  readonly space: () => Namespace;
  /** Other processes may serve the namespace: each delivers to the sockets that it has, whoever has stored the delivery. */
  readonly isShared: boolean;
  /** Names the partition of the sequence numbers that this process gives. */
  readonly epoch: number;
  readonly present: Present;
  /** Whether the rule still runs for the event. */
  readonly isOpen: (event: StoredEvent, rule: string) => boolean;
}

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #persistent: PersistentSubscriptions;
  #sequence = 0;
  #laidOut: Promise<void> | null = null;
  #timer: { at: number; timer: Timer } | null = null;
  #polling: Promise<void> | null = null;
  readonly #looking: NodeJS.Timeout | null;
  #closed = false;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#persistent = new PersistentSubscriptions(options);
    this.#looking = options.isShared ? setInterval(() => this.#persistent.size > 0 && this.#poll(), LOOK_EVERY_MS) : null;
    this.#looking?.unref();
  }

  /** How many deliveries nobody has acknowledged yet. */
  pending(): Promise<number> {
    return this.#options.space().db.collection(DELIVERIES).estimatedDocumentCount();
  }

  /** Takes up what is stored. */
  async open(): Promise<void> {
    await this.#persistent.load();
    await this.#armNext();
  }

  /** Looks for what is due: others may have stored it. */
  async look(): Promise<void> {
    if (!this.#closed) await this.#armNext();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#looking) clearInterval(this.#looking);
    this.#timer?.timer.cancel();
    await this.#polling;
  }

  /** Makes the collection, before the first resource is reliable. */
  async layOut(): Promise<void> {
    const { db } = this.#options.space();
    this.#laidOut ??= (async () => {
      await db.collection(DELIVERIES).createIndex({ nextAt: 1 });
      await db.collection(DELIVERIES).createIndex({ target: 1 });
    })();
    await this.#laidOut;
  }

  // ------------------------------------------------------------ raising
  hears(path: string): boolean {
    return this.#persistent.hears(path);
  }

  /** The event with what is stored for those who must acknowledge it; the event as it is where its resource is not reliable. */
  attached(event: StoredEvent): StoredEvent {
    const space = this.#options.space();
    const reliability = reliabilityOf(space.definitions, event.path);
    if (!reliability) return event;
    const whole = this.#numbered(event);
    const now = space.clock.now();
    const rules = event.runs.filter((run) => !run.places).map(({ rule }) => newDelivery(whole, `/rules/${rule}`, reliability, now, 1));
    const subscriptions = this.#persistent.wanting(event).map(({ name, socket }) => {
      if (socket && !socket.hasBegun) socket.unsent.add(event.uuid);
      return newDelivery(whole, name, reliability, now, socket?.hasBegun ? 1 : 0);
    });
    const deliveries = [...rules, ...subscriptions];
    if (deliveries.length > 0) {
      requireKeepable(event);
      this.#arm(now + reliability.frequencyMs);
    }
    return { ...whole, deliveries: deliveries.map(insertion) };
  }

  #numbered(event: StoredEvent): StoredEvent {
    return { ...event, sequence: { partitionId: this.#options.epoch, sequenceId: ++this.#sequence } };
  }

  /** Hands committed events to open sockets. */
  committed(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (attemptOf(event) > 1) continue;
      if (event.sequence) this.#armFor(event); // once more: its commit may have taken longer than its time
      if (!this.#persistent.hears(event.path)) continue;
      for (const one of this.#persistent.wanting(event)) if (one.socket) this.#told(one, one.socket, event);
    }
  }

  #armFor(event: StoredEvent): void {
    const { definitions, clock } = this.#options.space();
    const reliability = reliabilityOf(definitions, event.path);
    if (reliability) this.#arm(Math.max(clock.now(), event.at.getTime() + reliability.frequencyMs));
  }

  #told(subscription: Persistent, socket: Socket, event: StoredEvent): void {
    const isUnsent = socket.unsent.delete(event.uuid);
    if (!event.sequence || (socket.hasBegun && !isUnsent)) return this.#send(socket, event, false);
    socket.hasMissed = true;
    if (!socket.hasBegun) return; // it comes behind what is stored
    socket.hasBegun = false;
    void this.#catchUp(subscription, socket, { attempts: 0 });
  }

  // ------------------------------------------------------------ acknowledging
  /** Event.ack() of a rule: for its event and this rule only; nothing where there is nothing to acknowledge. */
  async acknowledgeRun(actor: Actor): Promise<void> {
    const { event: started } = actor;
    if (!started?.event.sequence) return;
    const id = deliveryId(`/rules/${started.rule}`, started.event);
    await this.#change(id, (delivery) =>
      // What was acknowledged is not run again, also when it did not come to its end (12.2).
      actor.commit({ writes: [removal(delivery)], events: [], done: [runIdOf(started.event, started.rule)] }, { ok: 'null' }),
    );
  }

  /** An event is given up for a target: what is kept for that goes in the commit by which it is stored. */
  async settle(event: StoredEvent, target: string, store: (settled: readonly Write[]) => Promise<void>): Promise<void> {
    for (;;)
      try {
        const settled = event.sequence && (await this.#change(deliveryId(target, event), (delivery) => store([removal(delivery)])));
        return settled ? undefined : await store([]);
      } catch (error) {
        if (!isPassing(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, STILL_RUNNING_MS));
      }
  }

  /** A rule is deleted or not active any more: it acknowledges what it was to get, unless another version of it is in force. */
  async acknowledgeFor(rule: string): Promise<void> {
    const { db, definitions } = this.#options.space();
    const base = baseNameOf(rule);
    const target = `/rules/${base}`;
    const ofAnyVersion = { $or: [{ target }, { target: { $gte: `${target}:`, $lt: `${target};` } }] };
    const deliveries = db.collection<Delivery>(DELIVERIES);
    if (!(await deliveries.findOne(ofAnyVersion, { projection: { _id: 1 } }))) return;
    const isInForce = ([name, object]: [string, ObjectValue]): boolean => baseNameOf(name) === base && object['active'] === true;
    if (!definitions.list('rules').some(isInForce)) await deliveries.deleteMany(ofAnyVersion);
  }

  /** A subscriber's acknowledgement; null where there was nothing to acknowledge. */
  async acknowledge(identity: Identity, name: string, partitionId: number, sequenceId: number): Promise<true | null> {
    const space = this.#options.space();
    const subscription = this.#persistent.get(name);
    if (!subscription || subscription.username !== identity.username) return null;
    await laidOut(space, ACKNOWLEDGEMENTS);
    const actor: Actor = { ...serviceActor(space), identity };
    const instance = { subscriptionName: name, partitionId, sequenceId, path: subscription.path, username: identity.username };
    const document = instanceToBson(ACKNOWLEDGEMENTS.type, stampNew(instance, actor)) as never;
    const record: Write = { collection: ACKNOWLEDGEMENTS.collection, op: 'insert', document };
    return this.#change(sequenceDeliveryId(name, partitionId, sequenceId), (delivery) =>
      actor.commit({ writes: [removal(delivery), record], events: [] }),
    );
  }

  // ------------------------------------------------------------ persistent subscriptions
  /**
   * Begins a persistent subscription, or takes up one by its name.
   * @param deliver hears nothing before `begin` is called
   * @throws cascade.subscription.unknown
   */
  async subscribe(identity: Identity, path: string, filter: ObjectValue | null, name: string | null, deliver: (notice: Notice) => void) {
    const known = name === null ? null : this.#persistent.get(name);
    if (name !== null && (!known || known.path !== path || known.username !== identity.username))
      throw fault('cascade.subscription.unknown', name);
    await this.layOut();
    const subscription = known ?? (await this.#persistent.create(identity, path, filter));
    const socket = await this.#persistent.serve(subscription, !known, deliver);
    return {
      name: subscription.name,
      begin: async (hasRoom?: () => Promise<void>) => {
        if (hasRoom) socket.hasRoom = hasRoom;
        if (known) await this.#catchUp(subscription, socket, {});
      },
      close: () => {
        if (subscription.socket === socket) subscription.socket = null;
      },
    };
  }

  /** Ends a persistent subscription for good. @throws cascade.subscription.unknown */
  async unsubscribe(identity: Identity, name: string): Promise<void> {
    const found = this.#persistent.get(name);
    if (!found || found.username !== identity.username) throw fault('cascade.subscription.unknown', name);
    await this.end(name);
  }

  /** Ends a stored subscription: nothing is kept for it any more, and its socket is told. */
  async end(name: string): Promise<void> {
    if (await this.#persistent.end(name)) await this.#options.space().db.collection(DELIVERIES).deleteMany({ target: name });
  }

  /** A subscription was stored, taken up by another socket, or removed (null), here or in another process. */
  follow(id: ObjectId, stored: Document | null): Promise<void> {
    return this.#persistent.follow(id, stored);
  }

  /** What the subscriptions listened to is deleted. */
  gone(resource: string, name: string): void {
    this.#persistent.gone(pathsOf(resource, name));
  }

  /** Nobody is to be told any more of the events of what was deleted (integrations.md 9.2). */
  async discard(resource: string, name: string): Promise<void> {
    const isIts = pathsOf(resource, name);
    const deliveries = this.#options.space().db.collection(DELIVERIES);
    const paths = ((await deliveries.distinct('event.path')) as string[]).filter(isIts);
    if (paths.length > 0) await deliveries.deleteMany({ 'event.path': { $in: paths } });
  }

  // ------------------------------------------------------------ once more
  /**
   * Delivers an event to a target once more, with a fresh time to live. After the commit `look` is to be called.
   * @returns null when there is no such target any more
   */
  retry(event: StoredEvent, target: string): { writes: Write[]; events: StoredEvent[] } | null {
    const space = this.#options.space();
    const [, asked] = /^\/procedures\/(.+)$/.exec(target) ?? [];
    if (asked !== undefined)
      return space.definitions.get('procedures', asked) ? { writes: [], events: [{ ...event, runs: [asyncRun(asked)] }] } : null;
    const reliability = reliabilityOf(space.definitions, event.path);
    const now = space.clock.now();
    if (target.startsWith('/')) {
      const run = this.#runOf(event, target);
      if (!run) return null;
      const again: StoredEvent = { ...event, runs: [run], redelivered: true };
      if (!reliability) return { writes: [], events: [again] };
      const whole = again.sequence ? again : this.#numbered(again); // its resource was not reliable then
      return { writes: [insertion(newDelivery(whole, `/rules/${run.rule}`, reliability, now, attemptOf(event)))], events: [whole] };
    }
    if (!this.#persistent.get(target)) return null;
    const delivery = newDelivery(event, target, reliability ?? UNTIL_THEN, now, attemptOf(event) - 1);
    return { writes: [insertion({ ...delivery, nextAt: new Date(now) })], events: [] };
  }

  // ------------------------------------------------------------ what is due
  #arm(at: number): void {
    if (this.#closed || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    this.#timer = { at, timer: this.#options.space().clock.at(at, () => this.#poll()) };
  }

  async #armNext(): Promise<void> {
    const { db } = this.#options.space();
    const [first] = await db.collection<Delivery>(DELIVERIES).find(this.#ours()).sort({ nextAt: 1 }).limit(1).toArray();
    if (first) this.#arm(Math.max(first.nextAt.getTime(), this.#options.space().clock.now()));
  }

  #poll(): void {
    this.#timer = null;
    this.#polling ??= this.#deliverDue()
      .catch((error: unknown) => {
        this.#options.space().log.error({ err: error }, 'redeliveries failed');
        this.#arm(this.#options.space().clock.now() + STILL_RUNNING_MS);
      })
      .finally(() => (this.#polling = null));
  }

  async #deliverDue(): Promise<void> {
    const space = this.#options.space();
    for (;;) {
      await space.runs.pressure.eased(); // they are in the store: no need for them to wait in memory
      const now = space.clock.now();
      const due = await space.db
        .collection<Delivery>(DELIVERIES)
        .find(this.#due(new Date(now)), { promoteLongs: false })
        .sort({ nextAt: 1 })
        .limit(BATCH)
        .toArray();
      await Promise.all(due.map((delivery) => this.#deliver(asNumbers(delivery), now)));
      if (due.length < BATCH) break;
    }
    await this.#armNext();
  }

  /**
   * What this process sees to: where others serve the namespace, too, of subscriptions those that have their socket here. Who is being sent what is
   * stored gets nothing beside it.
   */
  #ours(): Filter<Delivery> {
    const { beginning, heardHere } = this.#persistent;
    if (this.#options.isShared) return { $or: [{ target: /^\// }, { target: { $in: heardHere } }] };
    return beginning.length > 0 ? { target: { $nin: beginning } } : {};
  }

  #due(now: Date): Filter<Delivery> {
    if (!this.#options.isShared) return { nextAt: { $lte: now }, ...this.#ours() };
    const { beginning, heardHere } = this.#persistent;
    const neverSent = { target: { $in: heardHere }, attempts: 0 };
    return { $or: [{ nextAt: { $lte: now }, ...this.#ours() }, neverSent, { deadline: { $lte: now }, target: { $nin: beginning } }] };
  }

  /** One that is due: delivered again, or given up. */
  async #deliver(delivery: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    try {
      if (now >= delivery.deadline.getTime()) return await this.#giveUp(delivery);
      if (delivery.target.startsWith('/')) await this.#runAgain(delivery, now);
      else await this.#sendAgain(delivery, now);
    } catch (error) {
      if (!(error instanceof VersionMiss)) space.log.error({ err: error, target: delivery.target }, 'a redelivery failed');
    }
  }

  async #runAgain(delivery: Delivery, now: number): Promise<void> {
    const { isOpen } = this.#options;
    const space = this.#options.space();
    const attempt = delivery.attempts + 1;
    const event: StoredEvent = { ...delivery.event, runs: [], attempt, redelivered: true };
    const rule = delivery.target.slice('/rules/'.length);
    if (isOpen(event, rule)) return this.#put(delivery, { nextAt: this.#after(delivery, now + STILL_RUNNING_MS) });
    const run = this.#runOf(event, delivery.target);
    // A rule that is gone, inactive, or whose condition the event does not meet any more acknowledges by itself.
    if (!run) return space.committer.submit({ writes: [removal(delivery)], events: [] }, true);
    const nextAt = this.#after(delivery, now + distanceMs(delivery.frequencyMs, attempt));
    const writes = goingOn(delivery, `/rules/${run.rule}`, { attempts: attempt, nextAt });
    await space.committer.submit({ writes, events: [{ ...event, runs: [run] }] }, true);
  }

  async #sendAgain(delivery: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    const subscription = this.#persistent.get(delivery.target);
    if (!subscription) return space.committer.submit({ writes: [removal(delivery)], events: [] }, true);
    if (!subscription.socket) return this.#put(delivery, { nextAt: delivery.deadline });
    const attempts = delivery.attempts + 1;
    this.#send(subscription.socket, { ...delivery.event, runs: [] }, delivery.attempts > 0);
    await this.#put(delivery, { attempts, nextAt: this.#after(delivery, now + distanceMs(delivery.frequencyMs, attempts)) });
  }

  /**
   * Sends a socket what is stored for it, then what has come meanwhile, until nothing more has. Never rejects: what fails is tried again for as long
   * as the socket is served.
   */
  async #catchUp(subscription: Persistent, socket: Socket, first: Filter<Delivery>): Promise<void> {
    let which = first;
    while (subscription.socket === socket && !this.#closed)
      try {
        socket.hasMissed = false;
        await this.#sendStored(subscription, socket, which);
        which = { attempts: 0 };
        if (socket.hasMissed) continue;
        socket.hasBegun = true;
        return await this.#armNext();
      } catch (error) {
        this.#options
          .space()
          .log.error({ err: error, subscription: subscription.name }, 'what is stored for a subscription could not be sent');
        await new Promise((resolve) => setTimeout(resolve, STILL_RUNNING_MS));
      }
  }

  /** What a subscription has not acknowledged, in their order, no faster than it is read. */
  async #sendStored(subscription: Persistent, socket: Socket, which: Filter<Delivery>): Promise<void> {
    const space = this.#options.space();
    const stored = space.db
      .collection<Delivery>(DELIVERIES)
      .find({ target: subscription.name, ...which }, { promoteLongs: false })
      .sort({ 'event.sequence.partitionId': 1, 'event.sequence.sequenceId': 1 });
    let sent: Promise<void>[] = [];
    let characters = 0;
    for await (const raw of stored) {
      if (subscription.socket !== socket) break; // taken over meanwhile
      const delivery = asNumbers(raw);
      this.#send(socket, { ...delivery.event, runs: [] }, delivery.attempts > 0);
      const attempts = delivery.attempts + 1;
      const nextAt = this.#after(delivery, space.clock.now() + distanceMs(delivery.frequencyMs, attempts));
      sent.push(this.#put(delivery, { attempts, nextAt }).catch(unlessMissed)); // it may be acknowledged meanwhile
      characters += delivery.event.value.length;
      if (sent.length < BATCH && characters < MOST_AHEAD) continue;
      await Promise.all(sent);
      await socket.hasRoom();
      sent = [];
      characters = 0;
    }
    await Promise.all(sent);
  }

  async #giveUp(delivery: Delivery): Promise<void> {
    const space = this.#options.space();
    const event: StoredEvent = { ...delivery.event, runs: [] };
    const dead = deadLetter(space, { event, target: delivery.target, reason: 'ttl', error: null, deliveries: delivery.attempts });
    await space.committer.submit({ writes: [removal(delivery), ...dead.writes], events: dead.events }, true);
  }

  // ------------------------------------------------------------ inside
  #send(socket: Socket, event: StoredEvent, redelivered: boolean): void {
    const shown = this.#options.present(event.path, decodeInner(event.value));
    const sequence = event.sequence && { ...event.sequence, redelivered };
    socket.deliver({ kind: 'event', ...shown, createdAt: event.at.getTime(), ...(sequence && { reliable: sequence }) });
  }

  /** The version of the rule that would run for the event now, if any: all versions are one rule (language.md V2). */
  #runOf({ uuid, path, value, at, transport }: StoredEvent, target: string): RunReference | null {
    const space = this.#options.space();
    const payload: Value = decodeInner(value);
    const name = baseNameOf(target.slice('/rules/'.length));
    const facts = { uuid, path, atMs: at.getTime(), ...(transport && { transport }) };
    const matched = space.when.match(path, payload, () => eventObject(facts, payload, space.name));
    const chosen = matched.find(({ rule }) => rule.baseName === name);
    return chosen ? referenceOf(chosen, path) : null;
  }

  #after({ deadline }: Delivery, at: number): Date {
    return new Date(Math.min(at, deadline.getTime()));
  }

  async #put(delivery: Delivery, change: Partial<Pick<Delivery, 'attempts' | 'nextAt'>>): Promise<void> {
    await this.#options.space().committer.submit({ writes: [replacement(delivery, change)], events: [] }, true);
  }

  /** Changes a delivery as it is now; null when there is none. */
  async #change(id: ObjectId, change: (delivery: Delivery) => Promise<void>): Promise<true | null> {
    for (let tries = 0; ; tries++) {
      const found = await this.#options.space().db.collection<Delivery>(DELIVERIES).findOne({ _id: id }, { promoteLongs: false });
      if (!found) return null;
      try {
        await change(asNumbers(found));
        return true;
      } catch (error) {
        if (!(error instanceof VersionMiss) || tries >= TRIES) throw error;
      }
    }
  }
}

function unlessMissed(error: unknown): void {
  if (!(error instanceof VersionMiss)) throw error;
}

/** Whether an event path is one of the resource's. */
function pathsOf(resource: string, name: string): (path: string) => boolean {
  const own = resource === 'topics' ? `/topics${name}/publish` : `/${resource}/${name}/`;
  return resource === 'topics' ? (path) => path === own : (path) => path.startsWith(own);
}

/** Numbers as numbers but for the version, which stays exact. */
function asNumbers(delivery: Delivery): Delivery {
  const { event } = delivery;
  const { sequence, chain } = event;
  return {
    ...delivery,
    attempts: Number(delivery.attempts),
    frequencyMs: Number(delivery.frequencyMs),
    event: {
      ...event,
      chain: { ...chain, depth: Number(chain.depth) },
      ...(sequence && { sequence: { partitionId: Number(sequence.partitionId), sequenceId: Number(sequence.sequenceId) } }),
    },
  };
}
