// A result as one HTML page with charts.
import { LogHistogram } from '../../../platform/structures/index.ts';
import { chart, type Line } from './chart.ts';
import type { Compared } from './compare.ts';
import { escapeHtml, pageOf, paragraphs, picture, section, table } from './page.ts';
import { type BenchResult, median } from './result.ts';
import { cellsOf, comparedCells, failuresOf, howOf, number, refusedOf, type Row, rowsOf, STAGE_NAMES } from './text.ts';

/** Bound of the rules with a chart of their own; the table has all. */
const MOST_CHARTS = 20;

export function htmlOf(result: BenchResult, compared: readonly Compared[]): string {
  const title = `${result.project}: ${howOf(result)}`;
  const rows = rowsOf(result.rounds);
  const { cores, cpu, memoryGiB, node } = result.machine;
  const about = `${result.at.slice(0, 16).replace('T', ' ')} UTC · ${cores} cores, ${cpu}, ${memoryGiB} GiB · Node ${node}`;
  const parts = [
    `<h1>${escapeHtml(result.project)}</h1><p>${escapeHtml(`${result.load.events}, ${howOf(result)}`)}</p><p>${escapeHtml(about)}</p>`,
    section('Figures', figures(result)),
    compared.length > 0 ? section('Compared with the base', comparison(compared)) : '',
    result.ramps.length > 0 ? section('Rate and p99', rampChart(result)) : '',
    result.load.mode === 'core' ? '' : section('Requests', requestsChart(result)),
    rows.length > 0 ? section('Rules by stage', stages(rows, result)) : '',
    rows.length > 0 ? section('Distributions', `<div class="charts">${ruleCharts(rows)}</div>`) : '',
  ];
  return pageOf(title, parts);
}

function figures({ figures: all, rounds, notes }: BenchResult): string {
  const rows = Object.entries(all).map(([name, { unit, rounds: values }]) => [
    name,
    `${number(median(values))} ${unit}`,
    `${number(Math.min(...values))}–${number(Math.max(...values))}`,
  ]);
  const refused = refusedOf(rounds).map(([status, count]) => `${count.toLocaleString('en')} requests: ${status}.`);
  return table(['', 'median of rounds', 'least–most'], rows) + paragraphs([...refused, ...notes]);
}

const comparison = (compared: readonly Compared[]): string =>
  table(['', 'base', 'now', 'ratio', 'noise', ''], compared.map(comparedCells)) +
  paragraphs([
    'A figure is worse or better when its ratio is off by 5 % and more, and 1 lies outside of the noise: the middle nine tenths of the ratios of all rounds.',
  ]);

const stages = (rows: readonly Row[], { rounds }: BenchResult): string =>
  table(['rule', 'stage', 'count', 'p50 ms', 'p99 ms', 'p99.9 ms', 'max ms'], rows.map(cellsOf), 'two') +
  paragraphs(failuresOf(rounds).map(([rule, failed]) => `${rule}: ${failed.toLocaleString('en')} runs failed.`));

/** The points of a cumulative distribution, which begins at 0. */
export function distributionOf(durations: LogHistogram): [number, number][] {
  const points = durations.cdf().map(([ms, part]): [number, number] => [Math.max(ms, 0.001), part]);
  return points[0] ? [[points[0][0], 0], ...points] : [];
}

function requestsChart({ rounds }: BenchResult): string {
  const lines = rounds.flatMap(({ requests }, n): Line[] => {
    const points = distributionOf(LogHistogram.from(requests));
    return points.length > 0 ? [{ name: `round ${n + 1}`, points }] : [];
  });
  return picture('Latency from the intended time: part of the requests within it', chart(lines, { x: 'ms', y: 'part', yIs: 'part' }));
}

function ruleCharts(rows: readonly Row[]): string {
  const rules = [...new Set(rows.map(({ rule }) => rule))].slice(0, MOST_CHARTS);
  return rules
    .map((rule) => {
      const own = rows.filter((row) => row.rule === rule);
      return picture(
        rule,
        chart(
          own.map(({ stage, durations }) => ({ name: STAGE_NAMES[stage], points: distributionOf(durations) })),
          { x: 'ms', y: 'part', yIs: 'part' },
        ),
      );
    })
    .join('');
}

function rampChart({ ramps, load }: BenchResult): string {
  const lines = ramps.map(({ steps }, n): Line => {
    const points = [...steps].sort((a, b) => a.rate - b.rate).map(({ rate, p99Ms }): [number, number] => [rate, Math.max(p99Ms, 0.001)]);
    return { name: `search ${n + 1}`, points };
  });
  return picture('p99 of requests at each rate', chart(lines, { x: 'events/s', y: 'ms', yIs: 'log', mark: load.boundMs ?? undefined }));
}
