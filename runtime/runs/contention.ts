// Lines of runs that want the same instance. An instance that nobody lost a race for has no line; after the first loss those
// who read it take turns, so that each update meets the version it read (language.md U7). A turn ends when the change is enqueued: who is next goes
// on from what it leaves, and is stored with it or after it. A rule that has lost a race lately takes turns from its first read on.

import type { Pending } from '../transactions/index.ts';

interface Line {
  /** The first has its turn. */
  readonly runs: { readonly run: string; go: () => void }[];
  /** The last change of the instance by a run of the line, until it is stored or is not. */
  pending: Pending | null;
}

/** So many reads by runs of a rule go in line after a lost race; each that has to wait begins the count anew. */
const PRONE_READS = 1_000;
/** Rules and collections that are remembered for it. */
const MOST_PRONE = 10_000;

export class Contention {
  /** Of a rule and a collection: reads that still go in line. */
  readonly #prone = new Map<string, number>();
  readonly #lines = new Map<string, Line>();
  readonly #held = new Map<string, Set<string>>();

  /** Whether reads of this instance go in line. */
  isContended(instance: string): boolean {
    return this.#lines.has(instance);
  }

  /** A run of the rule lost a race for an instance of the collection, or had to wait for one. */
  lost(rule: string, collection: string): void {
    const key = proneKey(rule, collection);
    this.#prone.delete(key); // it becomes the youngest
    this.#prone.set(key, PRONE_READS);
    if (this.#prone.size > MOST_PRONE) this.#prone.delete(this.#prone.keys().next().value as string);
  }

  /** Whether a read by a run of the rule goes in line although nobody has lost a race for that instance. Counts it as one. */
  takesTurns(rule: string, collection: string): boolean {
    if (this.#prone.size === 0) return false;
    const key = proneKey(rule, collection);
    const left = this.#prone.get(key);
    if (left === undefined) return false;
    if (left > 1) this.#prone.set(key, left - 1);
    else this.#prone.delete(key);
    return true;
  }

  /** Whether the run has a turn or a place in any line: it must not wait in a second one (two such could wait for each other). */
  isEngaged(run: string): boolean {
    return this.#held.has(run);
  }

  /** Puts the run in line, unless it is there; resolves when it is its turn. */
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

  /** Puts the run in line, after giving up places in other lines: a run is in one line at a time. It waits for its turn where it reads (`enter`). */
  moveTo(instance: string, run: string): void {
    if (!this.#held.get(run)?.has(instance)) this.leave(run);
    void this.enter(instance, run);
  }

  /** Resolves when it is the run's turn in the line that it is in. */
  async turnOf(run: string): Promise<void> {
    for (const instance of this.#held.get(run) ?? []) await this.enter(instance, run);
  }

  /** What the run whose turn it is goes on from; null: what is stored. */
  pendingFor(instance: string, run: string): Pending | null {
    const line = this.#lines.get(instance);
    return line?.pending && line.pending.isStored === null && line.runs[0]?.run === run ? line.pending : null;
  }

  /** Whether the run is in the line of the instance. */
  isIn(instance: string, run: string): boolean {
    return this.#held.get(run)?.has(instance) === true;
  }

  /** Whether it is the run's turn for the instance. */
  hasTurn(instance: string, run: string): boolean {
    return this.#lines.get(instance)?.runs[0]?.run === run;
  }

  /** The run has enqueued its change of the instance whose turn it has: the next one goes on from there. */
  pass(instance: string, run: string, pending: Pending): void {
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

  /** The run has changed these instances: if it was its turn for one of them, that turn is over. */
  changed(instances: readonly string[], run: string): void {
    const held = this.#held.get(run);
    if (held && instances.some((instance) => held.has(instance))) this.leave(run);
  }

  /** The run has ended: those behind it move up. */
  leave(run: string): void {
    for (const instance of this.#held.get(run) ?? []) {
      const line = this.#lines.get(instance);
      if (!line) continue;
      const place = line.runs.findIndex((one) => one.run === run);
      if (place >= 0) line.runs.splice(place, 1);
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
