// Definitions that another process has changed: put in force here as they are stored, without the checks and the work on the store that were done
// there. One of our own that comes back is known by its version.

import type { ObjectId } from 'mongodb';
import { type Document } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { fromBson } from '../../model/values/index.ts';
import { idOf, versionOf } from '../representation/stamp.ts';
import type { Namespace } from '../catalog/types.ts';
import { leaveForce, loadRule } from '../../features/rules/rules-kind.ts';
import { followScalar } from '../../features/scalars/scalars-kind.ts';
import { servicesWithState, stateChanged } from '../../features/services/service-state.ts';
import { DEFINITIONS } from './store.ts';
import { loadType } from '../../features/types/types-kind.ts';

const RAW = { raw: true, readConcern: { level: 'majority' } } as const;

type Follow = (space: Namespace, name: string, object: ObjectValue | null) => void | Promise<void>;

const FOLLOW: Readonly<Record<string, Follow>> = {
  async types(space, name, object) {
    if (object) space.cipher ??= await space.accounts.keys.cipherOf(space.name);
    const type: TypeDefinition | null = object && loadType(object, space);
    if (type) space.types.set(name, type);
    else space.types.delete(name);
    for (const service of servicesWithState(space, name)) stateChanged(space, service);
    space.when.retype(name);
    space.before.retype(name);
    space.correlations.retype(name);
  },
  scalars: (space, name, object) => followScalar(space, name, object),
  services(space, name, object) {
    stateChanged(space, name);
    for (const inForce of [space.implementedEvents, space.schedule])
      if (object) inForce.putService(name, object);
      else inForce.removeService(name);
  },
  procedures: (space, name) => space.sandbox.procedureChanged(space.name, name),
  rules(space, name, object) {
    if (object) loadRule(space, object);
    else leaveForce(space, name);
  },
  sources(space, name, object) {
    if (object) space.sources.put(name, object);
    else space.sources.remove(name);
  },
  scheduledevents(space, name, object) {
    if (object) space.schedule.put(name, object);
    else space.schedule.remove(name);
  },
};

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
  await change(space, kind, name, object);
}

async function change(space: Namespace, kind: string, name: string, object: ObjectValue | null): Promise<void> {
  if (object) space.definitions.put(kind, name, object);
  else space.definitions.remove(kind, name);
  try {
    await FOLLOW[kind]?.(space, name, object);
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
