// Subscriptions of the clients of this process, wherever the namespace is: they follow it from owner to owner, and to its next opening by
// the same one (a restore). The owner alone commits, so its subscribers get every event; it forwards them, in order, to processes whose
// clients listen there. The next owner waits for the listeners of the former one (`attach`) before it commits anything.

import type { Identity, Notice, SubscribeOptions, Subscription } from '../../resources/api.ts';
import { CascadeError, CascadeErrors } from '../../model/errors/index.ts';
import { type Answer, type Handler, LinkLost, type Message } from '../../runtime/cluster/index.ts';
import { decodeInner, encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { OpenNamespace } from '../namespace.ts';
import { OwnedElsewhere } from './elsewhere.ts';
import { Listeners, tellMoved } from './listeners.ts';
import { type Followed, type FollowedOptions, newlyFollowed, type Served } from './followed.ts';

/** Pauses between attempts, which grow. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 2_000];
/** How long a new owner waits for the listeners of the former one. */
const GATHER_MS = 5_000;

export class FollowedSubscriptions {
  readonly #options: FollowedOptions;
  readonly #byNamespace = new Map<string, Map<number, Followed>>();
  readonly #byId = new Map<number, Followed>();
  /** Subscriptions of other processes' clients, by `<process>/<id>`: the latest turn that has come. */
  readonly #served = new Map<string, Served>();
  /** Namespaces that wait for listeners of the former owner, with the number of processes still to come. */
  readonly #gathering = new Map<string, { missing: Set<number>; done: () => void }>();
  readonly #listeners: Listeners;
  #nextId = 1;

  constructor(options: FollowedOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.owners);
  }

  /** @throws the owner's refusal */
  async subscribe(identity: Identity, path: string, options: SubscribeOptions, deliver: (notice: Notice) => void): Promise<Subscription> {
    const one = newlyFollowed({ id: this.#nextId++, identity, path, options, deliver });
    this.#add(one);
    try {
      if (!(await this.#attach(one))) while (one.attaching) await one.attaching;
      one.isNew = false;
      if (one.refusal) throw one.refusal;
    } catch (error) {
      this.#remove(one);
      throw error;
    }
    return {
      ...(one.name !== undefined && { name: one.name }),
      begin: (hasRoom) => this.#begin(one, hasRoom),
      close: () => this.#close(one),
    };
  }

  /** Ends the subscriptions of this process's clients; those of other processes follow to the next owner. */
  stop(): void {
    for (const one of [...this.#byId.values()]) this.#close(one);
  }

  /** A namespace of this process is closed: its listeners move on. Resolves when they have all that was sent: later it does not count. */
  async closing(namespace: string): Promise<void> {
    const listeners = new Set<number>();
    for (const [key, { namespace: at, subscription }] of this.#served) {
      if (at !== namespace) continue;
      listeners.add(Number(key.slice(0, key.indexOf('/'))));
      this.#served.delete(key);
      subscription?.close();
    }
    this.#listeners.forget(namespace);
    this.#moved(namespace, this.#options.epoch);
    if (listeners.size > 0) await tellMoved(this.#options.calls(), listeners, namespace);
  }

  /** Drops a process that is gone: its clients' subscriptions here end; those of our clients there look for the next owner. */
  dropped(epoch: number): void {
    for (const [key, { subscription }] of this.#served)
      if (key.startsWith(`${epoch}/`)) {
        this.#served.delete(key);
        subscription?.close();
      }
    for (const namespace of [...this.#byNamespace.keys()]) this.#moved(namespace, epoch);
    for (const [, gathering] of this.#gathering) if (gathering.missing.delete(epoch) && gathering.missing.size === 0) gathering.done();
  }

  /** Waits for the listeners of the former owner; those that come too late may miss events. */
  async gather(namespace: string, listeners: readonly number[]): Promise<void> {
    const { epoch, calls, living } = this.#options;
    const others = await living(listeners.filter((one) => one !== epoch));
    const missing = new Set(others.filter((one) => !calls().isGone(one)));
    const own = [...(this.#byNamespace.get(namespace)?.values() ?? [])].map((one) => this.#reattach(one, epoch));
    let timer: NodeJS.Timeout | undefined;
    const attached = new Promise<void>((resolve) => {
      if (missing.size === 0) return resolve();
      this.#gathering.set(namespace, { missing, done: resolve });
      for (const one of missing) calls().post(one, 'attach', { namespace });
    });
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, GATHER_MS)));
    await Promise.race([Promise.all([attached, ...own]), late]).finally(() => clearTimeout(timer));
    this.#gathering.delete(namespace);
  }

  /** @param enter runs work in a namespace of this process @throws OwnedElsewhere */
  handlers(enter: <T>(namespace: string, work: (space: OpenNamespace) => Promise<T>) => Promise<T>): Record<string, Handler> {
    return {
      subscribe: async (from, { head }) => {
        const { namespace } = head['identity'] as Identity;
        const begin = (space: OpenNamespace): Promise<Answer> => this.#serve(from, head, space);
        const early = this.#gathering.has(namespace) ? await this.#options.running(namespace) : undefined;
        return early ? begin(early) : enter(namespace, begin);
      },
      begin: async (from, { head }) => {
        const room = async (): Promise<void> =>
          void (await this.#options
            .calls()
            .call(from, 'room', { id: Number(head['id']) })
            .catch(() => undefined)); // the subscriber is gone
        const served = this.#served.get(`${from}/${Number(head['id'])}`);
        if (served?.turn !== Number(head['turn'])) return DONE;
        await this.#options.served(served.namespace);
        await served.subscription?.begin?.(room);
        return DONE;
      },
      end: (from, { head }) => {
        this.#end(`${from}/${Number(head['id'])}`, Number(head['turn']));
        return DONE;
      },
      room: async (_from, { head }) => {
        await this.#byId.get(Number(head['id']))?.hasRoom?.();
        return DONE;
      },
      notice: (_from, { head, body }) => {
        const one = this.#byId.get(Number(head['id']));
        if (one?.isOpen === true && one.turn === Number(head['turn'])) this.#notify(one, JSON.parse(body.toString()) as Notice);
        return DONE;
      },
      lapsed: (_from, { head }) => {
        const one = this.#byId.get(Number(head['id']));
        if (one?.turn === Number(head['turn'])) void this.#reattach(one, null);
        return DONE;
      },
      moved: (from, { head }) => {
        this.#options.routes.forget(String(head['namespace']));
        this.#moved(String(head['namespace']), from);
        return DONE;
      },
      attach: async (from, { head }) => {
        const namespace = String(head['namespace']);
        await Promise.all([...(this.#byNamespace.get(namespace)?.values() ?? [])].map((one) => this.#reattach(one, from)));
        this.#options.calls().post(from, 'attached', { namespace });
        return DONE;
      },
      attached: (from, { head }) => {
        const gathering = this.#gathering.get(String(head['namespace']));
        if (gathering?.missing.delete(from) === true && gathering.missing.size === 0) gathering.done();
        return DONE;
      },
    };
  }

  // ------------------------------------------------------------ inside
  #add(one: Followed): void {
    const { namespace } = one.identity;
    const all = this.#byNamespace.get(namespace) ?? new Map<number, Followed>();
    this.#byNamespace.set(namespace, all.set(one.id, one));
    this.#byId.set(one.id, one);
  }

  #remove(one: Followed): void {
    const { namespace } = one.identity;
    one.isOpen = false;
    this.#byId.delete(one.id);
    const all = this.#byNamespace.get(namespace);
    all?.delete(one.id);
    if (all?.size === 0) this.#byNamespace.delete(namespace);
  }

  #close(one: Followed): void {
    if (!one.isOpen) return;
    this.#remove(one);
    this.#detach(one);
  }

  #detach(one: Followed): void {
    const { owner, local, id, turn } = one;
    one.owner = null;
    one.local = null;
    if (local) local.close();
    else if (owner !== null) this.#options.calls().post(owner, 'end', { id, turn });
  }

  #notify(one: Followed, notice: Notice): void {
    if (notice.kind !== 'event') this.#remove(one);
    one.deliver(notice);
  }

  /**
   * Attaches a subscription; the owner checks its path, and resumes a persistent one by its name.
   * @returns false: another attachment of it has begun since
   * @throws the owner's refusal
   */
  async #attach(one: Followed): Promise<boolean> {
    const { routes, subscribe, epoch } = this.#options;
    const { identity, path, name } = one;
    const options = name === undefined ? one.options : { ...one.options, subscriptionName: name };
    const turn = ++one.turn;
    await routes.at(
      identity.namespace,
      async (space) => {
        if (!this.#isStill(one, turn)) return; // it would take the subscription away from the later one
        const local = await subscribe(space, identity, path, options, (notice) => {
          if (one.isOpen && one.turn === turn) this.#notify(one, notice);
        });
        if (!this.#isStill(one, turn)) return local.close();
        await this.#listeners.record(identity.namespace, space.epoch, epoch);
        if (!this.#isStill(one, turn)) return local.close();
        Object.assign(one, { local, owner: epoch, name: local.name });
      },
      async (owner) => {
        if (this.#isStill(one, turn)) await this.#attachAt(one, turn, owner, options);
      },
      true,
    );
    return this.#isStill(one, turn);
  }

  async #attachAt(one: Followed, turn: number, owner: number, options: SubscribeOptions): Promise<void> {
    const { id, identity, path } = one;
    const text = encodeInner(options as Value);
    const { head } = await this.#options.calls().call(owner, 'subscribe', { id, turn, identity, path, options: text });
    if (!this.#isStill(one, turn)) return void this.#options.calls().post(owner, 'end', { id, turn });
    one.owner = owner;
    one.begins = head['begins'] === true;
    if (typeof head['name'] === 'string') one.name = head['name'];
  }

  #isStill = (one: Followed, turn: number): boolean => one.isOpen && one.turn === turn;

  async #begin(one: Followed, hasRoom: (() => Promise<void>) | undefined): Promise<void> {
    one.hasRoom = hasRoom;
    one.hasBegun = true;
    await one.attaching;
    const { local, owner, id, turn } = one;
    if (local) await local.begin?.(hasRoom);
    else if (owner !== null && one.begins)
      await this.#options
        .calls()
        .call(owner, 'begin', { id, turn })
        .catch((error: unknown) => {
          if (!(error instanceof LinkLost)) throw error; // it is attached again at the next owner
        });
  }

  /** Attaches subscriptions of the former owner to the next one. */
  #moved(namespace: string, owner: number): void {
    for (const one of [...(this.#byNamespace.get(namespace)?.values() ?? [])]) if (one.owner === owner) void this.#reattach(one, null);
  }

  /** @param at the owner to attach to; null: it has to be looked up */
  #reattach(one: Followed, at: number | null): Promise<void> {
    if (at !== null && one.owner === at) return Promise.resolve();
    const before = one.attaching ?? Promise.resolve();
    const left = one.owner;
    const again = (): Promise<void> => (one.owner === left ? this.#attachAgain(one) : Promise.resolve());
    const attaching = (at === null ? before.then(again) : this.#attachTo(one, at)).finally(() => {
      if (one.attaching === attaching) one.attaching = null;
    });
    one.attaching = attaching;
    if (at === null) return attaching;
    one.attachingTo = attaching;
    return attaching.finally(() => {
      if (one.attachingTo === attaching) one.attachingTo = null;
    });
  }

  /** Attaches to a new owner, this process or another one, at its request: it does not serve before. */
  async #attachTo(one: Followed, owner: number): Promise<void> {
    const { epoch, subscribe, running } = this.#options;
    const { identity, path, name } = one;
    const options = name === undefined ? one.options : { ...one.options, subscriptionName: name };
    this.#detach(one);
    const turn = ++one.turn;
    // That owner has died, or given the namespace up, before it had the subscription: the next one may not know that this process listens.
    const again = (): void => void (this.#isStill(one, turn) && this.#reattach(one, null));
    try {
      if (owner === epoch) {
        const space = await running(identity.namespace);
        if (!space) return again();
        const local = await subscribe(space, identity, path, options, (notice) => {
          if (one.isOpen && one.turn === turn) this.#notify(one, notice);
        });
        if (!this.#isStill(one, turn)) return local.close();
        await this.#listeners.record(identity.namespace, space.epoch, epoch);
        Object.assign(one, { local, owner, name: local.name });
      } else await this.#attachAt(one, turn, owner, options);
    } catch (error) {
      return void (this.#failedAgain(one, error) || again());
    }
    // After the namespace serves.
    if (one.hasBegun) this.#beginAgain(one).catch((error: unknown) => void (this.#failedAgain(one, error) || again()));
  }

  async #attachAgain(one: Followed): Promise<void> {
    this.#detach(one);
    for (let turn = 0, pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS))
      try {
        while (one.attachingTo) await one.attachingTo;
        if (!one.isOpen || one.owner !== null) return;
        if (!(await this.#attach(one))) continue;
        turn = one.turn;
        if (one.hasBegun) await this.#beginAgain(one);
      } catch (error) {
        if (this.#failedAgain(one, error)) return;
        if (one.turn === turn) this.#detach(one); // it is attached, and has not begun
        await pause(pauseMs);
      }
  }

  async #beginAgain(one: Followed): Promise<void> {
    const { local, owner, id, turn, hasRoom, identity } = one;
    if (owner === null) return;
    if (!local) return void (one.begins && (await this.#options.calls().call(owner, 'begin', { id, turn })));
    await this.#options.served(identity.namespace);
    await local.begin?.(hasRoom);
  }

  /** @returns whether the subscription is over: its path does not exist any more, or not for this client */
  #failedAgain(one: Followed, error: unknown): boolean {
    if (error instanceof OwnedElsewhere || error instanceof LinkLost) return false;
    const isRefused = error instanceof CascadeErrors || (error instanceof CascadeError && error.code !== 'cascade.server.unavailable');
    if (!isRefused) {
      this.#options.onError(error);
      return false;
    }
    if (one.isNew) one.refusal = error;
    else if (one.isOpen) this.#notify(one, { kind: 'gone' });
    return true;
  }

  /** Begins a subscription of another process's client in a namespace of this one. */
  async #serve(from: number, head: Message['head'], space: OpenNamespace): Promise<Answer> {
    const { identity, path } = head as unknown as { identity: Identity; path: string };
    const options = decodeInner(String(head['options'])) as SubscribeOptions;
    const to = { id: Number(head['id']), turn: Number(head['turn']) };
    const key = `${from}/${to.id}`;
    const { namespace } = identity;
    const former = this.#served.get(key);
    // A later turn of it has overtaken this one, which waited for the namespace: it would take the subscription away from that.
    if (former && former.turn > to.turn) return DONE;
    former?.subscription?.close();
    const served: Served = { namespace, turn: to.turn, subscription: null };
    this.#served.set(key, served);
    const deliver = (notice: Notice): void => {
      const isSent = this.#options.calls().post(from, 'notice', to, Buffer.from(JSON.stringify(notice)));
      if (!isSent) this.#lapse(key, from, to);
    };
    const subscription = await this.#listeners
      .record(namespace, space.epoch, from)
      .then(() => this.#options.subscribe(space, identity, path, options, deliver))
      .catch((error: unknown) => {
        this.#end(key, to.turn);
        throw error;
      });
    if (this.#served.get(key) === served) served.subscription = subscription;
    else subscription.close(); // it was ended meanwhile
    return {
      head: { ...(subscription.name !== undefined && { name: subscription.name }), begins: subscription.begin !== undefined },
    };
  }

  #end(key: string, turn: number): void {
    const served = this.#served.get(key);
    if (served?.turn !== turn) return;
    this.#served.delete(key);
    served.subscription?.close();
  }

  /** Ends a subscription whose events do not fit any more: it is attached again, and stored events of a persistent one are sent again then. */
  #lapse(key: string, listener: number, to: { readonly id: number; readonly turn: number }): void {
    this.#end(key, to.turn);
    this.#options.calls().post(listener, 'lapsed', to);
    this.#options.onLapsed(listener);
  }
}

const DONE: Answer = { head: {} };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
