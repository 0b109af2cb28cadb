// The periodic maintenance of a namespace: trims capped types after a crash, removes expired debug configs and old logs. It raises no
// events and writes no audits.

import { CascadeError } from '../stdlib/errors.ts';
import type { ObjectValue } from '../stdlib/values/index.ts';
import { versionOf } from '../resources/representation/index.ts';
import { trimCapped } from '../resources/collections/index.ts';
import { sweepContents } from '../features/documents/index.ts';
import { trimDeliveryRecords } from '../features/delivery/index.ts';
import { dropOrphans } from '../features/types/index.ts';
import {
  DEBUGCONFIGS,
  diagnosticsBytes,
  isExpired,
  tellOfExcess,
  tellOfFullAnswers,
  trimLogs,
  trimRecordings,
} from '../features/diagnostics/index.ts';
import { ANSWER_ROOM, IDEMPOTENCY_RECORDS } from '../resources/requests/index.ts';
import { deleteDefinition } from '../resources/definitions/index.ts';
import { serviceActor } from '../runtime/context/index.ts';
import type { Namespace } from '../resources/catalog/index.ts';
import { settleHandOver } from '../features/notifications/index.ts';
import { sourcesOf } from '../features/sources/index.ts';

/** Keeps dead letters, recordings, snapshots, logs and kept answers within their bounds of time, rows and bytes. */
export async function trimDiagnostics(space: Namespace): Promise<void> {
  const mostBytes = await diagnosticsBytes(space);
  const { deadLetters } = await trimDeliveryRecords(space, mostBytes);
  const recordings = await trimRecordings(space, mostBytes);
  const { logs, snapshots } = await trimLogs(space, { mostBytes });
  const removed = { 'dead letters': deadLetters, 'recordings of runs': recordings, messages: logs, 'failed runs': snapshots };
  await tellOfExcess(space, removed, mostBytes);
  const isFull = await space.states.get(ANSWER_ROOM).look(space.storage.db, IDEMPOTENCY_RECORDS, mostBytes);
  if (isFull) await tellOfFullAnswers(space, mostBytes);
}

const EVERY_MS = 500;
/** Interval of the removal of old dead letters, recordings and logs. */
const TRIM_EVERY_MS = 60_000;
/** Interval of the search for collections without a type. */
const ORPHANS_EVERY_MS = 3_600_000;
const trimmedAt = new WeakMap<Namespace, number>();

/**
 * Starts maintenance, which runs until it is disposed; disposing waits for work in progress.
 * @param uses whether a run with this text of a rule is open or waits
 */
export function openMaintenance(space: Namespace, uses: (key: string) => boolean): AsyncDisposable {
  let orphansAt = space.clock.now(); // the opening has searched already
  let round: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    const now = space.clock.now();
    const orphansToo = now - orphansAt >= ORPHANS_EVERY_MS;
    if (orphansToo) orphansAt = now;
    round = runOnce(space, uses)
      .then(async () => void (orphansToo && (await dropOrphans(space.storage.db, now, false))))
      .catch((error: unknown) => space.log.error({ err: error, namespace: space.name }, 'the maintenance of a namespace failed'))
      .finally(() => (busy = false));
  }, EVERY_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await round;
    },
  };
}

async function runOnce(space: Namespace, uses: (key: string) => boolean): Promise<void> {
  for (const type of space.catalog.types.values()) if (type.maxStorage > 0) await trimCapped(space, type);
  const now = space.clock.now();
  await sourcesOf(space).settle(now);
  settleHandOver(space, now);
  for (const [name, config] of space.catalog.definitions.list('debugconfigs'))
    if (isExpired(config, now)) await removeExpired(space, name, config);
  await space.execution.programs.sweep(now, uses);
  if (now - (trimmedAt.get(space) ?? 0) >= TRIM_EVERY_MS) {
    trimmedAt.set(space, now);
    await trimDiagnostics(space);
    await sweepContents(space);
  }
}

/** Removes a debug config, unless it is another one or gone when its turn comes: it may have been prolonged meanwhile. */
async function removeExpired(space: Namespace, name: string, config: ObjectValue): Promise<void> {
  try {
    await deleteDefinition(space, DEBUGCONFIGS, name, serviceActor(space), { version: versionOf(config) });
  } catch (error) {
    if (!(error instanceof CascadeError) || !CHANGED.has(error.code)) throw error;
  }
}

const CHANGED: ReadonlySet<string> = new Set(['cascade.update.authorization.or.version.conflict', 'cascade.resource.not.found']);
