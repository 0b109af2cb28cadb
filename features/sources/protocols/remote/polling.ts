// Polls a source at an interval (integrations.md 2.8), measured from the start of each poll and without overlap; a long poll skips ticks.
import { longTimeout } from '../../../../platform/clock/index.ts';

export interface PollingOptions {
  readonly intervalMs: number;
  /** When the previous poll began, by the clock of the service; null: there was none. */
  readonly polledAt: () => Promise<number | null>;
  readonly now: () => number;
  /** Runs one poll. Never throws. @param leftMs the time until the next one */
  readonly poll: (leftMs: () => number) => Promise<void>;
}

export class Polling {
  readonly #options: PollingOptions;
  #timer: ReturnType<typeof longTimeout> | null = null;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: PollingOptions) {
    this.#options = options;
  }

  /** Resolves after the first poll, or at once where it is not due yet. */
  async start(): Promise<void> {
    const { intervalMs, now } = this.#options;
    const polledAt = await this.#options.polledAt();
    const left = polledAt === null ? 0 : Math.min(polledAt + intervalMs - now(), intervalMs);
    if (left > 0) this.#plan(left);
    else await this.#tick();
  }

  /** Waits for a poll in flight. */
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
    const { intervalMs } = this.#options;
    const leftMs = (): number => intervalMs - ((performance.now() - started) % intervalMs);
    this.#round = this.#options.poll(leftMs);
    await this.#round;
    this.#plan(leftMs());
  }
}
