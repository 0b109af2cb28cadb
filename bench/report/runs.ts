// A run of benchmarks kept as JSON, and another one beside it: what is compared is the ratio to the peer of the same run, as the machine may have been
// another or a busier one; where there is no peer, our own figure.
import { readFile } from 'node:fs/promises';
import { type Compared, compareFigures } from '../../server/cli/bench/index.ts';
import type { Figure } from './figure.ts';

export interface Run {
  readonly machine: Readonly<Record<string, string | number>>;
  readonly figures: readonly Figure[];
}

/** @throws Error for a file that `--json` or `--output` has not written */
export async function readRun(file: string): Promise<Run> {
  const run = JSON.parse(await readFile(file, 'utf8')) as Partial<Run> | null;
  const isRun =
    Array.isArray(run?.figures) && run.figures.every((one: Partial<Figure> | null) => one && one.name && one.unit && one.rounds);
  if (!isRun) throw new Error(`${file} holds no figures`);
  return run as Run;
}

/** Figures that both have, of at least one round each. */
export function compareRuns(base: Run, now: Run): Compared[] {
  return now.figures.flatMap((figure) => {
    const before = base.figures.find(({ bench, name, unit }) => bench === figure.bench && name === figure.name && unit === figure.unit);
    const peer = before && peerOf(before, figure);
    const [was, is] = [before && seriesOf(before, peer), seriesOf(figure, peer)];
    if (!was?.length || !is.length) return [];
    const better = isLowerBetter(figure.unit) ? 'lower' : 'higher';
    const unit = peer === undefined ? figure.unit : `× ${peer}`;
    return [compareFigures(figure.name, { unit, better, rounds: was }, { unit, better, rounds: is })];
  });
}

/** The first besides ours that was measured both times. */
const peerOf = (base: Figure, now: Figure): string | undefined =>
  Object.keys(now.rounds)
    .slice(1)
    .find((name) => Object.hasOwn(base.rounds, name));

/** Round for round, since what disturbs one contestant mostly disturbs the other, too. */
function seriesOf({ rounds }: Figure, peer: string | undefined): number[] {
  const [own = []] = Object.values(rounds);
  const other = peer === undefined ? undefined : rounds[peer];
  if (!other) return [...own];
  return own.slice(0, other.length).map((value, round) => value / (other[round] as number));
}

/** Rates are so much `/s` or `a second`; everything else is time or memory. */
export const isLowerBetter = (unit: string): boolean => !/\/s\b|a second/.test(unit);
