// What dead processes left open in a namespace: it stands in this process's rows before theirs go, and runs.

import {
  closeEpochs,
  inPieces,
  readLeftOpen,
  removeOldEnds,
  removeRows,
  type RunId,
  runIdOf,
  SLOTS,
  type Step,
  type StoredEvent,
  type Unit,
} from './commit/index.ts';
import { executableKey, readExecutable } from './resources/definitions/programs.ts';
import { ASYNC } from './resources/events.ts';
import type { Namespace } from './resources/types.ts';
import { STATEMENT } from './runs/index.ts';
import { insist, type Store } from './store/index.ts';

/**
 * @param recorded gets the steps of the runs that go on
 * @returns the events, in the order in which they came
 */
export async function takeOver(
  space: Namespace,
  store: Store,
  dead: readonly number[],
  recorded: Map<RunId, readonly Step[]>,
): Promise<readonly StoredEvent[]> {
  if (dead.length === 0) return [];
  await removeOldEnds(space.db);
  await closeEpochs(space.db, dead, SLOTS);
  const left = await readLeftOpen(space.db, dead, space.cipher);
  const byEvent = new Map<string, [RunId, Step[]][]>();
  for (const [run, steps] of left.steps) {
    recorded.set(run, steps);
    const uuid = run.slice(0, run.indexOf('/'));
    const runs = byEvent.get(uuid);
    if (runs) runs.push([run, [...steps]]);
    else byEvent.set(uuid, [[run, [...steps]]]);
  }
  for (const event of left.events)
    for (const { rule, program, places } of event.runs) {
      if (places || program === ASYNC || program === STATEMENT || space.executables.has(executableKey(rule, program))) continue;
      const kept = await readExecutable(space.db, space.name, rule, program);
      if (kept) space.executables.set(executableKey(rule, program), kept);
    }
  const units = left.events.map((event): Unit[] => {
    const open = event.runs.map(({ rule }) => runIdOf(event, rule));
    const steps = (byEvent.get(event.uuid) ?? []).flatMap(([run, of]) => (open.some((one) => isOrUnder(run, one)) ? of : []));
    const first = { writes: [], events: [event.sequence ? { ...event, redelivered: true as const } : event], isTaken: true as const };
    return inPieces(steps).map((some, index) => (index === 0 ? { ...first, steps: some } : { writes: [], events: [], steps: some }));
  });
  const goOnCleaning = space.committer.holdCleaning();
  // The event first: steps without one would be cleaned away. Until the end of this they stand in the rows of the dead as well.
  await Promise.all(
    units.map(async (pieces) => {
      for (const unit of pieces) await space.committer.submit(unit, true);
    }),
  );
  // However long the store is away: what they left stands in our rows now, and must not be found a second time.
  await insist(() => removeRows(store.client, space.db, dead));
  goOnCleaning();
  if (left.events.length > 0)
    space.log.info({ namespace: space.name, events: left.events.length }, 'took over events whose rules were not done');
  return left.events;
}

const isOrUnder = (run: RunId, parent: RunId): boolean => run === parent || run.startsWith(`${parent}/`);
