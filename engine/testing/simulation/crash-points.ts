// The points of integrations.md 12.2 at which processes died, found from the journal at that moment: it shows whether the worlds reach all
// of them.

import type { Document } from 'mongodb';
import { rootOf, rowOf, runIdOf, type StoredRow } from '../../../runtime/transactions/index.ts';

export const CRASH_POINTS = [
  'before the store',
  'after the store, before the answer',
  'after the answer, before a rule begins',
  'inside a rule',
  'in a rule after some effects',
  'one of several rules open',
  'nothing open',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

export const noCounts = (): Record<CrashPoint, number> =>
  Object.fromEntries(CRASH_POINTS.map((point) => [point, 0])) as Record<CrashPoint, number>;

/** @param rows of the journal @param hasBegun whether a run has made a request yet */
export function pointsAt(rows: readonly Document[], hasBegun: (run: string) => boolean): Set<CrashPoint> {
  const low = Math.max(0, ...rows.map((row) => Number(row['low'] ?? 0)));
  const open = new Map<string, { steps: number; of: string }>();
  const journal = rows
    .filter((row) => row['closed'] !== true && Number(row['order']) >= low)
    .map((row) => rowOf(row as StoredRow))
    .sort((a, b) => a.order - b.order);
  const rulesOf = new Map<string, number>();
  for (const { events } of journal)
    for (const event of events) {
      const runs = event.runs.filter(({ places }) => !places);
      for (const { rule } of runs) open.set(runIdOf(event, rule), { steps: 0, of: event.uuid });
      rulesOf.set(event.uuid, runs.length);
    }
  for (const { steps } of journal)
    for (const { run } of steps) {
      const one = open.get(rootOf(run));
      if (one) one.steps++;
    }
  for (const { done } of journal) for (const run of done) open.delete(run);
  const points = new Set<CrashPoint>();
  if (open.size === 0) points.add('nothing open');
  for (const [run, { steps, of }] of open) {
    points.add(steps > 0 ? 'in a rule after some effects' : hasBegun(run) ? 'inside a rule' : 'after the answer, before a rule begins');
    const siblings = [...open.values()].filter((other) => other.of === of).length;
    if ((rulesOf.get(of) ?? 0) > 1 && siblings === 1) points.add('one of several rules open');
  }
  return points;
}
