// The resource users (resources-and-api.md 4.11). Passwords are written and never shown.

import { isServiceSet } from '../../model/types/index.ts';
import { DateTime, getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Identity } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { type Along, USER_DETAILS, type UserDetail, type UserRecord } from '../../identity/index.ts';
import { USER_SHAPE, type Namespace } from '../../resources/catalog/index.ts';
import { isAdmin, mayInvoke, requireAdmin } from '../../resources/access/index.ts';
import { byKey, type AccountResource } from './account-resource.ts';
import { isGrantable, profilesIn } from './rights.ts';
import { propertiesIn, systemPropertiesOf } from './shown.ts';
import { requireKnown, requiredText, textIn } from '../../resources/requests/index.ts';

const KNOWN = ['username', 'password', 'oldPassword', 'profiles', 'active', 'lastLogin', 'ars_properties', ...USER_DETAILS];

export const USERS: AccountResource = {
  name: 'users',
  type: USER_SHAPE,
  async list(space, caller) {
    const users = await space.installation.directory.users(placeOf(space, caller));
    return users.filter(({ username }) => isAdmin(caller) || username === caller.username).map((user) => shown(space, user, caller));
  },
  upserts: true,
  needs: { insert: (space, caller) => mayInvoke(space, 'createUser', caller), delete: (_space, caller) => isAdmin(caller) },
  at: byKey('username', (id) => id.toLowerCase()),
  async insert(space, body, caller, along) {
    if (!mayInvoke(space, 'createUser', caller)) throw denied('insert');
    requireKnown('users', body, KNOWN);
    const username = requiredText('users', body, 'username').toLowerCase();
    const password = requiredText('users', body, 'password');
    const profiles = await profilesIn(space, getOwn(body, 'profiles') ?? ['user', 'user__system'], caller, space.name);
    const details = detailsIn(body);
    const active = activeIn(body) ?? true;
    const properties = propertiesIn('users', body) ?? null;
    const { identity, directory } = space.installation;
    await requireRoom(space);
    const user = { username, password, namespace: space.name, profiles, details, properties, active, createdBy: caller.username };
    await identity.createUser(user, (session) => along(session, username));
    const made = await directory.user(username, space.name);
    if (!made) throw apiError('cascade.user.not.found', username);
    return shown(space, made, caller);
  },
  async update(space, object, changes, caller, { address, version, along }) {
    requireKnown('users', changes, KNOWN);
    const username = String(getOwn(object, 'username'));
    const name = textIn('users', changes, 'username');
    if (name !== null && name.toLowerCase() !== username) throw apiError('cascade.resource.key.immutable', 'users', 'username');
    const { identity, directory } = space.installation;
    const place = placeOf(space, caller);
    const user = await directory.user(username, place);
    if (!user) throw apiError('cascade.user.not.found', username);
    const isOwn = username === caller.username;
    // A program of another namespace, or a token for that one only, has no part in the account at home.
    const isSelf = isOwn && (!caller.bound || user.home === space.name);
    const isManaged = manages(space, caller, user);
    if (!isSelf && !isManaged && PERSONAL.some((field) => Object.hasOwn(changes, field))) throw denied('update');

    const details = detailsIn(changes);
    const properties = propertiesIn('users', changes);
    const active = changed(activeIn(changes), user.active);
    if (active !== undefined && !isManaged) throw denied('update');
    const namespace = place ?? user.home;
    const given = Object.hasOwn(changes, 'profiles') ? getOwn(changes, 'profiles') : user.profiles;
    // Who sends back what it has selected need not be able to give it.
    const isGiven = !Array.isArray(given) || String(given) !== String(user.profiles);
    const profiles = isGiven ? changed(await profilesIn(space, given, caller, namespace), user.profiles) : undefined;
    if (profiles && (!isAdmin(caller) || (user.home === namespace && !isSelf && !isManaged))) throw denied('update');
    const password = Object.hasOwn(changes, 'password') ? requiredText('users', changes, 'password') : null;
    if (password !== null && isOwn) await requireOldPassword(space, username, textIn('users', changes, 'oldPassword'), address);
    const stored: Along = (session) => along(session, username);
    const takesAdmin = active === false || (profiles && !profiles.includes('admin'));
    const wholly = takesAdmin ? await requireAnotherAdmin(space, username, namespace, stored) : stored;
    const change = {
      details,
      ...(properties !== undefined && { properties }),
      by: caller.username,
      ...(version !== undefined && { version }),
      ...(password !== null && { password, ...(isSelf && caller.token !== undefined && { exceptToken: caller.token }) }),
      ...(active !== undefined && { active }),
      ...(profiles && { authorization: { namespace, profiles, isConsented: isOwn } }),
    };
    if (Object.keys(changes).every(isServiceSet)) return;
    await identity.changeUser(username, change, wholly);
  },
  async remove(space, object, caller, { version, along }) {
    requireAdmin(caller, 'delete', 'users');
    const username = String(getOwn(object, 'username'));
    if (username === caller.username) throw apiError('cascade.user.self.delete', username);
    const user = await space.installation.directory.user(username, placeOf(space, caller));
    if (!user || !manages(space, caller, user)) throw denied('delete');
    const wholly = await requireAnotherAdmin(space, username, user.home, (session) => along(session, username));
    await forgetIn(space, username, caller);
    await space.installation.identity.deleteUser(username, { version, along: wholly });
  },
};

/** Takes what a user has by its name from it in all of its namespaces, whichever the request is in. */
async function forgetIn(space: Namespace, username: string, caller: Identity): Promise<void> {
  await forgetAt(space, space.name, username, caller);
  for (const { namespace } of await space.installation.directory.namespaces(username, false))
    if (namespace !== space.name) await forgetAt(space, namespace, username, caller);
}

