import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ExecutionTimes } from './execution-times.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a run that is open for longer than a run may be is ended once; one that has ended is left alone', () => {
  const times = new ExecutionTimes(7_200_000);
  const reported: string[] = [];
  const first = (limit: string): void => void reported.push(`first ${limit}`);
  const second = (limit: string): void => void reported.push(`second ${limit}`);
  times.begin(first);
  times.begin(second);
  times.end(second);
  vi.advanceTimersByTime(7_199_000);
  expect(reported).toEqual([]);
  vi.advanceTimersByTime(10_000);
  expect(reported).toEqual(['first 2 hours']);
  times.close();
});
