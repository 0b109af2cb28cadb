// Reads the present state of an instance by its place in the store, as programs see it.

import { encodeInner } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { instanceFromBson } from '../../model/values/index.ts';
import { typeOfCollection, type Namespace } from '../catalog/index.ts';
import { shownOne } from '../scalars/index.ts';
import { versionOf } from '../representation/index.ts';

/**
 * @param instance `<collection>/<id>`
 * @returns inner JSON and version; null when the instance, or its type, is gone
 */
export async function present(space: Namespace, instance: string, actor: Actor): Promise<{ json: string; version: bigint } | null> {
  const slash = instance.lastIndexOf('/');
  const collection = instance.slice(0, slash);
  const type = typeOfCollection(space, collection);
  const raw = type && (await space.storage.points.read(collection, instance.slice(slash + 1)));
  if (!raw) return null;
  const stored = instanceFromBson(type, raw);
  return { json: encodeInner(await shownOne(space, type, stored, actor)), version: versionOf(stored) };
}
