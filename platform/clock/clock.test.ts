import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSharedClock, systemClock, VirtualClock } from './index.ts';
import type { SharedClock, SharedClockOptions } from './shared-clock.ts';

test('a timer of the machine is never early, and a cancelled one is not called', async () => {
  const due = Date.now() + 15;
  let cancelled = 0;
  systemClock.at(due, () => cancelled++).cancel();
  const firedAt = await new Promise<number>((resolve) => {
    systemClock.at(due, () => resolve(Date.now()));
    setTimeout(() => undefined, 1_000); // timers of ours keep nothing alive
  });
  expect(firedAt).toBeGreaterThanOrEqual(due);
  expect(cancelled).toBe(0);
});

test('a time that has passed is called soon, but not within the call', async () => {
  const seen: string[] = [];
  await new Promise<void>((resolve) => {
    systemClock.at(0, () => (seen.push('called'), resolve()));
    seen.push('made');
  });
  expect(seen).toEqual(['made', 'called']);
});

test('a virtual clock calls timers in their order, each at its own time, and those that they make', async () => {
  const clock = new VirtualClock(1_000);
  const seen: [string, number][] = [];
  const note = (name: string) => (): void => void seen.push([name, clock.now()]);
  clock.at(5_000, note('late'));
  clock.at(2_000, () => {
    note('early')();
    clock.at(2_500, note('made'));
  });
  clock.at(900, note('overdue'));
  clock.at(3_000, note('cancelled')).cancel();
  expect(clock.next()).toBe(900);
  await clock.advanceTo(4_000);
  expect(seen).toEqual([
    ['overdue', 1_000],
    ['early', 2_000],
    ['made', 2_500],
  ]);
  expect(clock.now()).toBe(4_000);
  await clock.advanceTo(5_000);
  expect(seen.at(-1)).toEqual(['late', 5_000]);
});

test('between timers the virtual clock waits for what they set going', async () => {
  const clock = new VirtualClock(0);
  const seen: string[] = [];
  let work = Promise.resolve();
  clock.at(1, () => {
    work = Promise.resolve().then(() => void seen.push('work of the first'));
  });
  clock.at(2, () => void seen.push('second'));
  await clock.advanceTo(2, () => work);
  expect(seen).toEqual(['work of the first', 'second']);
});

const shared = (options: Partial<SharedClockOptions>): Promise<SharedClock> =>
  openSharedClock({ remote: async () => Date.now(), onError: () => undefined, onSet: () => undefined, ...options });

test('a shared clock goes as far before or behind as the database, and its timers with it', async () => {
  for (const aheadMs of [5_000, -5_000]) {
    await using clock = await shared({ remote: async () => Date.now() + aheadMs });
    expect(Math.abs(clock.now() - Date.now() - aheadMs)).toBeLessThan(1_000);
    const due = clock.now() + 20;
    expect(await new Promise<number>((resolve) => clock.at(due, () => resolve(clock.now())))).toBeGreaterThanOrEqual(due);
    const timer = clock.at(clock.now(), () => expect.unreachable('cancelled'));
    timer.cancel();
  }
  await using near = await shared({});
  expect(Math.abs(near.now() - Date.now())).toBeLessThan(1_000);
});

describe('with the time of the process in hand', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('a step of the clock that it follows is not time that has passed', async () => {
    let aheadMs = 0;
    const start = Date.now();
    await using clock = await shared({ remote: async () => Date.now() + aheadMs, awakeOrNot: () => null });
    const fired: number[] = [];
    clock.at(start + 120_000, () => fired.push(clock.now() - start));
    aheadMs = 3_600_000;
    vi.setSystemTime(Date.now() + 3_600_000); // the machine's own clock, too
    await vi.advanceTimersByTimeAsync(60_500); // a measurement
    expect(clock.now() - start).toBeLessThan(60_600);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000); // a tenth faster
    expect(fired).toHaveLength(1);
    expect(fired[0]).toBeGreaterThanOrEqual(120_000);
    expect(fired[0]).toBeLessThan(120_100);
  });

  test('when the machine has slept, what became due meanwhile is due', async () => {
    let sleptMs = 0;
    const start = Date.now();
    await using clock = await shared({ awakeOrNot: () => performance.now() + sleptMs });
    let fired = 0;
    clock.at(start + 3_600_000, () => fired++);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fired).toBe(0);
    sleptMs = 7_200_000;
    await vi.advanceTimersByTimeAsync(1_001);
    expect([fired, Math.round((clock.now() - start) / 1_000)]).toEqual([1, 7_211]);
  });

  test('a clock that is days away is told of, and followed', async () => {
    let aheadMs = 0;
    const set: number[] = [];
    const start = Date.now();
    await using clock = await shared({
      remote: async () => Date.now() + aheadMs,
      onSet: (timeMs) => set.push(timeMs),
      awakeOrNot: () => null,
    });
    aheadMs = 10 * 86_400_000;
    await vi.advanceTimersByTimeAsync(180_000);
    expect(set).toEqual([start + aheadMs + 180_000]);
    expect(clock.now()).toBe(start + aheadMs + 180_000);
  });
});
