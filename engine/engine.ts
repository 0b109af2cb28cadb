/* oxlint-disable max-lines -- the composition of an installation */
// The engine: the service behind the bindings. Its parts open in order and close in reverse; namespaces are opened by their first request,
// and those with open runs at the start.

import { auditedIn } from '../features/audits/index.ts';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { ApiReply, ApiRequest, Engine, Health, Subscription } from '../resources/api.ts';
import type { Bus } from '../platform/bus/index.ts';
import { apiError } from '../model/errors/index.ts';
import { idsBy } from '../model/types/index.ts';
import type { Installation } from '../resources/catalog/index.ts';
import { openNamespace } from './namespace.ts';
import { type Change, openChanges, openProcess } from '../runtime/cluster/index.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { asClientError, listenedTo, noteRefusal, openLocalEngine } from './local-engine.ts';
import { requirePeers } from './peers.ts';
import { sourcesUp } from '../features/sources/index.ts';
import { FairScheduler } from '../runtime/admission/index.ts';
import { openStore, type Store } from '../platform/mongo/index.ts';
import { type About, readBuild } from '../platform/about/index.ts';
import { type Clock, openSharedClock } from '../platform/clock/index.ts';
import { Egress } from '../platform/egress/index.ts';
import { openNamespaceKeys } from '../platform/keys/index.ts';
import { type IdentityStore, openDirectory, openIdentity, type PasswordCost, SecurityLog } from '../identity/index.ts';
import { Stalls } from '../platform/stalls/index.ts';
import { Compiler, compilerHash } from '../runtime/programs/index.ts';
import { Quotas, type Release } from '../resources/quotas/index.ts';
import { type Level, openSandbox, type Sandbox, type SandboxOptions } from '../sandbox/index.ts';
import { Counters } from '../resources/counters.ts';
import { deliveriesOf } from '../features/delivery/index.ts';

export interface EngineConfig {
  readonly mongoUri: string;
  /** Whether no other process can use the database (the embedded one). */
  readonly exclusive: boolean;
  /** The bus between processes on this database. Without it this process reaches no other. */
  readonly bus?: Bus | null;
  /** Whether another process may serve the database only if both have a bus. */
  readonly needsBus?: boolean;
  /** Time without requests after which a namespace is closed, when no work is left to do there; ten minutes when absent. */
  readonly idleAfterMs?: number;
  /** Called when another process has taken over: this one serves nobody any more. */
  readonly onFenced?: () => void;
  readonly lanes?: number;
  readonly requireSandbox?: Level;
  /** In place of `openSandbox`; for tests, which open many engines in one process. */
  readonly sandboxes?: (options: SandboxOptions) => Promise<Sandbox>;
  /** The key that seals the keys of the namespaces; without it no property can be encrypted. */
  readonly masterKey?: Uint8Array | null;
  /** The clock of rules. When absent: the machine's, or the database's where other processes may use it, too. */
  readonly clock?: Clock;
  /** Bound of the open evaluations of one rule (language.md K10). */
  readonly mostOpenEvaluations?: number;
  /** The cost of new hashes of passwords; a service has the default. */
  readonly passwordCost?: PasswordCost;
  /** Facts about the installation that programs may read; without it there is no address. */
  readonly about?: About;
  /** Networks that outgoing connections may reach besides public addresses; none by default. */
  readonly outboundAddresses?: readonly string[];
  readonly log: Logger;
}

const nameless = (): About => ({ serverUri: () => '', build: readBuild() });

const IDLE_AFTER_MS = 600_000;
const WATCH_EVERY_MS = 1_000;
const MOST_OPEN_EVALUATIONS = 1_000_000;

