// The collections of types: those of the service's own types are made, with their indexes, when the first instance is about to be stored;
// values of properties that a type does not declare any more are removed.

import type { TypeDefinition } from '../../model/types/index.ts';
import { buildMissing } from './index-builds.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { StateKey } from '../states.ts';

/** The creation of each collection; after a failure the next caller retries. */
const READY = new StateKey<Map<string, Promise<void>>>('collections made when needed', () => new Map());

/** @returns null where the collection exists already */
export function ensureCollection(space: Namespace, { isLazy, collection, type }: InstanceResource): Promise<void> | null {
  if (!isLazy) return null;
  const known = space.states.get(READY);
  let made = known.get(collection);
  if (!made) {
    made = make(space, collection, type);
    known.set(collection, made);
    made.catch(() => known.delete(collection)); // the caller gets the error, and the next one retries
  }
  return made;
}

async function make(space: Namespace, collection: string, type: TypeDefinition): Promise<void> {
  const found = await space.storage.db.listCollections({ name: collection }, { nameOnly: true }).toArray();
  if (found.length === 0) await space.storage.db.createCollection(collection);
  await buildMissing(space, type);
}

/** The properties that `after` declares and `before` does not. */
export const addedBy = (before: TypeDefinition, after: TypeDefinition): string[] =>
  [...after.properties.keys()].filter((name) => !before.properties.has(name));

/** Removes values of undeclared properties; that must happen before a new property of the same name is declared. */
export async function removeValues(space: Namespace, { collection }: TypeDefinition, properties: readonly string[]): Promise<void> {
  if (properties.length === 0) return;
  const stored = { $or: properties.map((name) => ({ [name]: { $exists: true } })) };
  const unset = Object.fromEntries(properties.map((name) => [name, '']));
  await space.storage.db.collection(collection).updateMany(stored, { $unset: unset });
}

/**
 * Removes the values later: nothing shows them meanwhile, and values that a crash leaves are removed before a property of that name is
 * declared again.
 */
export function removeInBackground(space: Namespace, type: TypeDefinition, properties: readonly string[]): void {
  removeValues(space, type, properties).catch((error: unknown) =>
    space.log.warn({ err: error, type: type.name, properties }, 'values of removed properties could not be removed'),
  );
}
