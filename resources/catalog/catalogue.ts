// Finds the resource of a name (resources-and-api.md 1.1, 1.2).

import { apiError } from '../../model/errors/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { InstanceResource, Namespace, Resource } from './types.ts';

const ALL = new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']);
const BY_ID = { _id: 1 } as const;

/**
 * @param custom true: the name of a type; false: of a system resource; null: either, the system resource first
 * @throws cascade.resource.type.not.found
 */
export function resolve(space: Namespace, name: string, custom: boolean | null): Resource {
  const system = name.startsWith('system.') ? name.slice('system.'.length) : name;
  const found = (custom === true ? undefined : space.catalog.features.named(system)) ?? space.catalog.features.ofType(system);
  if (found) return found;
  const type = custom === false || name.startsWith('system.') ? undefined : space.catalog.types.get(name);
  if (type) return instancesOf(type);
  throw apiError('cascade.resource.type.not.found', name);
}

/** The type with that name or `_id`, including the service's own types. */
export function findType(space: Namespace, id: string): TypeDefinition | undefined {
  return (
    space.catalog.types.get(id) ??
    space.catalog.features.ofType(id)?.type ??
    space.catalog.types.get(space.catalog.definitions.find('types', id)?.name ?? '')
  );
}

const made = new WeakMap<TypeDefinition, InstanceResource>();

export function instancesOf(type: TypeDefinition): InstanceResource {
  let resource = made.get(type);
  if (!resource) {
    resource = { kind: 'instances', name: type.name, type, collection: type.collection, operations: ALL, defaultSort: BY_ID };
    made.set(type, resource);
  }
  return resource;
}

/** The type whose instances a collection holds. */
export const typeOfCollection = (space: Pick<Namespace, 'catalog'>, collection: string): TypeDefinition | undefined =>
  space.catalog.types.ofCollection(collection) ?? space.catalog.features.typeOfCollection(collection);
