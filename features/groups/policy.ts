// The access policy of groups (resources-and-api.md 7.4): only members and admins see instances of a group-enabled type that are in a
// group, and only they put instances into it. Only they use a type, procedure, topic or source in a group.

import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { Policy, Namespace } from '../../resources/catalog/index.ts';
import { isAdmin } from '../../resources/access/index.ts';

export const groupPolicy: Policy = {
  name: 'groups',
  restrict(space, { resource, capability, caller }) {
    const type = space.catalog.definitions.get('types', resource.name);
    if (type) requireMember(space, type, capability, caller);
    if (capability === 'insert' || !resource.type.groupEnabled || isAdmin(caller)) return null;
    return { $or: [{ ars_group: null }, { ars_group: { $in: groupsOf(space, caller.username) } }] };
  },
  use: requireMember,
  admit(space, { resource, before, after, initiator: { identity } }) {
    const isEnabled = resource.kind === 'instances' ? resource.type.groupEnabled : GROUPED.has(resource.name);
    if (!isEnabled || !after) return;
    const group = groupIn(after);
    if (group === null || (before && groupIn(before) === group)) return;
    const stored = space.catalog.definitions.get('groups', group);
    if (!stored) throw apiError('cascade.group.unknown', resource.name, 'ars_group', `there is no group ${group}`);
    if (!identity.ofService && !isAdmin(identity) && !membersOf(stored).includes(identity.username))
      throw apiError('cascade.group.not.member', group);
  },
};

/** Kinds of definitions that can be in a group (4.22). */
const GROUPED: ReadonlySet<string> = new Set(['types', 'procedures', 'topics', 'sources']);

/** @throws cascade.authorization.denied */
function requireMember(space: Namespace, definition: ObjectValue, operation: string, caller: Identity): void {
  const group = groupIn(definition);
  if (group === null || isAdmin(caller)) return;
  const stored = space.catalog.definitions.get('groups', group);
  if (!stored || !membersOf(stored).includes(caller.username))
    throw apiError('cascade.authorization.denied', operation, String(getOwn(definition, 'name')));
}

function groupIn(instance: ObjectValue): string | null {
  const group = Object.hasOwn(instance, 'ars_group') ? getOwn(instance, 'ars_group') : null;
  return typeof group === 'string' ? group : null;
}

export const membersOf = (group: ObjectValue): readonly string[] => getOwn(group, 'members') as string[];

/** Names of the groups whose member a user is now. */
const groupsOf = (space: Namespace, username: string): string[] =>
  space.catalog.definitions
    .list('groups')
    .filter(([, group]) => membersOf(group).includes(username))
    .map(([name]) => name);
