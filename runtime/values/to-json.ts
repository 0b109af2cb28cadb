// Values to the JSON that clients see (resources-and-api.md 1.4, 5): Decimal, Currency and DateTime as text, Integers with all digits.
import { getOwn, isObject, isReference, LocalValue, type ObjectValue, Real, type Value } from '../../stdlib/values/index.ts';
import { type PropertyDefinition, SYSTEM_PROPERTIES, type SystemProperty, type TypeDefinition } from '../types/definition.ts';

/** The text of a Real: `5.0` where nothing else tells that it is one, else (in a Real property, a coordinate) just `5`. */
export function realText(value: number, bare: boolean): string {
  if (!Number.isFinite(value)) return 'null'; // JSON knows no other; a stored one is refused before
  if (value === 0) return Object.is(value, -0) ? '-0.0' : bare ? '0' : '0.0';
  const text = String(value);
  return bare || !Number.isInteger(value) || text.includes('e') ? text : `${text}.0`;
}

/** An untyped value: integral Reals keep their `.0`, so that they are read back as Reals. */
export const toJson = (value: Value): string => write(value, false);

function write(value: Value | undefined, bare: boolean): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
    case 'function':
      return 'null';
    default:
      return value === null ? 'null' : writeObject(value, bare);
  }
}

function writeObject(value: Extract<Value, object>, bare: boolean): string {
  if (Array.isArray(value)) return `[${value.map((element) => write(element, bare)).join(',')}]`;
  if (isObject(value)) return `{${membersOf(value, (member) => write(member, bare)).join(',')}}`;
  if (value instanceof Real) return realText(value.value, bare);
  if (value instanceof LocalValue) return write(value.data(), bare);
  return `"${value.toString()}"`;
}

const membersOf = (object: ObjectValue, toText: (value: Value) => string): string[] =>
  Object.keys(object).map((key) => `${JSON.stringify(key)}:${toText(object[key] as Value)}`);

/** `/resource/resourceId`, the form outside (resources-and-api.md 5.8). */
export const referenceText = (resource: string, resourceId: string): string => `/${resource}/${resourceId}`;

function writeReference(value: Value): string {
  return isReference(value) ? JSON.stringify(referenceText(value.resource, value.resourceId)) : write(value, false);
}

/** How a value of the property reads outside; an element of a multi property as the property itself. */
export function propertyToJson(property: Pick<PropertyDefinition, 'base'>, value: Value): string {
  if (Array.isArray(value) && property.base !== 'Object') return `[${value.map((element) => propertyToJson(property, element)).join(',')}]`;
  if (property.base === 'ResourceReference') return writeReference(value);
  return write(value, property.base === 'Real' || property.base === 'GeoJSON');
}

/**
 * An instance as clients see it: `_id`, declared properties, system properties, each where the instance has it. What is not declared is left out.
 * @param props the properties to keep besides `_id`; none or an empty list means all
 */
export function instanceToJson(type: TypeDefinition, instance: ObjectValue, props?: readonly string[]): string {
  const kept = props && props.length > 0 ? new Set(props.map(topLevel)) : null;
  const members: string[] = [];
  const member = (name: string, toText: (value: Value) => string): void => {
    if (Object.hasOwn(instance, name) && (kept === null || kept.has(name) || name === '_id'))
      members.push(`"${name}":${toText(getOwn(instance, name))}`);
  };
  member('_id', toJson);
  for (const property of type.properties.values()) member(property.name, (value) => propertyToJson(property, value));
  for (const name of Object.keys(SYSTEM_PROPERTIES) as SystemProperty[])
    member(name, (value) => propertyToJson({ base: SYSTEM_PROPERTIES[name] }, value));
  return `{${members.join(',')}}`;
}

/** The property that a path into it belongs to. */
export const topLevel = (path: string): string => path.split('.', 1)[0] as string;
