import { expect, test } from 'vitest';
import { Counters } from '../../../resources/counters.ts';
import { openMetrics } from '../../metrics.ts';
import { countsOf, rulesBetween } from './scrape.ts';
import { LogHistogram } from '../../../platform/structures/log-histogram.ts';

test('the stages that rules reached between two scrapes are read from the text of /metrics', async () => {
  const counters = new Counters();
  const load = async () => ({ queueDepth: 4, requestsWaiting: 0, reliablePending: 0, namespacesUnavailable: 0, sources: [] });
  const metrics = openMetrics({ counters, load });
  counters.stages.of('main').add('old', 'committed', 3);
  counters.stages.of('main').add('watch', 'committed', 3);
  const before = countsOf(await metrics.text());
  for (const ms of [4, 4, 40, 90_000]) counters.stages.of('main').add('watch', 'committed', ms);
  counters.ran('main', 'watch', 'failed', 0.1);
  const after = countsOf(await metrics.text());
  expect(after.openRuns).toBe(4);
  const [only, ...others] = rulesBetween(before, after);
  expect([only?.rule, only?.failed, others]).toEqual(['watch', 1, []]);
  const committed = LogHistogram.from(only?.stages.committed as never);
  expect([committed.count, committed.maxMs]).toEqual([4, 60_000]);
  expect(committed.quantile(0.5)).toBeCloseTo(5, 0);
});
