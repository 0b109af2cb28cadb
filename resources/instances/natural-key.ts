// The key by which an UPSERT finds its instance, and a text for it: a run that did not find such an instance must not update one that was
// inserted later (language.md U7).

import { encodeInner, getOwn, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { instanceQuery, type Predicate } from '../../model/query/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { InstanceResource } from '../catalog/index.ts';

/** The key of an UPSERT: the natural key, else `name`, else `_id` (resources-and-api.md 2.6). */
export function upsertKeys(type: TypeDefinition): readonly string[] {
  if (type.naturalKey.length > 0) return type.naturalKey;
  return type.properties.has('name') ? ['name'] : ['_id'];
}

/** The marks of the keys that the run had looked for in vain and that these instances, in their stored form, have now. */
export function keysTaken(
  { type, collection }: InstanceResource,
  instances: readonly ObjectValue[],
  { readSet }: Actor,
): readonly string[] {
  if (!readSet?.hasMissed(collection)) return [];
  const taken = instances.map((instance) => textOf(type, (key) => getOwn(instance, key)));
  return taken.filter((key) => readSet.expected(collection, key) === 0n).map((key) => `${collection}/${key}`);
}

/**
 * The text of a condition that is exactly the equality with values of the key, the same for all such conditions; null for other conditions.
 */
export function keyText(predicate: Predicate, type: TypeDefinition): string | null {
  const keys = upsertKeys(type);
  const query = instanceQuery(predicate, keys === type.naturalKey ? type : { ...type, naturalKey: keys });
  if (!query || (query.by === 'id' && keys[0] !== '_id')) return null;
  return textOf(type, (key) => query.values.get(key));
}

function textOf(type: TypeDefinition, valueOf: (key: string) => Value | undefined): string {
  const values: ObjectValue = {};
  for (const key of upsertKeys(type)) setOwn(values, key, valueOf(key) ?? null);
  return `key ${encodeInner(values)}`;
}
