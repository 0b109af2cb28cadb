// The namespaces that this process owns and has open: each is acquired and opened when it is first asked for, and takes over what its former owners left
// before it serves anybody. One that cannot be opened keeps no other one waiting: its requests are refused while it is tried again. One that is to
// be another process's, or that nobody has asked for long, is drained, closed and released.

import type { Logger } from 'pino';
import { apiError } from '../model/errors/index.ts';
import { MasterKeyError } from '../platform/keys/index.ts';
import { Backoff } from '../platform/mongo/index.ts';
import type { Ownership } from '../runtime/cluster/index.ts';
import { OwnedElsewhere } from './forwarding/index.ts';
import type { OpenNamespace } from './namespace.ts';

/** Of one that fails again and again the log says so this often. */
const LOG_EVERY_MS = 60_000;
/** What is under way in a namespace that is handed over has so long to end; what has not by then goes on at the next owner. */
const DRAIN_MS = 10_000;

export interface OpenNamespacesOptions {
  /** @throws OwnedElsewhere */
  readonly acquire: (name: string) => Promise<Ownership>;
  /** @param onFenced another process has it now */
  readonly open: (name: string, ownership: Ownership, onFenced: () => void) => Promise<OpenNamespace>;
  /** Before anything is committed there: those whose clients listened there do so again. */
  readonly gather: (name: string, space: OpenNamespace, ownership: Ownership) => Promise<void>;
  /** Nothing of former owners is left. */
  readonly closed: (name: string, ownership: Ownership) => Promise<void>;
  readonly release: (name: string, epoch: number, isResting: boolean) => Promise<void>;
  /** One that could not be opened. */
  readonly giveUp: (name: string, epoch: number) => Promise<void>;
  /** Requests that wait for a namespace which is closed have to look up its owner again. */
  readonly isShared: boolean;
  readonly log: Logger;
}

interface Opened {
  readonly ownership: Ownership;
  readonly space: OpenNamespace;
}

/** Requests in a namespace; it is not closed before they are over. */
interface Visits {
  open: number;
  lastAt: number;
  emptied: (() => void) | null;
}

export class OpenNamespaces {
  readonly #options: OpenNamespacesOptions;
  /** Opened, and perhaps not served: a take-over that has failed is tried again by the same namespace. */
  readonly #opened = new Map<string, Promise<Opened>>();
  /** Those that serve, or will when this try succeeds. */
  readonly #served = new Map<string, Promise<OpenNamespace>>();
  /** Those that serve and are not being closed. */
  readonly #ready = new Map<string, OpenNamespace>();
  /** Of those that are being closed: when that is over. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #visits = new Map<string, Visits>();
  /** Those that are tried again until they succeed: why they failed last. */
  readonly #errors = new Map<string, unknown>();
  /** Of those that were acquired and could not be opened: the epoch. */
  readonly #unopened = new Map<string, number>();
  /** Of these, those that serve nobody. */
  readonly #unavailable = new Set<string>();
  readonly #tries = new Set<Promise<boolean>>();
  #isClosed = false;

  constructor(options: OpenNamespacesOptions) {
    this.#options = options;
  }

  /** How many cannot be served. */
  get unavailable(): number {
    return this.#unavailable.size;
  }

