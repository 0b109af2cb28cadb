// What the present attempt of a run has read, and the changes that are not stored yet and that it went on from: the versions that its updates must
// meet (language.md U7), and its turns for contended instances.

import { type ReadForChange, type ReadSet, RestartRun, type TurnToChange } from '../../context/index.ts';
import type { Pending } from '../../transactions/index.ts';
import type { Contention } from '../contention.ts';

/** How often a run tries a computed change before it takes turns for the row. */
const MOST_LOST_COMPUTING = 3;

/** The run whose attempt reads. */
export interface ReadingRun {
  readonly id: string;
  /** Of the rule that runs. */
  readonly ruleName: string;
  /** Its record shows each of its changes: none is left to the service. */
  readonly isTraced: boolean;
  readonly holdsLocks: boolean;
}

export class AttemptReads implements ReadSet {
  readonly #run: ReadingRun;
  readonly #contention: Contention;
  /** Versions of the instances that it has read; null: none yet. */
  #versions: Map<string, bigint> | null = null;
  /** Those that it has not from the run's history, which may show it others afterwards; null: none yet. */
  #live: Map<string, bigint> | null = null;
  /** Collections of which it has looked for something in vain; null: none yet. */
  #missed: Set<string> | null = null;
  /** What it has read for computed changes, with the versions; null: nothing. */
  #forChange: Map<string, ReadForChange & { readonly version: bigint | undefined }> | null = null;
  /** Pending changes that it follows. */
  #follows: Pending[] = [];
  /** The instance of the last computed change of any attempt; how often races for such were lost. */
  #computing: string | null = null;
  #lostComputing = 0;

  constructor(run: ReadingRun, contention: Contention) {
    this.#run = run;
    this.#contention = contention;
  }

  /** The next attempt begins. */
  restart(): void {
    this.#versions = null;
    this.#live = null;
    this.#missed = null;
    this.#forChange = null;
    this.#follows = [];
  }

  record(collection: string, id: string, version: bigint): void {
    this.remember(`${collection}/${id}`, version);
    (this.#live ??= new Map()).set(`${collection}/${id}`, version);
  }

  /** The history has shown this version to the program. */
  remember(instance: string, version: bigint): void {
    (this.#versions ??= new Map()).set(instance, version);
    if (version === 0n) (this.#missed ??= new Set()).add(instance.slice(0, instance.indexOf('/')));
  }

  /** Whether this attempt has read another version itself. */
  hasReadOther(instance: string, version: bigint): boolean {
    return (this.#live?.get(instance) ?? version) !== version;
  }

  expected(collection: string, id: string): bigint | undefined {
    return this.#versions?.get(`${collection}/${id}`);
  }

  hasMissed(collection: string): boolean {
    return this.#missed?.has(collection) === true;
  }

  async turn(collection: string, ids: readonly string[]): Promise<'read again' | 'go on' | Pending> {
    const contention = this.#contention;
    const { id, ruleName, holdsLocks } = this.#run;
    const instance = ids.map((one) => `${collection}/${one}`).find((one) => contention.isContended(one)) ?? this.#early(collection, ids);
    // A run with a lock does not wait for a turn: the run that has the turn may wait for that lock.
    if (!instance || holdsLocks) return 'go on';
    if (contention.isEngaged(id) && (contention.hasTurn(instance, id) || !contention.isIn(instance, id)))
      return contention.pendingFor(instance, id) ?? 'go on';
    const waits = contention.isContended(instance);
    if (waits) contention.lost(ruleName, collection);
    await contention.enter(instance, id);
    return contention.pendingFor(instance, id) ?? (waits ? 'read again' : 'go on');
  }

  /** The one instance that it queues for at the first read, since runs of its rule have lost races there; undefined: none. */
  #early(collection: string, ids: readonly string[]): string | undefined {
    const { id, ruleName } = this.#run;
    if (ids.length !== 1 || this.#contention.isEngaged(id)) return undefined;
    return this.#contention.takesTurns(ruleName, collection) ? `${collection}/${ids[0]}` : undefined;
  }

  get mayCompute(): boolean {
    const { id, isTraced, holdsLocks } = this.#run;
    return !isTraced && !this.#contention.isEngaged(id) && !holdsLocks;
  }

  recordForChange(collection: string, id: string, read: ReadForChange): void {
    const instance = `${collection}/${id}`;
    (this.#forChange ??= new Map()).set(instance, { ...read, version: this.#versions?.get(instance) });
  }

  async turnToChange(collection: string, id: string): Promise<TurnToChange | null> {
    const instance = `${collection}/${id}`;
    const read = this.#forChange?.get(instance);
    // Another version is expected where the run has changed the row itself, by other means.
    if (!read || read.version !== this.#versions?.get(instance) || !this.mayCompute) return null;
    const contention = this.#contention;
    const { id: run } = this.#run;
    const hasWaited = contention.isContended(instance) || (read.version !== undefined && contention.isOld(instance, read.version));
    this.#computing = instance;
    await contention.enter(instance, run);
    if (!contention.hasTurn(instance, run)) throw new RestartRun(instance); // its time is over
    return { ...read, hasWaited, pending: contention.pendingFor(instance, run) };
  }

  /** A race for the instance was lost. @returns whether the next attempt leaves its computed change to the service again */
  computesAgain(instance: string): boolean {
    return instance === this.#computing && ++this.#lostComputing <= MOST_LOST_COMPUTING;
  }

  follow(pending: Pending): void {
    if (!this.#follows.includes(pending)) this.#follows.push(pending);
  }

  /** Whether it follows changes, some of which may be stored by now. */
  get hasFollowed(): boolean {
    return this.#follows.length > 0;
  }

  followed(collection: string): readonly Pending[] {
    return this.unstored().filter((pending) => pending.collection === collection);
  }

  async standing(): Promise<void> {
    for (const pending of this.unstored()) if (!(await pending.settled())) throw new RestartRun(pending.key);
  }

  /** The pending changes that it follows. @throws RestartRun when one of them was not stored */
  unstored(): readonly Pending[] {
    if (this.#follows.length === 0) return this.#follows;
    const lost = this.#follows.find(({ isStored }) => isStored === false);
    if (lost) throw new RestartRun(lost.key);
    this.#follows = this.#follows.filter(({ isStored }) => isStored === null);
    return this.#follows;
  }
}
