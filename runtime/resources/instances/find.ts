// Instances of a type in the store: how conditions, addresses and rows become MongoDB's and back.

import { type Document, ObjectId } from 'mongodb';
import { isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import { parseWhere, type Predicate, toFilter } from '../../conditions/index.ts';
import { fault } from '../../faults.ts';
import { coerceProperty } from '../../types/index.ts';
import { instanceFromBson } from '../../values/index.ts';
import { idOf, versionOf } from '../stamp.ts';
import type { InstanceResource, Namespace } from '../types.ts';

const ID = /^[0-9a-f]{24}$/;

/** A where-object as a checked condition on this type, for this caller. */
export function condition(resource: InstanceResource, where: Value, actor: Actor): Predicate {
  if (!isObject(where)) throw fault('cascade.request.parameter.invalid', 'where', where);
  return parseWhere(where, resource.type, {
    username: actor.identity.username,
    namespace: actor.identity.namespace,
    now: actor.clock.now(),
  });
}

/** Filters for an id in an address, in the order of look-up (resources-and-api.md 1.2): the `_id`, then a natural key of one property. */
export function addressFilters(resource: InstanceResource, id: string): Document[] {
  const filters: Document[] = [];
  if (ID.test(id)) filters.push({ _id: ObjectId.createFromHexString(id) });
  const [key, second] = resource.type.naturalKey;
  if (key !== undefined && second === undefined) {
    const property = resource.type.properties.get(key);
    const value = property && coerced(resource, property.name, id);
    if (value !== undefined) filters.push(toFilter(parseWhere({ [key]: { $eq: value } }, resource.type, NOBODY)));
  }
  return filters;
}

const NOBODY = { username: '', namespace: '', now: 0 };

/** An id that does not fit the key's type names nothing. */
function coerced(resource: InstanceResource, property: string, id: string): Value | undefined {
  const definition = resource.type.properties.get(property);
  try {
    return definition && coerceProperty(resource.type, definition, id);
  } catch {
    return undefined; // not an error of the caller: there is just no such instance
  }
}

/** Up to `limit` instances that the filter finds, in the order of their ids. */
export async function read(space: Namespace, resource: InstanceResource, filter: Document, limit: number): Promise<ObjectValue[]> {
  const rows = await space.db
    .collection(resource.collection)
    .find(filter, { raw: true, sort: { _id: 1 }, limit })
    .toArray();
  return rows.map((row) => instanceFromBson(resource.type, row as unknown as Uint8Array));
}

/** The instance at an address. @throws cascade.resource.not.found */
export async function readAt(space: Namespace, resource: InstanceResource, id: string): Promise<ObjectValue> {
  for (const filter of addressFilters(resource, id)) {
    const [found] = await read(space, resource, filter, 1);
    if (found) return found;
  }
  throw notFound(resource, id);
}

export const notFound = (resource: { name: string }, id: string) => fault('cascade.resource.not.found', `/${resource.name}/${id}`);

/** Remembers for the run what it has read (language.md U7). */
export function remember(resource: InstanceResource, rows: readonly ObjectValue[], actor: Actor): void {
  if (actor.reading) for (const row of rows) actor.reading.saw(resource.collection, idOf(row), versionOf(row));
}
