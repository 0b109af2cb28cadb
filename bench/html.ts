// A run of benchmarks as one page.
import { type Compared, comparedCells, number, pageOf, paragraphs, section, table } from '../server/cli/bench/index.ts';
import type { Run } from './baseline.ts';
import { type Figure, median, toLine } from './report.ts';

export function htmlOf({ machine, figures }: Run, compared: readonly Compared[]): string {
  const about = Object.entries(machine).map(([name, value]) => `${name} ${value}`);
  return pageOf('Benchmarks', [
    `<h1>Benchmarks</h1>${paragraphs([about.join(' · ')])}`,
    compared.length > 0
      ? section('Compared with the base', table(['', 'base', 'now', 'ratio', 'noise', ''], compared.map(comparedCells)))
      : '',
    ...figures.map((figure) => section(`${figure.name} (${figure.unit})`, tableOf(figure) + paragraphs((figure.aims ?? []).map(toLine)))),
  ]);
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
