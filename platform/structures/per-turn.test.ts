import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PerTurn } from './per-turn.ts';

test('so many begin in a turn, and the rest in the following ones', async () => {
  let waiting = 7;
  const begunBy: number[] = [];
  const beginNext = (): void => {
    while (waiting > 0 && inTurn.take()) waiting--;
    begunBy.push(7 - waiting);
  };
  const inTurn = new PerTurn(3, beginNext);
  beginNext();
  beginNext(); // one of them has ended already
  expect(begunBy).toEqual([3, 3]);
  await nextTurn();
  await nextTurn();
  await nextTurn();
  expect(begunBy).toEqual([3, 3, 6, 7, 7]);
});
