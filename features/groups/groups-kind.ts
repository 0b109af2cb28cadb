// Groups (resources-and-api.md 4.14): users and tokens that share the instances tagged with the group's name.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { isAdmin } from '../../resources/access/index.ts';
import { systemType, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { membersOf } from './policy.ts';

const SHAPE = systemType('ArsGroup', { name: 'String', owner: 'String', members: 'multi Any', description: 'String' }, ['name']);

export const GROUPS: DefinitionResource = {
  kind: 'definitions',
  name: 'groups',
  systemType: 'ArsGroup',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  removedByValue: { members: (member) => pathOf(member) ?? member },
  type: SHAPE,
  async define(space, body, stored, { identity }) {
    const name = textField('groups', body, 'name');
    checkName('group', name);
    const { members: given = null, ...others } = checkFields(GROUPS, body, 'refused');
    const owner = await ownerOf(space, body, stored, identity);
    const named = given === null ? [] : await membersIn(space, given);
    const members = owner === null || named.includes(owner) ? named : [owner, ...named];
    const object: ObjectValue = { ...others, owner, members };
    if (stored) requireEditor(stored, object, identity);
    return { name, object, apply: () => undefined };
  },
  async remove(_space, stored, { identity }) {
    if (!isEditor(stored, identity)) throw apiError('cascade.authorization.denied', 'delete', 'groups');
    return { apply: () => undefined };
  },
};

async function ownerOf(space: Namespace, body: ObjectValue, stored: ObjectValue | null, caller: Identity): Promise<string | null> {
  if (!Object.hasOwn(body, 'owner')) return stored ? null : caller.username;
  const owner = getOwn(body, 'owner');
  if (owner === null) return null;
  if (typeof owner !== 'string') throw invalidField('groups', 'owner', 'no String');
  if (stored && getOwn(stored, 'owner') === owner) return owner; // a user that was deleted meanwhile stays the owner
  return knownUser(space, owner, 'owner');
}

/** Members as usernames, or `/tokens/<name>` for tokens, without repetitions, in the given order. @throws cascade.group.member.unknown */
async function membersIn(space: Namespace, given: Value): Promise<string[]> {
  if (!Array.isArray(given)) throw invalidField('groups', 'members', 'no array');
  const members = new Set<string>();
  for (const one of given) members.add(await memberOf(space, one));
  return [...members];
}

async function memberOf(space: Namespace, given: Value): Promise<string> {
  const member = pathOf(given);
  if (member === null) throw invalidField('groups', 'members', 'neither a username nor a reference');
  const [, name] = /^\/tokens\/(.+)$/.exec(member) ?? [];
  if (name === undefined) return knownUser(space, member, 'members');
  const tokens = await space.installation.directory.tokens(space.name);
  if (!tokens.some((token) => token.name === name)) throw unknown('members', member);
  return member;
}

/** The stored form of a member: a username in lower case, a token as `/tokens/<name>`; null for other values. */
function pathOf(given: Value): string | null {
  const path = isObject(given) ? `/${String(own(given, 'resource')).replace(/^system\./, '')}/${String(own(given, 'resourceId'))}` : given;
  if (typeof path !== 'string') return null;
  const [, resource = 'users', name = path] = /^\/(users|tokens)\/(.+)$/.exec(path) ?? [];
  return resource === 'users' ? name.toLowerCase() : path;
}

async function knownUser(space: Namespace, given: string, field: string): Promise<string> {
  const username = given.toLowerCase();
  if (!(await space.installation.directory.user(username, space.name))) throw unknown(field, given);
  return username;
}

const unknown = (field: string, name: string) => apiError('cascade.group.member.unknown', 'groups', field, `there is no user ${name}`);

const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

/** Whether the caller may edit the group: its owner and admins may; without an owner each member may. */
function isEditor(group: ObjectValue, caller: Identity): boolean {
  if (caller.ofService || isAdmin(caller)) return true;
  const owner = own(group, 'owner');
  return owner === null ? membersOf(group).includes(caller.username) : owner === caller.username;
}

/** A member may remove itself, and change nothing else. @throws cascade.authorization.denied */
function requireEditor(stored: ObjectValue, next: ObjectValue, caller: Identity): void {
  if (isEditor(stored, caller)) return;
  const left = membersOf(stored).filter((member) => member !== caller.username);
  const isLeaving = left.length < membersOf(stored).length && String(left) === String(membersOf(next));
  const isSame = ['owner', 'description'].every((field) => own(stored, field) === own(next, field));
  if (!isLeaving || !isSame) throw apiError('cascade.authorization.denied', 'update', 'groups');
}
