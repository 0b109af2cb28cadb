import { expect, test } from 'vitest';
import { LogHistogram } from './log-histogram.ts';

test('quantiles are those of the durations within 3.2 %, from a microsecond to hours, and never beyond the largest', () => {
  const durations = Array.from({ length: 20_000 }, (_, i) => 0.001 * 1.001 ** i);
  const histogram = new LogHistogram();
  for (const ms of durations) histogram.add(ms);
  for (const part of [0, 0.25, 0.5, 0.99, 0.999, 1]) {
    const exact = durations[Math.max(0, Math.ceil(part * durations.length) - 1)] as number;
    const reported = histogram.quantile(part);
    expect(reported).toBeGreaterThanOrEqual(Math.min(exact, histogram.maxMs));
    expect(reported).toBeLessThanOrEqual(exact * 1.032 + 0.001);
  }
  expect([histogram.count, histogram.quantile(1)]).toEqual([20_000, durations.at(-1)]);
});

test('one of nothing has no durations; what is below zero counts as zero', () => {
  const histogram = new LogHistogram();
  expect([histogram.count, histogram.quantile(0.5), histogram.cdf()]).toEqual([0, 0, []]);
  histogram.add(-1);
  expect([histogram.count, histogram.sumMs, histogram.quantile(1)]).toEqual([1, 0, 0]);
});

test('counts within bounds rise, and what is within a bound is no more than that', () => {
  const histogram = new LogHistogram();
  for (const ms of [0.5, 1, 4, 40, 4_000]) histogram.add(ms);
  expect(histogram.within([0.6, 5, 50, 1e9])).toEqual([1, 3, 4, 5]);
});

test('what is written as JSON is the same when it is read, and two add up', () => {
  const [one, other] = [new LogHistogram(), new LogHistogram()];
  for (const ms of [1, 2, 3]) one.add(ms);
  for (const ms of [10, 20]) other.add(ms);
  const read = LogHistogram.from(JSON.parse(JSON.stringify(one)));
  expect(read.toJSON()).toEqual(one.toJSON());
  read.merge(other);
  expect([read.count, read.sumMs, read.maxMs, read.cdf().at(-1)]).toEqual([5, 36, 20, [20, 1]]);
});
