// Figures and how they are told: each beside its baseline from the same run, as a ratio, with the spread over the rounds.

import { cpus, totalmem } from 'node:os';
import type { HistogramData } from '../../platform/structures/index.ts';

export interface Figure {
  /** The benchmark that it is of, in runs that are kept: two may ask the same. */
  readonly bench?: string;
  /** What was measured: `rules, 1,000 on one type`. */
  readonly name: string;
  readonly unit: string;
  /** One number a round, for each contestant; the first contestant is ours. */
  readonly rounds: Readonly<Record<string, readonly number[]>>;
  /** Anything else worth knowing of a contestant: latencies, CPU seconds. */
  readonly besides?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What it is to reach, where somebody has set that. */
  readonly aims?: readonly Aim[];
  /** The latencies of all rounds, for each contestant. */
  readonly latencies?: Readonly<Record<string, HistogramData>>;
  /** Where it stands in a series of figures that differ in one number, such as connections. */
  readonly at?: { readonly series: string; readonly axis: string; readonly x: number };
}

/** `atLeast` or `atMost`: which side of the bound is the good one. */
export interface Aim {
  readonly what: string;
  readonly is: number;
  readonly side: 'atLeast' | 'atMost';
  readonly bound: number;
}

/** How many times as much one contestant does as another, by their medians; no aim where the other was not measured. */
export function timesAsMuch(rounds: Figure['rounds'], one: string, other: string, bound: number, side: Aim['side'] = 'atLeast'): Aim[] {
  const [a, b] = [rounds[one], rounds[other]];
  return a && b ? [{ what: `${one} / ${other}`, is: median(a) / median(b), side, bound }] : [];
}

/** A bound for the median of one contestant itself. */
export const itself = ({ rounds, unit }: Figure, one: string, bound: number, side: Aim['side']): Aim => ({
  what: `${one}, ${unit}`,
  is: median(rounds[one] ?? []),
  side,
  bound,
});

/** Says what is being done: on one line of a terminal, else on a line of its own. */
export const progress = (text: string): void => {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K  ${text}` : `  ${text}\n`);
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

export const machine = (): Record<string, string | number> => ({
  cores: cpus().length,
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  date: new Date().toISOString().slice(0, 10),
});

export function toText(figure: Figure): string {
  const [ours, ...others] = Object.keys(figure.rounds);
  const own = median(figure.rounds[ours ?? ''] ?? []);
  const lines = [`${figure.name} (${figure.unit}, median of ${figure.rounds[ours ?? '']?.length ?? 0} rounds)`];
  for (const name of [ours ?? '', ...others]) {
    const values = figure.rounds[name] ?? [];
    const ratio = name === ours ? '' : `   ours/this ${(own / median(values)).toFixed(2)}`;
    const spread = `${Math.round(Math.min(...values)).toLocaleString('en')}–${Math.round(Math.max(...values)).toLocaleString('en')}`;
    const besides = Object.entries(figure.besides?.[name] ?? {}).map(
      ([key, value]) => `${key} ${value.toLocaleString('en', { maximumFractionDigits: 2 })}`,
    );
    lines.push(
      `  ${name.padEnd(26)} ${Math.round(median(values)).toLocaleString('en').padStart(12)}  (${spread})${ratio}${besides.length > 0 ? `   ${besides.join(', ')}` : ''}`,
    );
  }
  for (const aim of figure.aims ?? []) lines.push(`  ${toLine(aim)}`);
  return lines.join('\n');
}

export const isReached = ({ is, side, bound }: Aim): boolean => (side === 'atLeast' ? is >= bound : is <= bound);

export function toLine(aim: Aim): string {
  const { what, is, side, bound } = aim;
  const written = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 });
  return `aim: ${what} ${side === 'atLeast' ? '≥' : '≤'} ${written(bound)}; it is ${written(is)}, ${isReached(aim) ? 'reached' : 'missed'}`;
}
