// Instances that go together with another one (`ars_dependentResource`, resources-and-api.md 1.3). Which these are is stored beside them, an
// entry with each that names another: it is found by what is deleted, wherever it is. An entry of one that has gone meanwhile, or names
// another now, means nothing; it goes with what it names.

import { type Db, Long, ObjectId } from 'mongodb';
import { getOwn, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import type { Write } from '../../runtime/transactions/index.ts';
import { fromBson, idToBson } from '../../model/values/index.ts';
import { idOf } from '../representation/index.ts';
import type { InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { read } from './find.ts';

const DEPENDENTS = 'dependents';
/** Of one instance or batch. */
const MOST = 100_000;

export async function indexDependents(db: Db): Promise<void> {
  await db.collection(DEPENDENTS).createIndex({ on: 1 });
}

/** What an instance or definition names; null when nothing. */
export function masterOf(stored: ObjectValue | null): string | null {
  const named = stored && Object.hasOwn(stored, 'ars_dependentResource') ? getOwn(stored, 'ars_dependentResource') : null;
  return named === null ? null : addressOf(text(named));
}

const addressOf = (reference: string): string => reference.replace(/^\/(system\.)?/, '/');

/** The names by which it is addressed: its id, and its natural key of one property. */
export function addressesOf(resource: Resource, stored: ObjectValue): string[] {
  const [key = 'name', second] = resource.type.naturalKey;
  const named: Value = second === undefined && Object.hasOwn(stored, key) ? getOwn(stored, key) : null;
  return [idOf(stored), ...(named === null ? [] : [text(named)])].map((id) => `/${resource.name}/${id}`);
}

/** The entry of an instance that names another one as its last state did not. */
export function entriesFor({ name }: InstanceResource, next: ObjectValue, before: ObjectValue | null = null): Write[] {
  const on = masterOf(next);
  if (on === null || on === masterOf(before)) return [];
  const document = { _id: new ObjectId(), ars_version: Long.ONE, on, type: name, of: idOf(next) };
  return [{ collection: DEPENDENTS, op: 'insert', document, isNew: true }];
}

const OF_A_TYPE = { kind: 'instances', operations: new Set<string>(), defaultSort: { _id: 1 } } as const;

/** Those that name one of these addresses now, and the entries that say so, which go with it. */
export async function dependentsOn(
  space: Namespace,
  addresses: readonly string[],
): Promise<{ entries: Write[]; found: { resource: InstanceResource; instance: ObjectValue }[] }> {
  const entries: Write[] = [];
  const ids = new Map<string, string[]>();
  const rows = space.storage.rows.find(DEPENDENTS, { filter: { on: { $in: [...addresses] } }, sort: { _id: 1 }, limit: MOST });
  while (!rows.isDone)
    for (const raw of await rows.next()) {
      const entry = fromBson(raw);
      entries.push({ collection: DEPENDENTS, op: 'delete', id: ObjectId.createFromHexString(idOf(entry)), version: 1n });
      const type = String(getOwn(entry, 'type'));
      ids.set(type, [...(ids.get(type) ?? []), String(getOwn(entry, 'of'))]);
    }
  const found: { resource: InstanceResource; instance: ObjectValue }[] = [];
  for (const [name, of] of ids) {
    const type = space.catalog.types.get(name);
    if (!type || type.maxStorage > 0) continue; // of a capped type nothing is deleted
    const resource: InstanceResource = { ...OF_A_TYPE, name, type, collection: type.collection };
    for (const instance of await read(space, resource, { _id: { $in: of.map(idToBson) } }, of.length))
      if (addresses.includes(masterOf(instance) ?? '')) found.push({ resource, instance });
  }
  return { entries, found };
}
