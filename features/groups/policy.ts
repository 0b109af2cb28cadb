// The access policy of groups (resources-and-api.md 7.4): only members and admins see instances of a group-enabled type that are in a
// group, and only they put instances into it. Only they use a type, procedure, topic or source in a group.

import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
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
    return { $or: [{ ars_group: null }, { ars_group: { $in: groupsOf(space, caller) } }] };
  },
  use: requireMember,
  admit(space, { operation, resource, before, after, initiator: { identity } }) {
    // Only members change a definition in a group, or take it out of the group: else the group would hold nobody who may write the kind.
    if (resource.kind === 'definitions' && GROUPED.has(resource.name) && before && !identity.ofService)
      requireMember(space, before, operation, identity);
    const isEnabled = resource.kind === 'instances' ? resource.type.groupEnabled : GROUPED.has(resource.name);
    if (!isEnabled || !after) return;
    const group = groupIn(after);
    if (group === null || (before && groupIn(before) === group)) return;
    const stored = space.catalog.definitions.get('groups', group);
    if (!stored) throw apiError('cascade.group.unknown', resource.name, 'ars_group', `there is no group ${group}`);
    if (!identity.ofService && !isAdmin(identity) && !isMember(stored, identity)) throw apiError('cascade.group.not.member', group);
  },
};

/** Kinds of definitions that can be in a group (4.22). */
const GROUPED: ReadonlySet<string> = new Set(['types', 'procedures', 'topics', 'sources']);

/** @throws cascade.authorization.denied */
function requireMember(space: Namespace, definition: ObjectValue, operation: string, caller: Identity): void {
  const group = groupIn(definition);
  if (group === null || isAdmin(caller)) return;
  const stored = space.catalog.definitions.get('groups', group);
  if (!stored || !isMember(stored, caller)) throw apiError('cascade.authorization.denied', operation, String(getOwn(definition, 'name')));
}

function groupIn(instance: ObjectValue): string | null {
  const group = Object.hasOwn(instance, 'ars_group') ? getOwn(instance, 'ars_group') : null;
  return typeof group === 'string' ? group : null;
}

export const membersOf = (group: ObjectValue): readonly string[] => getOwn(group, 'members') as string[];

/**
 * The stored property, hidden from everybody, with the `_id` of each member that is a token: another token that has its name later is no
 * member.
 */
export const TOKENS = 'tokens';

export function tokensOf(group: ObjectValue): ObjectValue {
  const tokens = Object.hasOwn(group, TOKENS) ? getOwn(group, TOKENS) : null;
  return isObject(tokens) ? tokens : {};
}

/** The members that the caller is: its username, and the long-lived token that it comes with (4.14). */
export function membersThatAre(group: ObjectValue, { username, ofToken }: Identity): string[] {
  const isCallers = (member: string): boolean => ofToken !== undefined && getOwn(tokensOf(group), member) === ofToken;
  return membersOf(group).filter((member) => member === username || (member.startsWith('/tokens/') && isCallers(member)));
}

/** Asked for each group at each read of a type with groups. */
export const isMember = (group: ObjectValue, caller: Identity): boolean =>
  membersOf(group).includes(caller.username) || (caller.ofToken !== undefined && membersThatAre(group, caller).length > 0);

/** Names of the groups whose member the caller is now. */
const groupsOf = (space: Namespace, caller: Identity): string[] =>
  space.catalog.definitions
    .list('groups')
    .filter(([, group]) => isMember(group, caller))
    .map(([name]) => name);
