// Takes a user that is deleted out of the groups of its namespace, before it is gone: whoever has its name later is not a member in its
// place (resources-and-api.md 4.14). Each group is a commit of its own, and repeating the deletion resumes it. Tokens need nothing of the
// kind: a group knows them by their `_id`.
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Identity } from '../../identity/index.ts';
import { resolve, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import { changeDefinition, ignoreDeleted } from '../../resources/definitions/index.ts';

/** @param to the admin who deletes the user, to whom its own groups pass */
export async function leaveGroups(space: Namespace, username: string, to: Identity): Promise<void> {
  const groups = resolve(space, 'groups', false) as DefinitionResource;
  const actor: Actor = { ...serviceActor(space), identity: { ...to, ofService: true } };
  for (const [name, group] of space.catalog.definitions.list('groups')) {
    const isOwner = getOwn(group, 'owner') === username;
    const members = getOwn(group, 'members') as string[];
    if (!isOwner && !members.includes(username)) continue;
    const changes: ObjectValue = { members: members.filter((member) => member !== username), ...(isOwner && { owner: to.username }) };
    await ignoreDeleted(changeDefinition(space, groups, name, changes, actor));
  }
}
