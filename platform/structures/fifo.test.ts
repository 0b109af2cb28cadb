import { expect, test } from 'vitest';
import { Fifo } from './fifo.ts';

test('gives what it was given, in order, however many wait', () => {
  const fifo = new Fifo<{ n: number }>();
  let [given, taken] = [0, 0];
  for (const [pushes, shifts] of [
    [1, 1],
    [3, 2],
    [255, 200],
    [1, 1],
    [600, 100],
    [10, 566],
    [256, 256],
    [300, 0],
    [0, 300],
  ] as const) {
    for (let i = 0; i < pushes; i++) fifo.push({ n: given++ });
    expect(fifo.first?.n).toBe(given > taken ? taken : undefined);
    for (let i = 0; i < shifts; i++) expect(fifo.shift()?.n).toBe(taken++);
    expect(fifo.size).toBe(given - taken);
  }
  expect([fifo.first, fifo.shift(), fifo.size]).toEqual([undefined, undefined, 0]);
});