/** The same of all users at home in a namespace that is to be deleted, in the others. */
export async function forgetElsewhere(space: Namespace, caller: Identity): Promise<void> {
  const { directory } = space.installation;
  const leaving = new Set((await directory.users(space.name)).filter(({ home }) => home === space.name).map(({ username }) => username));
  for (const username of leaving)
    for (const { namespace } of await directory.namespaces(username, false))
      if (namespace !== space.name) await forgetAt(space, namespace, username, caller, leaving);
}

/** The same of one user in one namespace: its groups, devices, and messages that wait for it. @param leaving who is deleted along with it */
export async function forgetAt(
  space: Namespace,
  namespace: string,
  username: string,
  caller: Identity,
  leaving: ReadonlySet<string> = new Set([username]),
): Promise<void> {
  if (namespace === space.name) return space.catalog.features.forgetUser(space, username, caller);
  // What passes to somebody passes to one who administers the namespace, which the caller need not do.
  const admin = (await adminsOf(space, namespace)).find((one) => !leaving.has(one.username));
  const other = leaving.has(caller.username) ? SYSTEM : caller.username;
  const successor = admin ? { username: admin.username, profiles: [...admin.profiles] } : { username: other, profiles: [] };
  await space.installation.forgetUser(namespace, username, { ...successor, namespace });
}

/** For one more user in the organization of the namespace. @throws cascade.quota.exceeded */
export async function requireRoom(space: Namespace): Promise<void> {
  const usage = await space.installation.quotas.of(space.name);
  const limit = usage?.limit('users') ?? null;
  if (usage && limit !== null && (await space.installation.directory.countUsers(usage.namespaces)) >= limit)
    throw apiError('cascade.quota.exceeded', 'users', limit);
}

/** Personal properties: only the user, an admin of its own namespace and the system admin may see or change them. */
const PERSONAL = ['password', 'oldPassword', 'active', 'lastLogin', 'ars_properties', ...USER_DETAILS];

/** The namespace whose users a caller manages; null: the users of the installation, which the system admin manages (7.5). */
const placeOf = (space: Namespace, caller: Identity): string | null =>
  caller.system === true && space.name === caller.namespace && space.name === SYSTEM ? null : space.name;

/** The system admin's namespace, and its name. */
const SYSTEM = 'system';

/**
 * Whether a caller may set the password, activity and details of another user: an admin of the user's own namespace, or the system admin.
 * Setting a password allows acting as the user, so the caller must not have fewer rights.
 */
export function manages(space: Namespace, caller: Identity, user: UserRecord): boolean {
  if (caller.system === true) return true;
  if (!isAdmin(caller) || user.home !== space.name) return false;
  return user.username === caller.username || (!user.isInstallations && user.profiles.every((name) => isGrantable(name, caller)));
}

const denied = (operation: string) => apiError('cascade.authorization.denied', operation, 'users');

/** The new value; undefined where it is unchanged. */
function changed<T>(next: T | undefined, before: T): T | undefined {
  return next === undefined || String(next) === String(before) ? undefined : next;
}

async function requireOldPassword(space: Namespace, username: string, oldPassword: string | null, address: string | null): Promise<void> {
  const holds = oldPassword !== null && (await space.installation.identity.checkPassword(username, oldPassword, address));
  if (!holds) throw apiError('cascade.user.password.mismatch', 'oldPassword');
}

/**
 * Before a change that takes a user's rights as an admin of a namespace away.
 * @param along what goes along with the change
 * @returns what goes along with it then: others may take other admins away at the same time
 * @throws cascade.namespace.last.admin
 */
export async function requireAnotherAdmin(space: Namespace, username: string, namespace: string, along: Along): Promise<Along> {
  const admins = await adminsOf(space, namespace);
  if (admins.length > 0 && admins.every((one) => one.username === username)) throw apiError('cascade.namespace.last.admin', username);
  const isAdmin = admins.some((one) => one.username === username);
  return isAdmin ? space.installation.identity.keepingAnAdmin(namespace, username, along) : along;
}

async function adminsOf(space: Namespace, namespace: string): Promise<UserRecord[]> {
  const users = await space.installation.directory.users(namespace);
  return users.filter(({ profiles, active, isInvited }) => active && !isInvited && profiles.includes('admin'));
}

function detailsIn(body: ObjectValue): Partial<Record<UserDetail, string | null>> {
  const details: Partial<Record<UserDetail, string | null>> = {};
  for (const name of USER_DETAILS) if (Object.hasOwn(body, name)) details[name] = textIn('users', body, name);
  return details;
}

function activeIn(body: ObjectValue): boolean | undefined {
  const active = getOwn(body, 'active');
  if (active !== null && typeof active !== 'boolean') throw apiError('cascade.resource.property.invalid', 'users', 'active', 'no Boolean');
  return active ?? undefined;
}

/** The shown form of a user; of a user of another namespace an admin sees little but its name. */
function shown(space: Namespace, user: UserRecord, caller: Identity): ObjectValue {
  const { _id, username, profiles, active, lastLogin, details } = user;
  const isOwn = user.home === space.name || username === caller.username || caller.system === true;
  if (!isOwn) return { _id, username, profiles, ars_namespace: space.name };
  return {
    _id,
    username,
    profiles,
    ...Object.fromEntries(USER_DETAILS.map((name) => [name, details[name] ?? null])),
    active,
    ...(lastLogin && { lastLogin: new DateTime(lastLogin.getTime()) }),
    ...systemPropertiesOf(caller.system === true ? user.home : space.name, user),
  };
}
