// Types for the data of features' built-ins: read and written as users' types are, with collections that are made for the first instance.

import { type Shape, systemType } from './system-type.ts';
import type { InstanceResource } from './types.ts';

const OPERATIONS = new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']);

/**
 * @param name the name of the resource: that of the type, or of a system resource
 * @param indexes as of systemType
 */
export function keptByService(
  typeName: string,
  shape: Shape,
  { naturalKey = [], name = typeName, indexes = [] }: { naturalKey?: readonly string[]; name?: string; indexes?: readonly string[] } = {},
): InstanceResource {
  const type = systemType(typeName, shape, naturalKey, indexes);
  return { kind: 'instances', name, type, collection: type.collection, operations: OPERATIONS, defaultSort: { _id: 1 }, isLazy: true };
}
