// The persistent subscriptions of a namespace (resources-and-api.md 8.5): what is stored of them, which socket each has, and whose turn it is
// where several want one. What is sent to them is sending.ts's.

import { randomUUID } from 'node:crypto';
import type { Document, ObjectId } from 'mongodb';
import { decodeInner, type ObjectValue } from '../../stdlib/values/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Identity, Notice } from '../../resources/api.ts';
import type { StoredEvent } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { SUBSCRIPTIONS } from './delivery-types.ts';
import { ensureCollection } from '../../resources/instances/index.ts';
import { orReadLater } from '../../resources/definitions/index.ts';
import { stampNew } from '../../resources/representation/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { DEEPEST_VALUE, hasMembers, type Present, type Sight } from '../../runtime/events/index.ts';
import { instanceFromBson, instanceToBson, parseJson } from '../../model/values/index.ts';

/** Each costs a write with every event that it hears, for as long as it is not deleted. */
const MOST_OF_ONE_USER = 1_000;
const MOST = 10_000;

export interface Socket {
  readonly deliver: (notice: Notice) => void;
  /** Undefined: it may see every event. */
  readonly sight: Sight | undefined;
  /** While rights are read: what was last to be sent, which what comes after it waits for. */
  asking: Promise<void> | null;
  /** What is stored has been sent: events are sent as they are committed. Until then they come behind it. */
  hasBegun: boolean;
  /** Something was committed before. */
  hasMissed: boolean;
  /** Uuids of events that were stored as never sent, since it had not begun, and are not committed yet. */
  readonly unsent: Set<string>;
  /** Resolves when the client has read most of what was sent, or is gone. */
  hasRoom: () => Promise<void>;
}

export interface Persistent {
  readonly name: string;
  readonly path: string;
  readonly username: string;
  readonly filter: ObjectValue | null;
  /** The newest socket that is open for it. */
  socket: Socket | null;
}

export interface PersistentOptions {
  readonly space: () => Namespace;
  readonly present: Present;
}

export class PersistentSubscriptions {
  readonly #options: PersistentOptions;
  readonly #byName = new Map<string, Persistent>();
  readonly #byPath = new Map<string, Set<Persistent>>();
  readonly #ofUser = new Map<string, number>();

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

  /** Those that want an event, by its path and their filters. */
  wanting(event: Pick<StoredEvent, 'path' | 'value'>): Persistent[] {
    const found = [...(this.#byPath.get(event.path) ?? [])];
    if (!found.some(({ filter }) => filter)) return found;
    const { valueJson } = this.#options.present(event.path, decodeInner(event.value));
    const value = parseJson(valueJson, { maxDepth: DEEPEST_VALUE });
    return found.filter(({ filter }) => filter === null || hasMembers(value, filter));
  }

  /** Names of those whose socket here is served. */
  get listening(): string[] {
    return this.#named((socket) => socket.hasBegun);
  }

  /** Names of those whose socket here is sent what is stored. */
  get beginning(): string[] {
    return this.#named((socket) => !socket.hasBegun);
  }

  /** Takes up what is stored. */
  async load(): Promise<void> {
    for await (const raw of this.#options.space().storage.db.collection(SUBSCRIPTIONS.collection).find({}, { raw: true })) {
      this.#add(persistentOf(instanceFromBson(SUBSCRIPTIONS.type, raw)));
    }
  }

  /** @throws cascade.quota.exceeded */
  async create(identity: Identity, path: string, filter: ObjectValue | null): Promise<Persistent> {
    const { username } = identity;
    if ((this.#ofUser.get(username) ?? 0) >= MOST_OF_ONE_USER)
      throw apiError('cascade.quota.exceeded', 'persistentSubscriptionsOfUser', MOST_OF_ONE_USER);
    if (this.size >= MOST) throw apiError('cascade.quota.exceeded', 'persistentSubscriptions', MOST);
    this.#count(username, 1); // now: others may ask while it is stored
    try {
      return await this.#store(identity, path, filter);
    } finally {
      this.#count(username, -1);
    }
  }

  /** Gives a socket its subscription; who had it before is told. */
  serve(subscription: Persistent, isNew: boolean, deliver: (notice: Notice) => void, sight: Sight | undefined): Socket {
    const hasRoom = (): Promise<void> => Promise.resolve();
    const socket: Socket = { deliver, sight, asking: null, hasBegun: isNew, hasMissed: false, unsent: new Set(), hasRoom };
    letGo(subscription);
    subscription.socket = socket;
    return socket;
  }

  /** Ends a stored one: its socket is told. @returns whether there was one */
  async end(name: string): Promise<boolean> {
    await this.#options.space().storage.db.collection(SUBSCRIPTIONS.collection).deleteOne({ name });
    return this.#forget(this.#byName.get(name));
  }

  /** Rights have changed: a socket that may not listen any more is told, and what is stored for the subscription waits for another. */
  async recheck(): Promise<void> {
    for (const subscription of [...this.#byName.values()]) {
      const { socket } = subscription;
      if (!socket?.sight || (await socket.sight.mayListen()) || subscription.socket !== socket) continue;
      subscription.socket = null;
      socket.deliver({ kind: 'withdrawn' });
    }
  }

  /** What they listened to is deleted. */
  gone(isIts: (path: string) => boolean): void {
    for (const [path, subscriptions] of this.#byPath)
      if (isIts(path))
        for (const subscription of subscriptions) {
          subscription.socket?.deliver({ kind: 'gone' });
          subscription.socket = null;
        }
  }

  // ------------------------------------------------------------ inside
  #named(isWanted: (socket: Socket) => boolean): string[] {
    return [...this.#byName.values()].flatMap(({ name, socket }) => (socket && isWanted(socket) ? [name] : []));
  }

  /** @returns whether there was one */
  #forget(found: Persistent | undefined): boolean {
    if (!found || !this.#byName.delete(found.name)) return false;
    this.#count(found.username, -1);
    const others = this.#byPath.get(found.path);
    others?.delete(found);
    if (others?.size === 0) this.#byPath.delete(found.path);
    letGo(found);
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
    if (known) return known; // heard of already
    this.#byName.set(subscription.name, subscription);
    this.#count(subscription.username, 1);
    const others = this.#byPath.get(subscription.path) ?? new Set();
    this.#byPath.set(subscription.path, others.add(subscription));
    return subscription;
  }

  #count(username: string, by: 1 | -1): void {
    const count = (this.#ofUser.get(username) ?? 0) + by;
    if (count > 0) this.#ofUser.set(username, count);
    else this.#ofUser.delete(username);
  }
}

/** Its socket is told that it is served no longer. */
function letGo(subscription: Persistent): void {
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
