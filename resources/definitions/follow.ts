// Puts a definition in force as it is stored, when the process does not know whether its change was committed: without the checks and the
// work on the store that came with the change. A definition whose version is in force already is skipped.

import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { isUnavailable, retryUntilAvailable } from '../../platform/mongo/index.ts';
import { fromBson } from '../../model/values/index.ts';
import { idOf, versionOf } from '../representation/index.ts';
import { type Namespace, DEFINITIONS } from '../catalog/index.ts';

const RAW = { raw: true, readConcern: { level: 'majority' } } as const;

async function followRow(space: Namespace, row: ObjectValue): Promise<void> {
  const [kind, name] = [String(getOwn(row, 'kind')), String(getOwn(row, 'name'))];
  const object = getOwn(row, 'object') as ObjectValue;
  const known = space.catalog.definitions.get(kind, name);
  if (known && idOf(known) === idOf(object) && versionOf(known) >= versionOf(object)) return;
  const renamed = space.catalog.definitions.find(kind, idOf(object));
  if (renamed && renamed.name !== name) await followRemoval(space, kind, renamed.name);
  space.catalog.definitions.noteCollection(row);
  await change(space, kind, name, object);
}

async function change(space: Namespace, kind: string, name: string, object: ObjectValue | null): Promise<void> {
  if (object) space.catalog.definitions.put(kind, name, object);
  else space.catalog.definitions.remove(kind, name);
  try {
    await space.catalog.features.kind(kind)?.enforce?.(space, name, object);
  } catch (error) {
    space.log.error({ err: error, kind, name, namespace: space.name }, 'a stored definition could not be put in force');
  }
}

async function followRemoval(space: Namespace, kind: string, name: string): Promise<void> {
  await change(space, kind, name, null);
  space.events.subscribers.gone(kind, name);
  space.events.deliveries.gone(kind, name);
}

/** The kind and name of a definition. */
export type Named = readonly [kind: string, name: string];

/**
 * Awaits a commit that changes definitions; when the commit is given up, they are read and put in force as stored. @throws as the commit
 */
export const following = (space: Namespace, changed: readonly Named[], commit: Promise<void>): Promise<void> =>
  orReadLater(space, commit, () => Promise.all(changed.map(([kind, name]) => refresh(space, kind, name))));

/**
 * Awaits a commit of state that is held in memory. A commit that is given up while the store is unavailable may still succeed: the state is
 * read again once no batch is in flight.
 * @param read idempotent
 * @throws as the commit
 */
export async function orReadLater(space: Namespace, commit: Promise<void>, read: () => Promise<unknown>): Promise<void> {
  try {
    await commit;
  } catch (error) {
    if (isUnavailable(error))
      space.transactions
        .exclusive(() => retryUntilAvailable(read))
        .catch((err: unknown) =>
          space.log.error({ err, namespace: space.name }, 'the state after a commit with unknown outcome could not be read'),
        );
    throw error;
  }
}

/** Reads one definition again and puts it in force. */
export async function refresh(space: Namespace, kind: string, name: string): Promise<void> {
  const row = await space.storage.db.collection(DEFINITIONS).findOne({ kind, name }, RAW);
  if (row) await followRow(space, fromBson(row));
  else if (space.catalog.definitions.get(kind, name)) await followRemoval(space, kind, name);
}
