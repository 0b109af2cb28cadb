// Reads a running service's figures of its rules from /metrics, before and after a round.
import { LogHistogram } from '../../../platform/structures/index.ts';
import { type Stage, STAGES } from '../../../runtime/context/index.ts';
import type { RuleResult } from './result.ts';

export interface Counts {
  /** Cumulative counts by the bucket's upper bound in seconds; the key is `namespace rule stage`. */
  readonly stages: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Failed runs, by `namespace rule`. */
  readonly failed: ReadonlyMap<string, number>;
  readonly openRuns: number;
}

const LINE = /^(cascade_\w+)(?:\{([^}]*)\})? (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function countsOf(text: string): Counts {
  const stages = new Map<string, Map<number, number>>();
  const failed = new Map<string, number>();
  let openRuns = 0;
  for (const [, name, labels = '', value] of text.matchAll(LINE)) {
    const label = Object.fromEntries([...labels.matchAll(LABEL)].map(([, key, of]) => [key, of])) as Record<string, string>;
    if (name === 'cascade_queue_depth') openRuns = Number(value);
    else if (name === 'cascade_rule_activations_total' && label['outcome'] === 'failed')
      failed.set(`${label['namespace']} ${label['rule']}`, Number(value));
    else if (name === 'cascade_rule_stage_seconds_bucket') {
      const key = `${label['namespace']} ${label['rule']} ${label['stage']}`;
      const buckets = stages.get(key) ?? new Map<number, number>();
      stages.set(key, buckets.set(label['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(label['le']), Number(value)));
    }
  }
  return { stages, failed, openRuns };
}

/** The difference of two scrapes, rule by rule; names of rules carry the namespace where there are several. */
export function rulesBetween(before: Counts, after: Counts): RuleResult[] {
  const found = new Map<string, Partial<Record<Stage, LogHistogram>>>();
  for (const [key, buckets] of after.stages) {
    const [namespace = '', rule = '', stage] = key.split(' ');
    const durations = between(before.stages.get(key) ?? new Map<number, number>(), buckets);
    if (durations.count === 0 || !STAGES.includes(stage as Stage)) continue;
    const of = found.get(`${namespace} ${rule}`) ?? {};
    found.set(`${namespace} ${rule}`, { ...of, [stage as Stage]: durations });
  }
  const isOne = new Set([...found.keys()].map((key) => key.split(' ')[0])).size <= 1;
  return [...found].map(([key, stages]) => ({
    rule: isOne ? (key.split(' ')[1] as string) : key.replace(' ', '/'),
    stages: Object.fromEntries(Object.entries(stages).map(([stage, durations]) => [stage, durations.toJSON()])),
    failed: (after.failed.get(key) ?? 0) - (before.failed.get(key) ?? 0),
  }));
}

/** The difference of two histograms: each value counts as its bucket's upper bound, those beyond the last bucket as its bound. */
function between(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): LogHistogram {
  const durations = new LogHistogram();
  let [below, last] = [0, 0];
  for (const bound of [...after.keys()].sort((a, b) => a - b)) {
    const count = (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
    if (Number.isFinite(bound)) last = bound;
    if (count > below) durations.add(last * 1_000, count - below);
    below = count;
  }
  return durations;
}
