// A definition whose change may stand in the store only (its commit was not heard): put in force as it is stored, without the checks and the work on the
// store that were done with the change. One that is known already is told by its version.

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

/** Kind and name. */
export type Named = readonly [kind: string, name: string];

/** A commit that changes definitions, which are put in force as they are stored where it is given up. @throws as the commit */
export const following = (space: Namespace, changed: readonly Named[], commit: Promise<void>): Promise<void> =>
  orReadLater(space, commit, () => Promise.all(changed.map(([kind, name]) => refresh(space, kind, name))));

/**
 * A commit of what is known by heart. Where it is given up because the store is away it may be stored yet: that is looked for once nothing is under
 * way any more.
 * @param read may be done more than once
 * @throws as the commit
 */
export async function orReadLater(space: Namespace, commit: Promise<void>, read: () => Promise<unknown>): Promise<void> {
  try {
    await commit;
  } catch (error) {
    if (isUnavailable(error))
      space.transactions
        .exclusive(() => retryUntilAvailable(read))
        .catch((err: unknown) => space.log.error({ err, namespace: space.name }, 'what a commit may have stored could not be read'));
    throw error;
  }
}

/** Reads one definition again. */
export async function refresh(space: Namespace, kind: string, name: string): Promise<void> {
  const row = await space.storage.db.collection(DEFINITIONS).findOne({ kind, name }, RAW);
  if (row) await followRow(space, fromBson(row));
  else if (space.catalog.definitions.get(kind, name)) await followRemoval(space, kind, name);
}
