// Which errors of JavaScript's own are limits, by what V8 says of them.
import { expect, test } from 'vitest';
import { isLimit, limitIn } from './limits.ts';

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing is thrown');
}

const deeper = (): number => 1 + deeper();

test.each<[string, () => unknown, ReturnType<typeof limitIn>]>([
  ['endless recursion', deeper, 'cascade.execution.depth'],
  ['a text that is too long', () => 'x'.repeat(2 ** 30), 'cascade.execution.memory'],
  ['an Array that is too long', () => new Array(2 ** 32), 'cascade.execution.memory'],
  ['bytes that are too many', () => new Uint8Array(2 ** 53 - 1), 'cascade.execution.memory'],
  ['an Integer that is too large', () => 2n ** (2n ** 40n), 'cascade.execution.memory'],
  ['a division by zero', () => 1n / BigInt(''), null],
  ['a number of digits', () => (1).toFixed(101), null],
  ['a date', () => new Date(NaN).toISOString(), null],
  ['a member of null', () => (null as unknown as { n: number }).n, null],
])('%s', (_, act, limit) => {
  const error = thrownBy(act);
  expect(limitIn(error)).toBe(limit);
  expect(isLimit(error)).toBe(limit !== null);
});
