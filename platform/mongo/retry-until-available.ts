// Retries of work that failed because the store was unavailable or busy: the one place that says how long to wait in between.
import { isRetryable } from './errors.ts';

/** An embedded database that was killed is back after 1.3 s; what a short interruption costs must be small beside that. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2_000;

/**
 * Exponential back-off with jitter: each pause is at most twice as long as the one before (100 ms, 200 ms … 2 s), and random in its upper
 * half, so that everything that waits for a restarting database does not come back at the same moment.
 */
export class Backoff {
  #attempts = 0;

  /** Milliseconds until the next attempt. */
  nextMs(): number {
    const mostMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#attempts++, LAST_PAUSE_MS);
    return mostMs * (0.5 + Math.random() / 2);
  }

  /** Waits for the next attempt; it does not keep the process alive. */
  pause(): Promise<void> {
    return new Promise((resolve) => void setTimeout(resolve, this.nextMs()).unref());
  }

  /** An attempt succeeded: the next failure is a first one. */
  reset(): void {
    this.#attempts = 0;
  }
}

export interface RetryOptions {
  /** Which errors are retried; by default retryable ones (isRetryable). */
  readonly isRetried?: (error: unknown) => boolean;
  /** Asked before each pause and after it; false ends the attempts with the last error. Always wanted by default. */
  readonly isWanted?: () => boolean;
  /** Called for each failure that is retried. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * Retries `work` until it succeeds, without limit: acknowledged work must be done.
 * @param work must be idempotent, as the outcome of an attempt may be unknown
 * @throws errors that are not retried, or the last one when it is not wanted any more
 */
export async function retryUntilAvailable<T>(
  work: () => Promise<T>,
  { isRetried = isRetryable, isWanted = () => true, onRetry }: RetryOptions = {},
): Promise<T> {
  const backoff = new Backoff();
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isRetried(error) || !isWanted()) throw error;
      onRetry?.(error);
      await backoff.pause();
      if (!isWanted()) throw error;
    }
}
