// A rate as a bucket of tokens: it fills at the rate, holds a second's worth and the credit, and what is taken from it is allowed. Pure but for
// what it remembers; times are milliseconds of a monotonic clock.

export class Rate {
  readonly perSecond: number;
  readonly #capacity: number;
  #tokens: number;
  #at: number;

  /** @param credit what may be taken besides a second's worth */
  constructor(perSecond: number, credit: number, now: number) {
    this.perSecond = perSecond;
    this.#capacity = perSecond + credit;
    this.#tokens = this.#capacity;
    this.#at = now;
  }

  /** Takes one if there is one. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Until there is one; Infinity: never. */
  waitMs(now: number): number {
    this.#fill(now);
    if (this.#tokens >= 1) return 0;
    return this.perSecond === 0 ? Infinity : Math.ceil(((1 - this.#tokens) / this.perSecond) * 1_000);
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (Math.max(0, now - this.#at) / 1_000) * this.perSecond);
    this.#at = now;
  }
}
