// What goes over to whoever ends a user's authorization (resources-and-api.md 4.9, `transferResources`): sources, rules, groups and instances that are
// their creator's. Tokens go over in the transaction that ends it (identity/revocation.ts). Each step may be repeated, so that after a crash the
// command is given again.

import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import { handOverDefinition } from '../../resources/definitions/operations.ts';
import { handOverInstances } from '../../resources/instances/hand-over.ts';
import type { InstanceResource, Namespace } from '../../resources/catalog/types.ts';

/** Levels under which an instance is its creator's (7.3). */
const BY_OWNER: ReadonlySet<string> = new Set(['ars_readByOwner', 'ars_writeByOwner']);
/** Definitions that act as who made them. */
const ACTING = ['sources', 'rules'];

/** @param actor who gets them */
export async function transferAll(space: Namespace, username: string, actor: Actor): Promise<void> {
  const to = actor.identity.username;
  for (const kind of ACTING)
    await eachDefinition(space, kind, actor, (object) => {
      const isHis =
        getOwn(object, 'ars_createdBy') === username ||
        (Object.hasOwn(object, 'ars_modifiedBy') && getOwn(object, 'ars_modifiedBy') === username);
      return isHis ? {} : null;
    });
  await eachDefinition(space, 'groups', actor, (group) => {
    if (getOwn(group, 'owner') !== username) return null;
    const members = (getOwn(group, 'members') as string[]).map((member) => (member === username ? to : member));
    return { owner: to, members: [...new Set(members)] };
  });
  const documents = space.features.named('documents') as InstanceResource;
  const owned = [...space.types.values()].filter(({ userAccessLevel, adminAccessLevel }) =>
    [userAccessLevel, adminAccessLevel].some((level) => BY_OWNER.has(level)),
  );
  for (const collection of [documents.collection, ...owned.map((type) => type.collection)])
    await handOverInstances(space, collection, username, actor);
}

async function eachDefinition(
  space: Namespace,
  kindName: string,
  actor: Actor,
  changes: (object: ObjectValue) => ObjectValue | null,
): Promise<void> {
  const kind = space.features.kind(kindName);
  if (!kind) return;
  for (const [name, object] of space.definitions.list(kindName)) {
    const given = changes(object);
    if (given) await handOverDefinition(space, kind, name, given, actor);
  }
}
