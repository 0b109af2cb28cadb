// Reentrant locks of runs, acquired in the order of asking and freed when the run ends. A run within another one, which waits for it, may
// acquire what that one holds. A run that would wait for itself (a deadlock) is refused.
import { apiError } from '../../model/errors/index.ts';

/** A run, and the one that has started it and waits for its end. */
export interface LockUser {
  readonly run: string;
  readonly within?: LockUser | undefined;
}

interface Holder {
  readonly run: string;
  /** How often it has acquired the lock. */
  depth: number;
}

interface Waiting {
  readonly user: LockUser;
  readonly granted: () => void;
  readonly refused: (error: Error) => void;
}

interface Lock {
  /** The last one has it; each of them is within the one before. */
  readonly holders: Holder[];
  readonly queue: Waiting[];
}

export class Locks {
  readonly #onWait: (run: string) => void;
  readonly #locks = new Map<string, Lock>();
  /** The lock that a run waits for. */
  readonly #waits = new Map<string, { readonly name: string; readonly user: LockUser }>();
  /** By run: those within it that wait for a lock. */
  readonly #waitingWithin = new Map<string, Set<string>>();
  readonly #owned = new Map<string, Set<string>>();

  /** @param onWait called before a run waits for a lock: it must not keep others waiting for something else, who may have that lock */
  constructor(onWait: (run: string) => void = () => undefined) {
    this.#onWait = onWait;
  }

  /** Whether the run holds a lock. */
  holds(run: string): boolean {
    return (this.#owned.get(run)?.size ?? 0) > 0;
  }

  /** Whether the run, or one that waits for it, holds a lock. */
  isUnderLock(user: LockUser): boolean {
    return chainOf(user).some(({ run }) => this.holds(run));
  }

  /** Whether a run that this one is within holds the lock. */
  isHeldAround(name: string, { within }: LockUser): boolean {
    const holders = this.#locks.get(name)?.holders ?? [];
    return within !== undefined && chainOf(within).some(({ run }) => holders.some((holder) => holder.run === run));
  }

  /** Resolves when the run has it. @throws CascadeError when the owner waits for the run */
  async take(name: string, user: LockUser): Promise<void> {
    const lock = this.#locks.get(name);
    if (!lock) return this.#give(name, user.run);
    const last = lock.holders.at(-1);
    if (last?.run === user.run) {
      last.depth++;
      return;
    }
    if (mayHave(lock, user)) return this.#give(name, user.run);
    if (this.#wouldCycle(name, user)) throw apiError('cascade.service.state.deadlock', name);
    for (const { run } of chainOf(user)) this.#onWait(run);
    this.#waits.set(user.run, { name, user });
    for (const { run } of outsideOf(user)) this.#waitingWithin.set(run, (this.#waitingWithin.get(run) ?? new Set()).add(user.run));
    await new Promise<void>((granted, refused) => lock.queue.push({ user, granted, refused }));
  }

  /** Releases the lock once. No-op when the run does not hold it (it has ended meanwhile). */
  free(name: string, run: string): void {
    const lock = this.#locks.get(name);
    const last = lock?.holders.at(-1);
    if (!lock || last?.run !== run || --last.depth > 0) return;
    this.#pass(name, lock, run);
  }

  /** The run has ended: releases its locks and its waiting. */
  freeAll(run: string): void {
    const waited = this.#waits.get(run);
    if (waited) {
      const queue = this.#locks.get(waited.name)?.queue ?? [];
      const place = queue.findIndex(({ user }) => user.run === run);
      const [waiting] = place >= 0 ? queue.splice(place, 1) : [];
      this.#noLongerWaiting(waited.user);
      waiting?.refused(apiError('cascade.service.state.deadlock', waited.name));
    }
    for (const name of this.#owned.get(run) ?? []) {
      const lock = this.#locks.get(name);
      if (lock) this.#pass(name, lock, run);
    }
    this.#owned.delete(run);
  }

  #give(name: string, run: string): void {
    const lock = this.#locks.get(name) ?? { holders: [], queue: [] };
    lock.holders.push({ run, depth: 1 });
    this.#locks.set(name, lock);
    const owned = this.#owned.get(run) ?? new Set();
    this.#owned.set(run, owned.add(name));
  }

  #pass(name: string, lock: Lock, run: string): void {
    const place = lock.holders.findIndex((holder) => holder.run === run);
    if (place >= 0) lock.holders.splice(place, 1);
    this.#owned.get(run)?.delete(name);
    const next = lock.queue.findIndex(({ user }) => mayHave(lock, user));
    const [waiting] = next >= 0 ? lock.queue.splice(next, 1) : [];
    if (!waiting) {
      if (lock.holders.length === 0) this.#locks.delete(name);
      return;
    }
    this.#noLongerWaiting(waiting.user);
    this.#give(name, waiting.user.run);
    waiting.granted();
  }

  #noLongerWaiting(user: LockUser): void {
    this.#waits.delete(user.run);
    for (const { run } of outsideOf(user)) {
      const waiting = this.#waitingWithin.get(run);
      waiting?.delete(user.run);
      if (waiting?.size === 0) this.#waitingWithin.delete(run);
    }
  }

  /** Whether one of those who keep the run from the lock waits for it, or for one that waits for it: directly, or by way of others. */
  #wouldCycle(name: string, user: LockUser): boolean {
    const own = new Set(chainOf(user).map(({ run }) => run));
    const seen = new Set<string>();
    const next = this.#keeping(name, user);
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      if (own.has(at)) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      const waited = this.#waits.get(at);
      if (waited) next.push(...this.#keeping(waited.name, waited.user));
      next.push(...(this.#waitingWithin.get(at) ?? []));
    }
    return false;
  }

  /** The runs that keep one from a lock: those that it is within do not. */
  #keeping(name: string, user: LockUser): string[] {
    const own = new Set(chainOf(user).map(({ run }) => run));
    return (this.#locks.get(name)?.holders ?? []).map(({ run }) => run).filter((run) => !own.has(run));
  }
}

/** The run and those that it is within. */
export function chainOf(user: LockUser): LockUser[] {
  const chain: LockUser[] = [];
  for (let one: LockUser | undefined = user; one; one = one.within) chain.push(one);
  return chain;
}

const outsideOf = (user: LockUser): LockUser[] => chainOf(user).slice(1);

/** Whether nobody has the lock but a run that waits for this one. */
function mayHave({ holders }: Lock, user: LockUser): boolean {
  const last = holders.at(-1);
  return last === undefined || chainOf(user).some(({ run }) => run === last.run);
}
