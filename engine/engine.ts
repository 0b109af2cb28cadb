// The engine: everything behind the bindings. Its parts open in order and close in reverse; namespaces are opened when they are
// first asked for, and those with open runs at the start.

import { auditedIn, auditSecurity } from '../features/audits/index.ts';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type About, readBuild } from '../platform/about/index.ts';
import type { Actor } from '../runtime/context/actor.ts';
import type { ApiReply, ApiRequest, Engine, Health, Identity, Subscription } from '../resources/api.ts';
import { type Clock, openSharedClock } from '../platform/clock/index.ts';
import { Fenced, openEpochs, openProcess, QueueFull } from '../runtime/transactions/index.ts';
import { Egress } from '../platform/egress/index.ts';
import { CascadeError, CascadeErrors, fault } from '../model/errors/faults.ts';
import { openNamespaceKeys } from '../platform/keys/index.ts';
import { type IdentityStore, openDirectory, openIdentity, type PasswordCost, SecurityLog } from '../identity/index.ts';
import { FOLLOWED, openNamespace } from './namespace.ts';
import { type Change, Leaders, openChanges } from '../runtime/cluster/index.ts';
import { OpenNamespaces } from './open-namespaces.ts';
import { compilerHash } from '../runtime/programs/kept-output.ts';
import { describe } from './describe.ts';
import { tooFull } from '../resources/instances/refusals.ts';
import { Quotas, type Release } from '../resources/quotas/index.ts';
import { carryOutOnce } from '../resources/requests/once.ts';
import { accept, sourcesUp } from '../features/sources/index.ts';
import { toJson } from '../model/values/index.ts';
import { type Level, openSandbox } from '../sandbox/index.ts';
import { type Place, Shares } from '../runtime/admission/shares.ts';
import { isPassing, openStore, type Store } from '../platform/mongo/index.ts';
import { subscribe } from '../features/subscriptions/index.ts';
import { Tally } from '../resources/tally.ts';
import { deliveriesOf } from '../features/delivery/namespace-state.ts';

export interface EngineConfig {
  readonly mongoUri: string;
  /** Nobody else uses this database (the embedded one). */
  readonly exclusive: boolean;
  readonly lanes?: number;
  readonly requireSandbox?: Level;
  /** Seals the keys of the namespaces; without it no property can be encrypted. */
  readonly masterKey?: Uint8Array | null;
  /** What time it is for rules. When absent: the machine's clock, or the database's where others may use it, too. */
  readonly clock?: Clock;
  /** Evaluations that one rule may have open (language.md K10). */
  readonly mostOpenEvaluations?: number;
  /** Of new hashes of passwords; a service has the usual one. */
  readonly passwordCost?: PasswordCost;
  /** What programs may know of the installation; without it there is no address. */
  readonly about?: About;
  /** Networks that outgoing connections may reach besides public addresses; none by default. */
  readonly outboundAddresses?: readonly string[];
  readonly log: Logger;
}

const nameless = (): About => ({ serverUri: () => '', build: readBuild() });

const DRAIN_MS = 10_000;
/** How long a process is dead at most before another one sees it (besides its lease, where it ran elsewhere). */
const LOOK_FOR_DEAD_MS = 2_000;
const WATCH_EVERY_MS = 1_000;
const MOST_OPEN_EVALUATIONS = 1_000_000;

