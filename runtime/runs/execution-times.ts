// Bounds how long runs may be open (language.md 10, quota `executionTime`), also while they wait for a lock, a source or another service.
// One timer serves all runs.

const LOOK_EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;

/** Ends a run. @param limit the exceeded limit, for its error */
export type Expire = (limit: string) => void;

export class ExecutionTimes {
  readonly #mostMs: number;
  readonly #timer: NodeJS.Timeout;
  /** By run: the deadline on the monotonic clock, and the limit. */
  readonly #due = new Map<Expire, { readonly at: number; readonly mostMs: number }>();

  constructor(mostMs = 2 * HOUR_MS, lookEveryMs = LOOK_EVERY_MS) {
    this.#mostMs = mostMs;
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref();
  }

  /** Starts the time of a run. @param expire called once at the deadline; identifies the run in `end` */
  begin(expire: Expire, mostMs = this.#mostMs): void {
    this.#due.set(expire, { at: performance.now() + mostMs, mostMs });
  }

  /** A run has ended. */
  end(expire: Expire): void {
    this.#due.delete(expire);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    for (const [expire, { at, mostMs }] of this.#due) {
      if (at > now) continue;
      this.#due.delete(expire);
      expire(mostMs % HOUR_MS === 0 ? `${mostMs / HOUR_MS} hours` : `${mostMs / 1_000} seconds`);
    }
  }
}
