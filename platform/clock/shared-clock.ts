// The clock of a service: it goes by the monotonic clock of the process and follows another one, the database's where several processes share it,
// so that what is due is due for all of them at once (integrations.md 10.4), else the machine's. See slewed-time.ts for what it makes of steps.

import { sinceBoot } from './since-boot.ts';
import { afterSleep, type Measured, startAt, steered, timeAt, untilMs } from './slewed-time.ts';
import type { Clock } from './types.ts';

const MEASURE_EVERY_MS = 60_000;
/** How soon it is noticed that the machine was asleep. */
const LOOK_EVERY_MS = 1_000;
/** The machine tells how long it is up in hundredths of seconds, and no process runs at every moment. */
const SLEEP_MS = 1_000;
/** What setTimeout takes is 24 days. */
const LONGEST_SLEEP_MS = 3_600_000;

export interface SharedClock extends Clock, AsyncDisposable {}

export interface SharedClockOptions {
  /** Asks the other clock, milliseconds since the epoch. */
  readonly remote: () => Promise<number>;
  /** Told when it does not answer: the clock goes on as before. */
  readonly onError: (error: unknown) => void;
  /** Told when it was more than a day away, and the clock was set to it. */
  readonly onSet: (timeMs: number) => void;
  /** Milliseconds that have passed, whatever the machine's clock is set to; it may stand still while the machine sleeps. */
  readonly monotonic?: () => number;
  /** As `monotonic`, but the time that the machine sleeps counts; null where nobody knows. */
  readonly awakeOrNot?: () => number | null;
}

/** @throws what the first question raises */
export async function openSharedClock({
  remote,
  onError,
  onSet,
  monotonic = () => performance.now(),
  awakeOrNot = sinceBoot,
}: SharedClockOptions): Promise<SharedClock> {
  const measure = async (): Promise<Measured> => {
    const before = monotonic();
    const there = await remote();
    const after = monotonic();
    return { monoMs: (before + after) / 2, timeMs: there, withinMs: (after - before) / 2 + 1 };
  };
  const first = await measure();
  const machineMs = Date.now() - (monotonic() - first.monoMs);
  // Processes of one machine agree to the millisecond where its clock is as good as the answer.
  let state = startAt(Math.abs(machineMs - first.timeMs) <= first.withinMs ? { ...first, timeMs: machineMs } : first);
  const armed = new Set<{ arm(): void }>();
  const change = (changed: typeof state): void => {
    state = changed;
    for (const one of armed) one.arm();
  };
  const measuring = setInterval(() => {
    measure().then((measured) => {
      const found = steered(state, measured);
      change(found.state);
      if (found.isSet) onSet(measured.timeMs);
    }, onError);
  }, MEASURE_EVERY_MS);
  measuring.unref();
  const aheadOf = (): number | null => {
    const total = awakeOrNot();
    return total === null ? null : total - monotonic();
  };
  let ahead = aheadOf();
  const looking = setInterval(() => {
    const now = aheadOf();
    if (now !== null && ahead !== null && now - ahead > SLEEP_MS) {
      change(afterSleep(state, now - ahead));
      ahead = now;
    }
  }, LOOK_EVERY_MS);
  looking.unref();
  const now = (): number => Math.floor(timeAt(state, monotonic()));
  return {
    now,
    at(timeMs, call) {
      let timer: NodeJS.Timeout | undefined;
      const one = {
        arm(): void {
          clearTimeout(timer);
          timer = setTimeout(fire, Math.min(Math.ceil(untilMs(state, monotonic(), timeMs)), LONGEST_SLEEP_MS));
          timer.unref();
        },
      };
      function fire(): void {
        if (now() < timeMs) return one.arm(); // never early
        armed.delete(one);
        call();
      }
      armed.add(one);
      one.arm();
      return {
        cancel: () => {
          armed.delete(one);
          clearTimeout(timer);
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(measuring);
      clearInterval(looking);
    },
  };
}