export async function openEngine({
  mongoUri,
  exclusive,
  lanes,
  requireSandbox,
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
        log.error({ err: error }, 'a part did not close');
      }
    }
  };
  try {
    const store = keep(await openStore(mongoUri));
    const clock = given ?? keep(await openClockOf(exclusive ? null : store, log));
    let isFenced = false;
    let status: Health['status'] = 'starting';
    /** Another process has taken over: only a new start helps. */
    const onFenced = (): void => {
      if (!isFenced) log.fatal('another process has taken over the work of this one, which stood still for too long: start it again');
      status = 'database';
      isFenced = true;
    };
    const process = keep(
      await openProcess(store.installation, store.clientName, exclusive, onFenced, (error) =>
        log.error({ err: error }, 'the lease of this process'),
      ),
    );
    const tally = new Tally();
    const egress = new Egress({
      allowed: outboundAddresses,
      databases: store.client.options.hosts.map(({ host, port }) => ({ host: String(host), port: Number(port) })),
    });
    const shares = new Shares();
    const sandbox = keep(
      await openSandbox({
        ...(lanes === undefined ? {} : { lanes }),
        ...(requireSandbox && { requireLevel: requireSandbox }),
        clock,
        log,
        resolveProcedure: async (namespace, name) => (await namespaces.running(namespace))?.resolveProcedure(name) ?? null,
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
        throw fault('cascade.quota.exceeded', 'sessions', limit);
    };
    const identity = openIdentity(store.installation, Date.now, {
      exclusive,
      security,
      requireSessionRoom,
      ...(passwordCost && { passwordCost }),
    });
    const keys = openNamespaceKeys(store.installation, masterKey ?? null);
    const drop = async (name: string): Promise<void> => {
      // What is under way there has so long to end: who deletes it is itself one of them.
      const closing = namespaces.release(name).then((open) => open?.[Symbol.asyncDispose]());
      const dropped = closing.then(() => dropNamespace(store, identity, name));
      dropped.catch((err: unknown) =>
        log.error({ err, namespace: name }, 'the data of a deleted namespace could not be removed: the next start does it'),
      );
      await Promise.race([dropped.catch(() => undefined), sleep(DROP_MS, new AbortController().signal)]);
    };
    const accounts = { identity, directory, keys, security, quotas, drop };
    const compiler = await compilerHash();
    const about = { ...aboutIt, nodeUuid: await nodeUuidOf(store) };
    const leaders = exclusive ? null : new Leaders(store.installation, process);

    const namespaces: OpenNamespaces = new OpenNamespaces({
      open: (name) =>
        openNamespace({
          name,
          store,
          process,
          leaders,
          onFenced,
          sandbox,
          clock,
          mostOpenEvaluations,
          log,
          rightsOf: (username, namespace) => identity.rightsOf(username, namespace),
          accounts,
          about,
          compiler,
          tally,
          egress,
        }),
      takenOver: (epochs) => process.forget(epochs),
      isShared: !exclusive,
      log,
    });
    security.heard = (heard) => {
      const done = auditedIn(heard, accounts.directory).then(async (name) =>
        auditSecurity((await namespaces.of(name)).space, heard, clock),
      );
      done.catch((err: unknown) => log.error({ err }, 'an audit could not be stored'));
    };
    keep({
      // Before the sandbox goes: what was acknowledged gets its time to finish, the rest is in the journal.
      async [Symbol.asyncDispose]() {
        status = 'draining';
        const open = await namespaces.close();
        const timer = new AbortController();
        await Promise.race([Promise.all(open.map((space) => space.drained())), sleep(DRAIN_MS, timer.signal)]);
        timer.abort();
        const left = open.reduce((sum, space) => sum + space.pending, 0);
        if (left > 0) log.warn({ runs: left }, 'stopping with open runs: the next start goes on with them');
        for (const space of open) await space[Symbol.asyncDispose]();
      },
    });
    if (!exclusive) keep(await openNeighbourhood());
    const dead = await process.claim();
    const known = await knownNamespaces(store);
    // Without the key that their data are sealed with there is nothing to try again: the start says so.
    await Promise.all(known.map((name) => keys.cipherOf(name)));
    await namespaces.takeOver(known, dead);
    for (const name of await identity.deletedNamespaces()) await dropNamespace(store, identity, name);
    status = 'ok';
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

    /** What other processes change is followed, and what they leave behind is taken over. */
    async function openNeighbourhood(): Promise<AsyncDisposable> {
      const prefix = store.namespace('').databaseName;
      const onError = (error: unknown): void =>
        log.warn({ err: error }, 'changes of other processes were not heard: they are looked for again');
      const changes = await openChanges(
        store.client,
        [...FOLLOWED, ...ACCOUNTS],
        async (change) => {
          if (change.database === store.installation.databaseName) {
            if (mayEnd(change)) identity.noticed();
          } else if (change.updated) return;
          else if (change.database.startsWith(prefix)) await namespaces.follow(change.database.slice(prefix.length), change);
        },
        async () => {
          identity.noticed();
          for (const space of await namespaces.all()) await space.followAll();
        },
        onError,
      );
      let round: Promise<void> = Promise.resolve();
      let isIdle = true;
      const timer = setInterval(() => {
        if (!isIdle || status !== 'ok') return;
        isIdle = false;
        round = takeOverDead()
          .catch((error: unknown) => log.error({ err: error }, 'what a dead process left could not be taken over: it is tried again'))
          .finally(() => (isIdle = true));
      }, LOOK_FOR_DEAD_MS);
      timer.unref();
      return {
        async [Symbol.asyncDispose]() {
          clearInterval(timer);
          await round;
          await changes[Symbol.asyncDispose]();
        },
      };
    }

    async function takeOverDead(): Promise<void> {
      const gone = (await process.claim()).filter((epoch) => !namespaces.isOwed(epoch)); // those are being taken over
      if (gone.length === 0) return;
      log.info({ epochs: gone }, 'taking over what dead processes left');
      const open = new Set(namespaces.names);
      const led = new Set(await leaders?.ledBy(gone));
      const concerned: string[] = [];
      for (const name of new Set([...led, ...(await knownNamespaces(store)), ...open]))
        if (open.has(name) || led.has(name) || (await openEpochs(store.namespace(name), (epoch) => gone.includes(epoch))).length > 0)
          concerned.push(name);
      await namespaces.takeOver(concerned, gone);
    }

    function noteRefusal(
      error: unknown,
      { username, namespace }: Identity,
      { op, resourceName, address = null }: { op: string; resourceName: string; address?: string | null },
    ): void {
      if (!(error instanceof CascadeError || error instanceof CascadeErrors) || error.status !== 403) return;
      const { code } = error instanceof CascadeErrors ? error.errors[0]! : error;
      security.refused({ username, namespace, address, operation: op, resource: resourceName, code });
    }

    return {
      identity,
      async settled() {
        for (const space of await namespaces.all()) await space.drained();
      },
      health: () => ({ ready: status === 'ok', status }),
      tally,
      async load() {
        const open = await namespaces.all();
        const pending = await Promise.all(open.map(({ space }) => deliveriesOf(space).pending()));
        return {
          queueDepth: open.reduce((sum, one) => sum + one.pending, 0),
          requestsWaiting: shares.waiting,
          reliablePending: pending.reduce((sum, one) => sum + one, 0),
          namespacesUnavailable: namespaces.unavailable,
          sources: open.flatMap(({ space }) => sourcesUp(space)),
        };
      },
      async describe({ namespace }) {
        return describe((await namespaces.of(namespace)).space);
      },
      async subscribe(identity, path, options, deliver) {
        const { space } = await namespaces.of(identity.namespace);
        const usage = await quotas.of(identity.namespace);
        usage?.takeRequest();
        const release = usage?.open('subscriptions');
        try {
          const subscription = await subscribe(space, identity, path, options, deliver);
          return release ? released(subscription, release) : subscription;
        } catch (error) {
          release?.();
          noteRefusal(error, identity, { op: 'subscribe', resourceName: path });
          throw error;
        }
      },
      async acknowledge(identity, { subscriptionName, partitionId, sequenceId }) {
        const { space } = await namespaces.of(identity.namespace);
        if ((await deliveriesOf(space).acknowledge(identity, subscriptionName, partitionId, sequenceId)) === null)
          log.info({ subscriptionName, partitionId, sequenceId }, 'there was nothing to acknowledge');
      },
      async unsubscribe(identity, name) {
        const { space } = await namespaces.of(identity.namespace);
        await deliveriesOf(space).unsubscribe(identity, name);
      },
      async openSocket(namespace) {
        return (await quotas.of(namespace))?.open('webSockets') ?? (() => undefined);
      },
      async accept(namespace, arrival) {
        if (isFenced) throw fault('cascade.server.unavailable');
        if (!(await accounts.directory.hasNamespace(namespace)))
          throw fault('cascade.resource.not.found', `/private/${arrival.protocol}/${namespace}/${arrival.source}`);
        const entered = shares.enter(namespace);
        const place = entered instanceof Promise ? await entered : entered;
        try {
          const { status, body } = await accept((await namespaces.of(namespace)).space, arrival);
          return { status, body: toJson(body) };
        } catch (error) {
          if (isPassing(error) || error instanceof Fenced) throw fault('cascade.server.unavailable');
          throw error;
        } finally {
          shares.leave(namespace, place);
        }
      },
      async execute(request: ApiRequest): Promise<ApiReply> {
        const { namespace } = request.identity;
        let place: Place | null = null;
        try {
          if (isFenced) throw new Fenced('another process does the work of this one');
          if (request.publicOnly && !(await accounts.directory.hasNamespace(namespace)))
            throw fault('cascade.resource.not.found', `/public/${namespace}/${request.resourceName}/${request.resourceId ?? ''}`);
          const entered = shares.enter(namespace);
          place = entered instanceof Promise ? await entered : entered;
          const limited = quotas.of(namespace);
          const usage = limited instanceof Promise ? await limited : limited;
          usage?.takeRequest();
          if (request.op === 'execute') usage?.takeExecution();
          const { space } = await namespaces.of(namespace);
          const actor: Actor = {
            identity: request.identity,
            clock,
            chain: { root: null, depth: 0 },
            commit: (unit) => {
              const full = space.committer.refusal(unit);
              return full ? Promise.reject(tooFull(full)) : space.committer.submit(unit);
            },
            enqueue: (unit, stored, failed) => {
              space.committer.enqueue(unit, false, stored, (error) => failed(error instanceof QueueFull ? tooFull(error) : error));
            },
            reading: null,
            childKey: null,
            depth: 0,
          };
          return await carryOutOnce(space, request, actor);
        } catch (error) {
          noteRefusal(error, request.identity, request);
          if (error instanceof QueueFull) throw tooFull(error);
          if (isPassing(error) || error instanceof Fenced) throw fault('cascade.server.unavailable');
          throw error;
        } finally {
          if (place) shares.leave(namespace, place);
        }
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A subscription that gives back its place when it ends. */
const released = (subscription: Subscription, release: Release): Subscription => ({
  ...subscription,
  close() {
    release();
    subscription.close();
  },
});

/** Collections of the installation by whose changes somebody may have other rights. */
const ACCOUNTS = ['users', 'tokens'];

/** Logins make tokens, and say when they were. */
function mayEnd({ collection, document, updated }: Change): boolean {
  if (collection === 'tokens') return document === null && updated === undefined;
  return !(updated?.length === 1 && updated[0] === 'lastLogin');
}

/** A deletion is answered after so long, even when the data of the namespace are still being removed. */
const DROP_MS = 5_000;

async function dropNamespace(store: Store, identity: IdentityStore, name: string): Promise<void> {
  await store.namespace(name).dropDatabase();
  await identity.namespaceDropped(name);
}

/** Made with the first start. */
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

/** @param shared whose time holds for all of its processes; null: the database is on this machine, and has its time */
const openClockOf = (shared: Store | null, log: Logger): ReturnType<typeof openSharedClock> =>
  openSharedClock({
    remote: async () =>
      shared ? ((await shared.client.db('admin').command({ hello: 1 })) as { localTime: Date }).localTime.getTime() : Date.now(),
    onError: (error) => log.warn({ err: error }, 'the database did not say what time it is'),
    onSet: (timeMs) => log.warn({ time: new Date(timeMs) }, 'the clock was more than a day away from this time, and has been set to it'),
  });

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
