import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RoundRobinQueue } from './round-robin-queue.ts';

test('a few requests begin at once, in the order of arrival', () => {
  const begun: number[] = [];
  const turns = new RoundRobinQueue();
  for (let n = 0; n < 3; n++) turns.take('a', () => begun.push(n));
  expect(begun).toEqual([0, 1, 2]);
});

test('a single request does not wait for all requests of another sender', async () => {
  const begun: string[] = [];
  const turns = new RoundRobinQueue();
  const begin = (name: string) => (): void => void begun.push(name);
  for (let n = 0; n < 1_000; n++) turns.take('many', begin(`many ${n}`));
  turns.take('few', begin('few'));
  const atOnce = begun.length;
  expect(atOnce).toBeLessThan(500);
  await turn();
  expect(begun.indexOf('few')).toBeGreaterThanOrEqual(atOnce);
  expect(begun.indexOf('few')).toBeLessThan(atOnce + 2);
  while (begun.length < 1_001) await turn();
  expect(begun.filter((one) => one !== 'few')).toEqual(Array.from({ length: 1_000 }, (_, n) => `many ${n}`));
});
