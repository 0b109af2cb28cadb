// The runs that are open, by the name that the isolates know them by: a number that is never given twice. Each stands in the place that the
// end of its number says, so that beginning and ending one moves nothing else and leaves nothing behind.

const FIRST_PLACES = 1_024;

/** What stands there knows its own number. */
export class OpenRuns<Run extends { readonly wireId: number }> {
  #places: (Run | null)[] = new Array<Run | null>(FIRST_PLACES).fill(null);
  #last = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** A number under which a run may be put. */
  next(): number {
    if (this.#size * 2 >= this.#places.length) this.#grow();
    do this.#last += 1;
    while (this.#places[this.#last & (this.#places.length - 1)] !== null);
    return this.#last;
  }

  /** @param run has the number that `next` has just given */
  put(run: Run): void {
    this.#places[run.wireId & (this.#places.length - 1)] = run;
    this.#size += 1;
  }

  get(wireId: number): Run | undefined {
    const run = this.#places[wireId & (this.#places.length - 1)];
    return run?.wireId === wireId ? run : undefined;
  }

  remove(run: Run): void {
    if (this.get(run.wireId) !== run) return;
    this.#places[run.wireId & (this.#places.length - 1)] = null;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Iterator<Run> {
    for (const run of this.#places) if (run) yield run;
  }

  clear(): void {
    this.#places.fill(null);
    this.#size = 0;
  }

  /** Two that stood in different places do so in twice as many. */
  #grow(): void {
    const before = this.#places;
    this.#places = new Array<Run | null>(before.length * 2).fill(null);
    for (const run of before) if (run) this.#places[run.wireId & (this.#places.length - 1)] = run;
  }
}
