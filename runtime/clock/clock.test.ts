import { expect, test } from 'vitest';
import { openSharedClock, systemClock, VirtualClock } from './index.ts';

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

test('a shared clock goes as far before or behind as the database, and its timers with it', async () => {
  for (const aheadMs of [5_000, -5_000]) {
    await using clock = await openSharedClock(
      async () => Date.now() + aheadMs,
      () => undefined,
    );
    expect(Math.abs(clock.now() - Date.now() - aheadMs)).toBeLessThan(1_000);
    const due = clock.now() + 20;
    expect(await new Promise<number>((resolve) => clock.at(due, () => resolve(clock.now())))).toBeGreaterThanOrEqual(due);
    const soon = clock.at(clock.now(), () => expect.unreachable('cancelled'));
    soon.cancel();
  }
  await using near = await openSharedClock(
    async () => Date.now(),
    () => undefined,
  );
  expect(Math.abs(near.now() - Date.now())).toBeLessThan(1_000);
});
