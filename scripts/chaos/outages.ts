// How long nobody is served after a kill.
export class Outages {
  /** When those kills were after which nobody has been served yet, in milliseconds of the monotonic clock. */
  #open: number[] = [];
  readonly #lengthsMs: number[] = [];

  begin(): void {
    this.#open.push(performance.now());
  }

  /** A change was acknowledged. @param sentAt when it was asked for first */
  served(sentAt: number): void {
    const over = this.#open.filter((at) => at <= sentAt);
    if (over.length === 0) return;
    this.#open = this.#open.filter((at) => at > sentAt);
    this.#lengthsMs.push(...over.map((at) => performance.now() - at));
  }

  /** @returns how long `part` of them were at most, in milliseconds; null: there was none */
  within(part: number): number | null {
    const sorted = this.#lengthsMs.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? null;
  }
}
