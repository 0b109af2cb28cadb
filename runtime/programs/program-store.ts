// The compiled texts of rules that are kept because events may still name them: a text that is out of force is removed, from memory and
// store, once no open run uses it, no unit that waits for its commit and no row of any process's journal names it, and a grace period is
// over (units that are about to be submitted may name it, too).

import type { Db } from 'mongodb';
import { type Committer, referencesIn } from '../transactions/index.ts';
import type { Executable } from './executable.ts';
import { executableKey, keepExecutable } from './programs.ts';

const GRACE_MS = 600_000;

export interface ProgramStoreOptions {
  readonly db: Db;
  readonly executables: Map<string, Executable>;
  /** The epoch of the owner, which does not remove texts that a later owner has stored. */
  readonly epoch: number;
  readonly committer: Pick<Committer, 'references'>;
  /** The grace period of texts that are out of force. */
  readonly graceMs?: number;
}

export class ProgramStore {
  readonly #db: Db;
  readonly #executables: Map<string, Executable>;
  readonly #epoch: number;
  /** The keys of the texts in force, by rule. */
  readonly #inForce = new Map<string, string>();
  /** For each text out of force, the time at which that was first noticed. */
  readonly #leftAt = new Map<string, number>();
  #sweeping: Promise<unknown> = Promise.resolve();

  readonly #committer: Pick<Committer, 'references'>;
  readonly #graceMs: number;

  constructor({ db, executables, epoch, committer, graceMs = GRACE_MS }: ProgramStoreOptions) {
    this.#db = db;
    this.#committer = committer;
    this.#graceMs = graceMs;
    this.#epoch = epoch;
    this.#executables = executables;
  }

  /** Finds stored texts that are not in force; called when the rules of a namespace are loaded. */
  async open(now: number): Promise<void> {
    const stored = this.#db.collection<{ _id: string }>('programs').find({}, { projection: { _id: 1 } });
    const inForce = new Set(this.#inForce.values());
    for await (const { _id } of stored) if (!inForce.has(_id)) this.#leftAt.set(_id, now);
  }

  /** Stores a text before its rule is. */
  async keep(executable: Executable, now: number): Promise<void> {
    await this.#sweeping;
    const key = executableKey(executable.name, executable.program.id);
    if (this.#leftAt.has(key)) this.#leftAt.set(key, now);
    await keepExecutable(this.#db, executable, this.#epoch);
  }

  /** Records that a rule is in force with this text. */
  enforce(rule: string, executable: Executable, now: number): void {
    this.retire(rule, now);
    const key = executableKey(executable.name, executable.program.id);
    this.#executables.set(key, executable);
    this.#inForce.set(rule, key);
    this.#leftAt.delete(key);
  }

  /** Records that a rule is not in force any more. */
  retire(rule: string, now: number): void {
    const key = this.#inForce.get(rule);
    if (key === undefined) return;
    this.#inForce.delete(rule);
    this.#leftAt.set(key, now);
  }

  /** Removes texts that nothing names. @param uses whether a run of this process with this text is open or waits */
  async sweep(now: number, uses: (key: string) => boolean): Promise<number> {
    const inForce = new Set(this.#inForce.values());
    for (const key of this.#executables.keys()) if (!this.#leftAt.has(key) && !inForce.has(key)) this.#leftAt.set(key, now);
    const isDue = (key: string): boolean => now - (this.#leftAt.get(key) ?? now) >= this.#graceMs && !uses(key);
    let due = [...this.#leftAt.keys()].filter(isDue);
    if (due.length === 0) return 0;
    // Units that wait for their commit are read before the journal, so that none escapes on its way, however long the store is unavailable.
    const waiting = new Set<string>();
    for (const { rule, program } of this.#committer.references()) waiting.add(executableKey(rule, program));
    due = due.filter((key) => !waiting.has(key));
    if (due.length === 0) return 0;
    await this.#keepNamed(due, now);
    const gone = due.filter(isDue); // a text may have come into force meanwhile
    if (gone.length === 0) return 0;
    for (const key of gone) {
      this.#leftAt.delete(key);
      this.#executables.delete(key);
    }
    this.#sweeping = this.#db
      .collection<{ _id: string; epoch?: number }>('programs')
      .deleteMany({ _id: { $in: gone }, epoch: { $not: { $gt: this.#epoch } } })
      .catch(() => undefined); // they are found again at the next start
    await this.#sweeping;
    return gone.length;
  }

  /**
   * A run of another process may have begun with one of these texts: those that a journal names are checked again after the grace period.
   */
  async #keepNamed(due: readonly string[], now: number): Promise<void> {
    const left = new Set(due);
    for await (const { rule, program } of referencesIn(this.#db)) {
      const key = executableKey(rule, program);
      if (left.delete(key) && this.#leftAt.has(key)) this.#leftAt.set(key, now);
    }
  }
}
