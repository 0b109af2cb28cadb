// What a change of a type asks for (resources-and-api.md 4.1, Changes while instances exist). Pure: the caller knows whether there are any.
import { apiError } from '../errors/index.ts';
import type { PropertyDefinition, TypeDefinition } from './definition.ts';
import { type MongoIndex, mongoIndexes } from './mongo-indexes.ts';

export interface TypeChange {
  /** Attributes that can change on an empty type only: `level.type`, `maxStorage` … */
  readonly needsEmpty: readonly string[];
  readonly added: readonly string[];
  /** Properties whose stored values are to be removed in the background. */
  readonly removed: readonly string[];
  /** A unique one is built before the definition counts, and may fail with type.index.duplicate. */
  readonly indexesToBuild: readonly MongoIndex[];
  readonly indexesToDrop: readonly MongoIndex[];
}

/** @throws resource.key.immutable for another name or role */
export function compareTypes(before: TypeDefinition, after: TypeDefinition): TypeChange {
  for (const field of ['name', 'role'] as const) {
    if (before[field] !== after[field]) throw apiError('cascade.resource.key.immutable', 'types', field);
  }
  const needsEmpty: string[] = [];
  for (const property of before.properties.values()) {
    const changed = after.properties.get(property.name);
    if (changed) needsEmpty.push(...incompatible(property, changed).map((attribute) => `${property.name}.${attribute}`));
  }
  for (const field of ['maxStorage', 'maxObjects'] as const) if (before[field] !== after[field]) needsEmpty.push(field);
  const old = mongoIndexes(before);
  const now = mongoIndexes(after);
  return {
    needsEmpty,
    added: [...after.properties.keys()].filter((name) => !before.properties.has(name)),
    removed: [...before.properties.keys()].filter((name) => !after.properties.has(name)),
    indexesToBuild: now.filter((index) => !old.some((other) => same(index, other))),
    indexesToDrop: old.filter((index) => !now.some((other) => same(index, other))),
  };
}

/** @throws type.change.incompatible when the change needs an empty type and it is not */
export function checkTypeChange(type: string, { needsEmpty: [attribute] }: TypeChange, hasInstances: boolean): void {
  if (hasInstances && attribute !== undefined) throw apiError('cascade.type.change.incompatible', type, attribute);
}

function incompatible(before: PropertyDefinition, after: PropertyDefinition): string[] {
  const found: string[] = [];
  for (const attribute of ['type', 'multi', 'encrypted'] as const) if (before[attribute] !== after[attribute]) found.push(attribute);
  if (before.type === after.type && before.scale !== undefined && after.scale !== undefined && after.scale < before.scale)
    found.push('scale');
  return found;
}

const same = (a: MongoIndex, b: MongoIndex): boolean => a.name === b.name;
