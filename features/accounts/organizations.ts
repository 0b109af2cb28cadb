// The resource organizations (resources-and-api.md 4.10): created with a root namespace, changed by the system admin, visible to users of
// their namespaces.
import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { parseJson, toJson } from '../../model/values/index.ts';
import type { Identity, OrganizationRecord } from '../../identity/index.ts';
import { ORGANIZATION_SHAPE } from '../../resources/catalog/index.ts';
import { parseQuota } from '../../resources/quotas/index.ts';
import { requireKnown, textIn } from '../../resources/requests/index.ts';
import { byKey, type AccountResource } from './account-resource.ts';
import { propertiesIn, systemPropertiesOf } from './shown.ts';

const IMMUTABLE = ['name', 'namespace'];

export const ORGANIZATIONS: AccountResource = {
  name: 'organizations',
  type: ORGANIZATION_SHAPE,
  unaudited: true,
  needs: { update: (_space, { system }) => system === true, delete: (_space, { system }) => system === true },
  async list(space, caller) {
    return (await space.installation.directory.organizations(caller.system === true ? null : space.name)).map(shown);
  },
  at: byKey('name'),
  async update(space, stored, changes, caller, { version }) {
    requireSystem(caller, 'update');
    requireKnown('organizations', changes, [...IMMUTABLE, 'description', 'quota', 'ars_properties']);
    for (const key of IMMUTABLE)
      if (Object.hasOwn(changes, key) && getOwn(changes, key) !== getOwn(stored, key))
        throw apiError('cascade.resource.key.immutable', 'organizations', key);
    const description = Object.hasOwn(changes, 'description') ? textIn('organizations', changes, 'description') : undefined;
    const quota = Object.hasOwn(changes, 'quota') ? getOwn(changes, 'quota') : undefined;
    if (quota !== undefined && quota !== null && !isObject(quota))
      throw apiError('cascade.resource.property.invalid', 'organizations', 'quota', 'no Object');
    if (quota !== undefined) parseQuota(quota); // throws for an invalid quota
    const properties = propertiesIn('organizations', changes);
    const change = {
      ...(description !== undefined && { description }),
      ...(quota !== undefined && { quota: toJson(quota ?? {}) }),
      ...(properties !== undefined && { properties }),
    };
    if (Object.keys(change).length === 0) return;
    await space.installation.directory.changeOrganization(String(getOwn(stored, 'name')), change, { by: caller.username, version });
    space.installation.quotas.forget();
  },
  async remove(space, stored, caller, { version }) {
    requireSystem(caller, 'delete');
    await space.installation.directory.removeOrganization(String(getOwn(stored, 'name')), version);
  },
};

/** @throws authorization.denied */
function requireSystem({ system }: Identity, operation: string): void {
  if (system !== true) throw apiError('cascade.authorization.denied', operation, 'organizations');
}

const shown = (record: OrganizationRecord): ObjectValue => ({
  _id: record._id,
  name: record.name,
  description: record.description,
  namespace: record.namespace,
  quota: parseJson(record.quota),
  ...systemPropertiesOf(null, record),
});
