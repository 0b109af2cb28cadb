// What waits is bounded, and nobody waits for ever.
import { expect, test } from 'vitest';
import { Backpressure } from './backpressure.ts';

test('while there is room commits go at once; above the bound one after the other; far above they are refused', async () => {
  const backpressure = new Backpressure({ runs: 2, characters: 100 }, { runs: 5, characters: 1_000 });
  const open: (() => void)[] = [];
  const begun: number[] = [];
  const commit = (n: number) => (): Promise<number> => {
    begun.push(n);
    return new Promise((resolve) => open.push(() => resolve(n)));
  };
  const free = [backpressure.pass(commit(1)), backpressure.pass(commit(2))];
  expect(begun).toEqual([1, 2]);
  backpressure.add(10);
  backpressure.add(10);
  expect(backpressure.isHigh).toBe(true);
  const held = [backpressure.pass(commit(3)), backpressure.pass(commit(4))];
  await Promise.resolve();
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3]);
  open[2]?.();
  await held[0];
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3, 4]);
  for (const go of open) go();
  await Promise.all([...free, ...held]);
  for (let n = 0; n < 3; n++) backpressure.add(10);
  await expect(backpressure.pass(commit(5))).rejects.toMatchObject({ code: 'cascade.quota.exceeded', status: 429 });
});

test('who can wait is told when there is room again', async () => {
  const backpressure = new Backpressure({ runs: 10, characters: 5 }, { runs: 100, characters: 500 });
  backpressure.add(6);
  let isRelieved = false;
  const waiting = backpressure.whenRelieved().then(() => (isRelieved = true));
  await Promise.resolve();
  expect(isRelieved).toBe(false);
  backpressure.remove(6);
  await waiting;
  expect(isRelieved).toBe(true);
});

test('at the end nobody waits for room', async () => {
  const backpressure = new Backpressure({ runs: 1, characters: 5 }, { runs: 100, characters: 500 });
  backpressure.add(6);
  const waiting = backpressure.whenRelieved();
  backpressure.close();
  await waiting;
  await backpressure.whenRelieved();
  expect(backpressure.isHigh).toBe(true);
});
