import { expect, test } from 'vitest';
import { isRedelivered, type StoredEvent } from './index.ts';

const event: StoredEvent = {
  uuid: 'u',
  path: '/topics/t/publish',
  value: '1',
  at: new Date(0),
  by: 'ann',
  chain: { root: 'u', depth: 0 },
  runs: [],
};
const sequence = { partitionId: 1, sequenceId: 1 };

test('a reliable event is redelivered from the second time on, or when it may have been seen; one that is not reliable never is', () => {
  expect(isRedelivered({ ...event, sequence })).toBe(false);
  expect(isRedelivered({ ...event, sequence, attempt: 2 })).toBe(true);
  expect(isRedelivered({ ...event, sequence, redelivered: true })).toBe(true);
  expect(isRedelivered({ ...event, attempt: 2, redelivered: true })).toBe(false);
});
