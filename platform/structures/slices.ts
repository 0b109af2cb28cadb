// Work that may be long, done in slices: between them everything else of this process has its turn.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Of one slice; a single part that takes longer is not cut. */
const SLICE_MS = 5;

/** All that a generator yields, in its order. */
export async function inSlices<T>(parts: Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  let until = performance.now() + SLICE_MS;
  for (const part of parts) {
    all.push(part);
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
  return all;
}
