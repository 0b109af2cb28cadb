// Deletes definitions together with the resource that they depend on (`ars_dependentResource`, resources-and-api.md 1.3). Dependent
// instances are deleted in its own commit (instances/dependents.ts); definitions take effect one by one, so they are deleted before it: an
// interruption leaves the resource itself.

import { type Actor, committing } from '../../runtime/context/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { resolve, type DefinitionResource, type Namespace, type Resource } from '../catalog/index.ts';
import { deleteDefinition, findDefinition } from './operations.ts';
import { addressesOf, deleteOne, masterOf } from '../instances/index.ts';

/** Deletes a definition, after its dependents. @param version the expected one @throws as deleteDefinition */
export async function deleteWithDependents(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  actor: Actor,
  version?: bigint,
): Promise<void> {
  const { name, object } = findDefinition(space, kind, id, 'delete', actor);
  await deleteDependents(space, kind, object, actor, new Set([`/${kind.name}/${name}`]));
  await deleteDefinition(space, kind, id, actor, version);
}

/** Deletes one instance, after the definitions that depend on it. @throws as deleteOne */
export const deleteInstance: typeof deleteOne = (space, resource, find, actor, locked) =>
  deleteOne(space, resource, find, actor, { ...locked, first: (stored) => deleteDependents(space, resource, stored, actor) });

/** Deletes the definitions that depend on a resource. */
async function deleteDependents(
  space: Namespace,
  resource: Resource,
  stored: ObjectValue,
  actor: Actor,
  doomed: Set<string> = new Set(),
): Promise<void> {
  const addresses = addressesOf(resource, stored);
  for (const { kind, name, object } of space.catalog.definitions.all()) {
    if (!addresses.includes(masterOf(object) ?? '') || doomed.has(`/${kind}/${name}`)) continue;
    doomed.add(`/${kind}/${name}`);
    const own = resolve(space, kind, false);
    if (own.kind !== 'definitions') continue;
    const alone = committing(actor, (unit) => space.transactions.submit(unit), { readSet: null });
    await deleteDependents(space, own, object, alone, doomed);
    if (space.catalog.definitions.get(kind, name)) await deleteDefinition(space, own, name, alone);
  }
}
