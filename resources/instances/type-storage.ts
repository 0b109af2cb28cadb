// What a type has in the store: its collection, the indexes, and values of properties that it no longer declares.

import { type Collection, type Db, MongoServerError } from 'mongodb';
import { fault } from '../../model/errors/faults.ts';
import { type MongoIndex, mongoIndexes, type TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/types.ts';

const DUPLICATE = 11000;
const CANNOT_EXTRACT_GEO_KEYS = 16755;
/** Another index of the same keys stands in the way. */
const OPTIONS_CONFLICT = 85;

/**
 * Brings the collection to the type's definition. An index that instances may violate is built before any other is dropped: a definition that
 * is refused leaves all as it was.
 * @returns the indexes that no instance can violate and that are still to be built, where there may be instances
 * @throws cascade.type.index.duplicate
 */
export async function prepareCollection(space: Namespace, type: TypeDefinition, isNew: boolean): Promise<MongoIndex[]> {
  const collection = space.db.collection(type.collection);
  if (isNew) await space.db.createCollection(collection.collectionName);
  const wanted = mongoIndexes(type);
  const present = isNew ? [] : (await collection.indexes()).map((index) => index.name as string).filter((name) => name !== '_id_');
  const missing = wanted.filter((index) => !present.includes(index.name));
  const gone = present.filter((name) => !wanted.some((index) => index.name === name));
  const waiting: MongoIndex[] = [];
  for (const index of missing) {
    if (!mayBeViolated(index)) waiting.push(index);
    else if (!(await build(collection, type, index))) waiting.push(index);
  }
  for (const name of gone) await collection.dropIndex(name);
  const later: MongoIndex[] = [];
  for (const index of waiting)
    if (isNew || mayBeViolated(index)) await build(collection, type, index);
    else later.push(index);
  if (later.length > 0) await builds(space.db).updateOne({ _id: type.collection }, { $set: {} }, { upsert: true });
  return later;
}

/** Types whose indexes are being built, by their collections, so that the next start goes on after a crash. */
const builds = (db: Db): Collection<{ _id: string }> => db.collection('indexBuilds');
const building = new WeakMap<Namespace, Map<string, Promise<void>>>();

/** Builds indexes while the type is in use; the definition counts already. */
export function buildInBackground(space: Namespace, type: TypeDefinition, indexes: readonly MongoIndex[]): void {
  if (indexes.length === 0) return;
  const under = building.get(space) ?? new Map<string, Promise<void>>();
  building.set(space, under);
  const work = indexesBuilt(space, type).then(() => buildAll(space, type, indexes));
  const told = work.catch((error: unknown) =>
    space.log.error({ err: error, type: type.name }, 'an index could not be built: the next start tries it again'),
  );
  under.set(type.collection, told);
  void told.then(() => under.get(type.collection) === told && under.delete(type.collection));
}

async function buildAll(space: Namespace, type: TypeDefinition, indexes: readonly MongoIndex[]): Promise<void> {
  const collection = space.db.collection(type.collection);
  for (const index of indexes) {
    const now = space.types.ofCollection(type.collection);
    if (!now) return;
    // A definition that came meanwhile may want another one.
    if (mongoIndexes(now).some(({ name }) => name === index.name)) await build(collection, now, index);
  }
  // An index on what has been dropped meanwhile makes the collection anew.
  if (!space.types.ofCollection(type.collection)) await collection.drop();
  await builds(space.db).deleteOne({ _id: type.collection });
}

/** Resolves when no index of the type is being built. */
const indexesBuilt = (space: Namespace, { collection }: TypeDefinition): Promise<void> =>
  building.get(space)?.get(collection) ?? Promise.resolve();

/** What a crash has left unbuilt. */
export async function resumeBuilds(space: Namespace): Promise<void> {
  for (const { _id } of await builds(space.db).find().toArray()) {
    const type = space.types.ofCollection(_id) ?? space.types.get(_id); // earlier versions noted the type's name
    const missing = type ? mongoIndexes(type).filter((index) => !mayBeViolated(index)) : [];
    if (type) buildInBackground(space, type, missing);
    if (_id !== type?.collection) await builds(space.db).deleteOne({ _id });
  }
}

const mayBeViolated = (index: MongoIndex): boolean => index.unique === true || Object.values(index.key).includes('2dsphere');

/** @returns false when an index that is to go has the same keys */
async function build(collection: Collection, type: TypeDefinition, { key, ...options }: MongoIndex): Promise<boolean> {
  try {
    await collection.createIndex(key, options);
    return true;
  } catch (error) {
    const code = error instanceof MongoServerError ? error.code : undefined;
    if (code === OPTIONS_CONFLICT) return false;
    if (code === DUPLICATE || code === CANNOT_EXTRACT_GEO_KEYS)
      throw fault('cascade.type.index.duplicate', type.name, Object.keys(key).join(', '));
    throw error;
  }
}

/** The properties that `after` declares and `before` does not. */
export const addedBy = (before: TypeDefinition, after: TypeDefinition): string[] =>
  [...after.properties.keys()].filter((name) => !before.properties.has(name));

/** Values of properties that are not declared (any more): they must be gone before a new property of that name is. */
export async function removeValues(space: Namespace, { collection }: TypeDefinition, properties: readonly string[]): Promise<void> {
  if (properties.length === 0) return;
  const stored = { $or: properties.map((name) => ({ [name]: { $exists: true } })) };
  const unset = Object.fromEntries(properties.map((name) => [name, '']));
  await space.db.collection(collection).updateMany(stored, { $unset: unset });
}

/** Nothing shows them meanwhile; what a crash leaves is removed before a property of that name comes back. */
export function removeInBackground(space: Namespace, type: TypeDefinition, properties: readonly string[]): void {
  removeValues(space, type, properties).catch((error: unknown) =>
    space.log.warn({ err: error, type: type.name, properties }, 'values of removed properties could not be removed'),
  );
}
