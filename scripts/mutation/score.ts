// What a report of StrykerJS says: a score for each folder, and who survived.
import { type Identity, type Mutant, identify, nameOf } from './mutant.ts';
import { folderOf } from './rooms.ts';

/** As mutation-testing-report-schema has it. */
export interface Report {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly (Mutant & { readonly status: string })[] }>
  >;
}

export interface Survivor extends Identity {
  readonly folder: string;
  readonly at: number;
  /** No test runs it at all. */
  readonly uncovered: boolean;
}

export interface Score {
  /** Per cent of the sample that the tests noticed; what is accepted does not count. */
  readonly score: number;
  readonly sample: number;
  /** All there are. */
  readonly mutants: number;
  readonly seed: number;
  readonly date: string;
}

export interface Judged {
  readonly scores: Readonly<Record<string, Score>>;
  readonly survivors: readonly Survivor[];
  readonly accepted: number;
}

const NOTICED = ['Killed', 'Timeout', 'RuntimeError'];
const MISSED = ['Survived', 'NoCoverage'];
/** Of a difference of two samples: what is farther off than this many standard deviations is not chance. */
const DEVIATIONS = 2;

/** @param accepted names of mutants that need not be noticed */
export function judge(report: Report, accepted: ReadonlySet<string>, seed: number, date: string): Judged {
  const counts = new Map<string, { noticed: number; missed: number; mutants: number }>();
  const survivors: Survivor[] = [];
  let excused = 0;
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    const folder = folderOf(file);
    const count = counts.get(folder) ?? { noticed: 0, missed: 0, mutants: 0 };
    counts.set(folder, count);
    for (const mutant of mutants) {
      count.mutants++;
      if (NOTICED.includes(mutant.status)) count.noticed++;
      if (!MISSED.includes(mutant.status)) continue;
      const identity = identify(file, source, mutant, 1);
      if (accepted.has(nameOf(identity))) {
        excused++;
        continue;
      }
      count.missed++;
      survivors.push({ ...identity, folder, at: mutant.location.start.line, uncovered: mutant.status === 'NoCoverage' });
    }
  }
  const scores = [...counts]
    .filter(([, { noticed, missed }]) => noticed + missed > 0)
    .map(([folder, { noticed, missed, mutants }]): [string, Score] => {
      const sample = noticed + missed;
      return [folder, { score: Math.round((1_000 * noticed) / sample) / 10, sample, mutants, seed, date }];
    });
  return { scores: Object.fromEntries(scores.sort(([a], [b]) => (a < b ? -1 : 1))), survivors, accepted: excused };
}

/** The folders whose score has fallen by more than chance, or has nothing to be compared with. */
export function fallen(now: Readonly<Record<string, Score>>, before: Readonly<Record<string, Score>>): string[] {
  return Object.entries(now).flatMap(([folder, { score, sample }]) => {
    const was = before[folder];
    if (!was) return [`${folder} has ${score} %, and no score is recorded: --record`];
    const noise = DEVIATIONS * deviation(was, sample);
    return score < was.score - noise ? [`${folder} has ${score} %, and had ${was.score} % (chance: ${noise.toFixed(1)})`] : [];
  });
}

/** Of the difference between a sample of this size and that of the score, in per cent. One more of each kind keeps 0 and 100 % from being certain. */
function deviation({ score, sample }: Score, size: number): number {
  const p = ((score / 100) * sample + 1) / (sample + 2);
  return 100 * Math.sqrt(p * (1 - p) * (1 / sample + 1 / size));
}

/** What scores.json holds from now on. */
export function recorded(before: Readonly<Record<string, Score>>, now: Readonly<Record<string, Score>>): string {
  const scores = Object.entries({ ...before, ...now }).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(scores), null, 2)}\n`;
}
