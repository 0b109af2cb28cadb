// The command `rename` of a type (resources-and-api.md 4.1): instances stay in their collection, the definition of the old name is replaced
// by one of the new name.

import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { stampChanged } from '../../resources/representation/index.ts';
import { accompanied, admit } from '../../resources/access/index.ts';
import { type Change, type DefinitionResource, type Namespace, definitionWrite } from '../../resources/catalog/index.ts';
import { findDefinition, following, lineOf, type Named } from '../../resources/definitions/index.ts';
import { changedInTurn } from '../../resources/instances/index.ts';
import { typeChanged } from './changed.ts';
import { loadType } from './types-kind.ts';

/** @param data `{newName}` @throws cascade.type.name.reserved, cascade.resource.duplicate.key, cascade.resource.not.found */
export async function renameType(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  data: Value | undefined,
  actor: Actor,
): Promise<ObjectValue> {
  const line = lineOf(kind, space.catalog.definitions.find(kind.name, id)?.name ?? id);
  return changedInTurn(
    space,
    () => line,
    () => renameOnce(space, kind, id, data, actor),
  );
}

async function renameOnce(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  data: Value | undefined,
  actor: Actor,
): Promise<ObjectValue> {
  const { name, object: stored } = findDefinition(space, kind, id, 'update', actor);
  const newName = isObject(data ?? null) && Object.hasOwn(data as ObjectValue, 'newName') ? getOwn(data as ObjectValue, 'newName') : null;
  if (newName === null) throw apiError('cascade.resource.property.required', 'types', 'newName');
  if (typeof newName !== 'string') throw apiError('cascade.resource.property.invalid', 'types', 'newName', 'no String');
  checkName('type', newName);
  if (space.catalog.scalars.has(newName)) throw apiError('cascade.type.name.reserved', newName);
  if (space.catalog.definitions.get('types', newName)) throw apiError('cascade.resource.duplicate.key', 'types', `name=${newName}`);
  const object = naming({ ...stored, name: newName }, name, newName) ?? { ...stored, name: newName };
  const renamed = stampChanged(object, stored, actor);
  const change: Change = { operation: 'update', resource: kind, before: stored, after: renamed, initiator: actor };
  await admit(space, change);
  return rename(space, { name, stored, newName, renamed, change }, actor);
}

interface Rename {
  readonly name: string;
  readonly stored: ObjectValue;
  readonly newName: string;
  readonly renamed: ObjectValue;
  readonly change: Change;
}

/** The definition of a type, changed to refer to another's new name; null where it does not refer to it. */
function naming(object: ObjectValue, name: string, newName: string): ObjectValue | null {
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

/** The other types that refer to the renamed one, before and after the change. */
function othersNaming(space: Namespace, { name, newName }: Rename, actor: Actor) {
  return space.catalog.definitions.list('types').flatMap(([other, stored]) => {
    const changed = other === name ? null : naming(stored, name, newName);
    return changed ? [{ other, stored, changed: stampChanged(changed, stored, actor) }] : [];
  });
}

async function rename(space: Namespace, renaming: Rename, actor: Actor): Promise<ObjectValue> {
  const { name, stored, newName, renamed, change } = renaming;
  const others = othersNaming(space, renaming, actor);
  const events = [
    ...raise(space, '/types/system.types/delete', stored, actor),
    ...raise(space, '/types/system.types/insert', renamed, actor),
    ...others.flatMap(({ changed }) => raise(space, '/types/system.types/update', changed, actor)),
  ];
  const write = (named: string, next: ObjectValue, before: ObjectValue) =>
    definitionWrite('types', named, next, before, space.catalog.definitions.besideType(loadType(before, space)));
  const writes = [write(newName, renamed, stored), ...others.map((one) => write(one.other, one.changed, one.stored))];
  const changed = [name, newName, ...others.map(({ other }) => other)].map((one): Named => ['types', one]);
  await following(space, changed, actor.commit(accompanied(space, change, { writes, events }), { ok: encodeInner(renamed) }));
  space.catalog.definitions.remove('types', name);
  space.catalog.definitions.put('types', newName, renamed);
  space.catalog.types.delete(name);
  space.catalog.types.set(newName, loadType(renamed, space));
  for (const { other, changed } of others) {
    space.catalog.definitions.put('types', other, changed);
    space.catalog.types.set(other, loadType(changed, space));
  }
  for (const one of [name, newName, ...others.map(({ other }) => other)]) typeChanged(space, one);
  // The paths of the old name have no events any more: who listens there is told, as when a type is deleted.
  space.events.subscribers.gone('types', name);
  space.events.deliveries.gone('types', name);
  return renamed;
}
