// The persistent subscriptions of a namespace (resources-and-api.md 8.5): their stored form, and the socket that each has; the newest
// socket takes a subscription over. sending.ts sends to them.

import { randomUUID } from 'node:crypto';
import type { Document, ObjectId } from 'mongodb';
import { decodeInner, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Identity, Notice } from '../../resources/api.ts';
import type { StoredEvent } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { SUBSCRIPTIONS } from './delivery-types.ts';
import { isTooLong, PersistentFilters } from './filters.ts';
import { atomically } from '../../resources/instances/index.ts';
import { ensureCollection } from '../../resources/collections/index.ts';
import { orReadLater } from '../../resources/definitions/index.ts';
import { stampChanged, stampNew, versionOf } from '../../resources/representation/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { DEEPEST_VALUE, hasMembers, type Present, type Sight } from '../../runtime/events/index.ts';
import { instanceFromBson, instanceToBson, parseJson, toJson } from '../../model/values/index.ts';

/** Each subscription adds a write to every event that it matches, until it is deleted. */
const MOST_OF_ONE_USER = 1_000;
const MOST = 10_000;
/** Longer ones have a longer filter than is taken: they are not even read. */
const LONGEST_BYTES = 256 * 1024;

export interface Socket {
  readonly deliver: (notice: Notice) => void;
  /** Undefined: the user may see all events. */
  readonly sight: Sight | undefined;
  /** The last event whose visibility is being checked: later events wait for it, so that they stay in order. */
  asking: Promise<void> | null;
  /** Whether the backlog has been sent, so that events are sent as they are committed. Until then they follow the backlog. */
  hasBegun: boolean;
  /** Whether an event was committed while the backlog was being sent. */
  hasMissed: boolean;
  /** Uuids of uncommitted events whose delivery is stored as unsent, since the backlog was still being sent. */
  readonly unsent: Set<string>;
  /** Resolves when the client has read most of what was sent, or has disconnected. */
  hasRoom: () => Promise<void>;
}

export interface Persistent {
  readonly name: string;
  readonly path: string;
  readonly username: string;
  filter: ObjectValue | null;
  /** The newest open socket of the subscription. */
  socket: Socket | null;
}

export interface PersistentOptions {
  readonly space: () => Namespace;
  readonly present: Present;
  /** Whether a user, who need not be connected, may listen on a path by its rights of the moment. */
  readonly mayListen: (username: string, path: string) => boolean | Promise<boolean>;
}

export class PersistentSubscriptions {
  readonly #options: PersistentOptions;
  readonly #byName = new Map<string, Persistent>();
  readonly #byPath = new Map<string, Set<Persistent>>();
  readonly #ofUser = new Map<string, number>();
  readonly #filters = new PersistentFilters();

  constructor(options: PersistentOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): Persistent | undefined {
    return this.#byName.get(name);
  }

  hasSubscribers(path: string): boolean {
    return this.#byPath.has(path);
  }

