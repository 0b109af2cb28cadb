// Groups (resources-and-api.md 4.14): users and tokens that share the instances tagged with the group's name.

import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName, isServiceSet } from '../../model/types/index.ts';
import { isAdmin } from '../../resources/access/index.ts';
import { omit, systemType, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { isMember, membersOf, membersThatAre, TOKENS, tokensOf } from './policy.ts';

const SHAPE = systemType('ArsGroup', { name: 'String', owner: 'Username', members: 'multi AnyUsername', description: 'String' }, ['name']);

export const GROUPS: DefinitionResource = {
  kind: 'definitions',
  name: 'groups',
  systemType: 'ArsGroup',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  removedByValue: { members: (member) => pathOf(member) ?? member },
  type: SHAPE,
  hidden: TOKENS,
  show: (_space, stored) => omit(stored, [TOKENS]),
  async define(space, body, stored, { identity }) {
    const name = textField('groups', body, 'name');
    checkName('group', name);
    const { members: given = null, ...others } = checkFields(GROUPS, omit(body, hiddenIn(body, stored)), 'refused');
    const owner = await ownerOf(space, body, stored, identity);
    const named = given === null ? NOBODY : await membersIn(space, given, stored, identity);
    const members = owner === null || named.members.includes(owner) ? named.members : [owner, ...named.members];
    const object: ObjectValue = { ...others, owner, members, ...(Object.keys(named.tokens).length > 0 && { [TOKENS]: named.tokens }) };
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
  return owner.toLowerCase() === caller.username ? caller.username : knownUser(space, owner, 'owner');
}

/** The stored property that a change of other ones hands on; one that a client sends is unknown. */
const hiddenIn = (body: ObjectValue, stored: ObjectValue | null): string[] =>
  stored && own(body, TOKENS) === own(stored, TOKENS) ? [TOKENS] : [];

interface Members {
  /** Usernames, or `/tokens/<name>` for tokens, without repetitions, in the given order. */
  readonly members: string[];
  /** The `_id` of each member that is a token. */
  readonly tokens: ObjectValue;
}

const NOBODY: Members = { members: [], tokens: {} };

/** Who is a member already stays it, also when the user or token is gone. @throws cascade.group.member.unknown */
async function membersIn(space: Namespace, given: Value, stored: ObjectValue | null, caller: Identity): Promise<Members> {
  if (!Array.isArray(given)) throw invalidField('groups', 'members', 'no array');
  // What the service takes out of a group names nobody anew.
  const isUntouched = stored !== null && (given === own(stored, 'members') || caller.ofService === true);
  const members = new Set<string>();
  const tokens: ObjectValue = {};
  for (const one of given) {
    const member = pathOf(one);
    if (member === null) throw invalidField('groups', 'members', 'neither a username nor a reference');
    members.add(member);
    const before = stored && membersOf(stored).includes(member) ? stored : null;
    const [, name] = /^\/tokens\/(.+)$/.exec(member) ?? [];
    if (name === undefined) {
      if (!before) await knownUser(space, member, 'members');
    } else {
      const bound = before && own(tokensOf(before), member);
      setOwn(tokens, member, isUntouched ? (bound ?? null) : await tokenNamed(space, name, bound ?? null, caller, before !== null));
    }
  }
  return { members: [...members], tokens };
}

/**
 * The `_id` of the token that a member names; names are unique for each user only.
 * @param bound that of the member until now: it stays the same while it is there, whatever it is called
 * @param isMember it is a member already, and stays one when nobody has the name any more
 * @throws cascade.group.member.unknown
 */
async function tokenNamed(space: Namespace, name: string, bound: Value, caller: Identity, isMember: boolean): Promise<Value> {
  const tokens = await space.installation.directory.tokens(space.name);
  const kept = tokens.find(({ _id }) => _id === bound);
  if (kept) return kept._id;
  const named = tokens.filter((token) => token.name === name);
  const [found, other] = named;
  if (!found && isMember) return bound;
  if (!found) throw unknown('members', `/tokens/${name}`);
  if (!other) return found._id;
  const mine = named.find(({ username }) => username === caller.username);
  if (!mine) throw apiError('cascade.group.member.unknown', 'groups', 'members', `several users have a token ${name}`);
  return mine._id;
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
  // A stranger is answered as nobody is: the answer must not tell who there is in other namespaces.
  if (!(await space.installation.directory.isOf(username, space.name))) throw unknown(field, given);
  return username;
}

const unknown = (field: string, name: string) => apiError('cascade.group.member.unknown', 'groups', field, `there is no user ${name}`);

const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

/** Whether the caller may edit the group: its owner and admins may; without an owner each member may. */
function isEditor(group: ObjectValue, caller: Identity): boolean {
  if (caller.ofService || isAdmin(caller)) return true;
  const owner = own(group, 'owner');
  return owner === null ? isMember(group, caller) : owner === caller.username;
}

/** A member may remove itself, and change nothing else. @throws cascade.authorization.denied */
function requireEditor(stored: ObjectValue, next: ObjectValue, caller: Identity): void {
  if (isEditor(stored, caller)) return;
  const [mine, before, after] = [membersThatAre(stored, caller), membersOf(stored), membersOf(next)];
  const left = before.filter((member) => !after.includes(member));
  const stay = before.filter((member) => after.includes(member));
  const isLeaving = left.length > 0 && left.every((member) => mine.includes(member)) && String(stay) === String(after);
  const others = new Set(
    [...Object.keys(stored), ...Object.keys(next)].filter((name) => name !== 'members' && name !== TOKENS && !isServiceSet(name)),
  );
  const isSame = [...others].every((field) => encodeInner(own(stored, field)) === encodeInner(own(next, field)));
  if (!isLeaving || !isSame) throw apiError('cascade.authorization.denied', 'update', 'groups');
}
