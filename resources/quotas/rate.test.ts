// Quotas without a store: the meaning of a document, and the effect of a rate.
import { expect, test } from 'vitest';
import { parseJson } from '../../model/values/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { parseQuota } from './quota.ts';
import { Rate } from './rate.ts';
import { Usage } from './usage.ts';

const object = (value: unknown): ObjectValue => parseJson(JSON.stringify(value)) as ObjectValue;
const quota = (value: unknown) => parseQuota(object(value));

test("a rate admits a second's worth and its credit at once, then one for each part of a second", () => {
  const rate = new Rate(10, 2, 0);
  const taken = (now: number, most: number): number => Array.from({ length: most }, () => rate.take(now)).filter(Boolean).length;
  expect(taken(0, 20)).toBe(12);
  expect(rate.waitMs(0)).toBe(100);
  expect(taken(100, 5)).toBe(1);
  expect(taken(60_000, 50)).toBe(12);
});

test('a rate of 0 admits nothing, and its waiting time is infinite', () => {
  const rate = new Rate(0, 0, 0);
  expect([rate.take(10_000), rate.waitMs(20_000)]).toEqual([false, Infinity]);
});

test('an absent member, null and -1 mean unlimited, and 0 means none', () => {
  const { rates, limits, credit } = quota({ rates: { execution: -1, receiveMessage: null }, limits: { types: 0, rules: 7 } });
  expect([rates.execution, rates.receiveMessage, limits.types, limits.rules, limits.users]).toEqual([null, null, 0, 7, null]);
  expect(credit).toEqual({ percentage: 20, queueRatio: 2 });
});

test('a quota may repeat the default limits of a run', () => {
  const limits = { stackDepth: 200, executionTime: '2 hours', errorBreaker: { sample: 20, retryAfter: '1 minute' }, cpuTime: '20 seconds' };
  expect(() => quota({ limits, auditFrequency: '10 minutes' })).not.toThrow();
});

test.each([
  [{ rate: {} }, 'there is no rate'],
  [{ rates: { executions: 1 } }, 'there is no rates.executions'],
  [{ rates: 7 }, 'rates is a Integer'],
  [{ rates: { execution: 1.5 } }, 'rates.execution is no whole number'],
  [{ rates: { execution: '5' } }, 'rates.execution is no whole number'],
  [{ limits: { types: -2 } }, 'limits.types is no whole number'],
  [{ limits: { stackDepth: 500 } }, 'limits.stackDepth is no whole number'],
  [{ limits: { errorBreaker: { sample: 0 } } }, 'limits.errorBreaker.sample is no whole number'],
  [{ credit: { default: { percentages: 1 } } }, 'there is no credit.default.percentages'],
])('%j is no quota', (given, reason) => {
  expect(() => quota(given)).toThrow(expect.objectContaining({ params: ['organizations', 'quota', expect.stringContaining(reason)] }));
});

test('acknowledged executions queue in order and are never refused; further clients are refused once the queue is long', async () => {
  const usage = new Usage();
  const given = { rates: { execution: 0 }, credit: { default: { percentage: 20, queueRatio: 2 } } };
  usage.set(quota(given), 'first');
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (n) => {
    const turn = usage.execution();
    expect(turn).toBeInstanceOf(Promise);
    await turn;
    order.push(n);
  });
  expect(usage.isBackedUp).toBe(true);
  expect(() => usage.takeExecution()).toThrow(expect.objectContaining({ code: 'cascade.quota.exceeded', params: ['execution', 0] }));
  usage.set(quota({}), 'second');
  await Promise.all(waiting);
  expect([order, usage.isBackedUp]).toEqual([[1, 2, 3], false]);
  usage.close();
});

test('a socket or subscription counts until it is closed, and closing twice counts once', () => {
  const usage = new Usage();
  usage.set(quota({ limits: { webSockets: 1 } }), 'one');
  const release = usage.open('webSockets');
  expect(() => usage.open('webSockets')).toThrow(expect.objectContaining({ code: 'cascade.quota.exceeded', params: ['webSockets', 1] }));
  release();
  release();
  const again = usage.open('webSockets');
  expect(() => usage.open('webSockets')).toThrow();
  again();
});
