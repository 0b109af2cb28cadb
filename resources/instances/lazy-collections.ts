// Creates the collections of the service's own types, with their indexes, when the first instance is about to be stored.

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
