// The namespaces that this process owns and has open: each is acquired and opened by its first request, and takes over the unfinished work
// of former owners before it serves. One that cannot be opened does not block others: its requests are refused while it is retried. One
// that is handed over, or idle for long, is drained, closed and released.

import type { Logger } from 'pino';
import { apiError } from '../model/errors/index.ts';
import { MasterKeyError } from '../platform/keys/index.ts';
import { Backoff } from '../platform/mongo/index.ts';
import type { Ownership } from '../runtime/cluster/index.ts';
import { OwnedElsewhere } from './forwarding/index.ts';
import type { OpenNamespace } from './namespace.ts';

/** Interval at which the log repeats that a namespace still cannot be opened. */
const LOG_EVERY_MS = 60_000;
/** Time that requests and runs have to end before a handover; those that have not ended continue at the next owner. */
const DRAIN_MS = 10_000;
/** How long a closed namespace waits for other processes to hear the last of it. */
const TOLD_MS = 2_000;

export interface OpenNamespacesOptions {
  /** @throws OwnedElsewhere */
  readonly acquire: (name: string) => Promise<Ownership>;
  /** @param onFenced called when another process owns it now */
  readonly open: (name: string, ownership: Ownership, onFenced: () => void) => Promise<OpenNamespace>;
  /** Waits, before anything is committed there, until the listeners of the former owner are attached. */
  readonly gather: (name: string, space: OpenNamespace, ownership: Ownership) => Promise<void>;
  /** Records that no work of former owners is left. */
  readonly closed: (name: string, ownership: Ownership) => Promise<void>;
  /**
   * Called at each end of a namespace here after which it may go on, in this process or in another one, when no more commits of it happen: its
   * listeners move on. It is given up when the promise resolves, or soon.
   */
  readonly closing: (name: string) => Promise<void>;
  readonly release: (name: string, epoch: number, isResting: boolean) => Promise<void>;
  /** Gives a namespace up that could not be opened. */
  readonly giveUp: (name: string, epoch: number) => Promise<void>;
  /** Requests that wait for a namespace which is closed have to look up its owner again. */
  readonly isShared: boolean;
  readonly log: Logger;
}

interface Opened {
  readonly ownership: Ownership;
  readonly space: OpenNamespace;
}

/** Requests in a namespace, which is not closed before they are over. */
interface Visits {
  open: number;
  lastAt: number;
  emptied: (() => void) | null;
}

export class OpenNamespaces {
  readonly #options: OpenNamespacesOptions;
  /** Namespaces that are opened, though perhaps not served: the same object retries a failed take-over. */
  readonly #opened = new Map<string, Promise<Opened>>();
  /** Namespaces that serve, or will when the present attempt succeeds. */
  readonly #served = new Map<string, Promise<OpenNamespace>>();
  /** Namespaces that serve and are not being closed. */
  readonly #ready = new Map<string, OpenNamespace>();
  /** Namespaces that are being closed, with the end of that. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #visits = new Map<string, Visits>();
  /** Namespaces that are retried until they succeed, with their last error. */
  readonly #errors = new Map<string, unknown>();
  /** Epochs of namespaces that were acquired and could not be opened. */
  readonly #unopened = new Map<string, number>();
  /** Those of them that serve nobody. */
  readonly #unavailable = new Set<string>();
  readonly #tries = new Set<Promise<boolean>>();
  #isClosed = false;

  constructor(options: OpenNamespacesOptions) {
    this.#options = options;
  }

  /** Number of namespaces that cannot be served. */
  get unavailable(): number {
    return this.#unavailable.size;
  }

