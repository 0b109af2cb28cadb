import { expect, test } from 'vitest';
import { serviceFlags } from './service-flags.mjs';

const GROWTH = '--heap-growing-percent=100';

test('with few processors the collector has few helpers', () => {
  expect([1, 2, 3, 4].map((processors) => serviceFlags(processors, []))).toEqual([
    ['--v8-pool-size=1', GROWTH],
    ['--v8-pool-size=1', GROWTH],
    ['--v8-pool-size=2', GROWTH],
    ['--v8-pool-size=3', GROWTH],
  ]);
});

test('with many it has what Node gives it, and what somebody has set stays', () => {
  expect(serviceFlags(5, [])).toEqual([GROWTH]);
  expect(serviceFlags(2, ['--v8-pool-size=4'])).toEqual([GROWTH]);
  expect(serviceFlags(2, ['--no-warnings --v8-pool-size=2', '--heap-growing-percent=50'])).toEqual([]);
});
