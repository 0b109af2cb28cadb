// Queues of runs that want the same instance. There is none before a run loses a race; after that, runs that read the instance take turns,
// so that each update meets the version it read (language.md U7). A turn ends when the change is enqueued: the next run follows the pending
// change. A rule that lost a race lately takes turns from its first read on.

import type { Pending } from '../transactions/index.ts';

interface Line {
  /** The first run has the turn. */
  readonly runs: { readonly run: string; go: () => void }[];
  /** The last change of the instance by a run of the queue while it is not settled. */
  pending: Pending | null;
}

/** Number of reads that queue after a lost race; a read that has to wait starts the count again. */
const PRONE_READS = 1_000;
/** Of how many instances the last change is remembered. */
const MOST_CHANGED = 10_000;
/** How many rules and collections are remembered. */
const MOST_PRONE = 10_000;

export class Contention {
  /** By rule and collection: how many further reads queue. */
  readonly #prone = new Map<string, number>();
  readonly #lines = new Map<string, Line>();
  readonly #held = new Map<string, Set<string>>();
  /** By instance: the version of the last change that a run has enqueued in its turn. */
  readonly #changed = new Map<string, bigint>();

  /** Whether the instance has a queue. */
  isContended(instance: string): boolean {
    return this.#lines.has(instance);
  }

  /** Records that a run of the rule lost a race for an instance of the collection, or had to wait for one. */
  lost(rule: string, collection: string): void {
    const key = proneKey(rule, collection);
    this.#prone.delete(key); // moves it to the end: the oldest is dropped first
    this.#prone.set(key, PRONE_READS);
    if (this.#prone.size > MOST_PRONE) this.#prone.delete(this.#prone.keys().next().value as string);
  }

  /** Whether a read by a run of the rule queues although the instance has no queue yet. Counts the read. */
  takesTurns(rule: string, collection: string): boolean {
    if (this.#prone.size === 0) return false;
    const key = proneKey(rule, collection);
    const left = this.#prone.get(key);
    if (left === undefined) return false;
    if (left > 1) this.#prone.set(key, left - 1);
    else this.#prone.delete(key);
    return true;
  }

  /** Whether the run is in any queue: it must not wait in a second one, since two such runs could deadlock. */
  isEngaged(run: string): boolean {
    return this.#held.has(run);
  }

  /** Puts the run into the queue, unless it is there; resolves when it has the turn. */
  enter(instance: string, run: string): Promise<void> {
    const line = this.#lines.get(instance) ?? { runs: [], pending: null };
    this.#lines.set(instance, line);
    const { runs } = line;
    const held = this.#held.get(run) ?? new Set();
    this.#held.set(run, held.add(instance));
    const place = runs.findIndex((one) => one.run === run);
    if (place === 0) return Promise.resolve();
    return new Promise((go) => {
      if (place > 0) (runs[place] as { go: () => void }).go = go;
      else runs.push({ run, go });
      if (runs.length === 1) go();
    });
  }

  /** Moves the run from other queues into this one; `enter` waits for the turn. */
  moveTo(instance: string, run: string): void {
    if (!this.#held.get(run)?.has(instance)) this.leave(run);
    void this.enter(instance, run);
  }

  /** Resolves when the run has the turn in its queue. */
  async turnOf(run: string): Promise<void> {
    for (const instance of this.#held.get(run) ?? []) await this.enter(instance, run);
  }

  /** The pending change that the run with the turn follows; null: it reads what is stored. */
  pendingFor(instance: string, run: string): Pending | null {
    const line = this.#lines.get(instance);
    return line?.pending && line.pending.isStored === null && line.runs[0]?.run === run ? line.pending : null;
  }

  /** Whether the run is in the instance's queue. */
  isIn(instance: string, run: string): boolean {
    return this.#held.get(run)?.has(instance) === true;
  }

  /** Whether the run has the turn for the instance. */
  hasTurn(instance: string, run: string): boolean {
    return this.#lines.get(instance)?.runs[0]?.run === run;
  }

  /** Whether a row of that version is surely not the newest any more. */
  isOld(instance: string, version: bigint): boolean {
    const changed = this.#changed.get(instance);
    return changed !== undefined && changed > version;
  }

  /** The run with the turn has enqueued its change: the next run follows it. */
  pass(instance: string, run: string, pending: Pending): void {
    this.#changed.delete(instance); // moves it to the end: the oldest is dropped first
    this.#changed.set(instance, pending.version);
    if (this.#changed.size > MOST_CHANGED) this.#changed.delete(this.#changed.keys().next().value as string);
    const line = this.#lines.get(instance);
    if (!line) return;
    line.pending = pending;
    void pending.settled().then(() => {
      if (line.pending !== pending) return;
      line.pending = null;
      this.#forgetEmpty(instance, line);
    });
    this.leave(run);
  }

  /** The run has changed these instances: its turns for them end. */
  changed(instances: readonly string[], run: string): void {
    const held = this.#held.get(run);
    if (held && instances.some((instance) => held.has(instance))) this.leave(run);
  }

  /** The run has ended: it leaves its queues. */
  leave(run: string): void {
    for (const instance of this.#held.get(run) ?? []) {
      const line = this.#lines.get(instance);
      if (!line) continue;
      const place = line.runs.findIndex((one) => one.run === run);
      for (const { go } of place >= 0 ? line.runs.splice(place, 1) : []) go(); // a request that waits for the turn ends
      if (place === 0) line.runs[0]?.go();
      this.#forgetEmpty(instance, line);
    }
    this.#held.delete(run);
  }

  #forgetEmpty(instance: string, line: Line): void {
    if (line.runs.length === 0 && line.pending === null && this.#lines.get(instance) === line) this.#lines.delete(instance);
  }
}

const proneKey = (rule: string, collection: string): string => `${rule}\n${collection}`;
