import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { longTimeout } from './long-timeout.ts';

const DAY_MS = 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a time that setTimeout does not take is waited for in steps', () => {
  const call = vi.fn();
  longTimeout(call, 60 * DAY_MS);
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect(call).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(call).toHaveBeenCalledTimes(1);
});

test('a cancelled one does not call, in a later step either', () => {
  const call = vi.fn();
  const timeout = longTimeout(call, 60 * DAY_MS);
  vi.advanceTimersByTime(40 * DAY_MS);
  timeout.cancel();
  vi.advanceTimersByTime(40 * DAY_MS);
  expect(call).not.toHaveBeenCalled();
});
