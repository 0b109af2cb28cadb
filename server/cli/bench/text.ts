// A result as text for a terminal.
import { type Stage, STAGES } from '../../../runtime/context/index.ts';
import { LogHistogram } from '../../../platform/structures/index.ts';
import type { Compared } from './compare.ts';
import { type BenchResult, median, type RoundResult } from './result.ts';

export const QUANTILES = [0.5, 0.99, 0.999] as const;

export const STAGE_NAMES: Readonly<Record<Stage, string>> = {
  accepted: 'accepted',
  committed: 'committed',
  run_begun: 'run begins',
  run_ended: 'run ends',
  effect_committed: 'effect committed',
  subscriber_told: 'subscriber told',
};

/** A number with three significant digits: 0.123, 12.3, 1,230. */
export const number = (value: number): string => {
  const digits = value === 0 ? 0 : Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

export interface Row {
  readonly rule: string;
  readonly stage: Stage;
  readonly durations: LogHistogram;
}

/** Each stage of each rule over all rounds, in the order of stages. */
export function rowsOf(rounds: readonly RoundResult[]): Row[] {
  const rules = new Map<string, Map<Stage, LogHistogram>>();
  for (const { rules: of } of rounds)
    for (const { rule, stages } of of) {
      const known = rules.get(rule) ?? new Map<Stage, LogHistogram>();
      rules.set(rule, known);
      for (const stage of STAGES) {
        const data = stages[stage];
        if (!data) continue;
        const sum = known.get(stage) ?? new LogHistogram();
        known.set(stage, sum);
        sum.merge(LogHistogram.from(data));
      }
    }
  return [...rules].sort().flatMap(([rule, stages]) =>
    STAGES.flatMap((stage) => {
      const durations = stages.get(stage);
      return durations ? [{ rule, stage, durations }] : [];
    }),
  );
}

export function failuresOf(rounds: readonly RoundResult[]): [rule: string, failed: number][] {
  const sums = new Map<string, number>();
  for (const { rules } of rounds) for (const { rule, failed } of rules) sums.set(rule, (sums.get(rule) ?? 0) + failed);
  return [...sums].filter(([, failed]) => failed > 0).sort();
}

export function refusedOf(rounds: readonly RoundResult[]): [status: string, count: number][] {
  const sums = new Map<string, number>();
  for (const { refused } of rounds)
    for (const [status, count] of Object.entries(refused)) sums.set(status, (sums.get(status) ?? 0) + count);
  return [...sums].sort();
}

export function textOf(result: BenchResult, compared: readonly Compared[]): string {
  const lines = [`${result.project}: ${result.load.events}, ${howOf(result)}`];
  for (const [name, { unit, rounds }] of Object.entries(result.figures))
    lines.push(
      `  ${name.padEnd(44)} ${number(median(rounds)).padStart(9)} ${unit}  (${number(Math.min(...rounds))}–${number(Math.max(...rounds))})`,
    );
  const rows = rowsOf(result.rounds);
  if (rows.length > 0) lines.push('', table([['rule', 'stage', 'count', 'p50 ms', 'p99 ms', 'p99.9 ms', 'max ms'], ...rows.map(cellsOf)]));
  for (const [rule, failed] of failuresOf(result.rounds)) lines.push(`  ${rule}: ${failed} runs failed`);
  for (const [status, count] of refusedOf(result.rounds)) lines.push(`  ${count} requests: ${status}`);
  if (compared.length > 0) lines.push('', table([['compared', 'base', 'now', 'ratio', 'noise', ''], ...compared.map(comparedCells)]));
  return `${[...lines, ...result.notes].join('\n')}\n`;
}

export const howOf = ({ load, rounds, ramps, service }: BenchResult): string => {
  const where = service ?? 'a service of its own';
  if (load.mode === 'core') return 'index and sandbox alone';
  if (load.mode === 'ramp') return `${ramps.length} searches for the highest rate with p99 ≤ ${load.boundMs} ms, ${where}`;
  return `${load.rate} a second for ${load.seconds} s, ${rounds.length} rounds, ${where}`;
};

export const cellsOf = ({ rule, stage, durations }: Row): string[] => [
  rule,
  STAGE_NAMES[stage],
  durations.count.toLocaleString('en'),
  ...QUANTILES.map((part) => number(durations.quantile(part))),
  number(durations.maxMs),
];

export const comparedCells = ({ name, unit, base, now, ratio, band, verdict }: Compared): string[] => [
  name,
  `${number(base)} ${unit}`,
  `${number(now)} ${unit}`,
  ratio.toFixed(2),
  `${band[0].toFixed(2)}–${band[1].toFixed(2)}`,
  verdict === 'same' ? '' : verdict,
];

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      `  ${row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`.trimEnd(),
    )
    .join('\n');
}
