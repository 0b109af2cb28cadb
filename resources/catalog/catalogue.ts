// Which resource a name means (resources-and-api.md 1.1, 1.2).

import { LRUCache } from 'lru-cache';
import { fault } from '../../model/errors/faults.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { collectionOf } from '../instances/type-storage.ts';
import type { InstanceResource, Namespace, Resource } from './types.ts';

const ALL = new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']);
const BY_ID = { _id: 1 } as const;

/**
 * @param custom true: a type is meant; false: a system resource; null: either, the system resource first
 * @throws cascade.resource.type.not.found
 */
export function resolve(space: Namespace, name: string, custom: boolean | null): Resource {
  const system = name.startsWith('system.') ? name.slice('system.'.length) : name;
  const found = (custom === true ? undefined : space.features.named(system)) ?? space.features.ofType(system);
  if (found) return found;
  const type = custom === false || name.startsWith('system.') ? undefined : space.types.get(name);
  if (type) return instancesOf(type);
  throw fault('cascade.resource.type.not.found', name);
}

/** The type of that name or `_id`, the service's own included. */
export function findType(space: Namespace, id: string): TypeDefinition | undefined {
  return space.types.get(id) ?? space.features.ofType(id)?.type ?? space.types.get(space.definitions.find('types', id)?.name ?? '');
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
export function typeOfCollection(space: Pick<Namespace, 'types' | 'features'>, collection: string): TypeDefinition | undefined {
  if (!collection.startsWith('t.')) return undefined;
  let name = typeNames.get(collection);
  if (name === undefined) typeNames.set(collection, (name = collection.slice(2)));
  return space.types.get(name) ?? space.features.typeOfCollection(collection);
}