// oxlint-disable-next-line max-lines-per-function -- opens the parts of an installation one after the other, and closes them in the reverse order
export async function openEngine({
  mongoUri,
  exclusive,
  bus = null,
  needsBus = false,
  idleAfterMs = IDLE_AFTER_MS,
  onFenced: onEnd = () => undefined,
  lanes,
  requireSandbox,
  sandboxes = openSandbox,
  masterKey,
  clock: given,
  mostOpenEvaluations = MOST_OPEN_EVALUATIONS,
  about: aboutIt = nameless(),
  passwordCost,
  outboundAddresses = [],
  log,
}: EngineConfig): Promise<Engine> {
  const opened: AsyncDisposable[] = [];
  const keep = <T extends AsyncDisposable>(part: T): T => {
    opened.push(part);
    return part;
  };
  const close = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) {
      try {
        await part[Symbol.asyncDispose]();
      } catch (error) {
        log.error({ err: error }, 'a part of the engine could not be closed');
      }
    }
  };
  try {
    const store = keep(await openStore(mongoUri));
    const clock = given ?? keep(await openClockOf(exclusive ? null : store, log));
    if (!given) idsBy(() => clock.now());
    let isFenced = false;
    let status: Health['status'] = 'starting';
    /** Another process has taken over: only a new start of this one helps. */
    const onTaken = (): void => {
      if (isFenced) return;
      log.fatal('another process has taken over the work of this one, which did not renew its lease in time: start it again');
      status = 'database';
      isFenced = true;
      onEnd();
    };
    const process = keep(
      await openProcess({
        installation: store.installation,
        client: store.clientName,
        exclusive,
        hasBus: bus !== null,
        onTaken,
        onError: (error) => log.error({ err: error }, 'the lease of this process could not be written'),
      }),
    );
    if (!exclusive && (needsBus || bus)) await requirePeers(process, bus !== null);
    const counters = new Counters();
    const stalls = new Stalls({ log });
    keep({ [Symbol.asyncDispose]: async () => stalls[Symbol.dispose]() });
    stalls.onStall = (stall) => counters.stalled(stall);
    const egress = new Egress({
      allowed: outboundAddresses,
      databases: store.client.options.hosts.map(({ host, port }) => ({ host: String(host), port: Number(port) })),
    });
    const scheduler = new FairScheduler();
    const sandbox = keep(
      await sandboxes({
        ...(lanes === undefined ? {} : { lanes }),
        ...(requireSandbox && { requireLevel: requireSandbox }),
        opensWithProgram: true,
        clock,
        stalls,
        log,
        resolveProcedure: async (namespace, name) => (await cluster.namespaces.running(namespace))?.resolveProcedure(name) ?? null,
      }),
    );
    const security = new SecurityLog(log);
    const directory = openDirectory(store.installation);
    const quotas = new Quotas((namespace) => directory.quotaOf(namespace));
    keep({ [Symbol.asyncDispose]: async () => quotas.close() });
    const requireSessionRoom = async (namespace: string): Promise<void> => {
      const usage = await quotas.of(namespace);
      const limit = usage?.limit('sessions') ?? null;
      if (usage && limit !== null && (await directory.countSessions(usage.namespaces)) >= limit)
        throw apiError('cascade.quota.exceeded', 'sessions', limit);
    };
    const identity = openIdentity(store.installation, Date.now, {
      exclusive,
      security,
      requireSessionRoom,
      noted: (name, session) => cluster.owners.add(name, session),
      ...(passwordCost && { passwordCost }),
    });
    const keys = openNamespaceKeys(store.installation, masterKey ?? null);
    const isSure = (): boolean => !isFenced && process.isSure();
    const dropHere = async (name: string): Promise<void> => {
      await cluster.namespaces.abandon(name);
      await dropNamespace(store, identity, name);
      await cluster.owners.remove(name);
    };
    const drop = async (name: string): Promise<void> => {
      // Requests in flight there get a bounded time to end, since the deletion itself is one of them.
      const owner = await cluster.owners.ownerOf(name);
      const isTheirs = owner !== null && owner !== process.epoch && cluster.calls?.isGone(owner) === false;
      const dropped = isTheirs ? cluster.forwarding.dropAt(owner, name) : dropHere(name);
      dropped.catch((err: unknown) =>
        log.error({ err, namespace: name }, 'the data of a deleted namespace could not be removed: the next start retries it'),
      );
      await Promise.race([dropped.catch(() => undefined), sleep(DROP_MS, new AbortController().signal)]);
    };
    const compiled = { hash: await compilerHash(), compiler: keep(new Compiler()), onProgram: () => sandbox.prepare() };
    const about = { ...aboutIt, nodeUuid: await nodeUuidOf(store) };
    const installation: Installation = {
      identity,
      directory,
      keys,
      security,
      quotas,
      rightsOf: (username, namespace) => identity.rightsOf(username, namespace),
      about,
      isSure,
      lasting: store.namespace('system'),
      databaseOf: (name) => store.namespace(name),
      reopen: (name) => cluster.forwarding.reopen(name),
      forgetUser: (name, username, by) => cluster.forwarding.forgetUser(name, username, by),
      drop,
    };
    const local = openLocalEngine({
      ...{ clock, scheduler, quotas, security, isSure, log },
      drop: dropHere,
      close: (name) => cluster.namespaces.close(name),
    });
    const reopened = new Set<string>();
    const cluster: Cluster = keep(
      await openCluster({
        store,
        process,
        exclusive,
        bus,
        nodeUuid: about.nodeUuid,
        local,
        asClientError,
        idleAfterMs,
        isServing: () => status === 'ok',
        log,
        async open(name, { epoch, unclosed, idSecond }, onFenced) {
          const opened = await openNamespace({
            name,
            store,
            epoch,
            unclosed,
            idSecond,
            processEpoch: process.epoch,
            onFenced,
            sandbox,
            clock,
            mostOpenEvaluations,
            log,
            installation,
            compiled,
            counters,
            stalls,
            egress,
          });
          // The sandbox may remember procedures from before, when another process owned the namespace.
          if (reopened.has(name))
            for (const [procedure] of opened.space.catalog.definitions.list('procedures')) sandbox.procedureChanged(name, procedure);
          reopened.add(name);
          return opened;
        },
      }),
    );
    const { namespaces, forwarding, rebalancer, followed } = cluster;
    security.onEvent = async (event) => forwarding.audit(await auditedIn(event, installation.directory), event);
    keep({
      // Before the sandbox closes: acknowledged runs get time to finish, and the journal holds the rest.
      async [Symbol.asyncDispose]() {
        await security.settled(); // no namespace is opened for an audit any more from here on
        status = 'draining';
        await process.serve(false).catch((err: unknown) => log.error({ err }, 'this process could not record that it is about to stop'));
        cluster.calls?.look();
        followed.stop();
        await namespaces.stop();
        await rebalancer[Symbol.asyncDispose]();
        if (isFenced) await Promise.all(namespaces.names.map((name) => namespaces.abandon(name)));
        else await rebalancer.handOverAll();
        await cluster.calls?.leave();
      },
    });
    if (!exclusive) keep(await followAccounts());
    const known = await knownNamespaces(store);
    // Without the key that seals their data a retry cannot succeed: the start fails with the reason.
    await Promise.all(known.map((name) => keys.cipherOf(name)));
    await process.serve(true);
    await rebalancer.begin(known);
    for (const name of await identity.deletedNamespaces()) await dropHere(name);
    status = 'ok';
    cluster.calls?.look();
    const watch = setInterval(() => {
      store.client
        .db('admin')
        .command({ ping: 1 }, { timeoutMS: WATCH_EVERY_MS })
        .then(
          () => status === 'database' && !isFenced && (status = 'ok'),
          () => status === 'ok' && (status = 'database'),
        );
    }, WATCH_EVERY_MS);
    watch.unref();
    keep({ [Symbol.asyncDispose]: async () => clearInterval(watch) });

    /** Looks up rights again that another process has changed. */
    function followAccounts(): Promise<AsyncDisposable> {
      return openChanges(
        store.client,
        ACCOUNTS,
        async (change) => {
          if (change.database === store.installation.databaseName && mayEnd(change)) identity.noticed();
        },
        async () => identity.noticed(),
        (err) => log.warn({ err }, 'the change stream failed: it is opened again'),
      );
    }

    return {
      identity,
      async settled() {
        for (const space of await namespaces.all()) await space.drained();
      },
      health: () => ({ ready: status === 'ok', status }),
      counters,
      async load() {
        const open = await namespaces.all();
        const pending = await Promise.all(open.map(({ space }) => deliveriesOf(space).pending()));
        return {
          queueDepth: open.reduce((sum, one) => sum + one.pending, 0),
          requestsWaiting: scheduler.waiting,
          reliablePending: pending.reduce((sum, one) => sum + one, 0),
          namespacesUnavailable: namespaces.unavailable,
          sources: open.flatMap(({ space }) => sourcesUp(space)),
        };
      },
      describe: (identity) => forwarding.describe(identity),
      async subscribe(identity, path, { probes, ...options }, deliver) {
        const usage = probes ? null : await quotas.of(identity.namespace);
        let release: Release | undefined;
        try {
          usage?.takeRequest();
          release = usage?.open('subscriptions');
          const subscription = await followed.subscribe(identity, path, options, deliver);
          return release ? released(subscription, release) : subscription;
        } catch (error) {
          release?.();
          if (!probes) noteRefusal(security, error, identity, { op: 'subscribe', resourceName: listenedTo(path) });
          throw error;
        }
      },
      acknowledge: (identity, acknowledgement) => forwarding.acknowledge(identity, acknowledgement),
      unsubscribe: (identity, path, name) => forwarding.unsubscribe(identity, path, name),
      async openSocket(namespace) {
        return (await quotas.of(namespace))?.open('webSockets') ?? (() => undefined);
      },
      async accept(namespace, arrival) {
        if (!isSure()) throw apiError('cascade.server.unavailable');
        if (!(await installation.directory.hasNamespace(namespace)))
          throw apiError('cascade.resource.not.found', `/private/${arrival.protocol}/${namespace}/${arrival.source}`);
        return forwarding.accept(namespace, arrival).catch((error: unknown) => {
          throw asClientError(error);
        });
      },
      async count(identity) {
        if (!(await installation.directory.hasNamespace(identity.namespace))) return; // of a public path
        try {
          (await quotas.of(identity.namespace))?.takeRequest();
        } catch (error) {
          noteRefusal(security, error, identity, { op: '', resourceName: '' });
          throw error;
        }
      },
      async execute(request: ApiRequest): Promise<ApiReply> {
        if (!isSure()) throw apiError('cascade.server.unavailable');
        const { namespace } = request.identity;
        if (request.publicOnly && !(await installation.directory.hasNamespace(namespace)))
          throw apiError('cascade.resource.not.found', `/public/${namespace}/${request.resourceName}/${request.resourceId ?? ''}`);
        try {
          const what = request.resourceName === 'procedures' ? 'execute' : request.op;
          return await stalls.run('request', namespace, what, () => forwarding.execute(request));
        } catch (error) {
          throw asClientError(error);
        }
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A subscription that gives its place in the quota back when it ends. */
const released = (subscription: Subscription, release: Release): Subscription => ({
  ...subscription,
  close() {
    release();
    subscription.close();
  },
});

/** Collections of the installation whose changes may change somebody's rights. */
const ACCOUNTS = ['users', 'tokens'];

/** Whether a change may end rights: logins, which add tokens and record their times, do not. */
function mayEnd({ collection, document, updated }: Change): boolean {
  if (collection === 'tokens') return document === null && updated === undefined;
  return !(updated?.length === 1 && updated[0] === 'lastLogin');
}

/** Longest wait of the answer to a deletion for the removal of the namespace's data. */
const DROP_MS = 5_000;

async function dropNamespace(store: Store, identity: IdentityStore, name: string): Promise<void> {
  await dropDatabase(store, name);
  await identity.namespaceDropped(name);
}

/** Drops a database. Two processes that start at once may both find the rest of a deletion; the later one waits for the earlier. */
async function dropDatabase(store: Store, name: string): Promise<void> {
  for (;;) {
    try {
      await store.namespace(name).dropDatabase();
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== DATABASE_DROP_PENDING) throw error;
      await sleep(DROP_PENDING_MS, new AbortController().signal);
    }
  }
}

/** MongoDB's error while a database is being dropped. */
const DATABASE_DROP_PENDING = 215;
const DROP_PENDING_MS = 50;

/** The installation's id, made at the first start. */
async function nodeUuidOf(store: Store): Promise<string> {
  const found = await store.installation
    .collection<{ _id: string; uuid: string }>('installation')
    .findOneAndUpdate({ _id: 'node' }, { $setOnInsert: { uuid: randomUUID() } }, { upsert: true, returnDocument: 'after' });
  return found!.uuid;
}

const knownNamespaces = async (store: Store): Promise<string[]> =>
  (
    await store.installation
      .collection('namespaces')
      .find({}, { projection: { namespace: 1 } })
      .toArray()
  ).map((one) => String(one['namespace']));

/** @param shared the store whose time holds for all processes; null: the database is on this machine, and has its time */
const openClockOf = (shared: Store | null, log: Logger): ReturnType<typeof openSharedClock> =>
  openSharedClock({
    remote: async () =>
      shared ? ((await shared.client.db('admin').command({ hello: 1 })) as { localTime: Date }).localTime.getTime() : Date.now(),
    onError: (error) => log.warn({ err: error }, 'the time of the database could not be read'),
    onSet: (timeMs) => log.warn({ time: new Date(timeMs) }, 'the clock differed from this time by more than a day, and has been set to it'),
  });

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
