// The namespaces that this process serves: each is opened when it is first asked for, and takes over what dead processes left there before it
// serves anybody. One that cannot be opened keeps no other one waiting: its requests are refused while it is tried again, and what it has to take
// over stays its own until it has.

import type { Logger } from 'pino';
import { fault } from '../model/errors/faults.ts';
import { MasterKeyError } from '../platform/keys/index.ts';
import type { Change } from '../runtime/cluster/index.ts';
import type { OpenNamespace } from './namespace.ts';
import { Backoff } from '../platform/mongo/index.ts';

/** Of one that fails again and again the log says so this often. */
const LOG_EVERY_MS = 60_000;

export interface OpenNamespacesOptions {
  readonly open: (name: string) => Promise<OpenNamespace>;
  /** Nothing that these dead processes left is to be taken over any more. */
  readonly takenOver: (epochs: readonly number[]) => Promise<void>;
  /** Others serve them, too: what these have changed is read when one is served late. */
  readonly isShared: boolean;
  readonly log: Logger;
}

export class OpenNamespaces {
  readonly #options: OpenNamespacesOptions;
  /** Opened, and perhaps not served: a take-over that has failed is tried again by the same namespace. */
  readonly #opened = new Map<string, Promise<OpenNamespace>>();
  /** Those that serve, or will when this try succeeds. */
  readonly #served = new Map<string, Promise<OpenNamespace>>();
  /** Epochs of dead processes that a namespace has not taken over yet. */
  readonly #owed = new Map<string, Set<number>>();
  /** Those that are tried again until they succeed: why they failed last. */
  readonly #errors = new Map<string, unknown>();
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

  /** Those that serve, or are tried again until they do. */
  get names(): readonly string[] {
    return [...new Set([...this.#served.keys(), ...this.#unavailable])];
  }

  /** @throws cascade.server.unavailable, MasterKeyError */
  async of(name: string): Promise<OpenNamespace> {
    if (!this.#unavailable.has(name)) {
      if (!this.#served.has(name)) void this.#try(name);
      const space = await this.#served.get(name)?.catch(() => null); // the log says why
      if (space) return space;
    }
    const error = this.#errors.get(name);
    throw error instanceof MasterKeyError ? error : fault('cascade.server.unavailable'); // trying again does not bring a key
  }

  /** For its runs, which begin before it serves; undefined: it is not open. */
  running(name: string): Promise<OpenNamespace> | undefined {
    return this.#opened.get(name);
  }

  /** Whether a namespace has yet to take over from that process. */
  isOwed(epoch: number): boolean {
    return [...this.#owed.values()].some((epochs) => epochs.has(epoch));
  }

  /** Opens those that are not, and has each take over what these processes left there. Where that fails it is tried again. */
  async takeOver(names: readonly string[], dead: readonly number[]): Promise<void> {
    if (dead.length > 0) for (const name of names) this.#owed.set(name, new Set([...(this.#owed.get(name) ?? []), ...dead]));
    if (names.length === 0) await this.#options.takenOver(dead);
    await Promise.all(names.filter((name) => !this.#errors.has(name)).map((name) => this.#try(name)));
  }

  /** A change of another process, which comes in its order: a namespace that is about to be served hears it before the next one. */
  async follow(name: string, change: Change): Promise<void> {
    await (await this.#served.get(name)?.catch(() => undefined))?.follow(change);
  }

  /** Those that serve. */
  async all(): Promise<OpenNamespace[]> {
    return fulfilled(this.#served.values());
  }

  /** No longer served. @returns it, to be closed; undefined: it was not open */
  async release(name: string): Promise<OpenNamespace | undefined> {
    const opened = await this.#opened.get(name)?.catch(() => undefined);
    for (const map of [this.#served, this.#opened, this.#owed, this.#errors]) map.delete(name);
    this.#unavailable.delete(name);
    return opened;
  }

  /** No more tries. @returns all that were opened, to be closed */
  async close(): Promise<OpenNamespace[]> {
    this.#isClosed = true;
    await Promise.allSettled(this.#tries);
    return fulfilled(this.#opened.values());
  }

  /** @returns false when it failed: then it is tried again */
  #try(name: string): Promise<boolean> {
    const attempt = this.#attempt(name);
    this.#tries.add(attempt);
    void attempt.finally(() => this.#tries.delete(attempt));
    return attempt;
  }

  async #attempt(name: string): Promise<boolean> {
    const earlier = this.#served.get(name);
    const assumed = this.#assume(name);
    if (!earlier) this.#served.set(name, assumed);
    try {
      await assumed;
      this.#unavailable.delete(name);
      this.#errors.delete(name);
      return true;
    } catch (error) {
      if (!earlier) {
        this.#served.delete(name);
        this.#unavailable.add(name);
      }
      const isKnown = this.#errors.has(name);
      this.#errors.set(name, error);
      if (!isKnown) void this.#tryAgain(name);
      return false;
    }
  }

  async #assume(name: string): Promise<OpenNamespace> {
    const { open, takenOver, isShared, log } = this.#options;
    let opened = this.#opened.get(name);
    if (!opened) {
      opened = open(name);
      this.#opened.set(name, opened);
      opened.catch(() => this.#opened.delete(name));
    }
    const space = await opened;
    const isLate = this.#unavailable.has(name);
    const epochs = [...(this.#owed.get(name) ?? [])];
    await space.assume(epochs);
    if (isShared && isLate) await space.followAll(); // nobody has told it since it was opened
    const owed = this.#owed.get(name);
    for (const epoch of epochs) owed?.delete(epoch);
    if (owed?.size === 0) this.#owed.delete(name);
    const free = epochs.filter((epoch) => !this.isOwed(epoch));
    if (free.length > 0)
      await takenOver(free).catch((error: unknown) =>
        log.error({ err: error }, 'what was taken over could not be noted: it is looked for again'),
      );
    return space;
  }

  async #tryAgain(name: string): Promise<void> {
    const { log } = this.#options;
    const backoff = new Backoff();
    let toldAt = Number.NEGATIVE_INFINITY;
    do {
      if (performance.now() - toldAt >= LOG_EVERY_MS) {
        toldAt = performance.now();
        const what = this.#unavailable.has(name) ? 'a namespace could not be opened' : 'what a dead process left could not be taken over';
        log.error({ err: this.#errors.get(name), namespace: name }, `${what}: it is tried again`);
      }
      await backoff.pause();
      if (this.#isClosed) return;
    } while (!(await this.#try(name)));
    log.info({ namespace: name }, 'a namespace has been opened, and has taken over, after it had failed to');
  }
}

async function fulfilled(spaces: Iterable<Promise<OpenNamespace>>): Promise<OpenNamespace[]> {
  const all = await Promise.allSettled(spaces);
  return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}
