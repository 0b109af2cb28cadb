// A rate as a token bucket: it fills at the rate, and holds a second's worth and the credit. Times are milliseconds of a monotonic clock.

export class Rate {
  readonly perSecond: number;
  readonly #capacity: number;
  #tokens: number;
  #at: number;

  /** @param credit tokens besides a second's worth */
  constructor(perSecond: number, credit: number, now: number) {
    this.perSecond = perSecond;
    this.#capacity = perSecond + credit;
    this.#tokens = this.#capacity;
    this.#at = now;
  }

  /** Takes a token if there is one. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Milliseconds until there is a token; Infinity: never. */
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
