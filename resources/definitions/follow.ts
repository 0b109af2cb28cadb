// Definitions that another process has changed: put in force here as they are stored, without the checks and the work on the store that were done
// there. One of our own that comes back is known by its version.

import type { ObjectId } from 'mongodb';
import { type Document } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { fromBson } from '../../model/values/index.ts';
import { idOf, versionOf } from '../representation/stamp.ts';
import type { Namespace } from '../catalog/types.ts';
import { DEFINITIONS } from './store.ts';

const RAW = { raw: true, readConcern: { level: 'majority' } } as const;

/** A change of the collection, whoever has made it. @param seen the row as the driver reads it (numbers are not exact); null: it is removed */
export async function follow(space: Namespace, id: ObjectId, seen: Document | null): Promise<void> {
  if (!seen) {
    const found = space.definitions.byId(id.toHexString());
    if (found) await followRemoval(space, found.kind, found.name);
    return;
  }
  const known = space.definitions.get(String(seen['kind']), String(seen['name']));
  if (known && idOf(known) === id.toHexString() && versionOf(known) >= BigInt(Number(seen['ars_version']))) return;
  const row = await space.db.collection(DEFINITIONS).findOne({ _id: id }, RAW);
  if (row) await followRow(space, fromBson(row));
}

async function followRow(space: Namespace, row: ObjectValue): Promise<void> {
  const [kind, name] = [String(getOwn(row, 'kind')), String(getOwn(row, 'name'))];
  const object = getOwn(row, 'object') as ObjectValue;
  const known = space.definitions.get(kind, name);
  if (known && idOf(known) === idOf(object) && versionOf(known) >= versionOf(object)) return;
  const renamed = space.definitions.find(kind, idOf(object));
  if (renamed && renamed.name !== name) await followRemoval(space, kind, renamed.name);
  space.definitions.noteCollection(row);
  await change(space, kind, name, object);
}

async function change(space: Namespace, kind: string, name: string, object: ObjectValue | null): Promise<void> {
  if (object) space.definitions.put(kind, name, object);
  else space.definitions.remove(kind, name);
  try {
    await space.features.kind(kind)?.enforce?.(space, name, object);
  } catch (error) {
    space.log.error({ err: error, kind, name, namespace: space.name }, 'a definition of another process could not be put in force');
  }
}

async function followRemoval(space: Namespace, kind: string, name: string): Promise<void> {
  await change(space, kind, name, null);
  space.subscribers.gone(kind, name);
  space.deliveries.gone(kind, name);
}

/** Reads one definition again, which another process may have changed. */
export async function refresh(space: Namespace, kind: string, name: string): Promise<void> {
  const row = await space.db.collection(DEFINITIONS).findOne({ kind, name }, RAW);
  if (row) await followRow(space, fromBson(row));
  else if (space.definitions.get(kind, name)) await followRemoval(space, kind, name);
}

/** Reads all definitions again: changes may have been missed. */
export async function refreshAll(space: Namespace): Promise<void> {
  const ids = new Set<string>();
  for await (const raw of space.db.collection(DEFINITIONS).find({}, { raw: true, sort: { _id: 1 } })) {
    const row = fromBson(raw);
    ids.add(idOf(getOwn(row, 'object') as ObjectValue));
    await followRow(space, row);
  }
  for (const { kind, name, object } of space.definitions.all())
    if (!ids.has(idOf(object)) && getOwn(object, 'isTransient') !== true) await followRemoval(space, kind, name);
}