  /** The subscriptions that an event matches, by path and filter. */
  wanting(event: Pick<StoredEvent, 'path' | 'value'>): Persistent[] {
    const found = [...(this.#byPath.get(event.path) ?? [])];
    if (!found.some(({ filter }) => filter)) return found;
    const named = found.flatMap(({ filter }) => Object.keys(filter ?? {}));
    const { valueJson } = this.#options.present(event.path, onlyNamed(event.path, decodeInner(event.value), named));
    const value = parseJson(valueJson, { maxDepth: DEEPEST_VALUE });
    return found.filter(({ filter }) => filter === null || hasMembers(value, filter));
  }

  /**
   * Those of `wanting` for which an event is kept: nothing collects for a user who has lost the right to listen. Rights that have to be read
   * first count as present: what is kept by that is not sent without a right, and is dropped when its time to live ends.
   */
  keeping(event: Pick<StoredEvent, 'path' | 'value'>): Persistent[] {
    return this.wanting(event).filter((subscription) => {
      const answer = this.mayListen(subscription);
      if (typeof answer === 'boolean') return answer;
      answer.catch(() => undefined); // read for the next event
      return true;
    });
  }

  mayListen({ username, path }: Persistent): boolean | Promise<boolean> {
    return this.#options.mayListen(username, path);
  }

  /** Names of the subscriptions whose socket in this process has got its backlog. */
  get listening(): string[] {
    return this.#named((socket) => socket.hasBegun);
  }

  /** Names of the subscriptions whose socket in this process is getting its backlog. */
  get beginning(): string[] {
    return this.#named((socket) => !socket.hasBegun);
  }

  namesOf(user: string): string[] {
    return [...this.#byName.values()].flatMap(({ name, username }) => (username === user ? [name] : []));
  }

  /** Loads the stored subscriptions, but for those with longer filters than are taken: a namespace has to open with whatever is stored. */
  async load(): Promise<void> {
    const { storage, log, name: namespace } = this.#options.space();
    const stored = storage.db.collection(SUBSCRIPTIONS.collection);
    const isLong = { $gt: [{ $bsonSize: '$$ROOT' }, LONGEST_BYTES] };
    const left: string[] = [];
    for await (const raw of stored.find({ $expr: { $not: [isLong] } }, { raw: true })) {
      const subscription = persistentOf(instanceFromBson(SUBSCRIPTIONS.type, raw));
      const { username, filter, name } = subscription;
      if (!isTooLong(filter) && this.#filters.hasRoom(username, filter)) this.#add(subscription);
      else left.push(name);
    }
    for await (const { name } of stored.find({ $expr: isLong }, { projection: { name: 1 } })) left.push(String(name));
    if (left.length > 0) log.warn({ namespace, subscriptions: left }, 'persistent subscriptions with too long filters are left out');
  }

  /** @throws cascade.quota.exceeded */
  async create(identity: Identity, path: string, filter: ObjectValue | null): Promise<Persistent> {
    const { username } = identity;
    if ((this.#ofUser.get(username) ?? 0) >= MOST_OF_ONE_USER)
      throw apiError('cascade.quota.exceeded', 'persistentSubscriptionsOfUser', MOST_OF_ONE_USER);
    if (this.size >= MOST) throw apiError('cascade.quota.exceeded', 'persistentSubscriptions', MOST);
    this.#filters.requireRoom(username, filter);
    this.#count(username, 1, filter); // counted before it is stored, since concurrent requests may create others
    try {
      return await this.#store(identity, path, filter);
    } finally {
      this.#count(username, -1, filter);
    }
  }

  /**
   * Stores another filter, for events to come: what is kept already stays, since nobody else has acknowledged it.
   * @throws cascade.subscription.unknown, cascade.quota.exceeded
   */
  async refilter(subscription: Persistent, filter: ObjectValue): Promise<void> {
    const { username } = subscription;
    if (toJson(filter) === toJson(subscription.filter)) return;
    this.#filters.requireRoom(username, filter); // beside the present one, which stays if this cannot be stored
    this.#filters.add(username, filter);
    try {
      await this.#storeFilter(subscription, filter);
    } finally {
      this.#filters.remove(username, filter);
    }
  }

  async #storeFilter(subscription: Persistent, filter: ObjectValue): Promise<void> {
    const { name } = subscription;
    const space = this.#options.space();
    const { collection, type } = SUBSCRIPTIONS;
    const stored = async (): Promise<ObjectValue | null> => {
      const raw = await space.storage.db.collection(collection).findOne({ name }, { raw: true });
      return raw && instanceFromBson(type, raw);
    };
    const work = atomically(space, `subscription ${name}`, serviceActor(space), async (batching) => {
      const before = await stored();
      if (!before) throw apiError('cascade.subscription.unknown', name);
      const document = instanceToBson(type, stampChanged({ ...before, eventFilter: filter }, before, batching));
      const id = document['_id'] as ObjectId;
      await batching.commit({ writes: [{ collection, op: 'replace', id, version: versionOf(before), document }], events: [] });
      return null;
    });
    await orReadLater(
      space,
      work.then(() => undefined),
      async () => {
        const now = await stored();
        if (now) this.#setFilter(subscription, persistentOf(now).filter);
      },
    );
    this.#setFilter(subscription, filter);
  }

  #setFilter(subscription: Persistent, filter: ObjectValue | null): void {
    const { name, username } = subscription;
    const isCounted = this.#byName.get(name) === subscription;
    if (isCounted) this.#filters.remove(username, subscription.filter);
    subscription.filter = filter;
    if (isCounted) this.#filters.add(username, filter);
  }

  /** Attaches a socket to a subscription, and notifies the previous socket. */
  serve(subscription: Persistent, isNew: boolean, deliver: (notice: Notice) => void, sight: Sight | undefined): Socket {
    const hasRoom = (): Promise<void> => Promise.resolve();
    const socket: Socket = { deliver, sight, asking: null, hasBegun: isNew, hasMissed: false, unsent: new Set(), hasRoom };
    detachSocket(subscription);
    subscription.socket = socket;
    return socket;
  }

  /** Deletes a subscription and notifies its socket. @returns whether it existed */
  async end(name: string): Promise<boolean> {
    await this.#options.space().storage.db.collection(SUBSCRIPTIONS.collection).deleteOne({ name });
    return this.#forget(this.#byName.get(name));
  }

  /** After a change of rights: notifies and detaches sockets whose users may no longer listen; stored events wait for another socket. */
  async recheck(): Promise<void> {
    for (const subscription of [...this.#byName.values()]) {
      const { socket } = subscription;
      if (!socket?.sight || (await socket.sight.mayListen()) || subscription.socket !== socket) continue;
      subscription.socket = null;
      socket.deliver({ kind: 'withdrawn' });
    }
  }

  /** Notifies the sockets of subscriptions whose resource was deleted. */
  gone(isIts: (path: string) => boolean): void {
    for (const [path, subscriptions] of this.#byPath)
      if (isIts(path))
        for (const subscription of subscriptions) {
          subscription.socket?.deliver({ kind: 'gone' });
          subscription.socket = null;
        }
  }

  // ------------------------------------------------------------ helpers
  #named(isWanted: (socket: Socket) => boolean): string[] {
    return [...this.#byName.values()].flatMap(({ name, socket }) => (socket && isWanted(socket) ? [name] : []));
  }

  /** @returns whether it existed */
  #forget(found: Persistent | undefined): boolean {
    if (!found || !this.#byName.delete(found.name)) return false;
    this.#count(found.username, -1, found.filter);
    const others = this.#byPath.get(found.path);
    others?.delete(found);
    if (others?.size === 0) this.#byPath.delete(found.path);
    detachSocket(found);
    return true;
  }

  async #store(identity: Identity, path: string, filter: ObjectValue | null): Promise<Persistent> {
    const space = this.#options.space();
    await ensureCollection(space, SUBSCRIPTIONS);
    const actor: Actor = { ...serviceActor(space), identity };
    const stamped = stampNew({ name: randomUUID(), topic: path, username: identity.username, eventFilter: filter }, actor);
    const document = instanceToBson(SUBSCRIPTIONS.type, stamped) as Document & { _id: ObjectId };
    const commit = actor.commit({ writes: [{ collection: SUBSCRIPTIONS.collection, op: 'insert', document }], events: [] });
    await orReadLater(space, commit, async () => {
      if (await space.storage.db.collection(SUBSCRIPTIONS.collection).findOne({ _id: document._id })) this.#add(persistentOf(stamped));
    });
    return this.#add(persistentOf(stamped));
  }

  #add(subscription: Persistent): Persistent {
    const known = this.#byName.get(subscription.name);
    if (known) return known; // a read of the store has added it already
    this.#byName.set(subscription.name, subscription);
    this.#count(subscription.username, 1, subscription.filter);
    const others = this.#byPath.get(subscription.path) ?? new Set();
    this.#byPath.set(subscription.path, others.add(subscription));
    return subscription;
  }

  #count(username: string, by: 1 | -1, filter: ObjectValue | null): void {
    if (by > 0) this.#filters.add(username, filter);
    else this.#filters.remove(username, filter);
    const count = (this.#ofUser.get(username) ?? 0) + by;
    if (count > 0) this.#ofUser.set(username, count);
    else this.#ofUser.delete(username);
  }
}

/** Of an instance or a message what filters name: it may hold much more, all of which would be written and read again. */
function onlyNamed(path: string, value: Value, names: readonly string[]): Value {
  if (!isObject(value) || path.startsWith('/types/system.')) return value; // a definition is shown as a whole
  const part: ObjectValue = {};
  for (const name of new Set(['_id', ...names])) if (Object.hasOwn(value, name)) setOwn(part, name, value[name] as Value);
  return part;
}

/** Notifies the socket that it no longer serves the subscription, and detaches it. */
function detachSocket(subscription: Persistent): void {
  subscription.socket?.deliver({ kind: 'taken', name: subscription.name });
  subscription.socket = null;
}

function persistentOf(stored: ObjectValue): Persistent {
  const filter = stored['eventFilter'] ?? null;
  return {
    name: String(stored['name']),
    path: String(stored['topic']),
    username: String(stored['username']),
    filter: filter as ObjectValue | null,
    socket: null,
  };
}
