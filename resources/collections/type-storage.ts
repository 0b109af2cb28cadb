// The collections of types: those of the service's own types are made, with their indexes, when the first instance is about to be stored;
// values of properties that a type does not declare any more are removed.

import type { TypeDefinition } from '../../model/types/index.ts';
import { buildMissing } from './index-builds.ts';
import { DEFINITIONS, type InstanceResource, type Namespace } from '../catalog/index.ts';
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

/** The removals that are under way, by collection. */
const REMOVALS = new StateKey<Map<string, Promise<void>>>('removals of values', () => new Map());

/**
 * Removes values of undeclared properties; that must happen before a new property of the same name is declared. An earlier removal is
 * awaited: it would take values of the new property, too.
 */
export async function removeValues(space: Namespace, { collection }: TypeDefinition, properties: readonly string[]): Promise<void> {
  if (properties.length === 0) return;
  await space.states.get(REMOVALS).get(collection);
  await unset(space, collection, properties);
}

async function unset(space: Namespace, collection: string, properties: readonly string[]): Promise<void> {
  const stored = { $or: properties.map((name) => ({ [name]: { $exists: true } })) };
  const names = Object.fromEntries(properties.map((name) => [name, '']));
  await space.storage.db.collection(collection).updateMany(stored, { $unset: names });
}

/**
 * Removes the values later. Until then the type's row names the properties (`removed`): pipelines leave their values out, and where a crash or
 * a failure leaves values, the removal is repeated when the namespace is opened.
 */
export function removeInBackground(space: Namespace, type: TypeDefinition, properties: readonly string[]): void {
  if (properties.length === 0) return;
  const { definitions } = space.catalog;
  const { collection } = type;
  definitions.noteRemoved(collection, [...new Set([...definitions.removedFrom(type), ...properties])]);
  const removals = space.states.get(REMOVALS);
  const removal = (removals.get(collection) ?? Promise.resolve())
    .then(async () => {
      await unset(space, collection, properties);
      await removed(space, type, properties);
    })
    .catch((error: unknown) =>
      space.log.warn({ err: error, type: type.name, properties }, 'values of removed properties could not be removed'),
    );
  removals.set(collection, removal);
  void removal.then(() => removals.get(collection) === removal && removals.delete(collection));
}

/** Takes the properties off the type's row. One that is written meanwhile may name them again, for which they are removed once more. */
async function removed({ catalog, storage }: Namespace, { collection }: TypeDefinition, properties: readonly string[]): Promise<void> {
  const { definitions } = catalog;
  const others = definitions.removedFrom({ collection, properties: new Set(properties) });
  definitions.noteRemoved(collection, others);
  const change = others.length > 0 ? { $set: { removed: others.join(' ') } } : { $unset: { removed: '' } };
  await storage.db.collection(DEFINITIONS).updateOne({ kind: 'types', collection }, change);
}

/** Begins the removals again that were under way when the namespace was closed. */
export function resumeRemovals(space: Namespace): void {
  for (const type of space.catalog.types.values()) removeInBackground(space, type, space.catalog.definitions.removedFrom(type));
}
