// What a text is checked against: the types and procedures of the namespace it is for, as far as they are known.
import type { CompiledProcedure } from '../compiler/index.ts';

export interface TypeShape {
  readonly name: string;
  readonly properties: ReadonlyMap<string, PropertyShape>;
}
export interface PropertyShape {
  /** A base type's name, a user scalar's or another type's. */
  readonly type: string;
  readonly multi: boolean;
  /** Must be given when an instance is inserted: required, and without a default. */
  readonly required: boolean;
}
export interface TypeEnvironment {
  readonly types: ReadonlyMap<string, TypeShape>;
  readonly procedures: ReadonlyMap<string, CompiledProcedure>;
  /** All types, all procedures of the namespace are here, so another name is a mistake. */
  readonly complete: { readonly types: boolean; readonly procedures: boolean };
}

/** A type from its resource, as the API takes and gives it. Null when it has no such form: then the API says what is wrong. */
export function toTypeShape(resource: unknown): TypeShape | null {
  if (!isRecord(resource) || typeof resource['name'] !== 'string' || !isRecord(resource['properties'])) return null;
  const properties = new Map<string, PropertyShape>();
  for (const [name, given] of Object.entries(resource['properties'])) {
    const attributes = isRecord(given) ? given : {};
    const hasDefault = attributes['default'] !== undefined && attributes['default'] !== null;
    properties.set(name, {
      type: typeof attributes['type'] === 'string' ? attributes['type'] : 'Any',
      multi: attributes['multi'] === true || attributes['array'] === true,
      required: attributes['required'] === true && !hasDefault,
    });
  }
  return { name: resource['name'], properties };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
