// How long runs may be open (language.md 10, quota `executionTime`): a run that waits for a lock, a source or another service for longer is ended.
// One timer for all: they begin one after the other, so the oldest stand first.

const LOOK_EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;

/** Ends a run. @param limit what it has exceeded, for its error */
export type Expire = (limit: string) => void;

export class ExecutionTimes {
  readonly #mostMs: number;
  readonly #timer: NodeJS.Timeout;
  /** When each began, on the monotonic clock. */
  readonly #begun = new Map<Expire, number>();

  constructor(mostMs = 2 * HOUR_MS, lookEveryMs = LOOK_EVERY_MS) {
    this.#mostMs = mostMs;
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref();
  }

  /** A run begins. @param expire called once if it does not end in time; names the run in `end` */
  begin(expire: Expire): void {
    this.#begun.set(expire, performance.now());
  }

  /** A run has ended. */
  end(expire: Expire): void {
    this.#begun.delete(expire);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const before = performance.now() - this.#mostMs;
    for (const [expire, at] of this.#begun) {
      if (at > before) return;
      this.#begun.delete(expire);
      expire(this.#mostMs % HOUR_MS === 0 ? `${this.#mostMs / HOUR_MS} hours` : `${this.#mostMs / 1_000} seconds`);
    }
  }
}
