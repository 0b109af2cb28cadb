// The resource namespaces (resources-and-api.md 4.9): created by the system admin, by the first admin of the installation, and in an
// organization by admins of its root namespace; commands grant and revoke access.

import type { ClientSession } from 'mongodb';
import { convert } from '../../stdlib/convert/index.ts';
import { DateTime, getOwn, isInteger, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../resources/api.ts';
import { apiError, type CascadeError } from '../../model/errors/index.ts';
import type { Along, NamespaceRecord, UserRecord } from '../../identity/index.ts';
import { NAMESPACE_SHAPE, type Namespace } from '../../resources/catalog/index.ts';
import { byKey, type AccountResource } from './account-resource.ts';
import { profilesIn } from './rights.ts';
import { isAdmin, requireAdmin } from '../../resources/access/index.ts';
import { propertiesIn, systemPropertiesOf } from './shown.ts';
import { transferResources } from './transfer.ts';
import { objectOf, requireKnown, requiredText, textIn } from '../../resources/requests/index.ts';
import { forgetAt, forgetElsewhere, manages, requireAnotherAdmin, requireRoom } from './users.ts';

const DEFAULT_PROFILES = ['user', 'user__system'];
const INVITATION_MS = 2 * 24 * 60 * 60 * 1000;

export const NAMESPACES: AccountResource = {
  name: 'namespaces',
  type: NAMESPACE_SHAPE,
  removesOneByOne: true,
  needs: {
    update: (_space, caller) => isAdmin(caller),
    delete: (_space, caller) => isAdmin(caller),
    command: (_space, caller) => isAdmin(caller),
  },
  async list(space, caller) {
    const { directory } = space.installation;
    return (await directory.namespaces(caller.username, caller.system === true, await organizationOf(space, caller))).map(shown);
  },
  at: byKey('namespace'),
  async insert(space, body, caller, along) {
    const isAnywhere = caller.system === true || caller.installationAdmin === true;
    const within = isAnywhere ? null : await organizationOf(space, caller);
    if (!isAnywhere && (within === null || getOwn(body, 'organization') !== null)) throw denied('insert');
    requireKnown('namespaces', body, ['namespace', 'organization', 'username', 'password', 'encryptionKey']);
    const namespace = requiredText('namespaces', body, 'namespace');
    const organization = organizationIn(body);
    const username = textIn('namespaces', body, 'username');
    const password = textIn('namespaces', body, 'password');
    if (password !== null && username === null) throw apiError('cascade.resource.property.required', 'namespaces', 'username');
    const encryptionKey = textIn('namespaces', body, 'encryptionKey');
    if (encryptionKey === '') throw apiError('cascade.resource.property.invalid', 'namespaces', 'encryptionKey', 'empty');
    const { identity, directory, keys } = space.installation;
    if (encryptionKey !== null && !keys.areAvailable)
      throw apiError('cascade.resource.property.invalid', 'namespaces', 'encryptionKey', 'the service was started without a master key');
    const known = username === null ? null : await directory.user(username, namespace);
    if (known && password !== null) throw apiError('cascade.namespace.user.exists', 'namespaces', 'username', 'there is such a user');
    if (known) requireInvitable(known, caller);
    if (!known && within !== null) await requireRoom(space);
    const profiles = ['admin', 'user__system'];
    const generated = password ?? directory.generatePassword();
    const admin = known
      ? { username: known.username, profiles, isConsented: known.username === caller.username }
      : { username: username ?? `admin__${namespace}`, profiles, password: generated };
    const of = { ...(organization && { organization }), ...(within !== null && { within }) };
    const entry = { namespace, ...of, admin, createdBy: caller.username };
    await identity.createNamespace(entry, async (session) => {
      if (encryptionKey !== null) await keys.give(namespace, encryptionKey, session);
      await along(session, namespace);
    });
    const stored = (await directory.namespaces('', true)).find((one) => one.namespace === namespace);
    if (!stored) throw apiError('cascade.resource.not.found', `/namespaces/${namespace}`);
    return { ...shown(stored), ...(password === null && !known && { generatedPassword: generated }) };
  },
  /** Changes `ars_properties`, for an admin of the namespace. */
  async update(space, stored, changes, caller, { version, along }) {
    const namespace = administered(space, stored, caller, 'update');
    requireKnown('namespaces', changes, ['namespace', 'organizationRef', 'encryptionKey', 'ars_properties']);
    for (const key of ['namespace', 'organizationRef', 'encryptionKey'])
      if (Object.hasOwn(changes, key) && getOwn(changes, key) !== (Object.hasOwn(stored, key) ? getOwn(stored, key) : undefined))
        throw apiError('cascade.resource.key.immutable', 'namespaces', key);
    const json = propertiesIn('namespaces', changes);
    if (json === undefined) return;
    const how = { by: caller.username, version, along: (session: ClientSession) => along(session, namespace) };
    await space.installation.directory.setNamespaceProperties(namespace, json, how);
  },
  /** Deletes the namespace with all its data, for its admin. */
  async remove(space, stored, caller, { version, along }) {
    const namespace = String(getOwn(stored, 'namespace'));
    if (namespace !== space.name || UNDELETABLE.has(namespace)) throw apiError('cascade.authorization.denied', 'delete', 'namespaces');
    requireAdmin(caller, 'delete', 'namespaces');
    await space.installation.identity.requireDeletable(namespace, version);
    await forgetElsewhere(space, caller);
    await space.installation.identity.deleteNamespace(namespace, { version, along: (session) => along(session, namespace) });
    await space.installation.drop(namespace);
  },
  commands: {
    async getAuthorizedUsers(space, stored, _data, { identity: caller }) {
      const namespace = administered(space, stored, caller, 'getAuthorizedUsers');
      const result = (await space.installation.directory.users(namespace)).map(({ username, profiles, home, details }): Value => {
        const isHome = home === namespace;
        return { username, preferredUsername: (isHome ? details.preferredUsername : undefined) ?? username, profiles, home: isHome };
      });
      return { result };
    },
    /** Grants access. A user of another namespace is invited, and accepts by entering the namespace. */
    async authorizeUser(space, stored, data, { identity: caller }, along) {
      const namespace = administered(space, stored, caller, 'authorizeUser');
      const body = objectOf(data);
      requireKnown('namespaces', body, ['username', 'profiles']);
      const username = requiredText('namespaces', body, 'username').toLowerCase();
      const given = getOwn(body, 'profiles');
      const profiles = given === null ? DEFAULT_PROFILES : await profilesIn(space, given, caller, namespace);
      const user = await space.installation.directory.user(username, namespace);
      if (!user) throw apiError('cascade.user.not.found', username);
      const isMember = user.home !== namespace && user.profiles.length > 0 && !user.isInvited;
      if (!isMember) requireInvitable(user, caller);
      // Whose account the caller may not change, has its profiles at home left alone here, too.
      if (user.home === namespace && username !== caller.username && !manages(space, caller, user)) throw denied('authorizeUser');
      const alongside: Along = (session) => along(session, namespace);
      await space.installation.identity.authorizeUser(username, namespace, profiles, {
        isConsented: username === caller.username,
        along: profiles.includes('admin') ? alongside : await requireAnotherAdmin(space, username, namespace, alongside),
      });
      return { result: {}, user: shownUser(user, namespace, profiles) };
    },
    /** Creates an invitation whose code anyone may redeem who gets it: see `redeemInvitation`. */
    async delegateUserAuthZ(space, stored, data, { identity: caller }, along) {
      const namespace = administered(space, stored, caller, 'delegateUserAuthZ');
      const body = objectOf(data);
      requireKnown('namespaces', body, ['profiles', 'requireExisting', 'expiresAt', 'timeout']);
      const given = getOwn(body, 'profiles');
      const profiles = given === null ? DEFAULT_PROFILES : await profilesIn(space, given, caller, namespace);
      const requireExisting = getOwn(body, 'requireExisting'); // every redeemer is logged in, so that the user exists in any case
      if (requireExisting !== null && typeof requireExisting !== 'boolean') throw invalid('requireExisting', 'no Boolean');
      const expiresAt = expiryIn(body);
      const invitation = { namespace, profiles, createdBy: caller.username, expiresAt };
      const code = await space.installation.identity.invite(invitation, (session) => along(session, namespace));
      return { result: { code, expiresAt: new DateTime(expiresAt.getTime()) } };
    },
    async revokeUserAuthZ(space, stored, data, { identity: caller }, along) {
      const namespace = administered(space, stored, caller, 'revokeUserAuthZ');
      const body = objectOf(data);
      requireKnown('namespaces', body, ['username', 'transferResources']);
      const username = requiredText('namespaces', body, 'username').toLowerCase();
      const transfers = getOwn(body, 'transferResources');
      if (transfers !== null && typeof transfers !== 'boolean') throw invalid('transferResources', 'no Boolean');
      // The new owner is the caller as a user of the namespace, which the system admin need not be.
      if (transfers && namespace !== space.name) throw invalid('transferResources', 'the caller is in another namespace');
      const user = (await space.installation.directory.users(namespace)).find((one) => one.username === username);
      if (!user) throw apiError('cascade.user.not.found', username);
      if (user.home === namespace)
        throw apiError('cascade.namespace.home.revoke', 'namespaces', 'username', 'the namespace is the home of the user');
      const wholly = await requireAnotherAdmin(space, username, namespace, (session) => along(session, namespace));
      await forgetAt(space, namespace, username, caller);
      if (transfers) await transferResources(space, username, caller);
      await space.installation.identity.revokeAuthorization(username, namespace, {
        ...(transfers && { to: caller.username }),
        along: wholly,
      });
      return { result: {}, user: shownUser(user, namespace, user.profiles) };
    },
  },
};

/** The user as events of commands show it. */
const shownUser = ({ username, home, details }: UserRecord, namespace: string, profiles: readonly string[]): ObjectValue => ({
  username,
  preferredUsername: (home === namespace ? details.preferredUsername : undefined) ?? username,
  profiles: [...profiles],
});

/** The organization that a user administers, as an unlimited admin of its root namespace. */
const organizationOf = async (space: Namespace, caller: Identity): Promise<string | null> =>
  isAdmin(caller) && caller.restricted !== true && caller.lent !== true
    ? space.installation.directory.organizationWithRoot(space.name)
    : null;

const denied = (operation: string): CascadeError => apiError('cascade.authorization.denied', operation, 'namespaces');

/** Namespaces that cannot be deleted: they belong to the installation. */
const UNDELETABLE: ReadonlySet<string> = new Set(['system', 'main']);

const invalid = (property: string, reason: string) => apiError('cascade.resource.property.invalid', 'namespaces', property, reason);

function organizationIn(body: ObjectValue): { name: string; description?: string } | null {
  const given = getOwn(body, 'organization');
  if (given === null) return null;
  if (!isObject(given)) throw invalid('organization', 'no Object');
  requireKnown('organizations', given, ['name', 'description']);
  const name = requiredText('organizations', given, 'name');
  const description = textIn('organizations', given, 'description');
  return { name, ...(description !== null && { description }) };
}

/** The time of `expiresAt`, or of so many seconds from now; the default is two days. */
function expiryIn(body: ObjectValue): Date {
  const at = getOwn(body, 'expiresAt');
  const timeout = getOwn(body, 'timeout');
  if (at !== null && timeout !== null) throw invalid('timeout', 'expiresAt is given, too');
  if (timeout !== null && (!isInteger(timeout) || timeout <= 0 || timeout > MOST_SECONDS)) throw invalid('timeout', 'no Integer above 0');
  if (at === null) return new Date(Date.now() + (timeout === null ? INVITATION_MS : Number(timeout) * 1000));
  let ms: number;
  try {
    ms = (convert(at, { type: 'DateTime' }, 'property') as DateTime).ms;
  } catch {
    throw invalid('expiresAt', 'no DateTime'); // any error means an invalid time
  }
  if (ms <= Date.now()) throw invalid('expiresAt', 'it is not in the future');
  return new Date(ms);
}

/** Ten years. */
const MOST_SECONDS = 10 * 366 * 24 * 60 * 60;

/**
 * The namespace of a command: an admin may name the one that the request is in, the system admin any.
 * @throws authorization.denied
 */
function administered(space: Namespace, stored: ObjectValue, caller: Identity, operation: string): string {
  const namespace = String(getOwn(stored, 'namespace'));
  if (caller.system === true) return namespace;
  requireAdmin(caller, operation, 'namespaces');
  if (namespace !== space.name) throw apiError('cascade.authorization.denied', operation, 'namespaces');
  return namespace;
}

/**
 * Requires that the caller may invite the user: the system admin, whose rights go with it into every namespace, enters only where it
 * wants to itself.
 * @throws authorization.denied
 */
function requireInvitable(user: UserRecord, caller: Identity): void {
  if (user.isSystem && user.username !== caller.username && caller.system !== true)
    throw apiError('cascade.authorization.denied', 'authorizeUser', 'namespaces');
}

function shown(record: NamespaceRecord): ObjectValue {
  const { _id, namespace, organization } = record;
  return {
    _id,
    namespace,
    organizationRef: organization === null ? null : `/organizations/${organization}`,
    ...systemPropertiesOf(null, record),
  };
}
