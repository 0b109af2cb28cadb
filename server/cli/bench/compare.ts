// Compares two results: each figure as a ratio, with the band that noise explains.
import { UsageError } from '../terminal.ts';
import type { Load } from './options.ts';
import { type BenchResult, type Figure, median } from './result.ts';

export type Verdict = 'worse' | 'better' | 'same';

export interface Compared {
  readonly name: string;
  readonly unit: string;
  readonly base: number;
  readonly now: number;
  /** The ratio now / base. */
  readonly ratio: number;
  /** The middle nine tenths of the ratios of every round now to every round then. */
  readonly band: readonly [low: number, high: number];
  readonly verdict: Verdict;
}

const TAIL = 0.05;
/** Bound below which a difference does not count, however steady. */
const LEAST_CHANGE = 0.05;
/** Rounds below which a band is meaningless. */
const LEAST_ROUNDS = 3;

/** @throws UsageError when the loads differ */
export function checkComparable(base: Load, now: Load): void {
  for (const member of ['mode', 'events', 'rate', 'boundMs', 'seconds', 'connections'] as const)
    if (base[member] !== now[member])
      throw new UsageError(
        `The base was measured with ${member} ${base[member] ?? 'none'}, this is with ${now[member] ?? 'none'}: no comparison.`,
      );
}

export function compareResults(base: BenchResult, now: BenchResult): Compared[] {
  return Object.entries(now.figures).flatMap(([name, figure]) => {
    const before = Object.hasOwn(base.figures, name) ? base.figures[name] : undefined;
    return before ? [compareFigures(name, before, figure)] : [];
  });
}

export function compareFigures(name: string, base: Figure, now: Figure): Compared {
  const ratios = now.rounds.flatMap((one) => base.rounds.map((other) => ratioOf(one, other))).sort((a, b) => a - b);
  const at = (part: number): number => ratios[Math.round(part * (ratios.length - 1))] as number;
  const band = [at(TAIL), at(1 - TAIL)] as const;
  const [before, after] = [median(base.rounds), median(now.rounds)];
  const ratio = ratioOf(after, before);
  return { name, unit: now.unit, base: before, now: after, ratio, band, verdict: verdictOf(ratio, band, base, now) };
}

/** The ratio of two figures; 1 for 0 to 0. */
const ratioOf = (one: number, other: number): number => (one === other ? 1 : one / other);

function verdictOf(ratio: number, [low, high]: readonly [number, number], base: Figure, now: Figure): Verdict {
  if (Math.min(base.rounds.length, now.rounds.length) < LEAST_ROUNDS) return 'same';
  if (Math.abs(ratio - 1) < LEAST_CHANGE || (low <= 1 && high >= 1)) return 'same';
  return ratio > 1 === (now.better === 'higher') ? 'better' : 'worse';
}
