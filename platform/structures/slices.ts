// Work that may be long, done in slices of some milliseconds: between two of them everything else of this process has its turn.

/** Of one slice; a single part that takes longer is not cut. */
const SLICE_MS = 5;

/** In a turn of the event loop, of all long works together. */
const SLICES_A_TURN = 2;

/** So short work waits for two slices at most, however many long works there are; these take turns. */
class SliceTurns {
  readonly #waiting: (() => void)[] = [];
  #isPlanned = false;

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isPlanned) return;
      this.#isPlanned = true;
      setImmediate(this.#resume);
    });
  }

  readonly #resume = (): void => {
    const resumed = this.#waiting.splice(0, SLICES_A_TURN);
    this.#isPlanned = this.#waiting.length > 0;
    if (this.#isPlanned) setImmediate(this.#resume); // of the next turn
    for (const resume of resumed) resume();
  };
}

/** One for the process, as the event loop is. */
const turns = new SliceTurns();

/** To be awaited between two slices. */
export const nextSlice = (): Promise<void> => turns.next();

/** All that a generator yields, in its order. */
export async function inSlices<T>(parts: Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  let until = performance.now() + SLICE_MS;
  for (const part of parts) {
    all.push(part);
    if (performance.now() < until) continue;
    await nextSlice();
    until = performance.now() + SLICE_MS;
  }
  return all;
}
