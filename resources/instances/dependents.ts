// Instances that are deleted with the one that they depend on (`ars_dependentResource`, resources-and-api.md 1.3). Each dependent has an
// entry stored beside it, by which the deletion finds it, wherever it is. An entry of an instance that was deleted or depends on another
// one now has no effect; it is removed with the instance that it names.

import { type Db, type Document, Long, ObjectId } from 'mongodb';
import { getOwn, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import type { Write } from '../../runtime/transactions/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { fromBson, idToBson } from '../../model/values/index.ts';
import { idOf } from '../representation/index.ts';
import type { InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { read } from './find.ts';

export const DEPENDENTS = 'dependents';
/** Bound of the dependents of one instance or batch. */
const MOST = 100_000;

export async function indexDependents(db: Db): Promise<void> {
  await db.collection(DEPENDENTS).createIndex({ on: 1 });
}

/** The address that an instance or definition depends on; null: none. */
export function masterOf(stored: ObjectValue | null): string | null {
  const named = stored && Object.hasOwn(stored, 'ars_dependentResource') ? getOwn(stored, 'ars_dependentResource') : null;
  return named === null ? null : addressOf(text(named));
}

const addressOf = (reference: string): string => reference.replace(/^\/(system\.)?/, '/');

/** The addresses of an instance: its id, and its natural key of one property. */
export function addressesOf(resource: Resource, stored: ObjectValue): string[] {
  const [key = 'name', second] = resource.type.naturalKey;
  const named: Value = second === undefined && Object.hasOwn(stored, key) ? getOwn(stored, key) : null;
  return [idOf(stored), ...(named === null ? [] : [text(named)])].map((id) => `/${resource.name}/${id}`);
}

/** The entry of an instance that depends on another one, where its last state did not. */
export function entriesFor(of: Place, next: ObjectValue, before: ObjectValue | null = null): Write[] {
  if (masterOf(next) === masterOf(before)) return [];
  return entriesOfDependent(of, next).map((document) => ({ collection: DEPENDENTS, op: 'insert', document, isNew: true }));
}

type Place = Pick<InstanceResource, 'name' | 'collection'>;

/** The stored entry of an instance, where it depends on another one. */
export function entriesOfDependent({ name, collection }: Place, instance: ObjectValue): (Document & { _id: ObjectId })[] {
  const on = masterOf(instance);
  return on === null ? [] : [{ _id: new ObjectId(), ars_version: Long.ONE, on, type: name, collection, of: idOf(instance) }];
}

const OF_A_TYPE = { kind: 'instances', operations: new Set<string>(), defaultSort: { _id: 1 } } as const;

/** By the collection, since a renamed type keeps it; an entry of an earlier version has the type's name alone. */
const typeOf = ({ catalog: { types } }: Namespace, entry: ObjectValue): TypeDefinition | undefined =>
  Object.hasOwn(entry, 'collection') ? types.ofCollection(String(getOwn(entry, 'collection'))) : types.get(String(getOwn(entry, 'type')));

/** The present dependents of these addresses, and their entries, which are deleted, too. */
export async function dependentsOn(
  space: Namespace,
  addresses: readonly string[],
): Promise<{ entries: Write[]; found: { resource: InstanceResource; instance: ObjectValue }[] }> {
  const entries: Write[] = [];
  const ids = new Map<TypeDefinition, string[]>();
  const rows = space.storage.rows.find(DEPENDENTS, { filter: { on: { $in: [...addresses] } }, sort: { _id: 1 }, limit: MOST });
  while (!rows.isDone)
    for (const raw of await rows.next()) {
      const entry = fromBson(raw);
      entries.push({ collection: DEPENDENTS, op: 'delete', id: ObjectId.createFromHexString(idOf(entry)), version: 1n });
      const type = typeOf(space, entry);
      if (!type || type.maxStorage > 0) continue; // instances of capped types are never deleted
      ids.set(type, [...(ids.get(type) ?? []), String(getOwn(entry, 'of'))]);
    }
  const found: { resource: InstanceResource; instance: ObjectValue }[] = [];
  for (const [type, of] of ids) {
    const resource: InstanceResource = { ...OF_A_TYPE, name: type.name, type, collection: type.collection };
    for (const instance of await read(space, resource, { _id: { $in: of.map(idToBson) } }, of.length))
      if (addresses.includes(masterOf(instance) ?? '')) found.push({ resource, instance });
  }
  return { entries, found };
}
