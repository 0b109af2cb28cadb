// A test that fails in one of ten tries, at random: thirty tries of it, as thirty runs would have.
import { expect, test } from 'vitest';

/** Mulberry32: the same tries fail in every run. */
function random(seed: number): number {
  let mixed = (seed + 0x6d2b79f5) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

test.each(Array.from({ length: 30 }, (_, index) => index))('fails one time in ten, try %i', (seed) => {
  expect(random(seed)).toBeGreaterThan(0.1);
});
