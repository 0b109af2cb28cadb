// Reliable events (integrations.md 12.3, resources-and-api.md 8.5): stores the deliveries of an event, handles acknowledgements, and
// creates and ends persistent subscriptions. due.ts redelivers, sending.ts sends to sockets.

import type { ObjectId } from 'mongodb';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Identity, Notice } from '../../resources/api.ts';
import { attemptOf, runIdOf, type StoredEvent, type Write } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { ACKNOWLEDGEMENTS } from './delivery-types.ts';
import { asyncRun, type Sight } from '../../runtime/events/index.ts';
import { changedInTurn } from '../../resources/instances/index.ts';
import { ensureCollection } from '../../resources/collections/index.ts';
import { stampNew } from '../../resources/representation/index.ts';
import { retryUntilAvailable } from '../../platform/mongo/index.ts';
import { baseNameOf } from '../../model/types/index.ts';
import { instanceToBson } from '../../model/values/index.ts';
import { DueDeliveries, type DueOptions, runOf } from './due.ts';
import {
  fromStored,
  DELIVERIES,
  type Delivery,
  deliveryId,
  insertions,
  newDelivery,
  removal,
  requireKeepable,
  sequenceDeliveryId,
} from './stored-delivery.ts';
import type { LastError } from './last-errors.ts';
import { type Persistent, type PersistentOptions, PersistentSubscriptions } from './persistent.ts';
import { reliabilityOf } from './reliability.ts';
import { Sending } from './sending.ts';

/** Delivery parameters for an event whose resource is no longer reliable. */
const FORMER_RELIABILITY = { frequencyMs: 30_000, ttlMs: 3_600_000 };

export interface DeliveriesOptions extends PersistentOptions, DueOptions {
  /** The partition of the sequence numbers that this process assigns. */
  readonly epoch: number;
  /** Has a node get a request again that has become a dead letter; null where the node is not there any more. */
  readonly resend: (node: string, event: StoredEvent) => Retry | null;
}

