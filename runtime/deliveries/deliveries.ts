// Reliable events (integrations.md 12.3, resources-and-api.md 8.5): what is stored with an event for those who must acknowledge it, the
// redeliveries, their end, and the persistent subscriptions with the sockets that are open for them.

import { randomUUID } from 'node:crypto';
import type { Document, Filter, Long, ObjectId } from 'mongodb';
import { decodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../actor.ts';
import type { Identity, Notice } from '../api.ts';
import type { Timer } from '../clock/index.ts';
import { attemptOf, runIdOf, type RunReference, type StoredEvent, VersionMiss, type Write } from '../commit/index.ts';
import { eventObject } from '../event-object.ts';
import { fault } from '../faults.ts';
import { deadLetter, type DeadReason } from '../resources/dead-letters.ts';
import { ACKNOWLEDGEMENTS, SUBSCRIPTIONS } from '../resources/delivery-types.ts';
import { laidOut } from '../resources/instances/late-collections.ts';
import { serviceActor } from '../resources/service-actor.ts';
import { idOf, stampNew } from '../resources/stamp.ts';
import { type Namespace, programIn, referenceOf } from '../resources/types.ts';
import { hasMembers, type Present } from '../subscriptions/subscribers.ts';
import { instanceFromBson, instanceToBson, parseJson } from '../values/index.ts';
import {
  DELIVERIES,
  type Delivery,
  deliveryId,
  distanceMs,
  insertion,
  newDelivery,
  removal,
  replacement,
  requireKeepable,
  sequenceDeliveryId,
} from './kept.ts';
import { reliabilityOf } from './reliability.ts';

/** Deliveries looked at in one go. */
const BATCH = 500;
/** How soon what another process has stored for a socket of this one is found. */
const LOOK_EVERY_MS = 1_000;
/** How soon a rule that still runs is looked at again. */
const STILL_RUNNING_MS = 500;
const TRIES = 10;
/** Of a value, within what a bulk event puts around it. */
const DEEPEST = 200;

interface Persistent {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly username: string;
  readonly filter: ObjectValue | null;
  /** The socket that is open for it here. */
  socket: { deliver(notice: Notice): void; hasBegun: boolean } | null;
  /** Whose turn it is, counted over all processes: that of the newest socket, which alone is served. */
  turn: number;
}

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
  readonly #byName = new Map<string, Persistent>();
  readonly #byPath = new Map<string, Set<Persistent>>();
  #sequence = 0;
  #laidOut: Promise<void> | null = null;
  #timer: { at: number; timer: Timer } | null = null;
  #polling: Promise<void> | null = null;
  readonly #looking: NodeJS.Timeout | null;
  #closed = false;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#looking = options.isShared ? setInterval(() => this.#byName.size > 0 && this.#poll(), LOOK_EVERY_MS) : null;
    this.#looking?.unref();
  }

  /** How many deliveries nobody has acknowledged yet. */
  pending(): Promise<number> {
    return this.#options.space().db.collection(DELIVERIES).estimatedDocumentCount();
  }

  /** Takes up what is stored. */
  async open(): Promise<void> {
    const { db } = this.#options.space();
    for await (const raw of db.collection(SUBSCRIPTIONS.collection).find({}, { raw: true })) {
      const stored = persistentOf(instanceFromBson(SUBSCRIPTIONS.type, raw));
      this.#saw(this.#add(stored), stored.turn);
    }
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
    return this.#byPath.has(path);
  }

  /** The event with what is stored for those who must acknowledge it; the event as it is where its resource is not reliable. */
  attached(event: StoredEvent): StoredEvent {
    const { epoch } = this.#options;
    const space = this.#options.space();
    const reliability = reliabilityOf(space.definitions, event.path);
    if (!reliability) return event;
    const whole: StoredEvent = { ...event, sequence: { partitionId: epoch, sequenceId: ++this.#sequence } };
    const now = space.clock.now();
    const rules = event.runs.filter((run) => !run.places).map(({ rule }) => newDelivery(whole, `/rules/${rule}`, reliability, now, 1));
    const subscriptions = this.#wanting(event).map(({ name, socket }) => newDelivery(whole, name, reliability, now, socket ? 1 : 0));
    const deliveries = [...rules, ...subscriptions];
    if (deliveries.length > 0) {
      requireKeepable(event);
      this.#arm(now + reliability.frequencyMs);
    }
    return { ...whole, deliveries: deliveries.map(insertion) };
  }

  /** Hands committed events to open sockets. */
  committed(events: readonly StoredEvent[]): void {
    if (this.#byPath.size === 0) return;
    for (const event of events) {
      if (attemptOf(event) > 1) continue;
      for (const one of this.#wanting(event)) this.#send(one, event, false);
    }
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

  /** A subscriber's acknowledgement; null where there was nothing to acknowledge. */
  async acknowledge(identity: Identity, name: string, partitionId: number, sequenceId: number): Promise<true | null> {
    const space = this.#options.space();
    const subscription = this.#byName.get(name);
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
    const space = this.#options.space();
    const known = name === null ? null : this.#byName.get(name);
    if (name !== null && (!known || known.path !== path || known.username !== identity.username))
      throw fault('cascade.subscription.unknown', name);
    await this.layOut();
    const subscription = known ?? (await this.#store(identity, path, filter));
    const turn = known ? await this.#takeTurn(known) : subscription.turn;
    const socket = { deliver, hasBegun: false };
    if (turn < subscription.turn) deliver({ kind: 'taken', name: subscription.name });
    else {
      this.#letGo(subscription);
      subscription.turn = turn;
      subscription.socket = socket;
    }
    return {
      name: subscription.name,
      begin: async () => {
        if (known && subscription.socket === socket) await this.#sendStored(subscription);
        socket.hasBegun = true;
      },
      close: () => {
        if (subscription.socket === socket) subscription.socket = null;
        space.log.debug({ subscription: subscription.name }, 'a persistent subscription has no socket');
      },
    };
  }

  /** Ends a persistent subscription for good. @throws cascade.subscription.unknown */
  async unsubscribe(identity: Identity, name: string): Promise<void> {
    const found = this.#byName.get(name);
    if (!found || found.username !== identity.username) throw fault('cascade.subscription.unknown', name);
    await this.end(name);
  }

  /** Ends a stored subscription: nothing is kept for it any more, and its socket is told. */
  async end(name: string): Promise<void> {
    const { db } = this.#options.space();
    await db.collection(SUBSCRIPTIONS.collection).deleteOne({ name });
    if (this.#forget(this.#byName.get(name))) await db.collection(DELIVERIES).deleteMany({ target: name });
  }

  /** A subscription was stored, taken up by another socket, or removed (null), here or in another process. */
  async follow(id: ObjectId, stored: Document | null): Promise<void> {
    const known = [...this.#byName.values()].find((one) => one.id === id.toHexString());
    if (!stored) this.#forget(known);
    else if (known) this.#saw(known, Number(stored['ars_version']));
    else {
      const raw = await this.#options.space().db.collection(SUBSCRIPTIONS.collection).findOne({ _id: id }, { raw: true });
      if (raw) this.#add(persistentOf(instanceFromBson(SUBSCRIPTIONS.type, raw)));
    }
  }

  /**
   * The next turn of a subscription. Where other processes serve the namespace, too, it is the version of what is stored, so that each of them hears
   * of it and lets its own socket go.
   */
  async #takeTurn(subscription: Persistent): Promise<number> {
    const space = this.#options.space();
    if (!this.#options.isShared) return subscription.turn + 1;
    const { collection } = SUBSCRIPTIONS;
    for (let tries = 0; ; tries++) {
      const found = await space.db.collection(collection).findOne({ name: subscription.name }, { promoteLongs: false });
      if (!found) throw fault('cascade.subscription.unknown', subscription.name);
      const { _id, ars_version, ...rest } = found as Document & { _id: ObjectId; ars_version: Long };
      const version = ars_version.toBigInt();
      const write: Write = { collection, op: 'replace', id: _id, version, document: { ...rest, ars_version: ars_version.add(1) } };
      try {
        await space.committer.submit({ writes: [write], events: [] }, true);
        return Number(version) + 1;
      } catch (error) {
        if (!(error instanceof VersionMiss) || tries >= TRIES) throw error;
      }
    }
  }

  /** Another socket has the subscription since that turn. */
  #saw(subscription: Persistent, turn: number): void {
    if (turn <= subscription.turn) return;
    subscription.turn = turn;
    this.#letGo(subscription);
  }

  #letGo(subscription: Persistent): void {
    subscription.socket?.deliver({ kind: 'taken', name: subscription.name });
    subscription.socket = null;
  }

  /** @returns whether there was one */
  #forget(found: Persistent | undefined): boolean {
    if (!found) return false;
    this.#byName.delete(found.name);
    const others = this.#byPath.get(found.path);
    others?.delete(found);
    if (others?.size === 0) this.#byPath.delete(found.path);
    found.socket?.deliver({ kind: 'taken', name: found.name });
    return true;
  }

  /** What the subscriptions listened to is deleted. */
  gone(resource: string, name: string): void {
    const isIts = pathsOf(resource, name);
    for (const [path, subscriptions] of this.#byPath)
      if (isIts(path))
        for (const subscription of subscriptions) {
          subscription.socket?.deliver({ kind: 'gone' });
          subscription.socket = null;
        }
  }

  /** Nobody is to be told any more of the events of what was deleted (integrations.md 9.2). */
  async discard(resource: string, name: string): Promise<void> {
    const isIts = pathsOf(resource, name);
    const deliveries = this.#options.space().db.collection(DELIVERIES);
    const paths = ((await deliveries.distinct('event.path')) as string[]).filter(isIts);
    if (paths.length > 0) await deliveries.deleteMany({ 'event.path': { $in: paths } });
  }

  // ------------------------------------------------------------ once more
  /** Delivers an event to a target once more, with a fresh time to live. @returns false when there is no such target any more */
  retry(event: StoredEvent, target: string): { writes: Write[]; events: StoredEvent[] } | null {
    const space = this.#options.space();
    const reliability = reliabilityOf(space.definitions, event.path);
    const now = space.clock.now();
    if (target.startsWith('/')) {
      const run = this.#runOf(event, target);
      if (!run) return null;
      const delivery = reliability && newDelivery(event, target, reliability, now, attemptOf(event));
      if (delivery) this.#arm(now + delivery.frequencyMs);
      return { writes: delivery ? [insertion(delivery)] : [], events: [{ ...event, runs: [run], redelivered: true }] };
    }
    const subscription = this.#byName.get(target);
    if (!subscription) return null;
    this.#arm(now);
    const delivery = newDelivery(event, target, reliability ?? { frequencyMs: 30_000, ttlMs: 3_600_000 }, now, 1);
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

  /** What this process sees to: where others serve the namespace, too, of subscriptions those that have their socket here. */
  #ours(): Filter<Delivery> {
    return this.#options.isShared ? { $or: [{ target: /^\// }, { target: { $in: this.#heardHere() } }] } : {};
  }

  #due(now: Date): Filter<Delivery> {
    if (!this.#options.isShared) return { nextAt: { $lte: now } };
    const neverSent = { target: { $in: this.#heardHere() }, attempts: 0 };
    return { $or: [{ nextAt: { $lte: now }, ...this.#ours() }, neverSent, { deadline: { $lte: now } }] };
  }

  #heardHere(): string[] {
    return [...this.#byName.values()].flatMap(({ name, socket }) => (socket?.hasBegun ? [name] : []));
  }

  /** One that is due: delivered again, or given up. */
  async #deliver(delivery: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    try {
      if (now >= delivery.deadline.getTime()) return await this.#giveUp(delivery, 'ttl');
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
    await space.committer.submit(
      { writes: [replacement(delivery, { attempts: attempt, nextAt })], events: [{ ...event, runs: [run] }] },
      true,
    );
  }

  async #sendAgain(delivery: Delivery, now: number): Promise<void> {
    const space = this.#options.space();
    const subscription = this.#byName.get(delivery.target);
    if (!subscription) return space.committer.submit({ writes: [removal(delivery)], events: [] }, true);
    if (!subscription.socket) return this.#put(delivery, { nextAt: delivery.deadline });
    const attempts = delivery.attempts + 1;
    this.#send(subscription, { ...delivery.event, runs: [] }, delivery.attempts > 0);
    await this.#put(delivery, { attempts, nextAt: this.#after(delivery, now + distanceMs(delivery.frequencyMs, attempts)) });
  }

  /** All that a subscription has not acknowledged, in their order. */
  async #sendStored(subscription: Persistent): Promise<void> {
    const space = this.#options.space();
    const now = space.clock.now();
    const stored = space.db
      .collection<Delivery>(DELIVERIES)
      .find({ target: subscription.name }, { promoteLongs: false })
      .sort({ 'event.sequence.partitionId': 1, 'event.sequence.sequenceId': 1 });
    for await (const raw of stored) {
      if (!subscription.socket) return; // taken over meanwhile
      const delivery = asNumbers(raw);
      this.#send(subscription, { ...delivery.event, runs: [] }, delivery.attempts > 0);
      const attempts = delivery.attempts + 1;
      const nextAt = this.#after(delivery, now + distanceMs(delivery.frequencyMs, attempts));
      await this.#put(delivery, { attempts, nextAt }).catch((error: unknown) => {
        if (!(error instanceof VersionMiss)) throw error; // acknowledged meanwhile
      });
      this.#arm(nextAt.getTime());
    }
  }

  async #giveUp(delivery: Delivery, reason: DeadReason): Promise<void> {
    const space = this.#options.space();
    const event: StoredEvent = { ...delivery.event, runs: [] };
    const dead = deadLetter(space, { event, target: delivery.target, reason, error: null, deliveries: delivery.attempts });
    await space.committer.submit({ writes: [removal(delivery), ...dead.writes], events: dead.events }, true);
  }

  // ------------------------------------------------------------ inside
  #wanting(event: StoredEvent): Persistent[] {
    const found = [...(this.#byPath.get(event.path) ?? [])];
    if (!found.some(({ filter }) => filter)) return found;
    const { valueJson } = this.#options.present(event.path, decodeInner(event.value));
    const value = parseJson(valueJson, { maxDepth: DEEPEST });
    return found.filter(({ filter }) => filter === null || hasMembers(value, filter));
  }

  #send({ socket }: Persistent, event: StoredEvent, redelivered: boolean): void {
    if (!socket) return;
    const shown = this.#options.present(event.path, decodeInner(event.value));
    const sequence = event.sequence && { ...event.sequence, redelivered };
    socket.deliver({ kind: 'event', ...shown, createdAt: event.at.getTime(), ...(sequence && { reliable: sequence }) });
  }

  /** The rule as it is now, if it would run for the event. */
  #runOf({ uuid, path, value, at, transport }: StoredEvent, target: string): RunReference | null {
    const space = this.#options.space();
    const payload: Value = decodeInner(value);
    const name = target.slice('/rules/'.length);
    const facts = { uuid, path, atMs: at.getTime(), ...(transport && { transport }) };
    const matched = space.when.match(path, payload, () => eventObject(facts, payload, space.name));
    const chosen = matched.find(({ rule }) => programIn(rule).executable.name === name);
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

  async #store(identity: Identity, path: string, filter: ObjectValue | null): Promise<Persistent> {
    const space = this.#options.space();
    await laidOut(space, SUBSCRIPTIONS);
    const actor: Actor = { ...serviceActor(space), identity };
    const name = randomUUID();
    const stamped = stampNew({ name, topic: path, username: identity.username, eventFilter: filter }, actor);
    const document = instanceToBson(SUBSCRIPTIONS.type, stamped) as never;
    await actor.commit({ writes: [{ collection: SUBSCRIPTIONS.collection, op: 'insert', document }], events: [] });
    return this.#add(persistentOf(stamped));
  }

  #add(subscription: Persistent): Persistent {
    const known = this.#byName.get(subscription.name);
    if (known) return known; // heard of already
    this.#byName.set(subscription.name, subscription);
    const others = this.#byPath.get(subscription.path) ?? new Set();
    this.#byPath.set(subscription.path, others.add(subscription));
    return subscription;
  }
}

/** Whether an event path is one of the resource's. */
function pathsOf(resource: string, name: string): (path: string) => boolean {
  const own = resource === 'topics' ? `/topics${name}/publish` : `/${resource}/${name}/`;
  return resource === 'topics' ? (path) => path === own : (path) => path.startsWith(own);
}

function persistentOf(stored: ObjectValue): Persistent {
  const filter = stored['eventFilter'] ?? null;
  return {
    id: idOf(stored),
    name: String(stored['name']),
    path: String(stored['topic']),
    username: String(stored['username']),
    filter: filter as ObjectValue | null,
    socket: null,
    turn: Number(stored['ars_version']),
  };
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
