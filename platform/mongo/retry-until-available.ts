// Doing again what failed because the store was out of reach or busy. The one place that says how long to wait in between.
import { isRetryable } from './errors.ts';

/** An embedded database that was killed is back after 1.3 s; what a short interruption costs must be small beside that. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2_000;

/**
 * The pauses between the attempts at one thing: each at most twice as long as the one before (100 ms, 200 ms … 2 s), and somewhere in the upper
 * half of that by chance. Whatever waits for a restarting database, in whichever process, would otherwise come back at the same moment.
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

  /** An attempt was a success: the next failure is a first one. */
  reset(): void {
    this.#attempts = 0;
  }
}

export interface RetryOptions {
  /** Which errors are a reason to try again; by default those that pass by themselves (isPassing). */
  readonly isRetried?: (error: unknown) => boolean;
  /** Asked before each pause and after it; false ends the attempts with the last error. Always wanted by default. */
  readonly isWanted?: () => boolean;
  /** Told of each failure that is tried again. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * Does `work` again until it succeeds, for as long as that takes: what was acknowledged is owed to somebody.
 * @param work must allow for being done more than once, as the outcome of an attempt may be unknown
 * @throws what `work` throws and is not retried, or its last error when it is not wanted any more
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
