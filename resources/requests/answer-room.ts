// How long a reply may be that is kept for a repetition of its request: a namespace may not fill the disk by asking for long ones.
import type { Db } from 'mongodb';
import { sizeOf } from '../../platform/mongo/index.ts';
import type { Operation } from '../api.ts';
import { StateKey } from '../states.ts';

/** Of a longer one only the result of the change is stored. */
const LONGEST = 8_000_000;
/** Where the namespace's kept replies take more than their bound. */
const LONGEST_WHEN_FULL = 4 * 1024;
/** Of a read, which can be carried out again. */
const LONGEST_READ = 64 * 1024;
const READS: readonly string[] = ['select', 'selectOne', 'aggregate'] satisfies Operation[];

export class AnswerRoom {
  #isFull = false;

  /** @param op of the request @returns characters */
  longest(op: string): number {
    if (this.#isFull) return LONGEST_WHEN_FULL;
    return READS.includes(op) ? LONGEST_READ : LONGEST;
  }

  /** To be called from time to time. @returns whether the replies have just become too much */
  async look(db: Db, collection: string, mostBytes: number): Promise<boolean> {
    const wasFull = this.#isFull;
    this.#isFull = (await sizeOf(db.collection(collection))).bytes >= mostBytes;
    return this.#isFull && !wasFull;
  }
}

export const ANSWER_ROOM = new StateKey('room for answers', () => new AnswerRoom());
