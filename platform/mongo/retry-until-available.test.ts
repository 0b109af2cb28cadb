import { MongoNetworkError } from 'mongodb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Backoff, retryUntilAvailable } from './retry-until-available.ts';

const away = () => new MongoNetworkError('connection closed');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that fails so often, with these errors in turn, then succeeds; and how often it was done. */
function failing(...errors: readonly Error[]): { work: () => Promise<string>; attempts: () => number } {
  let attempts = 0;
  const work = async () => {
    const error = errors[attempts++];
    if (error !== undefined) throw error;
    return 'done';
  };
  return { work, attempts: () => attempts };
}

test('what fails because the store is away is done again until it succeeds', async () => {
  const { work, attempts } = failing(...Array.from({ length: 40 }, away));
  const result = retryUntilAvailable(work);
  await vi.runAllTimersAsync();
  expect([await result, attempts()]).toEqual(['done', 41]);
});

test('any other error ends it at once', async () => {
  const { work, attempts } = failing(away(), new Error('a fault'), away());
  const result = expect(retryUntilAvailable(work)).rejects.toThrow('a fault');
  await vi.runAllTimersAsync();
  await result;
  expect(attempts()).toBe(2);
});

test('which errors are tried again can be told, and each is reported', async () => {
  const { work } = failing(new Error('first'), new Error('second'));
  const seen: string[] = [];
  const result = retryUntilAvailable(work, { isRetried: () => true, onRetry: (error) => void seen.push((error as Error).message) });
  await vi.runAllTimersAsync();
  expect([await result, seen]).toEqual(['done', ['first', 'second']]);
});

test('who is not wanted any more is not asked again, neither before a pause nor after it', async () => {
  for (const stopAfter of [0, 1]) {
    const { work, attempts } = failing(away(), away(), away());
    let asked = 0;
    const result = expect(retryUntilAvailable(work, { isWanted: () => asked++ < stopAfter })).rejects.toThrow('connection closed');
    await vi.runAllTimersAsync();
    await result;
    expect(attempts()).toBe(1);
  }
});

test('pauses double up to two seconds, and lie by chance in the upper half', () => {
  const most = [100, 200, 400, 800, 1_600, 2_000, 2_000];
  const series = Array.from({ length: 50 }, () => {
    const backoff = new Backoff();
    return most.map(() => backoff.nextMs());
  });
  for (const pauses of series)
    for (const [i, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual((most[i] as number) / 2);
      expect(pause).toBeLessThanOrEqual(most[i] as number);
    }
  expect(new Set(series.map((pauses) => pauses[0])).size).toBeGreaterThan(25);
});

test('after a success the pauses begin anew', () => {
  const backoff = new Backoff();
  for (let i = 0; i < 10; i++) backoff.nextMs();
  backoff.reset();
  expect(backoff.nextMs()).toBeLessThanOrEqual(100);
});
