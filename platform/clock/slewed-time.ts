// What time it is, as a pure function of a monotonic clock and of what another clock was seen to say (the database's, or the machine's): a step
// of that clock is not time that has passed, so it is followed by going a little faster or slower, never by a jump.

/** All in milliseconds: `monoMs` on the monotonic clock, times since the epoch. */
export interface SlewedTime {
  readonly monoMs: number;
  /** What time it was then. */
  readonly timeMs: number;
  /** So much more than it does the time goes on a millisecond; less when it is negative. */
  readonly slew: number;
  /** For so long; as fast as the monotonic clock after that. */
  readonly slewForMs: number;
  /** How often in a row the other clock was too far away to be followed. */
  readonly farAway: number;
}

/** What the other clock said. */
export interface Measured {
  readonly monoMs: number;
  readonly timeMs: number;
  /** It may have been so much more or less. */
  readonly withinMs: number;
}

/** The faults of clocks that keep time: they are worked off unnoticed, a second in 100 seconds. */
const SLEW = 0.01;
/** Beyond `LARGE_MS` somebody has set the clock: an hour in 10 hours, so that a window of a minute is at most 6 seconds off meanwhile. */
const LARGE_SLEW = 0.1;
const LARGE_MS = 300_000;
/** Nobody wants to wait for that much. It is a clock that was not set at all until now: the time is set to it when it says so again and again. */
const FAR_MS = 86_400_000;
const FAR_TIMES = 3;

export const startAt = ({ monoMs, timeMs }: Measured): SlewedTime => ({ monoMs, timeMs, slew: 0, slewForMs: 0, farAway: 0 });

/** Milliseconds since the epoch, not whole; it never goes back. */
export function timeAt({ monoMs, timeMs, slew, slewForMs }: SlewedTime, atMs: number): number {
  const passedMs = atMs - monoMs;
  return timeMs + passedMs + slew * Math.min(passedMs, slewForMs);
}

/** How long on the monotonic clock until a time has come; 0 when it has. */
export function untilMs(state: SlewedTime, atMs: number, dueMs: number): number {
  const leftMs = dueMs - timeAt(state, atMs);
  if (leftMs <= 0) return 0;
  const slewLeftMs = Math.max(state.slewForMs - (atMs - state.monoMs), 0);
  const duringSlewMs = leftMs / (1 + state.slew);
  return duringSlewMs <= slewLeftMs ? duringSlewMs : leftMs - state.slew * slewLeftMs;
}

/** The time that follows what was measured. `isSet`: it did so by a jump. */
export function steered(
  state: SlewedTime,
  { monoMs, timeMs, withinMs }: Measured,
): { readonly state: SlewedTime; readonly isSet: boolean } {
  const now = timeAt(state, monoMs);
  const offMs = timeMs - now;
  if (Math.abs(offMs) > FAR_MS) {
    const farAway = state.farAway + 1;
    if (farAway >= FAR_TIMES) return { state: startAt({ monoMs, timeMs, withinMs }), isSet: true };
    return { state: { monoMs, timeMs: now, slew: 0, slewForMs: 0, farAway }, isSet: false };
  }
  if (Math.abs(offMs) <= withinMs) return { state: { monoMs, timeMs: now, slew: 0, slewForMs: 0, farAway: 0 }, isSet: false };
  const slew = Math.sign(offMs) * (Math.abs(offMs) > LARGE_MS ? LARGE_SLEW : SLEW);
  return { state: { monoMs, timeMs: now, slew, slewForMs: offMs / slew, farAway: 0 }, isSet: false };
}

/** The machine was asleep: time has passed that the monotonic clock has not counted. */
export const afterSleep = (state: SlewedTime, sleptMs: number): SlewedTime => ({ ...state, timeMs: state.timeMs + sleptMs });
