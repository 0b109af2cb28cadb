// Compares periodically the namespaces that this process owns with those that it should own: it takes over from dead processes, acquires
// namespaces without owner that are its own by the hash, hands over those of others, and closes idle ones. It relies on the database alone;
// a call on the bus only makes it look earlier.

import type { Logger } from 'pino';
import type { Calls, Owners } from '../../runtime/cluster/index.ts';
import type { ServiceProcess } from '../../runtime/cluster/index.ts';
import type { OpenNamespace } from '../namespace.ts';
import type { OpenNamespaces } from '../open-namespaces.ts';
import type { Routes } from './routes.ts';

/** Interval of the checks: the longest time that a dead process goes unnoticed (besides its lease, where it ran on another machine). */
const LOOK_EVERY_MS = 2_000;
/** Bound of the namespaces that are handed over at the same time. */
const MOST_AT_ONCE = 8;

export interface RebalancerOptions {
  readonly process: ServiceProcess;
  readonly owners: Owners;
  readonly namespaces: OpenNamespaces;
  readonly routes: Routes;
  readonly calls: Calls | null;
  /** Whether no other process can use the database. */
  readonly exclusive: boolean;
  /** Time without requests after which a namespace is closed, when no work is left to do there. */
  readonly idleAfterMs: number;
  /** Whether this process can serve namespaces now. */
  readonly isServing: () => boolean;
  readonly log: Logger;
}

export class Rebalancer implements AsyncDisposable {
  readonly #options: RebalancerOptions;
  readonly #timer: NodeJS.Timeout;
  /** Processes that existed at the last check. */
  #known = new Set<number>();
  #round: Promise<void> | null = null;
  #isAgain = false;
  #closings: Promise<void> | null = null;
  #isClosingAgain = false;
  #isClosed = false;

  constructor(options: RebalancerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  look(): void {
    if (this.#isClosed) return;
    this.#isAgain = true;
    this.#round ??= this.#rounds().finally(() => (this.#round = null));
  }

  /** Frees the namespaces of dead processes. @param known all namespaces that exist: those that were never owned are opened, too */
  async begin(known: readonly string[]): Promise<void> {
    await this.#claim();
    const { owners, namespaces } = this.#options;
    const free = [...(await owners.abandoned()), ...(await owners.unknown(known))];
    await namespaces.openAll(free.filter((name) => this.#isOurs(name)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#round;
    await this.#closings;
  }

  /** Hands all namespaces of this process over to other processes, or frees them. */
  async handOverAll(): Promise<void> {
    const { names } = this.#options.namespaces;
    await this.#each(names, (name) => this.#close(name), names.length);
  }

  async #rounds(): Promise<void> {
    const { log, isServing } = this.#options;
    while (this.#isAgain && !this.#isClosed) {
      this.#isAgain = false;
      if (!isServing()) return;
      try {
        await this.#look();
      } catch (err) {
        log.error({ err }, 'the state of the cluster could not be checked: the next check retries it');
      }
    }
  }

  async #look(): Promise<void> {
    const { owners, namespaces, exclusive, calls } = this.#options;
    if (!exclusive) {
      const dead = await this.#claim();
      const free = dead > 0 || calls ? (await owners.abandoned()).filter((name) => this.#isOurs(name)) : []; // no handover without bus
      if (free.length > 0) void namespaces.openAll(free);
    }
    this.#isClosingAgain = true;
    this.#closings ??= this.#closeAll().finally(() => (this.#closings = null));
  }

  /**
   * Closes namespaces that are others', or idle. A check does not wait for this: a namespace may take ten seconds to drain, and leases are
   * watched by checks that follow each other closely.
   */
  async #closeAll(): Promise<void> {
    const { namespaces, routes, process, exclusive, idleAfterMs } = this.#options;
    while (this.#isClosingAgain && !this.#isClosed) {
      this.#isClosingAgain = false;
      const theirs = exclusive ? [] : namespaces.names.filter((name) => routes.winnerOf(name) !== process.epoch);
      await this.#each(theirs, (name) => this.#close(name));
      await this.#each(namespaces.idle(idleAfterMs), (name) => this.#rest(name));
    }
  }

  /** @returns the number of dead processes */
  async #claim(): Promise<number> {
    const { process, calls, exclusive, log } = this.#options;
    // Each of them had its record before anything could be sent to it, or came from it: one without a record by now is gone, even if no check
    // has seen it.
    const known = new Set([...this.#known, ...(calls?.peers ?? [])]);
    const dead = await process.claim();
    if (dead.length > 0 && !exclusive) log.info({ epochs: dead }, 'the work of dead processes is taken over');
    const present = new Set(process.others.map(({ epoch }) => epoch));
    for (const epoch of known) if (!present.has(epoch)) calls?.drop(epoch);
    this.#known = present;
    return dead.length;
  }

  #isOurs(name: string): boolean {
    const { routes, process } = this.#options;
    return routes.winnerOf(name) === process.epoch;
  }

  async #close(name: string): Promise<void> {
    const { namespaces, calls, log } = this.#options;
    const begun = performance.now();
    await namespaces.close(name);
    if (!calls) return;
    log.info({ namespace: name, ms: Math.round(performance.now() - begun) }, 'a namespace was handed over');
    calls.look();
  }

  async #rest(name: string): Promise<void> {
    const isIdle = async (space: OpenNamespace): Promise<boolean> => !space.hasState && !space.hasListeners && (await space.isAtRest());
    const { namespaces } = this.#options;
    const space = await namespaces.running(name);
    // One with work under way is not begun to be closed: its requests would wait for as long as a handover may take.
    if (space && (await isIdle(space))) await namespaces.close(name, isIdle);
  }

  async #each(names: readonly string[], work: (name: string) => Promise<void>, atOnce = MOST_AT_ONCE): Promise<void> {
    const waiting = [...names];
    const one = async (): Promise<void> => {
      for (let name; (name = waiting.pop()) !== undefined; )
        await work(name).catch((err: unknown) => this.#options.log.error({ err, namespace: name }, 'a namespace could not be closed'));
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  }
}
