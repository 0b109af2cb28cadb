// Which resource a name means (resources-and-api.md 1.1, 1.2).

import { LRUCache } from 'lru-cache';
import { fault } from '../../model/errors/faults.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { CONFIGURATIONS, DEPLOYCONFIGS } from '../../features/deployment/configurations-kind.ts';
import { DEBUGCONFIGS } from '../../features/diagnostics/debugconfigs-kind.ts';
import { PROCEDURES } from '../../features/procedures/procedures-kind.ts';
import { RULES } from '../../features/rules/rules-kind.ts';
import { SCALARS } from '../../features/scalars/scalars-kind.ts';
import { SCHEDULED_EVENTS } from '../../features/schedules/scheduledevents-kind.ts';
import { SERVICES } from '../../features/services/services-kind.ts';
import { SOURCES } from '../../features/sources/sources-kind.ts';
import { TOPICS } from '../../features/topics/topics-kind.ts';
import { collectionOf } from '../instances/type-storage.ts';
import { TYPES } from '../../features/types/types-kind.ts';
import { DELIVERY_RESOURCES } from '../../features/delivery/delivery-types.ts';
import { DOCUMENTS } from '../../features/documents/index.ts';
import { SERVICE_RESOURCES, serviceTypeOf } from '../../features/collaboration/service-types.ts';
import { LOG_TYPE, SNAPSHOT_TYPE } from './system-types.ts';
import type { DefinitionResource, InstanceResource, Namespace, Resource } from './types.ts';

const ALL = new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']);
const BY_ID = { _id: 1 } as const;

export const LOGS: InstanceResource = {
  kind: 'instances',
  name: 'logs',
  type: LOG_TYPE,
  collection: 'logs',
  operations: new Set(['select', 'aggregate', 'delete']),
  defaultSort: { invocationId: 1, sequenceId: 1 },
};

export const SNAPSHOTS: InstanceResource = {
  kind: 'instances',
  name: 'ArsRuleSnapshot',
  type: SNAPSHOT_TYPE,
  collection: collectionOf('ArsRuleSnapshot'),
  operations: new Set(['select', 'aggregate']),
  defaultSort: BY_ID,
};

export const DEFINITION_KINDS: readonly DefinitionResource[] = [
  TYPES,
  SCALARS,
  SERVICES,
  TOPICS,
  SOURCES,
  PROCEDURES,
  RULES,
  DEBUGCONFIGS,
  SCHEDULED_EVENTS,
  CONFIGURATIONS,
  DEPLOYCONFIGS,
];

/** Instances of the service's own types that have a resource of their own. */
const OWN_RESOURCES: readonly InstanceResource[] = [DOCUMENTS];
const OWN_BY_COLLECTION = new Map(OWN_RESOURCES.map(({ collection, type }) => [collection, type]));

const SYSTEM = new Map<string, Resource>(
  [...DEFINITION_KINDS, LOGS, ...OWN_RESOURCES, ...SERVICE_RESOURCES, ...DELIVERY_RESOURCES].map((resource) => [resource.name, resource]),
);
/** By the names of their types; these are also reached under `custom/`. */
const BY_TYPE_NAME = new Map<string, Resource>([
  ...DEFINITION_KINDS.map((kind): [string, Resource] => [kind.systemType, kind]),
  [LOG_TYPE.name, LOGS],
  [SNAPSHOT_TYPE.name, SNAPSHOTS],
  ...[...OWN_RESOURCES, ...SERVICE_RESOURCES, ...DELIVERY_RESOURCES].map((resource): [string, Resource] => [resource.type.name, resource]),
]);

/** Every resource of the service that has instances to address: by its own name, or else by its type's (under `custom/`). */
export const systemResources = (): { name: string; custom: boolean; resource: Resource }[] => {
  const named = new Set(SYSTEM.values());
  return [
    ...[...SYSTEM].map(([name, resource]) => ({ name, custom: false, resource })),
    ...[...BY_TYPE_NAME].filter(([, resource]) => !named.has(resource)).map(([name, resource]) => ({ name, custom: true, resource })),
  ];
};

/**
 * @param custom true: a type is meant; false: a system resource; null: either, the system resource first
 * @throws cascade.resource.type.not.found
 */
export function resolve(space: Namespace, name: string, custom: boolean | null): Resource {
  const system = name.startsWith('system.') ? name.slice('system.'.length) : name;
  const found = (custom === true ? undefined : SYSTEM.get(system)) ?? BY_TYPE_NAME.get(system);
  if (found) return found;
  const type = custom === false || name.startsWith('system.') ? undefined : space.types.get(name);
  if (type) return instancesOf(type);
  throw fault('cascade.resource.type.not.found', name);
}

/** The type of that name or `_id`, the service's own included. */
export function findType(space: Namespace, id: string): TypeDefinition | undefined {
  return space.types.get(id) ?? BY_TYPE_NAME.get(id)?.type ?? space.types.get(space.definitions.find('types', id)?.name ?? '');
}

const made = new WeakMap<TypeDefinition, InstanceResource>();

export function instancesOf(type: TypeDefinition): InstanceResource {
  let resource = made.get(type);
  if (!resource) {
    resource = { kind: 'instances', name: type.name, type, collection: collectionOf(type.name), operations: ALL, defaultSort: BY_ID };
    made.set(type, resource);
  }
  return resource;
}

/** Names of types by those of their collections: this is asked for each write, and a text that was just cut out is slow to look up. */
const typeNames = new LRUCache<string, string>({ max: 10_000 });

/** The type whose instances a collection holds. */
export function typeOfCollection(space: Pick<Namespace, 'types'>, collection: string): TypeDefinition | undefined {
  if (!collection.startsWith('t.')) return undefined;
  let name = typeNames.get(collection);
  if (name === undefined) typeNames.set(collection, (name = collection.slice(2)));
  return space.types.get(name) ?? serviceTypeOf(collection) ?? OWN_BY_COLLECTION.get(collection);
}
