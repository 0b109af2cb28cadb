import { expect, test } from 'vitest';
import { dayOf, isDay, timeOf } from './times.ts';

test('a day is a day without a time', () => {
  expect(['2032-02-29', '2031-02-29', '12031-02-03', '2031-02-03Z', '2031-02-03T00:00'].map(isDay)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a time without a zone is in UTC, wherever the person is', () => {
  const at = timeOf('2031-02-03T00:30');
  expect([at?.toISOString(), at && dayOf(at), timeOf('2031-02-30T00:30')]).toEqual(['2031-02-03T00:30:00.000Z', '2031-02-03', null]);
});
