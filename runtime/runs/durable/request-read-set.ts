// The read set of one request: the versions that its answer shows to the program are kept with the answer, and count for later updates of
// the run as long as the attempt that made the request goes on.

import { type ReadForChange, type ReadSet, RestartRun } from '../../context/index.ts';
import type { Pending } from '../../transactions/index.ts';
import { seenText } from '../history.ts';
import type { AttemptReads } from './attempt-reads.ts';

export class RequestReadSet implements ReadSet {
  readonly #run: AttemptReads;
  readonly #isPresent: () => boolean;
  #seen: (readonly [instance: string, version: bigint])[] | null = null;

  /** @param isPresent whether the attempt of the run that made the request goes on */
  constructor(run: AttemptReads, isPresent: () => boolean) {
    this.#run = run;
    this.#isPresent = isPresent;
  }

  record(collection: string, id: string, version: bigint): void {
    if (!this.#isPresent()) return;
    (this.#seen ??= []).push([`${collection}/${id}`, version]);
    this.#run.record(collection, id, version);
  }

  /** As `record`; nothing that the answer shows. */
  mark(key: string, version: bigint): void {
    if (this.#isPresent()) this.#run.remember(key, version);
  }

  expected(collection: string, id: string): bigint | undefined {
    return this.#run.expected(collection, id);
  }

  hasMissed(collection: string): boolean {
    return this.#run.hasMissed(collection);
  }

  turn(collection: string, ids: readonly string[]): Promise<'read again' | 'go on' | Pending> {
    return this.#run.turn(collection, ids);
  }

  get mayCompute(): boolean {
    return this.#run.mayCompute;
  }

  recordForChange(collection: string, id: string, read: ReadForChange): void {
    if (this.#isPresent()) this.#run.recordForChange(collection, id, read);
  }

  async turnToChange(collection: string, id: string): ReturnType<ReadSet['turnToChange']> {
    const turn = this.#isPresent() ? await this.#run.turnToChange(collection, id) : null;
    // Nothing of an attempt that is over is computed from a change that the run would not follow.
    if (!this.#isPresent()) throw new RestartRun(`${collection}/${id}`);
    return turn;
  }

  follow(pending: Pending): void {
    if (this.#isPresent()) this.#run.follow(pending);
  }

  followed(collection: string): readonly Pending[] {
    return this.#run.followed(collection);
  }

  standing(): Promise<void> {
    return this.#run.standing();
  }

  /** The versions in their stored form; undefined: none. */
  get text(): string | undefined {
    return this.#seen ? seenText(this.#seen) : undefined;
  }
}
