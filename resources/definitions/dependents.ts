// Deletes definitions together with the resource that they depend on (`ars_dependentResource`, resources-and-api.md 1.3). Dependent
// instances are deleted in its own commit (instances/dependents.ts); definitions take effect one by one, so they are deleted before it: an
// interruption leaves the resource itself. Nothing is deleted where the resource, or one of them, may not go.

import { type Actor, committing, serviceActor } from '../../runtime/context/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { resolve, type DefinitionResource, type InstanceResource, type Namespace, type Resource } from '../catalog/index.ts';
import { addressesOf, deleteMany, deleteOne, type Locked, masterOf } from '../instances/index.ts';
import { deleteAlong, deleteDefinition, type GoingBefore } from './delete.ts';

/** Deletes a definition, after its dependents. @param version the expected one @throws as deleteDefinition */
export const deleteWithDependents = (
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  actor: Actor,
  version?: bigint,
): Promise<void> => deleteDefinition(space, kind, id, actor, { version, before: (stored) => dependentsOf(space, kind, [stored], actor) });

/** Deletes one instance, after the definitions that depend on it. @throws as deleteOne */
export const deleteInstance = (
  space: Namespace,
  resource: InstanceResource,
  find: () => Promise<ObjectValue>,
  actor: Actor,
  locked: Locked = {},
): Promise<number> => deleteOne(space, resource, find, actor, { ...locked, first: firstOf(space, resource, actor) });

/** Deletes the instances of a condition, each batch of them after the definitions that depend on them. @returns as deleteMany */
export const deleteInstances = (space: Namespace, resource: InstanceResource, where: Value, actor: Actor): Promise<number | null> =>
  deleteMany(space, resource, where, actor, firstOf(space, resource, actor));

const firstOf = (space: Namespace, resource: InstanceResource, actor: Actor) => async (gone: readonly ObjectValue[]) =>
  dependentsOf(space, resource, gone, actor)?.leave();

interface Dependent {
  readonly kind: DefinitionResource;
  readonly name: string;
  readonly object: ObjectValue;
}

/** The definitions that depend on resources, and on these; null: there are none. */
function dependentsOf(space: Namespace, resource: Resource, gone: readonly ObjectValue[], actor: Actor): GoingBefore | null {
  const found = new Map<string, Dependent>();
  const own = new Set(gone.flatMap((stored) => addressesOf(resource, stored)));
  find(space, own, own, found);
  if (found.size === 0) return null;
  return { leaving: new Set(found.keys()), leave: () => deleteAll(space, found, actor) };
}

/** The innermost first. @param own addresses of the resource itself, which may depend on one of them */
function find(space: Namespace, addresses: ReadonlySet<string>, own: ReadonlySet<string>, found: Map<string, Dependent>): void {
  for (const { kind: name, name: named, object } of space.catalog.definitions.dependents()) {
    const address = `/${name}/${named}`;
    if (!addresses.has(masterOf(object) ?? '') || found.has(address) || own.has(address)) continue;
    const kind = resolve(space, name, false);
    if (kind.kind !== 'definitions') continue;
    const below = new Set([...own, ...addresses, address]);
    find(space, new Set(addressesOf(kind, object)), below, found);
    found.set(address, { kind, name: named, object });
  }
}

/** Deletes all of them, or none where one may not go. One that another of them uses goes behind that one. */
async function deleteAll(space: Namespace, all: ReadonlyMap<string, Dependent>, actor: Actor): Promise<void> {
  const leaving = new Set(all.keys());
  for (const one of all.values()) await requireRemovable(space, one, leaving);
  const alone = committing(actor, (unit) => space.transactions.submit(unit), { readSet: null });
  const left = new Map(all);
  while (left.size > 0) {
    const [address, { kind, name }] = await nextOf(space, left);
    await deleteAlong(space, kind, name, alone);
    left.delete(address);
  }
}

/** @throws what its kind refuses: nobody needs a right for what goes along */
const requireRemovable = (space: Namespace, { kind, object }: Dependent, leaving?: ReadonlySet<string>) =>
  kind.remove(space, object, serviceActor(space), leaving);

/** The first that is not in use; the first of all where each is. */
async function nextOf(space: Namespace, left: ReadonlyMap<string, Dependent>): Promise<[address: string, one: Dependent]> {
  for (const [address, one] of left)
    try {
      await requireRemovable(space, one);
      return [address, one];
    } catch (error) {
      if (!(error instanceof CascadeError)) throw error;
    }
  return [...left][0] as [string, Dependent];
}
