// Finds the process for a request: the owner of its namespace, or, where there is none, the process that should own it and then acquires
// it. Cached owners may be out of date: a process that is not the owner says so, and the database is read.

import { apiError } from '../../model/errors/index.ts';
import { boundedCache, type MaybePromise } from '../../platform/structures/index.ts';
import { type Calls, LinkClosed, LinkFull, LinkLost, type Owners, winnerOf } from '../../runtime/cluster/index.ts';
import type { ServiceProcess } from '../../runtime/cluster/index.ts';
import type { OpenNamespace } from '../namespace.ts';
import type { OpenNamespaces } from '../open-namespaces.ts';
import { OwnedElsewhere } from './elsewhere.ts';

const MOST_REMEMBERED = 10_000;
/** Pause before the owner of a namespace that is changing hands is looked up again. */
const ASK_AGAIN_MS = 25;
/** Longest wait for a namespace that is changing hands: longer than a handover takes. */
const GIVE_UP_MS = 20_000;

export interface RoutesOptions {
  readonly namespaces: OpenNamespaces;
  readonly owners: Owners;
  readonly process: ServiceProcess;
  /** Calls to other processes; null: none can be reached. */
  readonly calls: () => Calls | null;
}

export class Routes {
  readonly #options: RoutesOptions;
  readonly #owners = boundedCache<string, number>(MOST_REMEMBERED);

  constructor(options: RoutesOptions) {
    this.#options = options;
  }

  /** The process that should own a namespace, of all that take part. */
  winnerOf(namespace: string): number {
    const { process } = this.#options;
    const calls = this.#options.calls();
    const others = calls === null ? [] : process.others.filter(({ epoch, serves, hasBus }) => serves && hasBus && !calls.isGone(epoch));
    return winnerOf(namespace, [process.epoch, ...others.map(({ epoch }) => epoch)]) ?? process.epoch;
  }

  /**
   * Carries out work where the namespace is. `here` is a visit: the namespace stays open until it is over.
   * @param isRepeatable the work may be repeated when the other process is gone, and may or may not have done it
   * @throws cascade.server.unavailable, and errors of the work
   */
  at<T>(
    namespace: string,
    here: (space: OpenNamespace) => Promise<T>,
    there: (owner: number) => Promise<T>,
    isRepeatable: boolean,
  ): Promise<T> {
    const { namespaces } = this.#options;
    const local = namespaces.enterReady(namespace);
    return local ? this.#visit(namespace, local, here) : this.#find(namespace, here, there, isRepeatable);
  }

  /** Forgets the owner: it has to be looked up. */
  forget(namespace: string): void {
    this.#owners.delete(namespace);
  }

  async #visit<T>(namespace: string, entered: MaybePromise<OpenNamespace>, here: (space: OpenNamespace) => Promise<T>): Promise<T> {
    const space = entered instanceof Promise ? await entered : entered;
    try {
      return await here(space);
    } finally {
      this.#options.namespaces.leave(namespace);
    }
  }

  async #find<T>(
    namespace: string,
    here: (space: OpenNamespace) => Promise<T>,
    there: (owner: number) => Promise<T>,
    isRepeatable: boolean,
  ): Promise<T> {
    const { process, namespaces } = this.#options;
    const calls = this.#options.calls();
    const until = performance.now() + GIVE_UP_MS;
    for (let tries = 0; ; tries++) {
      let isOver = false; // the work has not begun there
      try {
        const owner = calls === null || namespaces.has(namespace) ? process.epoch : await this.#ownerOf(namespace);
        if (owner === process.epoch) return await this.#visit(namespace, namespaces.enter(namespace), here);
        this.#owners.set(namespace, owner);
        isOver = !isRepeatable;
        return await there(owner);
      } catch (error) {
        this.#owners.delete(namespace);
        if (error instanceof LinkFull) throw apiError('cascade.server.unavailable');
        const isLost = error instanceof LinkLost;
        if (error instanceof LinkClosed) isOver = false; // the message was not sent
        if (!isLost && !(error instanceof OwnedElsewhere)) throw error;
        if (calls === null || (isLost && isOver) || performance.now() > until) throw apiError('cascade.server.unavailable');
        if (error instanceof OwnedElsewhere && error.owner !== null && !calls.isGone(error.owner)) this.#owners.set(namespace, error.owner);
        if (tries > 0) await pause(ASK_AGAIN_MS);
      }
    }
  }

  async #ownerOf(namespace: string): Promise<number> {
    const { owners } = this.#options;
    const calls = this.#options.calls();
    const known = this.#owners.get(namespace);
    if (known !== undefined && calls?.isGone(known) !== true) return known;
    const owner = await owners.ownerOf(namespace);
    if (owner !== null && calls?.isGone(owner) === true) throw new OwnedElsewhere(null); // the namespace is about to be freed
    return owner ?? this.winnerOf(namespace);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
