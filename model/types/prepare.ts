// Bodies of INSERT, UPDATE, UPSERT and PATCH to instances of their type (resources-and-api.md 1.3, 2.4, 2.5). What a body is refused for is
// told all at once. `required`, maxLength and the group come later, after the BEFORE rules: check-final.ts.
import { deepCopy, getOwn, isInteger, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import { coerceProperty, coercePropertyInPieces, coerceSystemProperty } from './coerce.ts';
import { isServiceSet, SYSTEM_PROPERTIES, type SystemProperty, type TypeDefinition } from './definition.ts';
import { type InPieces, isDivisible } from './pieces.ts';
import { Problems } from './problems.ts';

/**
 * A new instance: coerced, with defaults where a property is absent, in the order of declaration.
 * @throws CascadeError, or CascadeErrors when several things are wrong
 */
export function prepareInsert(type: TypeDefinition, body: Value): ObjectValue {
  if (type.role === 'schema') throw apiError('cascade.type.role.no.instances', type.name);
  return completed(type, coerceBody(type, body));
}

/** The same for a long body. @throws as prepareInsert */
export function* prepareInsertInPieces(type: TypeDefinition, body: Value): InPieces<ObjectValue> {
  if (type.role === 'schema') throw apiError('cascade.type.role.no.instances', type.name);
  return completed(type, yield* coerceBodyInPieces(type, body));
}

function completed(type: TypeDefinition, given: ObjectValue): ObjectValue {
  for (const property of type.properties.values()) {
    if (property.default !== undefined && !Object.hasOwn(given, property.name)) given[property.name] = deepCopy(property.default);
  }
  return isInOrder(type, given) ? given : inOrder(type, given);
}

export interface Changes {
  /** The properties to change, coerced. */
  readonly values: ObjectValue;
  /** `ars_version` of the body: the change is meant for that version only. */
  readonly version?: number | bigint;
  /** `_id` of the body, to be compared with the addressed one. */
  readonly id?: string;
}

/** The body of an UPDATE, before the stored instance is known. @throws as prepareInsert */
export function prepareChanges(type: TypeDefinition, body: Value): Changes {
  const values = coerceBody(type, body);
  const version = coerceSystemProperty(type, 'ars_version', getOwn(body as ObjectValue, 'ars_version'));
  const id = getOwn(body as ObjectValue, '_id');
  return { values, ...(isInteger(version) && { version }), ...(typeof id === 'string' && { id }) };
}

/**
 * The instance after an UPDATE: properties not named keep their value, system properties of the service too.
 * @param changes the body as submitted; its `ars_version` and `_id` are for the caller to judge (prepareChanges)
 * @throws as prepareInsert
 */
export const prepareUpdate = (type: TypeDefinition, stored: ObjectValue, changes: Value): ObjectValue =>
  applyChanges(type, stored, prepareChanges(type, changes).values);

/** The same for long changes. @throws as prepareInsert */
export function* prepareUpdateInPieces(type: TypeDefinition, stored: ObjectValue, changes: Value): InPieces<ObjectValue> {
  const values = yield* coerceBodyInPieces(type, changes);
  coerceSystemProperty(type, 'ars_version', getOwn(changes as ObjectValue, 'ars_version'));
  return applyChanges(type, stored, values);
}

/** The stored instance with coerced changes. */
export const applyChanges = (type: TypeDefinition, stored: ObjectValue, values: ObjectValue): ObjectValue =>
  inOrder(type, { ...stored, ...values });

function coerceBody(type: TypeDefinition, body: Value): ObjectValue {
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object was expected', 0);
  const coerced: ObjectValue = {};
  let problems: Problems | undefined;
  for (const name of Object.keys(body)) {
    try {
      const value = coerceMember(type, name, body[name] as Value);
      if (value !== undefined) coerced[name] = value;
    } catch (error) {
      (problems ??= new Problems()).caught(error);
    }
  }
  problems?.raise();
  return coerced;
}

function* coerceBodyInPieces(type: TypeDefinition, body: Value): InPieces<ObjectValue> {
  if (!isObject(body)) return coerceBody(type, body);
  const coerced: ObjectValue = {};
  const problems = new Problems();
  for (const name of Object.keys(body)) {
    const given = body[name] as Value;
    const property = isDivisible(given) ? type.properties.get(name) : undefined;
    try {
      const value = property ? yield* coercePropertyInPieces(type, property, given) : coerceMember(type, name, given);
      if (value !== undefined) coerced[name] = value;
    } catch (error) {
      problems.caught(error);
    }
  }
  problems.raise();
  return coerced;
}

/** @returns undefined for what is ignored */
function coerceMember(type: TypeDefinition, name: string, value: Value): Value | undefined {
  const property = type.properties.get(name);
  if (property) return coerceProperty(type, property, value);
  if (isServiceSet(name)) return undefined;
  if (Object.hasOwn(SYSTEM_PROPERTIES, name)) return coerceSystemProperty(type, name as SystemProperty, value);
  if (/^(_|ars_)/.test(name)) throw apiError('cascade.type.property.name.reserved', name);
  throw apiError('cascade.type.property.unknown', type.name, name);
}

/** `_id`, declared properties, system properties: the order of every representation (resources-and-api.md 1.4). */
function inOrder(type: TypeDefinition, instance: ObjectValue): ObjectValue {
  const ordered: ObjectValue = {};
  for (const name of memberNames(type)) if (Object.hasOwn(instance, name)) ordered[name] = instance[name] as Value;
  return ordered;
}

/** Whether the members stand in that order already, as those of most bodies do. */
function isInOrder(type: TypeDefinition, instance: ObjectValue): boolean {
  const names = memberNames(type);
  let place = 0;
  for (const name in instance) {
    while (place < names.length && names[place] !== name) place++;
    if (place++ >= names.length) return false;
  }
  return true;
}

const namesOf = new WeakMap<TypeDefinition, readonly string[]>();

function memberNames(type: TypeDefinition): readonly string[] {
  let names = namesOf.get(type);
  if (!names) {
    names = ['_id', ...type.properties.keys(), ...Object.keys(SYSTEM_PROPERTIES)];
    namesOf.set(type, names);
  }
  return names;
}
