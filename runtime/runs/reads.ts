// What a run has read since its last effect: recorded with the next one, so that a repetition goes the same way up to there. What is
// long, or comes after very much, is read again instead: a repetition may see something newer then, its effects stay what they were.

import type { Answer, Read } from '../commit/index.ts';

/** Characters of one answer, and of all of them together. */
const LONGEST = 64 * 1024;
const MOST = 1_000_000;
/** What an answer counts besides its text. */
const OVERHEAD = 100;

export class Reads {
  #kept: Read[] = [];
  #characters = 0;

  add(read: Read): void {
    const length = lengthOf(read.answer) + OVERHEAD;
    if (length > LONGEST || this.#characters + length > MOST) return;
    this.#characters += length;
    this.#kept.push(read);
  }

  get kept(): readonly Read[] {
    return this.#kept;
  }

  clear(): void {
    this.#kept = [];
    this.#characters = 0;
  }
}

const lengthOf = (answer: Answer): number =>
  'ok' in answer ? answer.ok.length : 'list' in answer ? answer.list.length : answer.error.message.length;
