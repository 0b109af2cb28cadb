// This process in its cluster: the namespaces that it owns, its links to other processes, and the changes of both when processes join,
// leave and die (docs/clustering.md).

import { randomBytes } from 'node:crypto';
import { type Binary } from 'mongodb';
import type { Logger } from 'pino';
import type { Bus } from '../platform/bus/index.ts';
import type { Store } from '../platform/mongo/index.ts';
import { Calls, Owners, type Ownership, type ServiceProcess } from '../runtime/cluster/index.ts';
import { Fenced } from '../runtime/transactions/index.ts';
import { subscribe } from '../features/subscriptions/index.ts';
import {
  failureHead,
  failureOf,
  Rebalancer,
  Forwarding,
  type LocalEngine,
  OwnedElsewhere,
  Routes,
  FollowedSubscriptions,
} from './forwarding/index.ts';
import type { OpenNamespace } from './namespace.ts';
import { OpenNamespaces } from './open-namespaces.ts';

export interface ClusterOptions {
  readonly store: Store;
  readonly process: ServiceProcess;
  /** Whether no other process can use the database. */
  readonly exclusive: boolean;
  /** The bus; null: no other process can be reached. */
  readonly bus: Bus | null;
  /** The installation's name on the bus. */
  readonly nodeUuid: string;
  readonly local: LocalEngine;
  readonly open: (name: string, ownership: Ownership, onFenced: () => void) => Promise<OpenNamespace>;
  /** Converts an error to the one that clients get. */
  readonly asClientError: (error: unknown) => unknown;
  readonly idleAfterMs: number;
  readonly isServing: () => boolean;
  readonly log: Logger;
}

export interface Cluster extends AsyncDisposable {
  readonly namespaces: OpenNamespaces;
  readonly owners: Owners;
  readonly routes: Routes;
  readonly forwarding: Forwarding;
  /** Subscriptions that follow their namespaces. */
  readonly followed: FollowedSubscriptions;
  readonly rebalancer: Rebalancer;
  /** Calls to other processes; null: none can be reached. */
  readonly calls: Calls | null;
}

// oxlint-disable-next-line max-lines-per-function -- opens the parts of a process among several, and closes them in the reverse order
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { store, process, exclusive, bus, nodeUuid, local, open, asClientError, idleAfterMs, isServing, log } = options;
  const owners = new Owners(store.installation, process);
  const namespaces: OpenNamespaces = new OpenNamespaces({
    async acquire(name) {
      const acquired = await owners.acquire(name);
      if ('owner' in acquired) throw new OwnedElsewhere(acquired.owner);
      return acquired.ownership;
    },
    open,
    gather: async (name, _space, { listeners }) => {
      if (listeners.length > 0) await followed.gather(name, listeners);
    },
    closed: (name, ownership) => owners.closed(name, ownership),
    closing: (name) => followed.closing(name),
    release: (name, epoch, isResting) => owners.release(name, epoch, isResting),
    giveUp: (name, epoch) => owners.giveUp(name, epoch),
    isShared: bus !== null,
    log,
  });
  const enter = async <T>(namespace: string, work: (space: OpenNamespace) => Promise<T>): Promise<T> => {
    if (!isServing() && !namespaces.has(namespace)) throw new OwnedElsewhere(null);
    const space = await namespaces.enter(namespace);
    try {
      return await work(space);
    } finally {
      namespaces.leave(namespace);
    }
  };
  let calls: Calls | null = null;
  const present = (): Calls => {
    if (!calls) throw new Fenced('no other process can be reached');
    return calls;
  };
  const routes = new Routes({ namespaces, owners, process, calls: () => calls });
  const forwarding = new Forwarding(local, routes, present);
  const followed: FollowedSubscriptions = new FollowedSubscriptions({
    epoch: process.epoch,
    routes,
    owners,
    calls: present,
    living: async (epochs) => (bus && epochs.length > 0 ? process.living(epochs) : []),
    subscribe: ({ space }, ...rest) => subscribe(space, ...rest),
    running: (name) => namespaces.running(name),
    served: (name) => namespaces.of(name),
    onError: (err) => log.error({ err }, 'a subscription could not follow its namespace when that was opened anew: it is retried'),
    onLapsed: (listener) =>
      log.warn({ process: listener }, 'too much waits for another process: its clients miss events that are not reliable'),
  });
  if (bus)
    calls = new Calls({
      bus,
      installation: nodeUuid,
      secret: await secretOf(store),
      epoch: process.epoch,
      handlers: { ...forwarding.handlers(enter), ...followed.handlers(enter) },
      toFailure: (error) => failureHead(asClientError(error)),
      fromFailure: failureOf,
      onLook: () => rebalancer.look(),
    });
  const ends = calls?.onDrop((epoch) => {
    forwarding.dropped(epoch);
    followed.dropped(epoch);
  });
  const rebalancer: Rebalancer = new Rebalancer({
    process,
    owners,
    namespaces,
    routes,
    calls,
    exclusive,
    idleAfterMs,
    isServing,
    log,
  });
  return {
    namespaces,
    owners,
    routes,
    forwarding,
    followed,
    rebalancer,
    calls,
    async [Symbol.asyncDispose]() {
      ends?.();
      await calls?.[Symbol.asyncDispose]();
    },
  };
}

/** The secret that seals messages between the processes of an installation; the first process makes it. */
async function secretOf(store: Store): Promise<Uint8Array> {
  const found = await store.installation
    .collection<{ _id: string; secret: Binary | Buffer }>('installation')
    .findOneAndUpdate({ _id: 'bus' }, { $setOnInsert: { secret: randomBytes(32) } }, { upsert: true, returnDocument: 'after' });
  const { secret } = found!;
  return secret instanceof Uint8Array ? secret : secret.buffer;
}
