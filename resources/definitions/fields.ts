// Checks of fields that several kinds of definitions share.

import { DataError, isServiceSet, plainData } from '../../model/types/index.ts';
import type { Diagnostic } from '../../compiler/index.ts';
import { convert } from '../../stdlib/convert/index.ts';
import { DateTime, encodeInner, getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type CascadeError, apiError } from '../../model/errors/index.ts';
import type { PropertyDefinition } from '../../model/types/index.ts';
import { omit, type DefinitionResource } from '../catalog/index.ts';

/** @throws when the field is missing or not a text */
export function textField(resource: string, body: ObjectValue, name: string): string {
  const value = Object.hasOwn(body, name) ? getOwn(body, name) : null;
  if (value === null) throw apiError('cascade.resource.property.required', resource, name);
  if (typeof value !== 'string') throw invalidField(resource, name, 'no String');
  return value;
}

type Form = PropertyDefinition['base'] | 'list' | 'relationships';

/** System properties that callers may set, with the types of their values. */
const CALLERS: Readonly<Record<string, Form>> = {
  ars_group: 'String',
  ars_properties: 'Object',
  ars_public: 'Boolean',
  ars_relationships: 'relationships',
  ars_dependentResource: 'ResourceReference',
};
/** Derived fields that a client may send back as it read them; the service computes them itself. */
const DERIVED = new Set(['errors', 'compileWarnings']);

/**
 * The fields of a definition that callers may set: those of the kind's shape with a fitting value, and others where the kind is open for
 * them.
 * @throws cascade.resource.property.invalid, .unknown, cascade.type.property.name.reserved
 */
export function checkFields(kind: Pick<DefinitionResource, 'name' | 'type'>, body: ObjectValue, others: 'kept' | 'refused'): ObjectValue {
  const fields: ObjectValue = {};
  for (const key of Object.keys(body)) {
    const value = getOwn(body, key);
    if (isServiceSet(key) || DERIVED.has(key)) continue;
    const declared = kind.type.properties.get(key);
    if (declared) requireFit(kind.name, key, declared.multi ? 'list' : declared.base, value);
    else if (Object.hasOwn(CALLERS, key)) requireFit(kind.name, key, CALLERS[key] ?? 'Object', value);
    else if (key.startsWith('ars_') || key.startsWith('_')) throw apiError('cascade.type.property.name.reserved', key);
    else if (others === 'refused') throw apiError('cascade.resource.property.unknown', kind.name, key);
    requireData(kind.name, key, value);
    setOwn(fields, key, value);
  }
  return fields;
}

/** What is in an Object or array must be fit to be stored. @throws cascade.resource.property.invalid */
export function requireData(resource: string, field: string, value: Value): void {
  if (typeof value !== 'object') return;
  try {
    plainData(value);
  } catch (error) {
    throw error instanceof DataError ? invalidField(resource, field, error.reason) : error;
  }
}

/** Definitions are not coerced: a value of a wrong type is refused. Null is "not set". */
function requireFit(resource: string, field: string, base: Form, value: Value): void {
  if (value !== null && !FITS[base]?.(value))
    throw invalidField(resource, field, base === 'list' ? 'no array' : base === 'relationships' ? 'no array of Objects' : `no ${base}`);
}

/** Checks the system properties that callers may set, for kinds that check their own fields themselves. @throws resource.property.invalid */
export function checkCallersProperties(resource: string, body: ObjectValue): void {
  for (const [field, base] of Object.entries(CALLERS))
    if (Object.hasOwn(body, field)) {
      requireFit(resource, field, base, getOwn(body, field));
      requireData(resource, field, getOwn(body, field));
    }
}

const FITS: Readonly<Partial<Record<Form, (value: Value) => boolean>>> = {
  String: (value) => typeof value === 'string',
  Boolean: (value) => typeof value === 'boolean',
  Integer: isInteger,
  Object: isObject,
  ResourceReference: isReference,
  DateTime: (value) => typeof value === 'string' || isInteger(value) || value instanceof DateTime,
  list: Array.isArray,
  relationships: (value) => Array.isArray(value) && value.every(isObject),
};

function isReference(value: Value): boolean {
  try {
    convert(value, { type: 'ResourceReference' }, 'property');
    return true;
  } catch {
    return false; // whatever is wrong with it: it is no reference
  }
}

export const invalidField = (resource: string, field: string, reason: string): CascadeError =>
  apiError('cascade.resource.property.invalid', resource, field, reason);

/** The field `compileWarnings`, where there are warnings. */
export function warningsOf(warnings: readonly Diagnostic[], more: readonly Value[] = []): ObjectValue {
  if (warnings.length + more.length === 0) return {};
  return { compileWarnings: [...warnings.map(({ code, message, line, column }): Value => ({ code, message, line, column })), ...more] };
}

/**
 * The fields of a definition whose text is being replaced, without those that the old text set: an option that the new text lacks is no
 * longer in force. Fields that the caller has changed since are kept.
 * @param givenBy the fields that a text sets
 */
export async function withoutOldText(
  body: ObjectValue,
  stored: ObjectValue | null,
  givenBy: (source: string) => Promise<ObjectValue>,
): Promise<ObjectValue> {
  const old = stored && getOwn(stored, 'ruleText');
  if (typeof old !== 'string' || old === getOwn(body, 'ruleText')) return body;
  const given = await givenBefore(old, givenBy);
  const isOld = (key: string): boolean => Object.hasOwn(body, key) && encodeInner(getOwn(body, key)) === encodeInner(getOwn(given, key));
  return omit(body, Object.keys(given).filter(isOld));
}

async function givenBefore(source: string, givenBy: (source: string) => Promise<ObjectValue>): Promise<ObjectValue> {
  try {
    return await givenBy(source);
  } catch {
    return {}; // a text that no longer compiles sets no fields
  }
}