  /** Namespaces that this process has open, or tries to open. */
  get names(): readonly string[] {
    return [...new Set([...this.#opened.keys(), ...this.#unavailable])];
  }

  /** Whether a namespace is open here, or about to be. */
  has(name: string): boolean {
    return this.#served.has(name) || this.#unavailable.has(name);
  }

  /** @throws OwnedElsewhere, cascade.server.unavailable, MasterKeyError */
  async of(name: string): Promise<OpenNamespace> {
    for (;;) {
      for (let closing; (closing = this.#closing.get(name)); ) {
        await closing;
        if (this.#options.isShared && !this.has(name)) throw new OwnedElsewhere(null);
      }
      if (this.#unavailable.has(name)) break;
      if (!this.#served.has(name)) void this.#try(name);
      const served = this.#served.get(name);
      const space = await served?.catch((error: unknown) => {
        if (error instanceof OwnedElsewhere) throw error;
        return null; // the log has the reason
      });
      if (space) return space;
      if (this.#served.get(name) === served) break;
      // It was closed while it was being taken over.
    }
    const error = this.#errors.get(name);
    throw error instanceof MasterKeyError ? error : apiError('cascade.server.unavailable'); // a retry cannot provide the key
  }

  /** Enters a namespace for a request, which calls `leave` at its end. Null: it is not open, or about to be closed. */
  enterReady(name: string): OpenNamespace | null {
    const ready = this.#ready.get(name);
    if (!ready) return null;
    this.#visitsOf(name).open++;
    return ready;
  }

  /** Enters a namespace that may have to be opened. @throws as `of` */
  async enter(name: string): Promise<OpenNamespace> {
    for (;;) {
      const space = await this.of(name);
      if (this.#closing.has(name)) continue; // it began to close since it was found
      this.#visitsOf(name).open++;
      return space;
    }
  }

  leave(name: string): void {
    const visits = this.#visitsOf(name);
    visits.lastAt = performance.now();
    if (--visits.open === 0) visits.emptied?.();
  }

  /** The namespace for its runs, and for subscriptions, which begin before it serves; undefined: it is not open. */
  async running(name: string): Promise<OpenNamespace | undefined> {
    return (await this.#opened.get(name)?.catch(() => undefined))?.space;
  }

  /** Opens those that are not open. A failed one is retried. */
  async openAll(names: readonly string[]): Promise<void> {
    await Promise.all(names.filter((name) => !this.has(name) && !this.#closing.has(name)).map((name) => this.#try(name)));
  }

  /** All namespaces that serve. */
  async all(): Promise<OpenNamespace[]> {
    return fulfilled(this.#served.values());
  }

  /** Namespaces without a request for so long. */
  idle(forMs: number): string[] {
    const now = performance.now();
    return [...this.#served.keys()].filter((name) => {
      const { open, lastAt } = this.#visitsOf(name);
      return open === 0 && now - lastAt >= forMs && !this.#closing.has(name);
    });
  }

  /**
   * Closes a namespace for another process to open, or for none: new requests wait for that, those in flight end, and acknowledged runs get
   * ten seconds.
   * @param isWanted asked when all is quiet; false: it stays open
   */
  close(name: string, isWanted: (space: OpenNamespace) => Promise<boolean> = () => Promise.resolve(true)): Promise<void> {
    const under = this.#closing.get(name);
    if (under) return under;
    const ready = this.#ready.get(name);
    this.#ready.delete(name);
    const done = this.#close(name, isWanted).finally(() => {
      this.#closing.delete(name);
      if (ready && this.#served.has(name)) this.#ready.set(name, ready); // it stays open
    });
    this.#closing.set(name, done);
    return done;
  }

  /** Closes a namespace that is deleted, or that other processes have taken with this one's lease: no more commits happen here. */
  async abandon(name: string): Promise<void> {
    this.#ready.delete(name);
    await this.#closing.get(name)?.catch(() => undefined); // it commits until its end
    const opened = await this.#forget(name);
    await opened?.space[Symbol.asyncDispose]();
  }

  /** Stops retries and openings. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#tries);
  }

  // ------------------------------------------------------------ inside
  #visitsOf(name: string): Visits {
    let visits = this.#visits.get(name);
    if (!visits) this.#visits.set(name, (visits = { open: 0, lastAt: performance.now(), emptied: null }));
    return visits;
  }

  async #close(name: string, isWanted: (space: OpenNamespace) => Promise<boolean>): Promise<void> {
    const opened = await this.#opened.get(name)?.catch(() => undefined);
    if (!opened) {
      const epoch = this.#unopened.get(name);
      await this.#forget(name);
      if (epoch !== undefined) await this.#options.giveUp(name, epoch);
      return;
    }
    const { space, ownership } = opened;
    await within(
      DRAIN_MS,
      this.#isEmpty(name).then(() => space.drained()),
    );
    if (!(await isWanted(space))) return;
    if (space.pending > 0)
      this.#options.log.warn(
        { namespace: name, runs: space.pending },
        'a namespace is closed with open runs: the next owner continues them',
      );
    const isResting = space.pending === 0 && (await space.isAtRest().catch(() => false));
    await this.#forget(name);
    try {
      await space[Symbol.asyncDispose]();
    } finally {
      // Not before: sources, ticks and long runs commit until the end, and their subscribers hear of that here alone.
      await within(TOLD_MS, this.#options.closing(name));
    }
    await this.#options.release(name, ownership.epoch, isResting);
  }

  async #isEmpty(name: string): Promise<void> {
    const visits = this.#visitsOf(name);
    if (visits.open > 0) await new Promise<void>((resolve) => (visits.emptied = resolve));
    visits.emptied = null;
  }

  async #forget(name: string): Promise<Opened | undefined> {
    const opened = await this.#opened.get(name)?.catch(() => undefined);
    for (const map of [this.#ready, this.#served, this.#opened, this.#errors, this.#unopened]) map.delete(name);
    if (this.#visits.get(name)?.open === 0) this.#visits.delete(name);
    this.#unavailable.delete(name);
    return opened;
  }

  /** @returns false when it failed: then it is retried */
  #try(name: string): Promise<boolean> {
    const attempt = this.#attempt(name);
    this.#tries.add(attempt);
    void attempt.finally(() => this.#tries.delete(attempt));
    return attempt;
  }

  async #attempt(name: string): Promise<boolean> {
    const tried = this.#takeOver(name);
    this.#served.set(name, tried);
    const isClosed = (): boolean => this.#served.get(name) !== tried;
    try {
      const space = await tried;
      this.#unavailable.delete(name);
      this.#errors.delete(name);
      if (!isClosed()) this.#ready.set(name, space);
      return true;
    } catch (error) {
      if (isClosed()) return true; // while it was being taken over
      this.#served.delete(name);
      if (error instanceof OwnedElsewhere) {
        this.#unavailable.delete(name);
        this.#errors.delete(name);
        return true;
      }
      this.#unavailable.add(name);
      const isKnown = this.#errors.has(name);
      this.#errors.set(name, error);
      if (!isKnown) void this.#retry(name);
      return false;
    }
  }

  async #takeOver(name: string): Promise<OpenNamespace> {
    if (this.#isClosed) throw new OwnedElsewhere(null);
    let opened = this.#opened.get(name);
    if (!opened) {
      opened = this.#open(name);
      this.#opened.set(name, opened);
      opened.catch(() => this.#opened.delete(name));
    }
    const { space, ownership } = await opened;
    await this.#options.gather(name, space, ownership);
    await space.takeOver(); // rejects when the namespace is closed meanwhile
    await this.#options
      .closed(name, ownership)
      .catch((error: unknown) => this.#options.log.error({ err: error, namespace: name }, 'the end of a take-over could not be recorded'));
    if (this.#opened.get(name) !== opened) throw new OwnedElsewhere(null);
    return space;
  }

  async #open(name: string): Promise<Opened> {
    const ownership = await this.#options.acquire(name);
    this.#unopened.set(name, ownership.epoch);
    const space = await this.#options.open(name, ownership, () => {
      this.#abandonFormer(name, ownership.epoch).catch((err: unknown) =>
        this.#options.log.error({ err, namespace: name }, 'a namespace could not be closed'),
      );
    });
    this.#unopened.delete(name);
    return { ownership, space };
  }

  /** The namespace may have been closed meanwhile, and have come back to this process under another epoch. */
  async #abandonFormer(name: string, epoch: number): Promise<void> {
    const opened = await this.#opened.get(name)?.catch(() => undefined);
    if (opened?.ownership.epoch !== epoch) return;
    try {
      await this.abandon(name);
    } finally {
      await within(TOLD_MS, this.#options.closing(name));
    }
  }

  async #retry(name: string): Promise<void> {
    const { log } = this.#options;
    const backoff = new Backoff();
    let loggedAt = Number.NEGATIVE_INFINITY;
    do {
      if (performance.now() - loggedAt >= LOG_EVERY_MS) {
        loggedAt = performance.now();
        log.error({ err: this.#errors.get(name), namespace: name }, 'a namespace could not be opened: it is retried');
      }
      await backoff.pause();
      if (this.#isClosed || !this.#errors.has(name)) return;
    } while (!(await this.#try(name)));
    if (this.#ready.has(name))
      log.info({ namespace: name }, 'a namespace has been opened, with unfinished work taken over, after failed attempts');
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function fulfilled(spaces: Iterable<Promise<OpenNamespace>>): Promise<OpenNamespace[]> {
  const all = await Promise.allSettled(spaces);
  return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}
