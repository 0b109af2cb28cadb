// A result as one page that needs nothing else: no script, no style or picture from elsewhere. Curves are SVG, colours follow the reader's scheme.
import { LogHistogram } from '../../../platform/structures/log-histogram.ts';
import { chart, type Line } from './chart.ts';
import type { Compared } from './compare.ts';
import { type BenchResult, median } from './result.ts';
import { cellsOf, comparedCells, failuresOf, howOf, number, refusedOf, type Row, rowsOf, STAGE_NAMES } from './text.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one] as string);

/** Rules with a chart of their own; all are in the table. */
const MOST_CHARTS = 20;

const STYLE = `:root{color-scheme:light dark;--ink:#1c2024;--soft:#60646c;--line:#d9d9e0;--page:#fff;--good:#18794e;--bad:#ce2c31;
--c0:#0b68cb;--c1:#c2410c;--c2:#18794e;--c3:#8e4ec6;--c4:#b45309;--c5:#be185d}
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#b0b4ba;--line:#363a3f;--page:#111113;--good:#3dd68c;--bad:#ff9592;
--c0:#70b8ff;--c1:#ffa057;--c2:#3dd68c;--c3:#d19dff;--c4:#ffca16;--c5:#ff8dcc}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:60rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2.5rem 0 .5rem}p{margin:.25rem 0;color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.3rem .75rem .3rem 0;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:500}th:first-child,td:first-child,.two th:nth-child(2),.two td:nth-child(2){text-align:left}
.better{color:var(--good)}.worse{color:var(--bad);font-weight:600}svg{width:100%;max-width:46rem;height:auto;display:block}
svg text{font-size:12px;fill:var(--soft)}.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(24rem,1fr));gap:1.5rem}
@media(max-width:30rem){.charts{grid-template-columns:1fr}}figure{margin:0}figcaption{font-weight:500}`;

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
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>${parts.join('\n')}</body></html>
`;
}

const section = (title: string, content: string): string => `<section><h2>${title}</h2>${content}</section>`;

function table(head: readonly string[], rows: readonly (readonly string[])[], kind = ''): string {
  const cells = (row: readonly string[], tag: 'th' | 'td'): string =>
    row.map((cell) => `<${tag}${cell === 'better' || cell === 'worse' ? ` class="${cell}"` : ''}>${escapeHtml(cell)}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
  return `<div class="wide"><table class="${kind}"><thead><tr>${cells(head, 'th')}</tr></thead><tbody>${body}</tbody></table></div>`;
}

const paragraphs = (texts: readonly string[]): string => texts.map((text) => `<p>${escapeHtml(text)}</p>`).join('');

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

const figure = (caption: string, svg: string): string => `<figure><figcaption>${escapeHtml(caption)}</figcaption>${svg}</figure>`;

/** It rises from 0 at the least. */
function cdfOf(durations: LogHistogram): [number, number][] {
  const points = durations.cdf().map(([ms, part]): [number, number] => [Math.max(ms, 0.001), part]);
  return points[0] ? [[points[0][0], 0], ...points] : [];
}

function requestsChart({ rounds }: BenchResult): string {
  const lines = rounds.flatMap(({ requests }, n): Line[] => {
    const points = cdfOf(LogHistogram.from(requests));
    return points.length > 0 ? [{ name: `round ${n + 1}`, points }] : [];
  });
  return figure('Latency from the intended time: part of the requests within it', chart(lines, { x: 'ms', y: 'part', yIs: 'part' }));
}

function ruleCharts(rows: readonly Row[]): string {
  const rules = [...new Set(rows.map(({ rule }) => rule))].slice(0, MOST_CHARTS);
  return rules
    .map((rule) => {
      const own = rows.filter((row) => row.rule === rule);
      return figure(
        rule,
        chart(
          own.map(({ stage, durations }) => ({ name: STAGE_NAMES[stage], points: cdfOf(durations) })),
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
  return figure('p99 of requests at each rate', chart(lines, { x: 'events/s', y: 'ms', yIs: 'log', mark: load.boundMs ?? undefined }));
}
