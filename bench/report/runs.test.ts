import { expect, test } from 'vitest';
import { LogHistogram } from '../../platform/structures/index.ts';
import { timesAsMuch } from './figure.ts';
import { compareRuns, isLowerBetter } from './runs.ts';
import { htmlOf } from './page.ts';

const run = (ours: number[], peer?: number[]) => ({
  machine: {},
  figures: [{ name: 'insert <1>', unit: 'requests/s', rounds: { cascade: ours, ...(peer && { 'by hand': peer }) } }],
});

test('what is compared is the ratio to the peer: a slower machine is no regression, a slower Cascade is one', () => {
  const base = run([100, 102, 98], [200, 204, 196]);
  expect(compareRuns(base, run([50, 51, 49], [100, 102, 98]))).toMatchObject([{ ratio: 1, verdict: 'same', unit: '× by hand' }]);
  expect(compareRuns(base, run([50, 51, 49], [200, 204, 196]))).toMatchObject([{ ratio: 0.5, verdict: 'worse' }]);
  expect(compareRuns(base, run([50, 51, 49]))).toMatchObject([{ ratio: 0.5, unit: 'requests/s', verdict: 'worse' }]);
  expect(compareRuns({ machine: {}, figures: [] }, base)).toEqual([]);
});

test.each([
  ['requests/s', false],
  ['inserts/s, rules done', false],
  ['messages a second', false],
  ['p99 ms of an insert with a rule', true],
  ['µs late, p50', true],
  ['ns a call', true],
  ['s', true],
  ['MB of memory more, at most', true],
])('of %s less is better: %s', (unit, lower) => expect(isLowerBetter(unit)).toBe(lower));

test('the page names what was measured, and has nothing from elsewhere', () => {
  const base = run([100, 102, 98], [200, 204, 196]);
  const page = htmlOf(base, compareRuns(base, base));
  expect(page).toContain('insert &lt;1&gt;');
  expect(page).not.toMatch(/<script|https?:|src=|url\(/);
});

test('the page begins with the aims, and draws what differs in one number, and distributions', () => {
  const latency = new LogHistogram();
  for (let ms = 1; ms <= 100; ms++) latency.add(ms);
  const figure = (x: number) => ({
    name: `insert, ${x} connections`,
    unit: 'requests/s',
    rounds: { cascade: [10 * x, 12 * x], 'by <hand>': [20 * x, 20 * x] },
    aims: timesAsMuch({ cascade: [10 * x], hand: [20 * x] }, 'cascade', 'hand', x === 1 ? 0.4 : 0.6),
    at: { series: 'insert', axis: 'connections', x },
  });
  const steady = { name: 'steady', unit: 'ms', rounds: { cascade: [100] }, latencies: { cascade: latency.toJSON() } };
  const page = htmlOf({ machine: {}, figures: [figure(1), figure(256), steady] }, []);
  const [aims = '', series = '', ...sections] = page.split('<section>').slice(1);
  expect(aims).toMatch(/insert, 1 connections.*≥ 0\.4.*0\.5.*reached.*insert, 256 connections.*≥ 0\.6.*0\.5.*missed/s);
  expect(series.match(/<path[^>]*fill="none"/g)).toHaveLength(2); // a line each
  expect(series).toContain('by &lt;hand>');
  expect(sections.map((one) => one.includes('<svg'))).toEqual([false, false, true]);
});
