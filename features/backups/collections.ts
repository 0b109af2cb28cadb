// The collections of a namespace that a backup contains: definitions, instances of types, and what the service stores as instances,
// including documents and their contents. Accounts, runs and deliveries in progress, and logs are excluded.
import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import type { FeatureRegistry, InstanceResource } from '../../resources/catalog/index.ts';
import { CONTENT_COLLECTIONS } from '../documents/index.ts';

/** Excluded collections: logs and audits, failed runs, deliveries, subscriptions and devices of users. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['ArsLogMessage', 'ArsAudit', 'ArsRuleSnapshot', 'ArsDeadLetter'],
  ...['ArsSubscription', 'ArsEventAcknowledgement', 'ArsPushTarget'],
]);

/** Types of the service whose instances a backup contains. */
export function systemResources(features: FeatureRegistry): InstanceResource[] {
  const found = new Map<string, InstanceResource>();
  for (const { resource } of features.addressed())
    if (resource.kind === 'instances' && !LEFT_OUT.has(resource.type.name)) found.set(resource.collection, resource);
  return [...found.values()];
}

export interface TypeCollection {
  /** Of the type. */
  readonly name: string;
  readonly encrypted: ReadonlySet<string>;
}

/** The collections of types, by their stored definitions. */
export function typeCollections(rows: readonly ObjectValue[]): Map<string, TypeCollection> {
  const collections = new Map<string, TypeCollection>();
  for (const row of rows) {
    if (getOwn(row, 'kind') !== 'types') continue;
    const name = String(getOwn(row, 'name'));
    const collection = Object.hasOwn(row, 'collection') ? String(getOwn(row, 'collection')) : `t.${name}`;
    const properties = getOwn(getOwn(row, 'object') as ObjectValue, 'properties');
    const encrypted = Object.entries(isObject(properties) ? properties : {}).filter(
      ([, property]) => isObject(property) && Object.hasOwn(property, 'encrypted') && getOwn(property, 'encrypted') === true,
    );
    collections.set(collection, { name, encrypted: new Set(encrypted.map(([property]) => property)) });
  }
  return collections;
}

/** All collections of a backup, in the order in which they are written. */
export const collectionsOf = (features: FeatureRegistry, types: ReadonlyMap<string, unknown>): string[] => [
  ...types.keys(),
  ...systemResources(features).map(({ collection }) => collection),
  ...CONTENT_COLLECTIONS,
];
