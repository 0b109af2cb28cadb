import { expect, test } from 'vitest';
import { inSlices } from './slices.ts';

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
