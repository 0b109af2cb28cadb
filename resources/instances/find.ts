// Finds instances of a type in the store: converts conditions, addresses and rows to MongoDB's form and back.

import { type Document, ObjectId } from 'mongodb';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { type ConditionContext, instanceQuery, namedPath, parseWhere, type Predicate, toFilter } from '../../model/query/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { timeLimit } from '../../platform/mongo/index.ts';
import { coerceProperty, type TypeDefinition } from '../../model/types/index.ts';
import { idToBson } from '../../model/values/index.ts';
import { keyConstant, withConstraints } from '../scalars/index.ts';
import { instanceIn } from './in-pieces.ts';
import { idOf, versionOf } from '../representation/index.ts';
import { COMPILED_RESTRICTIONS, both, restriction } from '../access/index.ts';
import type { InstallationResource, InstanceResource, Namespace, Resource } from '../catalog/index.ts';

const ID = /^[0-9a-f]{24}$/;

/**
 * A where-object as a checked condition on this type, with the caller's restriction for reading, or for changing where that is meant.
 * @throws cascade.query.…, cascade.authorization.denied
 */
export async function condition(
  space: Namespace,
  resource: InstanceResource,
  where: Value,
  actor: Actor,
  purpose: 'select' | 'update' | 'delete' = 'select',
): Promise<Predicate> {
  const asked = await conditionAsked(space, resource, where, actor);
  const visible = restriction(space, resource, 'select', actor);
  const seen = visible ? both(asked, visible) : asked;
  const changeable = purpose === 'select' ? null : restriction(space, resource, purpose, actor);
  return changeable ? both(seen, changeable) : seen;
}

const contextOf = ({ identity: { username, namespace }, clock }: Actor): ConditionContext => ({ username, namespace, now: clock.now() });

/** The condition without the caller's restriction: tells what is meant, and is never used to read. */
export async function conditionAsked(space: Namespace, resource: InstanceResource, where: Value, actor: Actor): Promise<Predicate> {
  if (!isObject(where)) throw apiError('cascade.request.parameter.invalid', 'where', where);
  const context = contextOf(actor);
  return parseWhere(await withConstraints(space, resource, where, context, actor), resource.type, context);
}

/** The filter for an `_id`; it meets nothing where the id cannot be one. */
export const filterOfId = (id: string): Document => ({ _id: ID.test(id) ? ObjectId.createFromHexString(id) : null });

/** The stored form of a scalar's key, which an address has in its external form; null: its procedure refuses it, so no instance has it. */
async function storedKey(space: Namespace, resource: InstanceResource, key: string, id: string, actor: Actor | null): Promise<Value> {
  if (!actor || !resource.type.properties.get(key)?.scalar) return id;
  try {
    return await keyConstant(space, resource, key, id, actor);
  } catch (error) {
    if (error instanceof CascadeError) return null;
    throw error;
  }
}

/** The id in the type of the key; an id that does not fit names no instance. */
function coerced(type: TypeDefinition, property: string, id: Value): Value | undefined {
  const definition = type.properties.get(property);
  try {
    return definition && id !== null ? coerceProperty(type, definition, id) : undefined;
  } catch {
    return undefined; // not an error of the caller: no instance has this key
  }
}

/** Up to `limit` instances that satisfy the filter, in the order of their ids. */
export async function read(space: Namespace, resource: InstanceResource, filter: Document, limit: number): Promise<ObjectValue[]> {
  const found: ObjectValue[] = [];
  for (const raw of await storedBy(space, resource, filter, limit)) {
    const instance = instanceIn(space, resource.type, raw);
    found.push(instance instanceof Promise ? await instance : instance);
  }
  return found;
}

/** The present state of those that still exist and match. */
export function reread(
  space: Namespace,
  resource: InstanceResource,
  filter: Document,
  all: readonly ObjectValue[],
): Promise<ObjectValue[]> {
  return read(space, resource, { $and: [filter, { _id: { $in: all.map((one) => idToBson(getOwn(one, '_id'))) } }] }, all.length);
}

