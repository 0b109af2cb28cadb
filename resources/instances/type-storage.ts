// Removes the values of properties that a type does not declare any more.

import type { TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';

/** The properties that `after` declares and `before` does not. */
export const addedBy = (before: TypeDefinition, after: TypeDefinition): string[] =>
  [...after.properties.keys()].filter((name) => !before.properties.has(name));

/** Removes values of undeclared properties; that must happen before a new property of the same name is declared. */
export async function removeValues(space: Namespace, { collection }: TypeDefinition, properties: readonly string[]): Promise<void> {
  if (properties.length === 0) return;
  const stored = { $or: properties.map((name) => ({ [name]: { $exists: true } })) };
  const unset = Object.fromEntries(properties.map((name) => [name, '']));
  await space.storage.db.collection(collection).updateMany(stored, { $unset: unset });
}

/**
 * Removes the values later: nothing shows them meanwhile, and values that a crash leaves are removed before a property of that name is
 * declared again.
 */
export function removeInBackground(space: Namespace, type: TypeDefinition, properties: readonly string[]): void {
  removeValues(space, type, properties).catch((error: unknown) =>
    space.log.warn({ err: error, type: type.name, properties }, 'values of removed properties could not be removed'),
  );
}
