// spec: resources-and-api.md 6.6
import { expect, test } from 'vitest';
import { LoginLimit } from './login-limit.ts';

const MINUTE = 60_000;

function failing(limit: LoginLimit, username: string, address: string, count: number, at: number): void {
  for (let i = 0; i < count; i++) limit.failed(username, address, at);
}

test('the tenth failure of a pair within five minutes locks it, and only it', () => {
  const limit = new LoginLimit();
  failing(limit, 'ann', '10.0.0.1', 9, 0);
  expect(limit.isLocked('ann', '10.0.0.1', 0)).toBe(false);
  limit.failed('ann', '10.0.0.1', 5 * MINUTE);
  expect(limit.isLocked('ann', '10.0.0.1', 5 * MINUTE)).toBe(true);
  expect(limit.isLocked('bob', '10.0.0.1', 5 * MINUTE)).toBe(false);
  expect(limit.isLocked('ann', '10.0.0.2', 5 * MINUTE)).toBe(false);
});

test('failures older than five minutes do not count', () => {
  const limit = new LoginLimit();
  failing(limit, 'ann', '10.0.0.1', 9, 0);
  limit.failed('ann', '10.0.0.1', 5 * MINUTE + 1);
  expect(limit.isLocked('ann', '10.0.0.1', 5 * MINUTE + 1)).toBe(false);
});

test('a lock holds until the window is empty', () => {
  const limit = new LoginLimit();
  failing(limit, 'ann', '10.0.0.1', 9, 0);
  limit.failed('ann', '10.0.0.1', MINUTE);
  expect(limit.isLocked('ann', '10.0.0.1', 6 * MINUTE)).toBe(true);
  expect(limit.isLocked('ann', '10.0.0.1', 6 * MINUTE + 1)).toBe(false);
  failing(limit, 'ann', '10.0.0.1', 9, 7 * MINUTE);
  expect(limit.isLocked('ann', '10.0.0.1', 7 * MINUTE)).toBe(false);
});

test('a success resets the pair and not the address', () => {
  const limit = new LoginLimit();
  failing(limit, 'ann', '10.0.0.1', 9, 0);
  limit.succeeded('ann', '10.0.0.1');
  failing(limit, 'ann', '10.0.0.1', 9, 0);
  expect(limit.isLocked('ann', '10.0.0.1', 0)).toBe(false);
});

test('a hundred failures lock an address, whoever the names', () => {
  const limit = new LoginLimit();
  for (let i = 0; i < 99; i++) limit.failed(`user${i}`, '10.0.0.1', 0);
  expect(limit.isLocked('ann', '10.0.0.1', 0)).toBe(false);
  limit.failed('user99', '10.0.0.1', 0);
  expect(limit.isLocked('ann', '10.0.0.1', 0)).toBe(true);
  expect(limit.isLocked('ann', '10.0.0.2', 0)).toBe(false);
});

test('failures for a name from many addresses lock nobody: its logins wait, the longer the more there are, for five minutes', () => {
  const limit = new LoginLimit();
  const waits = Array.from({ length: 30 }, (_, i) => {
    limit.failed('ann', `10.0.${i}.1`, 1_000);
    return limit.waitMs('ann', 1_000);
  });
  expect(waits.slice(17, 24)).toEqual([0, 0, 100, 200, 400, 800, 1600]);
  expect(waits.at(-1)).toBe(5_000);
  expect([limit.isLocked('ann', '10.1.1.1', 1_000), limit.waitMs('bob', 1_000), limit.waitMs('ann', 302_000)]).toEqual([false, 0, 0]);
  limit.succeeded('ann', '10.0.1.1');
  expect(limit.waitMs('ann', 1_000)).toBe(5_000);
});
