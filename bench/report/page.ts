// A run of benchmarks as one page: what was to be reached, charts, tables.
import { LogHistogram } from '../../platform/structures/index.ts';
import {
  chart,
  type Compared,
  comparedCells,
  distributionOf,
  type Line,
  number,
  pageOf,
  paragraphs,
  picture,
  section,
  table,
} from '../../server/cli/bench/index.ts';
import { type Aim, type Figure, isReached, median, toLine } from './figure.ts';
import type { Run } from './runs.ts';

export function htmlOf({ machine, figures }: Run, compared: readonly Compared[]): string {
  const about = Object.entries(machine).map(([name, value]) => `${name} ${value}`);
  return pageOf('Benchmarks', [
    `<h1>Benchmarks</h1>${paragraphs([about.join(' · ')])}`,
    aimsOf(figures),
    compared.length > 0
      ? section('Compared with the base', table(['', 'base', 'now', 'ratio', 'noise', ''], compared.map(comparedCells)))
      : '',
    ...seriesOf(figures),
    ...figures.map((figure) =>
      section(
        `${figure.name} (${figure.unit})`,
        tableOf(figure) + latenciesOf(figure) + paragraphs((figure.aims ?? []).map((aim) => toLine(aim))),
      ),
    ),
  ]);
}

function aimsOf(figures: readonly Figure[]): string {
  const row = (figure: Figure, aim: Aim): string[] => [
    figure.name,
    aim.what,
    `${aim.side === 'atLeast' ? '≥' : '≤'} ${number(aim.bound)}`,
    number(aim.is),
    isReached(aim) ? 'reached' : 'missed',
  ];
  const rows = figures.flatMap((figure) => (figure.aims ?? []).map((aim) => row(figure, aim)));
  return rows.length === 0 ? '' : section('Aims', table(['', '', 'aim', 'is', ''], rows, 'two'));
}

/** Figures that differ in one number, as lines over it: rates over the number of connections, or of rules. */
function seriesOf(figures: readonly Figure[]): string[] {
  const names = [...new Set(figures.flatMap(({ at }) => (at ? [at.series] : [])))];
  return names.flatMap((name) => {
    const own = figures.filter(({ at }) => at?.series === name);
    const lines = [...new Set(own.flatMap(({ rounds }) => Object.keys(rounds)))].map((contestant): Line => {
      const points = own.flatMap(({ at, rounds }): [number, number][] =>
        at && rounds[contestant] ? [[at.x, median(rounds[contestant])]] : [],
      );
      return { name: contestant, points: points.sort(([a], [b]) => a - b) };
    });
    const [first] = own;
    const drawn = lines.filter(({ points }) => points.length > 1);
    return first?.at && drawn.length > 0 ? [section(name, chart(drawn, { x: first.at.axis, y: first.unit, yIs: 'log' }))] : [];
  });
}

function latenciesOf({ latencies = {} }: Figure): string {
  const lines = Object.entries(latencies).map(([name, data]): Line => ({ name, points: distributionOf(LogHistogram.from(data)) }));
  return lines.length === 0
    ? ''
    : picture('Part of the requests that were answered within so long', chart(lines, { x: 'ms', y: 'part', yIs: 'part' }));
}

function tableOf({ rounds, besides }: Figure): string {
  const [own = [], ...others] = Object.values(rounds);
  const rows = Object.entries(rounds).map(([name, values]) => [
    name,
    number(median(values)),
    `${number(Math.min(...values))}–${number(Math.max(...values))}`,
    values === own || others.length === 0 ? '' : (median(own) / median(values)).toFixed(2),
    Object.entries(besides?.[name] ?? {})
      .map(([what, value]) => `${what} ${number(value)}`)
      .join(', '),
  ]);
  return table(['', 'median', 'least–most', 'ours / this', ''], rows);
}
