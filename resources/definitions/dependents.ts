// Definitions that go together with another resource (`ars_dependentResource`, resources-and-api.md 1.3). Instances do so in its own commit
// (instances/dependents.ts); definitions take effect one by one, so they go before it: what interrupts that leaves the one they depend on.

import type { Actor } from '../../runtime/context/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { resolve, type DefinitionResource, type Namespace, type Resource } from '../catalog/index.ts';
import { deleteDefinition, findDefinition } from './operations.ts';
import { addressesOf, masterOf } from '../instances/index.ts';

/** Deletes a definition, after those that depend on it. @throws as deleteDefinition */
export async function deleteWithDependents(space: Namespace, kind: DefinitionResource, id: string, actor: Actor): Promise<void> {
  const { name, object } = findDefinition(space, kind, id, 'delete', actor);
  await deleteDependents(space, kind, object, actor, new Set([`/${kind.name}/${name}`]));
  await deleteDefinition(space, kind, id, actor);
}

/** Deletes the definitions that depend on this resource. */
export async function deleteDependents(
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
    const alone: Actor = { ...actor, readSet: null, commit: (unit) => space.transactions.submit(unit) };
    await deleteDependents(space, own, object, alone, doomed);
    if (space.catalog.definitions.get(kind, name)) await deleteDefinition(space, own, name, alone);
  }
}
