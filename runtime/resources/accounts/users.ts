// The resource users (resources-and-api.md 4.11). Passwords go in and never come out.

import { DateTime, getOwn, type ObjectValue } from '../../../stdlib/values/index.ts';
import { fault } from '../../faults.ts';
import { USER_DETAILS, type UserDetail, type UserRecord } from '../../identity/index.ts';
import { USER_SHAPE } from '../system-types.ts';
import type { Namespace } from '../types.ts';
import type { AccountResource } from './index.ts';
import { isAdmin, profilesIn, requiredText, requireAdmin, requireKnown, textIn } from './rights.ts';

const KNOWN = ['username', 'password', 'oldPassword', 'profiles', 'active', 'lastLogin', ...USER_DETAILS];

export const USERS: AccountResource = {
  name: 'users',
  type: USER_SHAPE,
  async list(space, caller) {
    const users = await space.accounts.directory.users(space.name);
    return users.filter(({ username }) => isAdmin(caller) || username === caller.username).map((user) => shown(space, user));
  },
  isAt: (_space, id, user) => getOwn(user, 'username') === id.toLowerCase() || getOwn(user, '_id') === id,
  async insert(space, body, caller) {
    requireAdmin(caller, 'insert', 'users');
    requireKnown('users', body, KNOWN);
    const username = requiredText('users', body, 'username').toLowerCase();
    const password = requiredText('users', body, 'password');
    const given = getOwn(body, 'profiles');
    const profiles = given === null ? ['user', 'user__system'] : profilesIn(space, given, caller);
    const details = detailsIn(body);
    const { identity, directory } = space.accounts;
    await identity.createUser({ username, password, namespace: space.name, profiles, createdBy: caller.username });
    await directory.setDetails(username, details);
    if (activeIn(body) === false) await identity.setActive(username, false);
    return stored(space, username);
  },
  async update(space, user, changes, caller) {
    requireKnown('users', changes, KNOWN);
    const username = String(getOwn(user, 'username'));
    const name = textIn('users', changes, 'username');
    if (name !== null && name.toLowerCase() !== username) throw fault('cascade.resource.key.immutable', 'users', 'username');
    const { identity, directory } = space.accounts;
    const details = detailsIn(changes);
    const active = activeIn(changes);
    const profiles = getOwn(changes, 'profiles');
    const chosen = profiles === null ? null : profilesIn(space, profiles, caller);
    if ((active !== undefined && active !== getOwn(user, 'active')) || (chosen && String(chosen) !== String(getOwn(user, 'profiles'))))
      requireAdmin(caller, 'update', 'users');
    const password = textIn('users', changes, 'password');
    if (password !== null) {
      const isOwn = username === caller.username;
      if (isOwn) await requireOldPassword(space, username, textIn('users', changes, 'oldPassword'));
      else requireAdmin(caller, 'update', 'users');
      await identity.setPassword(username, password);
    }
    await directory.setDetails(username, details);
    if (chosen && String(chosen) !== String(getOwn(user, 'profiles'))) {
      if (!chosen.includes('admin')) await requireAnotherAdmin(space, username);
      await identity.authorizeUser(username, space.name, chosen);
    }
    if (active !== undefined && active !== getOwn(user, 'active')) {
      if (!active) await requireAnotherAdmin(space, username);
      await identity.setActive(username, active);
    }
  },
  async remove(space, user, caller) {
    requireAdmin(caller, 'delete', 'users');
    const username = String(getOwn(user, 'username'));
    if (username === caller.username) throw fault('cascade.user.self.delete', username);
    const found = (await space.accounts.directory.users(space.name)).find((one) => one.username === username);
    if (found?.home !== space.name) throw fault('cascade.authorization.denied', 'delete', 'users');
    await requireAnotherAdmin(space, username);
    await space.accounts.identity.deleteUser(username);
  },
};

async function requireOldPassword(space: Namespace, username: string, oldPassword: string | null): Promise<void> {
  const holds = oldPassword !== null && (await space.accounts.identity.checkPassword(username, oldPassword, 'users'));
  if (!holds) throw fault('cascade.user.password.mismatch', 'oldPassword');
}

/** @throws cascade.namespace.last.admin */
export async function requireAnotherAdmin(space: Namespace, username: string): Promise<void> {
  const admins = (await space.accounts.directory.users(space.name)).filter(({ profiles, active }) => active && profiles.includes('admin'));
  if (admins.length > 0 && admins.every((one) => one.username === username)) throw fault('cascade.namespace.last.admin', username);
}

function detailsIn(body: ObjectValue): Partial<Record<UserDetail, string | null>> {
  const details: Partial<Record<UserDetail, string | null>> = {};
  for (const name of USER_DETAILS) if (Object.hasOwn(body, name)) details[name] = textIn('users', body, name);
  return details;
}

function activeIn(body: ObjectValue): boolean | undefined {
  const active = getOwn(body, 'active');
  if (active !== null && typeof active !== 'boolean') throw fault('cascade.resource.property.invalid', 'users', 'active', 'no Boolean');
  return active ?? undefined;
}

async function stored(space: Namespace, username: string): Promise<ObjectValue> {
  const found = (await space.accounts.directory.users(space.name)).find((user) => user.username === username);
  if (!found) throw fault('cascade.user.not.found', username);
  return shown(space, found);
}

function shown(space: Namespace, { _id, username, profiles, active, lastLogin, details, createdAt, createdBy }: UserRecord): ObjectValue {
  return {
    _id,
    username,
    profiles,
    ...Object.fromEntries(USER_DETAILS.map((name) => [name, details[name] ?? null])),
    active,
    ...(lastLogin && { lastLogin: new DateTime(lastLogin.getTime()) }),
    ars_namespace: space.name,
    ars_createdAt: new DateTime(createdAt.getTime()),
    ars_createdBy: createdBy,
  };
}
