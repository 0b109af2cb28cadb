import { expect, test } from 'vitest';
import { inSlices, nextSlice } from './slices.ts';

test('all parts come in their order, and others have their turn between them', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  function* slow(): Generator<number> {
    for (let n = 0; n < 5; n++) {
      for (const until = performance.now() + 6; performance.now() < until; );
      yield n;
    }
  }
  expect(await inSlices(slow())).toEqual([0, 1, 2, 3, 4]);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(4);
});

test('of several long works two have a slice in each turn of the event loop, one after the other', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const slices: [string, number][] = [];
  const work = async (name: string): Promise<void> => {
    for (let n = 0; n < 3; n++) {
      await nextSlice();
      slices.push([name, turn]);
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(work));
  isOver = true;
  expect(slices.map(([name]) => name).join('')).toBe('abcdabcdabcd');
  expect(new Set(slices.map(([, at]) => at)).size).toBe(6);
});
