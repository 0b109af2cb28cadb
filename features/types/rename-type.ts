// The command `rename` of a type (resources-and-api.md 4.1): its instances stay, the type of the old name goes and one of the new name comes.

import type { Db } from 'mongodb';
import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import { fault } from '../../model/errors/faults.ts';
import { checkName } from '../../model/types/index.ts';
import { raise } from '../../runtime/events/events.ts';
import { stampChanged } from '../../resources/representation/stamp.ts';
import type { DefinitionResource, Namespace } from '../../resources/catalog/types.ts';
import { findDefinition } from '../../resources/definitions/operations.ts';
import { definitionWrite } from '../../resources/definitions/store.ts';
import { collectionOf, indexesBuilt } from '../../resources/instances/type-storage.ts';
import { loadType } from './types-kind.ts';

/** Names on their way, so that a crash between collection and definition is put right at the next start. */
const RENAMES = 'renames';
interface Rename {
  readonly _id: string;
  readonly to: string;
}

/** @param data `{newName}` @throws cascade.type.name.reserved, cascade.resource.duplicate.key, cascade.resource.not.found */
export async function renameType(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  data: Value | undefined,
  actor: Actor,
): Promise<ObjectValue> {
  const { name, object: stored } = findDefinition(space, kind, id, 'update');
  const newName = isObject(data ?? null) && Object.hasOwn(data as ObjectValue, 'newName') ? getOwn(data as ObjectValue, 'newName') : null;
  if (newName === null) throw fault('cascade.resource.property.required', 'types', 'newName');
  if (typeof newName !== 'string') throw fault('cascade.resource.property.invalid', 'types', 'newName', 'no String');
  checkName('type', newName);
  if (space.scalars.has(newName)) throw fault('cascade.type.name.reserved', newName);
  if (space.definitions.get('types', newName)) throw fault('cascade.resource.duplicate.key', 'types', `name=${newName}`);
  const object = naming({ ...stored, name: newName }, name, newName) ?? { ...stored, name: newName };
  const renamed = stampChanged(object, stored, actor);
  await indexesBuilt(space, name);
  // What waits to be stored under the old name is refused afterwards: it would land where nobody looks.
  const lift = space.committer.bar([collectionOf(name), collectionOf(newName)]);
  try {
    return await moveType(space, { name, stored, newName, renamed }, actor);
  } finally {
    lift();
  }
}

interface Move {
  readonly name: string;
  readonly stored: ObjectValue;
  readonly newName: string;
  readonly renamed: ObjectValue;
}

/** The definition of a type with another's new name wherever it names it; null where it does not. */
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

/** The other types that name it, as they are and as they become. */
function othersNaming(space: Namespace, { name, newName }: Move, actor: Actor) {
  return space.definitions.list('types').flatMap(([other, stored]) => {
    const changed = other === name ? null : naming(stored, name, newName);
    return changed ? [{ other, stored, changed: stampChanged(changed, stored, actor) }] : [];
  });
}

async function moveType(space: Namespace, move: Move, actor: Actor): Promise<ObjectValue> {
  const { name, stored, newName, renamed } = move;
  const others = othersNaming(space, move, actor);
  const renames = space.db.collection<Rename>(RENAMES);
  await renames.insertOne({ _id: name, to: newName });
  await space.committer.exclusive(() => moveCollection(space.db, name, newName));
  const events = [
    ...raise(space, '/types/system.types/delete', stored, actor),
    ...raise(space, '/types/system.types/insert', renamed, actor),
    ...others.flatMap(({ changed }) => raise(space, '/types/system.types/update', changed, actor)),
  ];
  const writes = [
    definitionWrite('types', newName, renamed, stored),
    ...others.map((one) => definitionWrite('types', one.other, one.changed, one.stored)),
  ];
  try {
    await actor.commit({ writes, events }, { ok: encodeInner(renamed) });
  } catch (error) {
    await space.committer.exclusive(() => moveCollection(space.db, newName, name));
    await renames.deleteOne({ _id: name });
    throw error;
  }
  space.definitions.remove('types', name);
  space.definitions.put('types', newName, renamed);
  space.types.delete(name);
  space.types.set(newName, loadType(renamed, space));
  for (const { other, changed } of others) {
    space.definitions.put('types', other, changed);
    space.types.set(other, loadType(changed, space));
  }
  for (const one of [name, newName, ...others.map(({ other }) => other)]) {
    space.when.retype(one);
    space.before.retype(one);
    space.correlations.retype(one);
  }
  await renames.deleteOne({ _id: name });
  return renamed;
}

async function moveCollection(db: Db, from: string, to: string): Promise<void> {
  // A deleted type of the new name may have left its collection.
  await db.collection(collectionOf(from)).rename(collectionOf(to), { dropTarget: true });
}

/** Takes collections back whose new definition was never stored. Before anything else is done with a namespace. */
export async function undoHalfRenames(db: Db, isType: (name: string) => boolean): Promise<void> {
  const renames = db.collection<Rename>(RENAMES);
  for (const { _id: from, to } of await renames.find().toArray()) {
    const moved = (await db.listCollections({ name: collectionOf(to) }, { nameOnly: true }).toArray()).length > 0;
    if (isType(from) && !isType(to) && moved) await moveCollection(db, to, from);
    await renames.deleteOne({ _id: from });
  }
}
