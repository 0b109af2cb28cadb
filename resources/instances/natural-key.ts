// The key by which an UPSERT finds its instance, and a text for it: a run that did not find such an instance must not update one that was
// inserted later (language.md U7).

import { encodeInner, type ObjectValue, setOwn } from '../../stdlib/values/index.ts';
import { instanceQuery, type Predicate } from '../../model/query/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';

/** The key of an UPSERT: the natural key, else `name`, else `_id` (resources-and-api.md 2.6). */
export function upsertKeys(type: TypeDefinition): readonly string[] {
  if (type.naturalKey.length > 0) return type.naturalKey;
  return type.properties.has('name') ? ['name'] : ['_id'];
}

/**
 * The text of a condition that is exactly the equality with values of the key, the same for all such conditions; null for other conditions.
 */
export function keyText(predicate: Predicate, type: TypeDefinition): string | null {
  const keys = upsertKeys(type);
  const query = instanceQuery(predicate, keys === type.naturalKey ? type : { ...type, naturalKey: keys });
  if (!query || (query.by === 'id' && keys[0] !== '_id')) return null;
  const values: ObjectValue = {};
  for (const key of keys) setOwn(values, key, query.values.get(key) ?? null);
  return `key ${encodeInner(values)}`;
}
