import { expect, test } from 'vitest';
import { ramp } from './ramp.ts';

/** A service that keeps its bound up to a rate. */
function upTo(most: number): { rates: number[]; measure: (rate: number) => Promise<{ rate: number; p99Ms: number; holds: boolean }> } {
  const rates: number[] = [];
  return { rates, measure: async (rate) => (rates.push(rate), { rate, p99Ms: rate, holds: rate <= most }) };
}

test.each([1, 7, 99, 100, 101, 1_234, 5_000, 87_654])('a ramp finds %i a second within a tenth, from below, in few steps', async (most) => {
  const { rates, measure } = upTo(most);
  const found = await ramp(measure);
  expect(found).toBeLessThanOrEqual(most);
  expect(found).toBeGreaterThan(most / 1.11 - 1);
  expect(rates.length).toBeLessThan(20);
});

test('a repetition begins near the first result and takes few steps; it follows when the result moves', async () => {
  const [same, higher, lower] = [upTo(1_000), upTo(3_000), upTo(300)];
  expect(await ramp(same.measure, 980)).toBeGreaterThan(900);
  expect(same.rates.length).toBeLessThan(6);
  expect(await ramp(higher.measure, 980)).toBeGreaterThan(2_700);
  expect(await ramp(lower.measure, 980)).toBeGreaterThan(270);
});

test('a service that keeps its bound at no rate gives 0', async () => expect(await ramp(upTo(0).measure)).toBe(0));