/** These instances in their stored form. */
export async function storedBy(
  space: Namespace,
  resource: InstanceResource,
  filter: Document,
  limit: number,
  projection?: Document,
): Promise<Uint8Array[]> {
  const rows = space.storage.rows.find(resource.collection, { filter, sort: { _id: 1 }, projection, limit, ...timeLimit(filter) });
  const found: Uint8Array[] = [];
  while (!rows.isDone) found.push(...(await rows.next()));
  return found;
}

/**
 * The instance at an address: of a user's type by its `_id`, else by its natural key; of one of the service the other way round
 * (resources-and-api.md 1.2).
 * @param actor the caller: instances that are hidden from it are not found, and keys may be a scalar's; null: the service, for types
 *   without scalars
 * @throws cascade.resource.not.found
 */
export async function readAt(space: Namespace, resource: InstanceResource, id: string, actor: Actor | null = null): Promise<ObjectValue> {
  return instanceIn(space, resource.type, await storedAt(space, resource, id, actor));
}

/** The instance at an address in its stored form; concurrent look-ups by id share a read. @throws cascade.resource.not.found */
export async function storedAt(
  space: Namespace,
  resource: InstanceResource,
  id: string,
  actor: Actor | null,
  projection?: Document,
): Promise<Uint8Array> {
  const ways = [storedWithId, storedWithKey];
  if (space.catalog.types.get(resource.name) !== resource.type) ways.reverse();
  for (const find of ways) {
    const stored = await find(space, resource, id, actor, projection);
    if (stored) return stored;
  }
  throw notFound(resource, id);
}

/** The instance with this `_id`, whatever the natural keys of others are. @throws cascade.resource.not.found */
export async function readById(space: Namespace, resource: InstanceResource, id: string, actor: Actor | null = null): Promise<ObjectValue> {
  const stored = await storedWithId(space, resource, id, actor);
  if (!stored) throw notFound(resource, id);
  return instanceIn(space, resource.type, stored);
}

async function storedWithId(space: Namespace, resource: InstanceResource, id: string, actor: Actor | null, projection?: Document) {
  return ID.test(id) ? space.storage.points.read(resource.collection, id, projection, seenBy(space, resource, actor)) : null;
}

/** The instance whose natural key of one property is this id; none where there is no such key, or it cannot have this value. */
async function storedWithKey(space: Namespace, resource: InstanceResource, id: string, actor: Actor | null, projection?: Document) {
  const { type } = resource;
  const [key, second] = type.naturalKey;
  if (key === undefined || second !== undefined) return undefined;
  const value = coerced(type, key, await storedKey(space, resource, key, id, actor));
  if (value === undefined) return undefined;
  const byKey = toFilter(parseWhere({ [key]: { $eq: value } }, type, { username: '', namespace: '', now: 0 }));
  const filter = seenBy(space, resource, actor);
  return (await storedBy(space, resource, filter ? { $and: [byKey, filter] } : byKey, 1, projection))[0];
}

function seenBy(space: Namespace, resource: InstanceResource, actor: Actor | null): Document | undefined {
  const visible = actor && restriction(space, resource, 'select', actor);
  return visible ? space.states.get(COMPILED_RESTRICTIONS).filter(visible) : undefined;
}

export const notFound = (resource: { name: string }, id: string) => apiError('cascade.resource.not.found', `/${resource.name}/${id}`);

/**
 * That nothing meets a condition: told by the path of the instance that it names, if it names one.
 * @param byKey whether the natural key of a user's type names it, too; a node that is asked the same says no more than an `_id`
 */
export async function notFoundBy(
  space: Namespace,
  resource: Resource | InstallationResource,
  where: Value,
  actor: Actor,
  byKey = true,
): Promise<CascadeError> {
  const isOfType = 'kind' in resource && resource.kind === 'instances';
  const asked = isOfType ? await conditionAsked(space, resource, where, actor) : parseWhere(where, resource.type, contextOf(actor));
  const query = instanceQuery(asked, resource.type);
  const named = byKey || space.catalog.types.get(resource.name) !== resource.type ? resource.type : null;
  return apiError('cascade.resource.not.found', namedPath(resource.name, query, named));
}

/** Adds the rows to the run's read set (language.md U7). */
export function remember(resource: InstanceResource, rows: readonly ObjectValue[], actor: Actor): void {
  if (actor.readSet) for (const row of rows) actor.readSet.record(resource.collection, idOf(row), versionOf(row));
}
