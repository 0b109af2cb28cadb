// A few of the hostile programs, at night one of each class; `npm run hostile` runs all of them.
import { expect, test } from 'vitest';
import { startService } from '../../conformance/client/index.ts';
import { amount } from '../../scripts/testing/amount.ts';
import { EXPECTED_ERRORS, hostile, programs } from './hostile.ts';

const SAMPLE = [
  'memory: doubles a text',
  'store: asks for too many rows',
  'rules: sets another going and back',
  'memory: assigns far past the end',
  'numbers: squares an Integer',
  'depth: calls itself by turns',
  'log: logs control characters',
  'escape: sets the prototype',
  'storms: starts many procedures',
].slice(0, amount(3, 9));

test('hostile programs meet their bounds, and a neighbour is answered all the time', async () => {
  const chosen = programs().filter(({ does }) => SAMPLE.includes(does));
  expect(chosen.length).toBe(SAMPLE.length);
  await using service = await startService({ expects: EXPECTED_ERRORS });
  const begun = performance.now();
  const { wrong, answers, slowestMs } = await hostile(service, chosen, () => undefined);
  expect(wrong).toEqual([]);
  // Whatever the machine: who waits for one of them to end waits for a good part of the whole.
  expect(slowestMs).toBeLessThan((performance.now() - begun) / 4);
  expect(answers).toBeGreaterThan(SAMPLE.length / 2);
});
