// Polls (integrations.md 2.8): one at a time, counted from the start of each; what takes longer skips ticks.
import { longTimeout } from '../../../../platform/clock/index.ts';

export interface PollingOptions {
  readonly intervalMs: number;
  /** When a poll before this life began, as the clock of the service has it; null: there was none. */
  readonly polledAt: () => Promise<number | null>;
  readonly now: () => number;
  /** A round of polls. Never throws. */
  readonly poll: () => Promise<void>;
}

export class Polling {
  readonly #options: PollingOptions;
  #timer: ReturnType<typeof longTimeout> | null = null;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: PollingOptions) {
    this.#options = options;
  }

  /** Resolves after the first round, or at once when it is not due yet. */
  async start(): Promise<void> {
    const { intervalMs, now } = this.#options;
    const polledAt = await this.#options.polledAt();
    const left = polledAt === null ? 0 : Math.min(polledAt + intervalMs - now(), intervalMs);
    if (left > 0) this.#plan(left);
    else await this.#tick();
  }

  /** Waits for a round that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#round;
  }

  #plan(inMs: number): void {
    if (this.#isClosed) return;
    this.#timer = longTimeout(() => void this.#tick(), inMs);
  }

  async #tick(): Promise<void> {
    const started = performance.now();
    this.#round = this.#options.poll();
    await this.#round;
    const { intervalMs } = this.#options;
    const passed = performance.now() - started;
    this.#plan(passed < intervalMs ? intervalMs - passed : intervalMs - (passed % intervalMs));
  }
}
