import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Deadline, Deadlines } from './deadlines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each deadline is reported once its time is up, unless it was ended before, be it by the callback of another one', () => {
  const late: string[] = [];
  const deadlines = new Deadlines(100);
  const begin = (name: string, then: () => void = () => undefined): Deadline =>
    deadlines.begin(() => {
      late.push(name);
      then();
    });
  begin('first', () => {
    deadlines.end(second);
    begin('begun by the first');
  });
  const second = begin('second');
  begin('third');
  vi.advanceTimersByTime(60);
  begin('fourth');
  vi.advanceTimersByTime(39);
  expect(late).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(late).toEqual(['first', 'third']);
  vi.advanceTimersByTime(60);
  expect(late).toEqual(['first', 'third', 'fourth']);
  vi.advanceTimersByTime(40);
  expect(late).toEqual(['first', 'third', 'fourth', 'begun by the first']);
  expect(vi.getTimerCount()).toBe(0);
});
