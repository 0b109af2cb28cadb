// Machines that sleep, and clocks that somebody sets, while a process holds its lease.
import { expect, test } from 'vitest';
import { LeaseTime, type Moment } from './lease-time.ts';

/** A machine whose clocks a test moves. @param knowsBoot whether it tells how long it is up */
function machine(knowsBoot = true) {
  const clocks = { mono: 1_000, wall: 1_700_000_000_000, boot: 5_000 };
  const read = { slept: 0, boot: 0 };
  const time = new LeaseTime(() => read.slept++, {
    monotonic: () => clocks.mono,
    wall: () => clocks.wall,
    sinceBoot: () => (read.boot++, knowsBoot ? clocks.boot : null),
  });
  const pass = (ms: number, awake = true): void => {
    if (awake) clocks.mono += ms;
    clocks.wall += ms;
    clocks.boot += ms;
  };
  return { time, clocks, read, pass };
}

test('the time of a lease goes on while the machine sleeps, which is noticed once', () => {
  const { time, read, pass } = machine();
  pass(3_000);
  expect(time.passedMs).toBe(3_000);
  const before = read.boot;
  pass(120_000, false);
  expect(time.passedMs).toBe(123_000);
  pass(10);
  expect(time.passedMs).toBe(123_010);
  expect([read.slept, read.boot - before]).toEqual([1, 1]);
});

test('a clock that is set is no sleep, and is asked about once', () => {
  const { time, clocks, read, pass } = machine();
  clocks.wall += 86_400_000;
  pass(3_000);
  const before = read.boot;
  expect([time.passedMs, time.passedMs]).toEqual([3_000, 3_000]);
  clocks.wall -= 3_600_000;
  expect(time.passedMs).toBe(3_000);
  expect([read.slept, read.boot - before]).toEqual([0, 1]);
  pass(60_000, false);
  expect(time.passedMs).toBe(3_000); // behind a clock that was set back it is not noticed until then
  pass(3_600_000, false);
  expect(time.passedMs).toBe(3_663_000);
});

test('where nobody knows how long the machine is up, the clock that went further counts', () => {
  const { time, clocks, read } = machine(false);
  clocks.wall += 40_000;
  expect([time.passedMs, read.slept]).toEqual([40_000, 1]);
});

test('a renewal that was sent before the sleep does not count for the time after it, one behind it does', () => {
  const { time, pass } = machine();
  const early: Moment = time.now();
  pass(60_000, false);
  time.renewed(early);
  expect(time.passedMs).toBe(60_000);
  pass(10);
  time.renewed(time.now());
  pass(5);
  expect(time.passedMs).toBe(5);
  const sent = time.now();
  pass(60_000, false);
  expect(time.passedMs).toBe(60_005);
  time.renewed(sent);
  pass(20);
  expect(time.passedMs).toBe(60_020);
});
