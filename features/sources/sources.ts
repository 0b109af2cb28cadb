// The sources of a namespace in this process: one connection life cycle each, restarted when the definition changes. The owner of the
// namespace consumes; other processes connect a source when something is published to it there.
import type { Db } from 'mongodb';
import { isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { serviceActor } from '../../runtime/context/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import type { Outlet } from '../../platform/egress/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { audited, creatorOf } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { checkConfig } from './config.ts';
import { SourceCounts } from './counts.ts';
import { callerOf } from './documents.ts';
import { Inbox, isNoted, logLine, logOnce } from './inbound.ts';
import { closedWhenIdle } from './lifecycle/in-use.ts';
import { Life, type LifeState, type StateError } from './lifecycle/life.ts';
import { outletUntil } from './lifecycle/outlet-until.ts';
import { noConnection, shownState, statusOf } from './lifecycle/shown-state.ts';
import { secretNamed } from '../secrets/index.ts';
import { withNamedSecrets } from './named-secrets.ts';
import { type Connection, ConnectionFailure, type Direction, protocolOf, type SourceContext } from './protocols/index.ts';
import { own } from './protocols/fields.ts';
import { faultyTls, tlsOptions } from '../../platform/egress/index.ts';
import { Polls } from './polls.ts';
import { type ConsumerState, SourceRecords } from './records.ts';
import { wholeConfig } from './secrets.ts';
import { isActive, isMocked, madeOf, unresolvedRule } from './state.ts';

export interface SourcesOptions {
  readonly space: () => Namespace;
  readonly db: Db;
  readonly epoch: number;
  readonly outlet: Outlet;
}

interface Entry {
  /** The inputs of the connection: a source that is stored again without a change keeps its connection. */
  readonly madeOf: string;
  readonly source: ObjectValue;
  readonly life: Life;
  readonly inbox: Inbox;
  readonly consumes: boolean;
  readonly isStanding: boolean;
}

const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;
/** How soon it is noticed that this process may have lost the namespace, or is sure of it again. */
const LOOK_EVERY_MS = 1_000;

export class Sources {
  readonly counts: SourceCounts;
  readonly records: SourceRecords;
  readonly #polls: Polls;
  readonly outlet: Outlet;
  readonly #options: SourcesOptions;
  readonly #entries = new Map<string, Entry>();
  /** Life cycles that are closing, which their successors wait for. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Per source, the state that was audited last. */
  readonly #audited = new Map<string, string>();
  #isRunning = false;
  #isClosed = false;
  #looking: NodeJS.Timeout | undefined;
  #renewedAt = 0;
  #noted: Promise<unknown> = Promise.resolve();

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.counts = new SourceCounts(options.db, (name) => this.#space.catalog.definitions.get('sources', name) !== undefined);
    this.records = new SourceRecords(options.db);
    this.#polls = new Polls(
      (began) => this.records.notePolls(began),
      () => this.#space.installation.isSure(),
    );
    this.outlet = options.outlet;
  }

  /** Connects the active sources. Called again when this process becomes the owner of the namespace. */
  start(): void {
    this.#isRunning = true;
    for (const [name, source] of this.#space.catalog.definitions.list('sources')) this.put(name, source);
    this.#looking ??= setInterval(() => this.#followLease(), LOOK_EVERY_MS).unref();
  }

  /**
   * A process that has not renewed its lease for so long that another one may own the namespace consumes nothing: what it took it could not store,
   * and two that use the same client id throw each other off. Once it is sure again it goes on; when it has lost the namespace, it is closed.
   */
  #followLease(): void {
    const isSure = this.#space.installation.isSure();
    if (isSure === this.#isRunning) return;
    if (isSure) return this.start();
    this.#isRunning = false;
    for (const [name, entry] of this.#entries)
      if (entry.consumes) {
        this.#entries.delete(name);
        this.#close(name, entry);
      }
  }

  /** Applies a new or changed definition: reconnects the source unless only `ars_properties` differ. */
  put(name: string, source: ObjectValue): void {
    const before = this.#entries.get(name);
    if (!this.#isRunning) return;
    const next = this.#entryFor(name, source);
    if (before && next.madeOf === before.madeOf) return void this.#entries.set(name, { ...before, source });
    if (before) this.#close(name, before);
    this.#entries.set(name, next);
    // a changed source polls at once
    if (before && before.source !== source) this.#inBackground(this.records.notePolls(new Map([[name, null]])));
    if (isActive(source) && !isMocked(source) && protocolOf(String(own(source, 'type')))?.open) next.life.begin();
    this.#auditState(name, source, next);
  }

  remove(name: string): void {
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    this.counts.forget(name);
    this.#audited.delete(name);
    if (entry) this.#close(name, entry);
  }

  /** Removes the records of a source whose definition was deleted. */
  async forget(name: string): Promise<void> {
    await this.#closing.get(name);
    await this.#noted;
    if (!this.#space.catalog.definitions.get('sources', name)) await this.records.forget(name);
  }

  stateOf(source: ObjectValue): LifeState {
    const name = String(own(source, 'name'));
    return shownState(this.#space, source, this.#entries.get(name)?.life.state ?? null);
  }

  /** The connection of a source that has one now. */
  connected(name: string): Connection | null {
    return this.#entries.get(name)?.life.connection ?? null;
  }

  /** @throws cascade.source.unavailable when the source is not connected within five seconds; Fenced once all sources are closed */
  async connectionOf(name: string): Promise<Connection> {
    const until = performance.now() + PUBLISH_WAITS_MS;
    for (;;) {
      const source = this.#space.catalog.definitions.get('sources', name);
      if (!source) throw apiError('cascade.resource.not.found', `/sources/${name}`);
      if (!isActive(source)) throw apiError('cascade.source.inactive', name, 'it is not active');
      const entry = this.#entries.get(name) ?? this.#early(name, source);
      const left = until - performance.now();
      if (!protocolOf(String(own(source, 'type')))?.open || !entry)
        throw apiError('cascade.source.unavailable', name, noConnection(source));
      const connection = await entry.life.ready(Math.max(left, 0));
      if (connection) return connection;
      if (!entry.life.isEnded || left <= 0)
        throw apiError('cascade.source.unavailable', name, entry.life.state.error?.message ?? 'it is connecting');
    }
  }

  /**
   * Records the outcome of a request in the state of the source whose connection it was: a failure stays there until a request succeeds. The
   * source may have another connection by now.
   */
  noteRequest(name: string, connection: Connection, error: unknown): void {
    const life = this.#entries.get(name)?.life;
    if (life?.connection !== connection) return;
    if (error === null) life.recovered('request');
    else life.troubled('request', error);
  }

  /** A view that the source's protocol offers. @throws cascade.resource.not.found */
  async view(name: string, view: string): Promise<Value> {
    const connection = await this.connectionOf(name);
    if (!connection.view) throw apiError('cascade.resource.not.found', `/sources/${name}/${view}`);
    return connection.view(view);
  }

  status(source: ObjectValue): ObjectValue {
    const name = String(own(source, 'name'));
    const entry = this.#entries.get(name);
    const consumes = entry?.consumes === true && entry.isStanding;
    const consumer = consumes ? { process: processName(this.#options.epoch), leaseUntil: this.#renewedAt + LEASE_MS } : null;
    return statusOf(source, this.stateOf(source), this.counts.of(name), consumer);
  }

  /** Periodic maintenance: stores counts, renews the lease, and restarts sources whose pipeline has become complete or incomplete. */
  async settle(now: number, last = false): Promise<void> {
    await this.counts.settle(now, last);
    for (const [name, entry] of this.#entries) {
      if (entry.consumes !== this.#shouldConsume(entry.source)) this.put(name, entry.source);
      else this.#auditState(name, entry.source, entry); // what does not consume is in error, too, for want of a rule
    }
    if (now - this.#renewedAt < RENEW_EVERY_MS) return;
    this.#renewedAt = now;
    for (const [name, entry] of this.#entries) if (entry.consumes && entry.isStanding) this.#note(name, entry.life.state);
  }

  /** Closes all connections, after the outcome of the messages received so far is stored. */
  async close(): Promise<void> {
    this.#isRunning = false;
    this.#isClosed = true;
    clearInterval(this.#looking);
    const entries = [...this.#entries];
    this.#entries.clear();
    for (const [name, entry] of entries) this.#close(name, entry);
    await Promise.all(this.#closing.values());
    await this.#noted;
  }

  get #space(): Namespace {
    return this.#options.space();
  }

  /** A connection that only sends, for replayed runs, before this process consumes anything. */
  #early(name: string, source: ObjectValue): Entry | null {
    if (this.#isClosed) throw new Fenced('the namespace is being closed: the next owner of the run asks the source');
    if (this.#isRunning) return null;
    const entry = this.#entryFor(name, source, false);
    this.#entries.set(name, entry);
    return entry;
  }

  #shouldConsume(source: ObjectValue): boolean {
    return own(source, 'direction') !== 'SINK' && unresolvedRule(this.#space, source) === null;
  }

  #entryFor(name: string, source: ObjectValue, consumes = this.#shouldConsume(source)): Entry {
    const protocol = protocolOf(String(own(source, 'type')));
    const config = own(source, 'config');
    const direction = own(source, 'direction') as Direction;
    const isStanding = protocol?.isStanding(isObject(config) ? config : {}, direction) ?? false;
    const inbox = new Inbox(this.#space, source);
    const life: Life = new Life({
      now: () => this.#space.clock.now(),
      isStanding,
      reconnects: protocol?.reconnects?.(isObject(config) ? config : {}) ?? true,
      open: async (unwanted, abandoned) => {
        await this.#closing.get(name);
        if (!protocol?.open) throw new ConnectionFailure(noConnection(source));
        return closedWhenIdle(
          await protocol.open(await this.#context(name, source, direction, consumes, inbox, life, { unwanted, abandoned })),
        );
      },
      changed: (state, failure) => {
        this.#changed(name, state, failure, isStanding && consumes);
        this.#auditState(name, source, { life, isStanding });
      },
    });
    return { madeOf: madeOf(source, consumes), source, life, inbox, consumes, isStanding };
  }

  async #context(
    name: string,
    source: ObjectValue,
    direction: Direction,
    consumes: boolean,
    inbox: Inbox,
    life: Life,
    { unwanted, abandoned }: { readonly unwanted: AbortSignal; readonly abandoned: AbortSignal },
  ): Promise<SourceContext> {
    const { records, outlet } = this;
    const space = this.#space;
    const open = own(source, 'config');
    const config = await this.configOf(name, source);
    const protocol = protocolOf(String(own(source, 'type')));
    if (protocol) checkConfig(protocol, config, outlet); // named secrets may have made the config invalid
    const client = own(config, 'clientOptions');
    const faulty = (await faultyTls(config)) ?? (await faultyTls(isObject(client) ? client : {}));
    if (faulty) {
      const { code, message } = apiError('cascade.source.config.invalid', ...faulty);
      throw new ConnectionFailure(message, { code });
    }
    return {
      namespace: space.name,
      source: name,
      direction,
      isReliable: own(source, 'isReliable') === true,
      config,
      openConfig: isObject(open) ? open : {},
      consumes,
      outlet: outletUntil(outlet, abandoned),
      tls: await tlsOptions(config),
      signal: unwanted,
      abandoned,
      now: () => space.clock.now(),
      deliver: (message) => inbox.deliver(message),
      malformed: (reason) => inbox.malformed(reason),
      room: () => inbox.room(),
      // What a connection tells that is not wanted any more is not of its successor.
      lost: (error) => unwanted.aborted || life.lost(error),
      troubled: (error, nextAttemptAt) => unwanted.aborted || life.troubled('poll', error, nextAttemptAt, isNoted(error)),
      recovered: () => unwanted.aborted || life.recovered('poll'),
      log: (level, message) => this.#inBackground(logLine(space, name, level, message)),
      audit: (op, message) => this.#audit(name, op, message),
      keep: async (key, text) => records.seal(await space.installation.keys.ensureCipher(space.name), name, key, text),
      kept: async (key) => records.unseal(await space.installation.keys.ensureCipher(space.name), name, key),
      polledAt: () => records.polledAt(name),
      poll: (poll) => this.#polls.poll(name, () => space.clock.now(), unwanted, poll),
      creator: async () => callerOf(space, { ...serviceActor(space), identity: await creatorOf(space, source) }),
      other: async (other) => {
        const found = space.catalog.definitions.get('sources', other);
        if (!found || !isActive(found) || isMocked(found)) return null;
        return { type: String(own(found, 'type')), config: await this.configOf(other, found) };
      },
      store: {
        put: (key, value) => records.put(name, key, value),
        get: (key) => records.get(name, key),
        remove: (key) => records.remove(name, key),
        all: (prefix) => records.all(name, prefix),
      },
    };
  }

  /** The config with its own secrets and the named ones. @throws ConnectionFailure cascade.source.secret.unknown */
  async configOf(name: string, source: ObjectValue): Promise<ObjectValue> {
    const config = own(source, 'config');
    const secrets = own(source, 'secrets');
    const open = isObject(config) ? config : {};
    const sealed = isObject(secrets) ? secrets : {};
    const whole =
      Object.keys(sealed).length === 0
        ? open
        : wholeConfig(await this.#space.installation.keys.ensureCipher(this.#space.name), name, open, sealed);
    return withNamedSecrets(name, whole, (secret) => secretNamed(this.#space, secret));
  }

  #changed(name: string, state: LifeState, failure: StateError | null, consumes: boolean): void {
    if (failure) {
      this.counts.add(name, 'failed', this.#space.clock.now());
      this.#inBackground(logOnce(this.#space, name, failure.code, failure.message));
    }
    if (consumes) this.#note(name, state);
  }

  /**
   * Audits a change of state as it is shown: a source that keeps retrying has one entry for its error, and one when it is connected again. An error
   * that its life cycle knows nothing of, since the definition has it, is logged as well.
   */
  #auditState(name: string, source: ObjectValue, { life, isStanding }: Pick<Entry, 'life' | 'isStanding'>): void {
    const { state, error } = shownState(this.#space, source, life.state);
    if (life.isEnded || (state !== 'connected' && state !== 'error')) return;
    const before = this.#audited.get(name);
    this.#audited.set(name, state);
    if (before === state || (before === undefined && state === 'connected' && !isStanding)) return;
    this.#audit(name, state, error ? `${error.code}: ${error.message}` : `source ${name} is ${state}`);
    if (error && life.state.error === null) this.#inBackground(logOnce(this.#space, name, error.code, error.message));
  }

  #audit(name: string, op: string, message: string): void {
    const space = this.#space;
    const unit = audited(space, { entity: `/sources/${name}`, op, message }, serviceActor(space));
    this.#inBackground(space.transactions.submit(unit, true));
  }

  #note(name: string, state: LifeState): void {
    const { epoch } = this.#options;
    const noted: ConsumerState = {
      ...state,
      error: state.error && { ...state.error },
      epoch,
      leaseUntil: this.#space.clock.now() + LEASE_MS,
    };
    this.#inBackground(this.records.noteConsumer(name, noted));
  }

  #close(name: string, { life, inbox }: Entry): void {
    const before = this.#closing.get(name) ?? Promise.resolve();
    const closing: Promise<void> = before
      .then(() => life.end())
      .then(() => inbox.settled())
      .finally(() => this.#closing.get(name) === closing && this.#closing.delete(name));
    void life.end(); // callers that wait for it need not wait for its predecessor to close
    this.#closing.set(name, closing);
  }

  #inBackground(work: Promise<unknown>): void {
    const noted = work.catch((error: unknown) =>
      this.#space.log.warn({ err: error, namespace: this.#space.name }, 'the state or log entry of a source could not be stored'),
    );
    this.#noted = this.#noted.then(() => noted);
  }
}

/** A publish waits so long for a connection (integrations.md 1.4). */
const PUBLISH_WAITS_MS = 5_000;

const processName = (epoch: number): string => `p-${epoch.toString(16).padStart(4, '0')}`;
