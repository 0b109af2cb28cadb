// The command `rename` of a type (resources-and-api.md 4.1): instances stay in their collection, the definition of the old name is replaced
// by one of the new name, and what names the type follows in the same commit.

import { encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { stampChanged } from '../../resources/representation/index.ts';
import { additionsOf, admit } from '../../resources/access/index.ts';
import { type Change, type DefinitionResource, type Namespace, definitionWrite } from '../../resources/catalog/index.ts';
import { findDefinition, following, lineOf, type Named, visible } from '../../resources/definitions/index.ts';
import { changedInTurn } from '../../resources/instances/index.ts';
import { typeChanged } from './changed.ts';
import { namingType, typeNaming } from './naming-type.ts';
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
  const object = typeNaming({ ...stored, name: newName }, name, newName) ?? { ...stored, name: newName };
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

async function rename(space: Namespace, renaming: Rename, actor: Actor): Promise<ObjectValue> {
  const { name, stored, newName, renamed, change } = renaming;
  const others = namingType(space, name, newName, actor);
  const otherTypes = others.filter(({ kind }) => kind.name === 'types').map((other) => other.name);
  const more = additionsOf(space, [change, ...others.map((other) => other.change)]);
  const events = [
    ...raise(space, '/types/system.types/delete', stored, actor),
    ...raise(space, '/types/system.types/insert', renamed, actor),
    ...others.flatMap(({ kind, after }) => raise(space, `/types/system.${kind.name}/update`, visible(kind, after), actor)),
    ...(more?.events ?? []),
  ];
  const write = (kind: string, named: string, before: ObjectValue, after: ObjectValue) => {
    const beside = kind === 'types' ? space.catalog.definitions.besideType(loadType(before, space)) : undefined;
    return definitionWrite(kind, named, after, before, beside);
  };
  const writes = [
    write('types', newName, stored, renamed),
    ...others.map((other) => write(other.kind.name, other.name, other.before, other.after)),
    ...(more?.writes ?? []),
  ];
  const changed: Named[] = [['types', name], ['types', newName], ...others.map((other): Named => [other.kind.name, other.name])];
  await following(space, changed, actor.commit({ writes, events }, { ok: encodeInner(renamed) }));
  space.catalog.definitions.remove('types', name);
  space.catalog.definitions.put('types', newName, renamed);
  for (const other of others) space.catalog.definitions.put(other.kind.name, other.name, other.after);
  space.catalog.types.delete(name);
  space.catalog.types.set(newName, loadType(renamed, space));
  for (const other of others) if (other.kind.name === 'types') space.catalog.types.set(other.name, loadType(other.after, space));
  for (const one of [name, newName, ...otherTypes]) typeChanged(space, one);
  // The paths of the old name have no events any more: who listens there is told, as when a type is deleted.
  space.events.subscribers.gone('types', name);
  space.events.deliveries.gone('types', name);
  return renamed;
}
