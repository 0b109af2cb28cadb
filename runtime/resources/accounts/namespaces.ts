// The resource namespaces (resources-and-api.md 4.9): made by the system admin or the first admin of the installation; who may enter.

import { DateTime, getOwn, isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Identity } from '../../api.ts';
import { fault } from '../../faults.ts';
import type { NamespaceRecord } from '../../identity/index.ts';
import { NAMESPACE_SHAPE } from '../system-types.ts';
import type { Namespace } from '../types.ts';
import type { AccountResource } from './index.ts';
import { objectOf, profilesIn, requiredText, requireAdmin, requireKnown, textIn } from './rights.ts';
import { requireAnotherAdmin } from './users.ts';

export const NAMESPACES: AccountResource = {
  name: 'namespaces',
  type: NAMESPACE_SHAPE,
  async list(space, { username, system }) {
    return (await space.accounts.directory.namespaces(username, system === true)).map(shown);
  },
  isAt: (_space, id, object) => getOwn(object, 'namespace') === id || getOwn(object, '_id') === id,
  async insert(space, body, caller) {
    if (caller.system !== true && caller.installationAdmin !== true) throw fault('cascade.authorization.denied', 'insert', 'namespaces');
    requireKnown('namespaces', body, ['namespace', 'organization', 'username', 'password', 'encryptionKey']);
    const namespace = requiredText('namespaces', body, 'namespace');
    const organization = getOwn(body, 'organization');
    const username = textIn('namespaces', body, 'username');
    const password = textIn('namespaces', body, 'password');
    if (password !== null && username === null) throw fault('cascade.resource.property.required', 'namespaces', 'username');
    const encryptionKey = textIn('namespaces', body, 'encryptionKey');
    if (encryptionKey === '') throw fault('cascade.resource.property.invalid', 'namespaces', 'encryptionKey', 'empty');
    const { identity, directory, keys } = space.accounts;
    if (encryptionKey !== null && !keys.areAvailable)
      throw fault('cascade.resource.property.invalid', 'namespaces', 'encryptionKey', 'the service was started without a master key');
    const isKnown = username !== null && (await directory.exists(username));
    if (isKnown && password !== null) throw fault('cascade.namespace.user.exists', 'namespaces', 'username', 'there is such a user');
    const organizationName = isObject(organization) ? textIn('organizations', organization, 'name') : null;
    // Before the namespace: once it can be entered it may need its key.
    const isKeyGiven = encryptionKey !== null && (await keys.give(namespace, encryptionKey));
    try {
      await identity.createNamespace(namespace, organizationName, caller.username);
    } catch (error) {
      if (isKeyGiven) await keys.take(namespace);
      throw error;
    }
    const admin = username ?? `admin__${namespace}`;
    const profiles = ['admin', 'user__system'];
    const generated = password ?? directory.generatePassword();
    if (isKnown) await identity.authorizeUser(admin, namespace, profiles);
    else await identity.createUser({ username: admin, password: generated, namespace, profiles, createdBy: caller.username });
    const stored = (await directory.namespaces('', true)).find((one) => one.namespace === namespace);
    if (!stored) throw fault('cascade.resource.not.found', `/namespaces/${namespace}`);
    return { ...shown(stored), ...(password === null && !isKnown && { generatedPassword: generated }) };
  },
  commands: {
    async getAuthorizedUsers(space, stored, _data, caller) {
      requireOwnAdmin(space, stored, caller, 'getAuthorizedUsers');
      return (await space.accounts.directory.users(space.name)).map(
        ({ username, profiles, home, details }): Value => ({
          username,
          preferredUsername: details.preferredUsername ?? username,
          profiles,
          home: home === space.name,
        }),
      );
    },
    async authorizeUser(space, stored, data, caller) {
      requireOwnAdmin(space, stored, caller, 'authorizeUser');
      const body = objectOf(data);
      const username = requiredText('namespaces', body, 'username');
      const given = getOwn(body, 'profiles');
      const profiles = given === null ? ['user', 'user__system'] : profilesIn(space, given, caller);
      if (!profiles.includes('admin')) await requireAnotherAdmin(space, username);
      await space.accounts.identity.authorizeUser(username, space.name, profiles);
      return {};
    },
    async revokeUserAuthZ(space, stored, data, caller) {
      requireOwnAdmin(space, stored, caller, 'revokeUserAuthZ');
      const username = requiredText('namespaces', objectOf(data), 'username').toLowerCase();
      const user = (await space.accounts.directory.users(space.name)).find((one) => one.username === username);
      if (!user) throw fault('cascade.user.not.found', username);
      if (user.home === space.name)
        throw fault('cascade.namespace.home.revoke', 'namespaces', 'username', 'the namespace is the home of the user');
      await requireAnotherAdmin(space, username);
      await space.accounts.identity.revokeAuthorization(username, space.name);
      return {};
    },
  },
};

/** An admin decides about the namespace that the request acts in. */
function requireOwnAdmin(space: Namespace, stored: ObjectValue, caller: Identity, operation: string): void {
  requireAdmin(caller, operation, 'namespaces');
  if (getOwn(stored, 'namespace') !== space.name) throw fault('cascade.authorization.denied', operation, 'namespaces');
}

const shown = ({ _id, namespace, organization, createdAt, createdBy }: NamespaceRecord): ObjectValue => ({
  _id,
  namespace,
  organizationRef: organization === null ? null : `/organizations/${organization}`,
  ars_createdAt: new DateTime(createdAt.getTime()),
  ars_createdBy: createdBy,
});
