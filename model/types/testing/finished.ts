// For tests of work in pieces: its result, and how often it gave way.
import type { InPieces } from '../pieces.ts';

/** @returns the result, and how often it gave way */
export function finished<T>(work: InPieces<T>): [result: T, pauses: number] {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done) return [value, pauses];
  }
}
