import { MongoNetworkError, MongoServerError } from 'mongodb';
import { expect, test } from 'vitest';
import { isRetryable, isWriteConflict, isUnavailable } from './errors.ts';

const refused = (code: number, message: string) => new MongoServerError({ code, message });

test.each([
  [8, '28: No space left on device'],
  [14031, 'available disk space is less than required'],
  [211, 'Cache Reader No keys found for HMAC that is valid for time'],
  [1, 'internal error'],
  [11601, 'operation was interrupted'],
  [64, 'waiting for replication timed out'],
  [112, 'WriteConflict'],
])('code %i is trouble of the server, which passes: %s', (code, message) => {
  expect(isRetryable(refused(code, message))).toBe(true);
});

test.each([
  [2, 'bad value'],
  [13, 'not authorized'],
  [50, 'operation exceeded time limit'],
  [292, 'Sort exceeded memory limit'],
  [11000, 'E11000 duplicate key error'],
  [16755, "Can't extract geo keys"],
  [17420, 'document is too large'],
])('code %i is about what was asked, and stays: %s', (code, message) => {
  expect(isRetryable(refused(code, message))).toBe(false);
});

test('trouble that passes leaves no doubt about an outcome: only an answer that is missing does', () => {
  expect(isUnavailable(refused(8, 'no space left'))).toBe(false);
  expect(isWriteConflict(refused(8, 'no space left'))).toBe(false);
  expect(isUnavailable(new MongoNetworkError('connection closed'))).toBe(true);
});

test('a fault of our own never passes', () => {
  expect(isRetryable(new TypeError('no such thing'))).toBe(false);
});