/** What a retry stores; the caller calls `stored` after the commit. */
interface Retry {
  readonly writes: Write[];
  readonly events: StoredEvent[];
  stored?(): void;
}

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #persistent: PersistentSubscriptions;
  readonly #sending: Sending;
  readonly #due: DueDeliveries;
  #sequence = 0;
  #indexed: Promise<void> | null = null;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#persistent = new PersistentSubscriptions(options);
    this.#sending = new Sending(options, () => this.#due.armNext());
    this.#due = new DueDeliveries(options, this.#persistent, this.#sending);
  }

  /** The number of unacknowledged deliveries. */
  pending(): Promise<number> {
    return this.#options.space().storage.db.collection(DELIVERIES).estimatedDocumentCount();
  }

  /** Whether a client listens on one of the persistent subscriptions. */
  get hasListeners(): boolean {
    return this.#persistent.listening.length + this.#persistent.beginning.length > 0;
  }

  /** Loads the stored persistent subscriptions. */
  load(): Promise<void> {
    return this.#persistent.load();
  }

  /** Schedules the next redelivery. */
  look(): Promise<void> {
    return this.#due.armNext();
  }

  async close(): Promise<void> {
    this.#sending.close();
    await this.#due.close();
  }

  /** Creates the collection, before the first resource becomes reliable. */
  async ensureCollections(): Promise<void> {
    const { db } = this.#options.space().storage;
    this.#indexed ??= (async () => {
      await db.collection(DELIVERIES).createIndex({ nextAt: 1 });
      await db.collection(DELIVERIES).createIndex({ target: 1 });
    })();
    await this.#indexed;
  }

  // ------------------------------------------------------------ raising
  hasSubscribers(path: string): boolean {
    return this.#persistent.hasSubscribers(path);
  }

  /**
   * Adds the delivery records for rules and subscriptions that must acknowledge the event; returns the event unchanged where its resource
   * is not reliable.
   */
  withDeliveries(event: StoredEvent): StoredEvent {
    const space = this.#options.space();
    const reliability = reliabilityOf(space.catalog.definitions, event.path);
    if (!reliability) return event;
    const whole = this.#numbered(event);
    const now = space.clock.now();
    const rules = event.runs.filter((run) => !run.places).map(({ rule }) => newDelivery(whole, `/rules/${rule}`, reliability, now, 1));
    const subscriptions = this.#persistent.keeping(event).map(({ name, socket }) => {
      if (socket && !socket.hasBegun) socket.unsent.add(event.uuid);
      return newDelivery(whole, name, reliability, now, socket?.hasBegun ? 1 : 0);
    });
    const deliveries = [...rules, ...subscriptions];
    if (deliveries.length > 0) {
      requireKeepable(event, space.storage.cipher);
      this.#due.arm(now + reliability.frequencyMs);
    }
    return { ...whole, deliveries: insertions(deliveries, space.storage.cipher) };
  }

  #numbered(event: StoredEvent): StoredEvent {
    return { ...event, sequence: { partitionId: this.#options.epoch, sequenceId: ++this.#sequence } };
  }

  /** Sends committed events to open sockets. Never throws: an error with one event must not keep the others back. */
  committed(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (attemptOf(event) > 1) continue;
      try {
        this.#handOut(event);
      } catch (error) {
        this.#options.space().log.error({ err: error, event: event.uuid }, 'an event could not be handed to persistent subscriptions');
      }
    }
  }

  #handOut(event: StoredEvent): void {
    if (event.sequence) this.#armFor(event); // again: the commit may have taken longer than the interval
    if (!this.#persistent.hasSubscribers(event.path)) return;
    for (const one of this.#persistent.wanting(event)) if (one.socket) this.#sending.committed(one, one.socket, event);
  }

  #armFor(event: StoredEvent): void {
    const { catalog, clock } = this.#options.space();
    const reliability = reliabilityOf(catalog.definitions, event.path);
    if (reliability) this.#due.arm(Math.max(clock.now(), event.at.getTime() + reliability.frequencyMs));
  }

  // ------------------------------------------------------------ acknowledging
  /** Event.ack() in a rule: acknowledges its event for this rule only; has no effect where there is nothing to acknowledge. */
  async acknowledgeRun(actor: Actor): Promise<void> {
    const { event: started } = actor;
    if (!started?.event.sequence) return;
    const id = deliveryId(`/rules/${started.rule}`, started.event);
    await this.#change(id, (delivery) =>
      // An acknowledged event is not replayed, even if the run has not ended (12.2).
      actor.commit({ writes: [removal(delivery)], events: [], done: [runIdOf(started.event, started.rule)] }, { ok: 'null' }),
    );
  }

  /** Notes the error with which a rule has ended on its event, if the event waits for an acknowledgement. */
  failed(resource: string, error: LastError, { event: started }: Actor): void {
    if (!started?.event.sequence) return;
    const target = `/rules/${started.rule}`; // a version of it may have run in its place
    if (baseNameOf(resource) === baseNameOf(target)) this.#due.errors.add(deliveryId(target, started.event), error);
  }

  /** Gives an event up for a target: its delivery is removed in the commit that `store` makes. */
  async settle(event: StoredEvent, target: string, store: (settled: readonly Write[]) => Promise<void>): Promise<void> {
    await retryUntilAvailable(async () => {
      const settled = event.sequence && (await this.#change(deliveryId(target, event), (delivery) => store([removal(delivery)])));
      if (!settled) await store([]);
    });
  }

  /**
   * Acknowledges the deliveries of a rule that was deleted or deactivated, unless another version of it is in force. Later events are for a
   * new rule of this name, and stay.
   */
  async acknowledgeFor(rule: string): Promise<void> {
    const {
      storage: { db },
      catalog: { definitions },
      clock,
    } = this.#options.space();
    const until = new Date(clock.now());
    const base = baseNameOf(rule);
    const target = `/rules/${base}`;
    const ofAnyVersion = { $or: [{ target }, { target: { $gte: `${target}:`, $lt: `${target};` } }] };
    const deliveries = db.collection<Delivery>(DELIVERIES);
    if (!(await deliveries.findOne(ofAnyVersion, { projection: { _id: 1 } }))) return;
    const isInForce = ([name, object]: [string, ObjectValue]): boolean => baseNameOf(name) === base && object['active'] === true;
    if (!definitions.list('rules').some(isInForce)) await deliveries.deleteMany({ ...ofAnyVersion, 'event.at': { $lte: until } });
  }

  /** Handles a subscriber's acknowledgement; null where there was nothing to acknowledge. */
  async acknowledge(identity: Identity, name: string, partitionId: number, sequenceId: number): Promise<true | null> {
    const space = this.#options.space();
    const subscription = this.#persistent.get(name);
    if (!subscription || subscription.username !== identity.username) return null;
    await ensureCollection(space, ACKNOWLEDGEMENTS);
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
   * Creates a persistent subscription, or resumes one by its name; a filter that is given then is the one from now on.
   * @param deliver is not called before `begin`
   * @param sight decides what the user may see: other events are not sent, and those of reliable resources are given up when their time to
   *   live ends
   * @throws cascade.subscription.unknown
   */
  async subscribe(
    identity: Identity,
    path: string,
    filter: ObjectValue | null,
    name: string | null,
    deliver: (notice: Notice) => void,
    sight?: Sight,
  ) {
    const known = name === null ? null : this.#ownAt(identity, path, name);
    await this.ensureCollections();
    if (known && filter) await this.#persistent.refilter(known, filter);
    const subscription = known ?? (await this.#persistent.create(identity, path, filter));
    const socket = this.#persistent.serve(subscription, !known, deliver, sight);
    return {
      name: subscription.name,
      begin: async (hasRoom?: () => Promise<void>) => {
        if (hasRoom) socket.hasRoom = hasRoom;
        if (known) await this.#sending.catchUp(subscription, socket, {});
      },
      close: () => {
        if (subscription.socket === socket) subscription.socket = null;
      },
    };
  }

  /** After a change of rights: notifies and detaches sockets whose users may no longer listen. */
  recheck(): Promise<void> {
    return this.#persistent.recheck();
  }

  /** Deletes a user's persistent subscription on this path. @throws cascade.subscription.unknown */
  async unsubscribe(identity: Identity, path: string, name: string): Promise<void> {
    await this.end(this.#ownAt(identity, path, name).name);
  }

  /** The user's subscription of this name on this path. @throws cascade.subscription.unknown */
  #ownAt({ username }: Identity, path: string, name: string): Persistent {
    const found = this.#persistent.get(name);
    if (!found || found.path !== path || found.username !== username) throw apiError('cascade.subscription.unknown', name);
    return found;
  }

  /** Deletes a stored subscription and its deliveries, and notifies its socket. */
  async end(name: string): Promise<void> {
    if (await this.#persistent.end(name)) await this.#options.space().storage.db.collection(DELIVERIES).deleteMany({ target: name });
  }

  /** Ends all subscriptions of a user. */
  async endOf(username: string): Promise<void> {
    for (const name of this.#persistent.namesOf(username)) await this.end(name);
  }

  /** Notifies subscribers of a resource that was deleted. */
  gone(resource: string, name: string): void {
    this.#persistent.gone(pathsOf(resource, name));
  }

  /** Removes pending deliveries of a resource that was deleted (integrations.md 9.2). */
  async discard(resource: string, name: string): Promise<void> {
    const isIts = pathsOf(resource, name);
    const { storage, clock } = this.#options.space();
    const { db } = storage;
    const until = new Date(clock.now());
    const deliveries = db.collection(DELIVERIES);
    const paths = ((await deliveries.distinct('event.path')) as string[]).filter(isIts);
    if (paths.length > 0) await deliveries.deleteMany({ 'event.path': { $in: paths }, 'event.at': { $lte: until } });
  }

  // ------------------------------------------------------------ retry
  /**
   * Retries an event for a target, with a new time to live. The caller calls `look` after the commit.
   * @returns null when the target no longer exists
   */
  retry(event: StoredEvent, target: string): Retry | null {
    const space = this.#options.space();
    const [, node] = /^\/nodes\/(.+)$/.exec(target) ?? [];
    if (node !== undefined) return this.#options.resend(node, event);
    const [, asked] = /^\/procedures\/(.+)$/.exec(target) ?? [];
    if (asked !== undefined)
      return space.catalog.definitions.get('procedures', asked) ? { writes: [], events: [{ ...event, runs: [asyncRun(asked)] }] } : null;
    if (event.path.startsWith('/rules/')) {
      // What a rule over several events has run on: no trigger listens there.
      const run = space.events.correlations.again(baseNameOf(target.slice('/rules/'.length)), event);
      return run && { writes: [], events: [{ ...event, runs: [run] }] };
    }
    const reliability = reliabilityOf(space.catalog.definitions, event.path);
    const now = space.clock.now();
    if (target.startsWith('/')) {
      const run = runOf(space, { ...event, redelivered: true }, target);
      if (!run) return null;
      const again: StoredEvent = { ...event, runs: [run], redelivered: true };
      if (!reliability) return { writes: [], events: [again] };
      const whole = again.sequence ? again : this.#numbered(again); // the resource was not reliable when the event was raised
      return {
        writes: insertions([newDelivery(whole, `/rules/${run.rule}`, reliability, now, attemptOf(event))], space.storage.cipher),
        events: [whole],
      };
    }
    if (!this.#persistent.get(target)) return null;
    const delivery = newDelivery(event, target, reliability ?? FORMER_RELIABILITY, now, attemptOf(event) - 1);
    return { writes: insertions([{ ...delivery, nextAt: new Date(now) }], space.storage.cipher), events: [] };
  }

  // ------------------------------------------------------------ helpers
  /** Changes the current version of a delivery, in turn with others that change it; null when it does not exist. */
  #change(id: ObjectId, change: (delivery: Delivery) => Promise<void>): Promise<true | null> {
    const space = this.#options.space();
    const attempt = async (): Promise<true | null> => {
      const found = await space.storage.db.collection<Delivery>(DELIVERIES).findOne({ _id: id }, { promoteLongs: false });
      if (!found) return null;
      await change(fromStored(found, space.storage.cipher));
      return true;
    };
    return changedInTurn(space, () => `delivery ${id.toHexString()}`, attempt);
  }
}

/** A predicate for the event paths of a resource. */
function pathsOf(resource: string, name: string): (path: string) => boolean {
  const own = resource === 'topics' ? `/topics${name}/publish` : `/${resource}/${name}/`;
  return resource === 'topics' ? (path) => path === own : (path) => path.startsWith(own);
}
