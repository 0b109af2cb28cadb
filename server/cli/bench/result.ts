// The result of a bench, as it is stored in a file and compared later.
import { readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import type { HistogramData } from '../../../platform/structures/index.ts';
import type { Stage } from '../../../runtime/context/index.ts';
import { reasonOf, UsageError } from '../terminal.ts';
import type { Load } from './options.ts';
import type { CpuSeconds } from './processes.ts';

export const FORMAT = 'cascade-bench/1';

/** A figure, with one number for each round. */
export interface Figure {
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  readonly rounds: readonly number[];
}

export interface RuleResult {
  readonly rule: string;
  readonly stages: Readonly<Partial<Record<Stage, HistogramData>>>;
  readonly failed: number;
}

export interface RoundResult {
  readonly rate: number;
  readonly intended: number;
  readonly answered: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly requests: HistogramData;
  /** Seconds from the first due time until all runs had ended; null: they had not. */
  readonly seconds: number | null;
  readonly cpu: CpuSeconds | null;
  readonly rules: readonly RuleResult[];
}

export interface StepResult {
  readonly rate: number;
  readonly p99Ms: number;
  readonly holds: boolean;
}

export interface BenchResult {
  readonly format: typeof FORMAT;
  readonly project: string;
  readonly at: string;
  readonly machine: Readonly<Record<string, string | number>>;
  /** The address of the service; null: one of the bench's own. */
  readonly service: string | null;
  readonly load: Load;
  readonly rounds: readonly RoundResult[];
  /** The searches of a ramp, in order. */
  readonly ramps: readonly { readonly found: number; readonly steps: readonly StepResult[] }[];
  /** The figures to compare, by name. */
  readonly figures: Readonly<Record<string, Figure>>;
  /** Notes for the reader of the figures. */
  readonly notes: readonly string[];
}

export const machine = (): BenchResult['machine'] => ({
  cores: cpus().length,
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
});

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

const isFigure = (value: unknown): value is Figure => {
  const { rounds, better, unit } = (value ?? {}) as Partial<Figure>;
  const isList = Array.isArray(rounds) && rounds.length > 0 && rounds.every((one) => typeof one === 'number' && Number.isFinite(one));
  return isList && typeof unit === 'string' && (better === 'higher' || better === 'lower');
};

/** @throws UsageError for a file that no bench has written */
export async function readResult(file: string): Promise<BenchResult> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
  });
  let found: Partial<BenchResult> | null;
  try {
    found = JSON.parse(text) as Partial<BenchResult> | null;
  } catch (error) {
    throw new UsageError(`${file} is no JSON: ${(error as Error).message}`);
  }
  const isResult = found?.format === FORMAT && typeof found.load === 'object' && typeof found.figures === 'object';
  if (!isResult || !Object.values(found?.figures ?? {}).every(isFigure))
    throw new UsageError(`${file} is no result of cascade bench: --output writes one.`);
  return found as BenchResult;
}
