// The machine's clock.

import type { Clock } from './types.ts';

/** Looked at again after this long, since the machine's clock may be set meanwhile, and setTimeout takes 24 days at most. */
const LONGEST_SLEEP_MS = 60_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  at(timeMs, call) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = Math.min(Math.max(timeMs - Date.now(), 0), LONGEST_SLEEP_MS);
      timer = setTimeout(fire, leftMs);
      timer.unref();
    };
    // setTimeout may be a millisecond early against Date.now().
    const fire = (): void => (Date.now() < timeMs ? arm() : call());
    arm();
    return { cancel: () => clearTimeout(timer) };
  },
};
