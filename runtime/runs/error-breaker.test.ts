import { expect, test } from 'vitest';
import { ErrorBreaker } from './error-breaker.ts';

const LIMITS = { sample: 5, failurePercent: 80, retrySample: 2, retryAfterMs: 1_000 };

/** `+` a run that was good, `-` one that failed. @returns for each whether it could begin */
function after(breaker: ErrorBreaker, runs: string): string {
  return [...runs]
    .map((run) => {
      if (breaker.restMs('/rules/r', LIMITS) > 0) return '.';
      breaker.ended('/rules/r', run === '-', LIMITS);
      return run;
    })
    .join('');
}

test.each([
  ['-----', '-----.'],
  ['----+', '----+.'],
  ['---++', '---++-'],
  ['+++++----', '+++++-----'],
  ['----', '-----'],
])('of the last five runs four failed: %s', (before, all) => {
  const breaker = new ErrorBreaker(() => 0);
  expect(after(breaker, `${before}-`)).toBe(all);
});

test('after its rest two runs decide', () => {
  let now = 0;
  const breaker = new ErrorBreaker(() => now);
  expect(after(breaker, '------')).toBe('-----.');
  expect(breaker.restMs('/rules/r', LIMITS)).toBe(1_000);
  now = 1_000;
  expect(after(breaker, '---')).toBe('--.');
  now = 2_000;
  expect(after(breaker, '+-+----')).toBe('+-+---.');
});

test('others go on, what began before is not counted, and another text begins anew', () => {
  const breaker = new ErrorBreaker(() => 0);
  after(breaker, '-----');
  expect(breaker.restMs('/rules/other', LIMITS)).toBe(0);
  breaker.ended('/rules/r', false, LIMITS);
  expect(breaker.restMs('/rules/r', LIMITS)).toBe(1_000);
  expect(breaker.restMs('/rules/r', undefined)).toBe(0);
  breaker.forget('/rules/r');
  expect(breaker.restMs('/rules/r', LIMITS)).toBe(0);
});
