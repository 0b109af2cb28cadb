import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterSleep, type Measured, type SlewedTime, startAt, steered, timeAt, untilMs } from './slewed-time.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);
const measured = (monoMs: number, timeMs: number, withinMs = 2): Measured => ({ monoMs, timeMs, withinMs });

/** Asks once a minute a clock that is so far ahead. Gives how far the time is behind it after so long. */
function offAfter(aheadMs: number, forMs: number): number {
  let state = startAt(measured(0, START));
  for (let mono = MINUTE; mono <= forMs; mono += MINUTE) ({ state } = steered(state, measured(mono, START + mono + aheadMs)));
  return START + forMs + aheadMs - timeAt(state, forMs);
}

test.each([
  ['a difference within what the question took is none', 2, MINUTE, 2],
  ['a second is worked off in 100 seconds', SECOND, 2 * MINUTE, 400],
  ['a second is worked off in 100 seconds', SECOND, 3 * MINUTE, 0],
  ['backwards, too', -SECOND, 2 * MINUTE, -400],
  ['backwards, too', -SECOND, 3 * MINUTE, 0],
  ['five minutes take 500', 5 * MINUTE, 101 * MINUTE, 4 * MINUTE],
  ['an hour: first a tenth faster', HOUR, 11 * MINUTE, 59 * MINUTE],
  ['an hour: in the end it is there', HOUR, 18 * HOUR, 0],
  ['an hour back: in the end it is there', -HOUR, 18 * HOUR, 0],
  ['more than a day is not believed at first', 2 * DAY, 2 * MINUTE, 2 * DAY],
  ['more than a day is believed the third time', 2 * DAY, 3 * MINUTE, 0],
  ['more than a day back is believed the third time', -2 * DAY, 3 * MINUTE, 0],
])('%s: %d ms ahead, after %d ms', (_, aheadMs, forMs, off) => {
  expect(Math.round(offAfter(aheadMs, forMs))).toBe(off);
});

test('a clock that was far away for a moment only changes nothing', () => {
  let state = startAt(measured(0, START));
  for (let minute = 1; minute <= 20; minute++) {
    const mono = minute * MINUTE;
    const found = steered(state, measured(mono, START + mono + (minute % 3 === 0 ? 0 : 2 * DAY)));
    expect(found.isSet).toBe(false);
    ({ state } = found);
  }
  expect(timeAt(state, 20 * MINUTE)).toBe(START + 20 * MINUTE);
});

test('time that the machine has slept has passed', () => {
  const state = afterSleep(startAt(measured(0, START)), 8 * HOUR);
  expect(timeAt(state, SECOND)).toBe(START + 8 * HOUR + SECOND);
});

const step = fc.record({ afterMs: fc.integer({ min: 0, max: 10 * MINUTE }), aheadMs: fc.integer({ min: -DAY / 2, max: DAY / 2 }) });

test('whatever the other clock says, a minute here is never less than 54 seconds nor more than 67, and never early', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.integer({ min: 1, max: HOUR }), (steps, waitMs) => {
      let state: SlewedTime = startAt(measured(0, START));
      let mono = 0;
      for (const { afterMs, aheadMs } of steps) {
        const before = timeAt(state, mono);
        mono += afterMs;
        const passed = timeAt(state, mono) - before;
        expect(passed).toBeGreaterThanOrEqual(afterMs * 0.9 - 0.01);
        expect(passed).toBeLessThanOrEqual(afterMs * 1.1 + 0.01);
        const at = timeAt(state, mono);
        ({ state } = steered(state, measured(mono, START + mono + aheadMs)));
        expect(timeAt(state, mono)).toBeCloseTo(at, 3); // no jump
        const due = at + waitMs;
        expect(timeAt(state, mono + untilMs(state, mono, due))).toBeCloseTo(due, 3);
      }
    }),
  );
});
