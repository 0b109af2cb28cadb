// Quotas on stored objects (resources-and-api.md 9.1): types, rules, instances of a type, bytes. Changes that would add to them are refused
// once the quota is reached. The store is queried only where there is a quota; a count does not include writes in progress, which may
// exceed the quota.

import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { type Change, type Policy, type Namespace, DEFINITIONS } from '../../resources/catalog/index.ts';
import { databasesIn, type Usage } from '../../resources/quotas/index.ts';
import { STORED_COUNTS } from './stored-counts.ts';

export const quotaPolicy: Policy = {
  name: 'quotas',
  admit(space, change) {
    if (change.operation === 'delete' || change.initiator.identity.ofService) return undefined;
    const usage = space.installation.quotas.of(space.name);
    if (usage instanceof Promise) return usage.then((found) => (found ? within(space, found, change) : undefined));
    return usage ? within(space, usage, change) : undefined;
  },
};

function within(space: Namespace, usage: Usage, { operation, resource, after }: Change): MaybePromise<void> {
  const isNew = operation === 'insert';
  if (resource.kind === 'definitions') {
    if (!isNew || (resource.name !== 'types' && resource.name !== 'rules')) return undefined;
    const limit = usage.limit(resource.name);
    return limit === null ? undefined : definitionsWithin(space, usage, resource.name, after, limit);
  }
  const most = isNew && space.catalog.types.has(resource.type.name) ? usage.limit('instancesPerType') : null;
  const bytes = usage.limit('storageBytes');
  if (most === null && bytes === null) return undefined;
  const counts = space.states.get(STORED_COUNTS);
  const instances = most === null ? undefined : counts.addInstance(space, resource.collection, most);
  if (bytes === null) return instances;
  const stored = counts.requireBytes(space, usage.namespaces, bytes);
  return instances instanceof Promise ? instances.then(() => stored) : stored;
}

/**
 * The definitions of the change's own namespace are counted in memory: in an import, those that it will store are there already, also this
 * one where it is planned a second time.
 */
async function definitionsWithin(space: Namespace, usage: Usage, kind: string, after: ObjectValue | null, limit: number): Promise<void> {
  const { definitions } = space.catalog;
  const isCounted = after !== null && definitions.get(kind, String(getOwn(after, 'name'))) !== undefined;
  const others = databasesIn(space, usage.namespaces).filter(({ databaseName }) => databaseName !== space.storage.db.databaseName);
  const counts = await Promise.all(others.map((db) => db.collection(DEFINITIONS).countDocuments({ kind }, { limit: limit + 1 })));
  if (counts.reduce((sum, one) => sum + one, definitions.count(kind) - Number(isCounted)) >= limit)
    throw apiError('cascade.quota.exceeded', kind, limit);
}