  /** Those that this process has open, or tries to open. */
  get names(): readonly string[] {
    return [...new Set([...this.#opened.keys(), ...this.#unavailable])];
  }

  /** Whether it is open here, or about to be. */
  has(name: string): boolean {
    return this.#served.has(name) || this.#unavailable.has(name);
  }

  /** @throws OwnedElsewhere, cascade.server.unavailable, MasterKeyError */
  async of(name: string): Promise<OpenNamespace> {
    for (let closing; (closing = this.#closing.get(name)); ) {
      await closing;
      if (this.#options.isShared && !this.has(name)) throw new OwnedElsewhere(null);
    }
    if (!this.#unavailable.has(name)) {
      if (!this.#served.has(name)) void this.#try(name);
      const space = await this.#served.get(name)?.catch((error: unknown) => {
        if (error instanceof OwnedElsewhere) throw error;
        return null; // the log says why
      });
      if (space) return space;
    }
    const error = this.#errors.get(name);
    throw error instanceof MasterKeyError ? error : apiError('cascade.server.unavailable'); // trying again does not bring a key
  }

  /** For a request, which is over when it says so (`leave`). Null: it is not open, or about to be closed. */
  enterReady(name: string): OpenNamespace | null {
    const ready = this.#ready.get(name);
    if (!ready) return null;
    this.#visitsOf(name).open++;
    return ready;
  }

  /** The same, of one that may have to be opened. @throws as `of` */
  async enter(name: string): Promise<OpenNamespace> {
    for (;;) {
      const space = await this.of(name);
      if (this.#closing.has(name)) continue; // since it was found
      this.#visitsOf(name).open++;
      return space;
    }
  }

  leave(name: string): void {
    const visits = this.#visitsOf(name);
    visits.lastAt = performance.now();
    if (--visits.open === 0) visits.emptied?.();
  }

  /** For its runs, and for subscriptions, which begin before it serves; undefined: it is not open. */
  async running(name: string): Promise<OpenNamespace | undefined> {
    return (await this.#opened.get(name)?.catch(() => undefined))?.space;
  }

  /** Opens those that are not. Where that fails it is tried again. */
  async openAll(names: readonly string[]): Promise<void> {
    await Promise.all(names.filter((name) => !this.has(name) && !this.#closing.has(name)).map((name) => this.#try(name)));
  }

  /** Those that serve. */
  async all(): Promise<OpenNamespace[]> {
    return fulfilled(this.#served.values());
  }

  /** Those that nobody has visited for so long. */
  idle(forMs: number): string[] {
    const now = performance.now();
    return [...this.#served.keys()].filter((name) => {
      const { open, lastAt } = this.#visitsOf(name);
      return open === 0 && now - lastAt >= forMs && !this.#closing.has(name);
    });
  }

  /**
   * Closes one for another process to open, or for nobody: new requests wait for that, those that are under way end, what was acknowledged is
   * done as far as it can be in ten seconds.
   * @param isWanted asked when all is quiet; false: it stays
   * @param closing told when nothing more happens here
   */
  close(
    name: string,
    isWanted: (space: OpenNamespace) => Promise<boolean> = () => Promise.resolve(true),
    closing: () => void = () => undefined,
  ): Promise<void> {
    const under = this.#closing.get(name);
    if (under) return under;
    const ready = this.#ready.get(name);
    this.#ready.delete(name);
    const done = this.#close(name, isWanted, closing).finally(() => {
      this.#closing.delete(name);
      if (ready && this.#served.has(name)) this.#ready.set(name, ready); // it stays
    });
    this.#closing.set(name, done);
    return done;
  }

  /** Another process has it: nothing more happens here. */
  async abandon(name: string): Promise<void> {
    this.#ready.delete(name);
    const opened = await this.#forget(name);
    await opened?.space[Symbol.asyncDispose]();
  }

  /** No more tries, and no more are opened. */
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

  async #close(name: string, isWanted: (space: OpenNamespace) => Promise<boolean>, closing: () => void): Promise<void> {
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
      this.#options.log.warn({ namespace: name, runs: space.pending }, 'closing with open runs: who has it next goes on with them');
    const isResting = space.pending === 0 && (await space.isAtRest().catch(() => false));
    closing();
    await this.#forget(name);
    await space[Symbol.asyncDispose]();
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

  /** @returns false when it failed: then it is tried again */
  #try(name: string): Promise<boolean> {
    const attempt = this.#attempt(name);
    this.#tries.add(attempt);
    void attempt.finally(() => this.#tries.delete(attempt));
    return attempt;
  }

  async #attempt(name: string): Promise<boolean> {
    const tried = this.#takeOver(name);
    this.#served.set(name, tried);
    try {
      const space = await tried;
      this.#unavailable.delete(name);
      this.#errors.delete(name);
      if (this.#served.get(name) === tried) this.#ready.set(name, space);
      return true;
    } catch (error) {
      this.#served.delete(name);
      if (error instanceof OwnedElsewhere) {
        this.#unavailable.delete(name);
        this.#errors.delete(name);
        return true;
      }
      this.#unavailable.add(name);
      const isKnown = this.#errors.has(name);
      this.#errors.set(name, error);
      if (!isKnown) void this.#tryAgain(name);
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
    await space.takeOver();
    await this.#options
      .closed(name, ownership)
      .catch((error: unknown) =>
        this.#options.log.error({ err: error, namespace: name }, 'that nothing is left to take over was not noted'),
      );
    return space;
  }

  async #open(name: string): Promise<Opened> {
    const ownership = await this.#options.acquire(name);
    this.#unopened.set(name, ownership.epoch);
    const space = await this.#options.open(name, ownership, () => {
      this.abandon(name).catch((err: unknown) => this.#options.log.error({ err, namespace: name }, 'a namespace did not close'));
    });
    this.#unopened.delete(name);
    return { ownership, space };
  }

  async #tryAgain(name: string): Promise<void> {
    const { log } = this.#options;
    const backoff = new Backoff();
    let loggedAt = Number.NEGATIVE_INFINITY;
    do {
      if (performance.now() - loggedAt >= LOG_EVERY_MS) {
        loggedAt = performance.now();
        log.error({ err: this.#errors.get(name), namespace: name }, 'a namespace could not be opened: it is tried again');
      }
      await backoff.pause();
      if (this.#isClosed || !this.#errors.has(name)) return;
    } while (!(await this.#try(name)));
    log.info({ namespace: name }, 'a namespace has been opened, and has taken over, after it had failed to');
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
