// What waits is bounded, and nobody waits for ever.
import { expect, test } from 'vitest';
import { Pressure } from './pressure.ts';

test('while there is room commits go at once; above the bound one after the other; far above they are refused', async () => {
  const pressure = new Pressure({ runs: 2, characters: 100 }, { runs: 5, characters: 1_000 });
  const open: (() => void)[] = [];
  const begun: number[] = [];
  const commit = (n: number) => (): Promise<number> => {
    begun.push(n);
    return new Promise((resolve) => open.push(() => resolve(n)));
  };
  const free = [pressure.pass(commit(1)), pressure.pass(commit(2))];
  expect(begun).toEqual([1, 2]);
  pressure.add(10);
  pressure.add(10);
  expect(pressure.isHigh).toBe(true);
  const held = [pressure.pass(commit(3)), pressure.pass(commit(4))];
  await Promise.resolve();
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3]);
  open[2]?.();
  await held[0];
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3, 4]);
  for (const go of open) go();
  await Promise.all([...free, ...held]);
  for (let n = 0; n < 3; n++) pressure.add(10);
  await expect(pressure.pass(commit(5))).rejects.toMatchObject({ code: 'cascade.quota.exceeded', status: 429 });
});

test('who can wait is told when there is room again', async () => {
  const pressure = new Pressure({ runs: 10, characters: 5 }, { runs: 100, characters: 500 });
  pressure.add(6);
  let eased = false;
  const waiting = pressure.eased().then(() => (eased = true));
  await Promise.resolve();
  expect(eased).toBe(false);
  pressure.remove(6);
  await waiting;
  expect(eased).toBe(true);
});

test('at the end nobody waits for room', async () => {
  const pressure = new Pressure({ runs: 1, characters: 5 }, { runs: 100, characters: 500 });
  pressure.add(6);
  const waiting = pressure.eased();
  pressure.close();
  await waiting;
  await pressure.eased();
  expect(pressure.isHigh).toBe(true);
});
