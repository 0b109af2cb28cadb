import { expect, test } from 'vitest';
import { delayMs } from './back-off.ts';

test('integrations.md 1.2: the delay doubles from a second to five minutes', () => {
  const middle = Array.from({ length: 11 }, (_, i) => delayMs(i + 1, false, 0.5));
  expect(middle).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));
  expect(delayMs(10_000, false, 0.5)).toBe(300_000);
});

test('integrations.md 1.2: the delay has a jitter of a fifth to either side', () => {
  expect([delayMs(1, false, 0), delayMs(1, false, 1)]).toEqual([800, 1_200]);
  expect([delayMs(9, false, 0), delayMs(9, false, 1)]).toEqual([204_800, 307_200]);
});

test('integrations.md 1.2: after refused credentials the delay is at least a minute', () => {
  expect(delayMs(1, true, 0.5)).toBe(60_000);
  expect(delayMs(9, true, 0.5)).toBe(256_000);
});
