// Definitions that name a type, with its new name: types, the entries of profiles, and topics whose messages are of it. Without a profile's
// entry of its own, a type would fall under `*` (resources-and-api.md 7.2).

import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Change, DefinitionResource, Namespace } from '../../resources/catalog/index.ts';
import { stampChanged } from '../../resources/representation/index.ts';

type Naming = (object: ObjectValue, name: string, newName: string) => ObjectValue | null;

/** The definition of a type, changed to refer to another's new name; null where it does not refer to it. */
export function typeNaming(object: ObjectValue, name: string, newName: string): ObjectValue | null {
  let isNamed = false;
  const properties: ObjectValue = {};
  const declared = getOwn(object, 'properties') as ObjectValue;
  for (const key of Object.keys(declared)) {
    const property = getOwn(declared, key) as ObjectValue;
    const names = getOwn(property, 'type') === name;
    isNamed ||= names;
    setOwn(properties, key, names ? { ...property, type: newName } : property);
  }
  const keys = Object.hasOwn(object, 'foreignKeys') ? getOwn(object, 'foreignKeys') : null;
  const foreignKeys = Array.isArray(keys)
    ? keys.map((one): Value => {
        if (!isObject(one) || !Object.hasOwn(one, 'type') || getOwn(one, 'type') !== name) return one;
        isNamed = true;
        return { ...one, type: newName };
      })
    : keys;
  return isNamed ? { ...object, properties, ...(foreignKeys === null ? {} : { foreignKeys }) } : null;
}

/** An entry of the new name, which was there before the type had it, stays as it is. */
function profileNaming(object: ObjectValue, name: string, newName: string): ObjectValue | null {
  const dml = Object.hasOwn(object, 'dml') ? getOwn(object, 'dml') : null;
  if (!isObject(dml) || !Object.hasOwn(dml, name) || Object.hasOwn(dml, newName)) return null;
  const renamed: ObjectValue = {};
  for (const type of Object.keys(dml)) setOwn(renamed, type === name ? newName : type, getOwn(dml, type));
  return { ...object, dml: renamed };
}

const topicNaming: Naming = (object, name, newName) =>
  Object.hasOwn(object, 'messageType') && getOwn(object, 'messageType') === name ? { ...object, messageType: newName } : null;

const NAMING: Readonly<Record<string, Naming>> = { types: typeNaming, profiles: profileNaming, topics: topicNaming };

/** A definition before and after the change. */
export interface Following {
  readonly kind: DefinitionResource;
  readonly name: string;
  readonly before: ObjectValue;
  readonly after: ObjectValue;
  readonly change: Change;
}

/** What names the type, but the type itself. */
export function namingType(space: Namespace, name: string, newName: string, actor: Actor): Following[] {
  return Object.entries(NAMING).flatMap(([kindName, naming]) => {
    const kind = space.catalog.features.kind(kindName);
    if (!kind) return [];
    return space.catalog.definitions.list(kindName).flatMap(([other, before]) => {
      const changed = kindName === 'types' && other === name ? null : naming(before, name, newName);
      if (!changed) return [];
      const after = stampChanged(changed, before, actor);
      const change: Change = { operation: 'update', resource: kind, before, after, initiator: actor };
      return [{ kind, name: other, before, after, change }];
    });
  });
}
