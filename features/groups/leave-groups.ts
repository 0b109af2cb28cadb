// Takes a user that is deleted, or loses the namespace, out of the groups there, before it is gone: whoever has its name later is not one in its
// place (resources-and-api.md 4.14). Each group is a commit of its own, and repeating the deletion resumes it. Tokens need nothing of the
// kind: a group knows them by their `_id`.
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Identity } from '../../identity/index.ts';
import { resolve, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import { changeDefinitionBy, ignoreDeleted } from '../../resources/definitions/index.ts';

/** @param to the admin who deletes the user, to whom its own groups pass */
export async function leaveGroups(space: Namespace, username: string, to: Identity): Promise<void> {
  const groups = resolve(space, 'groups', false) as DefinitionResource;
  const actor: Actor = { ...serviceActor(space), identity: { ...to, ofService: true } };
  // Others may change the groups meanwhile: each is looked at when its turn has come.
  for (const [name] of space.catalog.definitions.list('groups')) {
    const group = space.catalog.definitions.get('groups', name);
    if (!group || !concerns(group, username)) continue;
    await ignoreDeleted(changeDefinitionBy(space, groups, name, (now) => without(now, username, to), actor));
  }
}

const membersOf = (group: ObjectValue): string[] => getOwn(group, 'members') as string[];

const concerns = (group: ObjectValue, username: string): boolean =>
  getOwn(group, 'owner') === username || membersOf(group).includes(username);

/** What changes in a group that loses the user. */
const without = (group: ObjectValue, username: string, to: Identity): ObjectValue => ({
  members: membersOf(group).filter((member) => member !== username),
  ...(getOwn(group, 'owner') === username && { owner: to.username }),
});
