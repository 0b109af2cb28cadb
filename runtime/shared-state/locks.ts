// Reentrant locks of runs, acquired in the order of asking and freed when the run ends. A run that would wait for itself (a deadlock) is
// refused.
import { apiError } from '../../model/errors/index.ts';

interface Lock {
  owner: string;
  /** How often its owner has acquired it. */
  depth: number;
  readonly queue: { readonly run: string; readonly granted: () => void; readonly refused: (error: Error) => void }[];
}

export class Locks {
  readonly #onWait: (run: string) => void;
  readonly #locks = new Map<string, Lock>();
  /** The lock that a run waits for. */
  readonly #waits = new Map<string, string>();
  readonly #owned = new Map<string, Set<string>>();

  /** @param onWait called before a run waits for a lock: it must not keep others waiting for something else, who may have that lock */
  constructor(onWait: (run: string) => void = () => undefined) {
    this.#onWait = onWait;
  }

  /** Whether the run holds a lock. */
  holds(run: string): boolean {
    return (this.#owned.get(run)?.size ?? 0) > 0;
  }

  /** Whether the run would get the lock at once. */
  isFree(name: string, run: string): boolean {
    const lock = this.#locks.get(name);
    return lock === undefined || lock.owner === run;
  }

  /** Resolves when the run has it. @throws CascadeError when the owner waits for the run */
  async take(name: string, run: string): Promise<void> {
    const lock = this.#locks.get(name);
    if (!lock) return this.#give(name, run);
    if (lock.owner === run) {
      lock.depth++;
      return;
    }
    if (this.#wouldCycle(lock.owner, run)) throw apiError('cascade.service.state.deadlock', name);
    this.#onWait(run);
    this.#waits.set(run, name);
    await new Promise<void>((granted, refused) => lock.queue.push({ run, granted, refused }));
  }

  /** Releases the lock once. No-op when the run does not hold it (it has ended meanwhile). */
  free(name: string, run: string): void {
    const lock = this.#locks.get(name);
    if (!lock || lock.owner !== run || --lock.depth > 0) return;
    this.#pass(name, lock);
  }

  /** The run has ended: releases its locks and its waiting. */
  freeAll(run: string): void {
    const waited = this.#waits.get(run);
    if (waited !== undefined) {
      this.#waits.delete(run);
      const queue = this.#locks.get(waited)?.queue ?? [];
      const place = queue.findIndex((one) => one.run === run);
      if (place >= 0) queue.splice(place, 1)[0]?.refused(apiError('cascade.service.state.deadlock', waited));
    }
    for (const name of this.#owned.get(run) ?? []) {
      const lock = this.#locks.get(name);
      if (lock) this.#pass(name, lock);
    }
    this.#owned.delete(run);
  }

  #give(name: string, run: string): void {
    this.#locks.set(name, { owner: run, depth: 1, queue: this.#locks.get(name)?.queue ?? [] });
    const owned = this.#owned.get(run) ?? new Set();
    this.#owned.set(run, owned.add(name));
  }

  #pass(name: string, lock: Lock): void {
    this.#owned.get(lock.owner)?.delete(name);
    const next = lock.queue.shift();
    if (!next) {
      this.#locks.delete(name);
      return;
    }
    this.#waits.delete(next.run);
    this.#give(name, next.run);
    next.granted();
  }

  /** Whether waiting for the owner would close a cycle. */
  #wouldCycle(owner: string, run: string): boolean {
    for (let at: string | undefined = owner; at !== undefined; ) {
      if (at === run) return true;
      const waited = this.#waits.get(at);
      at = waited === undefined ? undefined : this.#locks.get(waited)?.owner;
    }
    return false;
  }
}
