// The clock of a service that shares its database with others: all of them keep to the database's time, so that what is due is due for
// all of them at once (integrations.md 10.4).

import { systemClock } from './system-clock.ts';
import type { Clock } from './types.ts';

const MEASURE_EVERY_MS = 60_000;

export interface SharedClock extends Clock, AsyncDisposable {}

/**
 * @param remote asks the database what time it is, milliseconds since the epoch
 * @param onError told when it does not answer: the offset of before goes on to hold
 * @throws what the first question raises
 */
export async function openSharedClock(remote: () => Promise<number>, onError: (error: unknown) => void): Promise<SharedClock> {
  let offsetMs = await offsetOf(remote);
  const timer = setInterval(() => {
    offsetOf(remote).then((measured) => (offsetMs = measured), onError);
  }, MEASURE_EVERY_MS);
  timer.unref();
  const now = (): number => Date.now() + offsetMs;
  return {
    now,
    at(timeMs, call) {
      let armed = systemClock.at(timeMs - offsetMs, fire);
      function fire(): void {
        // The offset may have changed meanwhile: never early.
        if (now() < timeMs) armed = systemClock.at(timeMs - offsetMs, fire);
        else call();
      }
      return { cancel: () => armed.cancel() };
    },
    [Symbol.asyncDispose]: async () => clearInterval(timer),
  };
}

/** What has to be added to the machine's time; nothing where the difference is within what the question itself took. */
async function offsetOf(remote: () => Promise<number>): Promise<number> {
  const before = Date.now();
  const there = await remote();
  const after = Date.now();
  const difference = there - Math.round((before + after) / 2);
  return Math.abs(difference) <= after - before + 1 ? 0 : difference;
}
