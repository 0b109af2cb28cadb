// Values to the JSON that clients see (resources-and-api.md 1.4, 5): Decimal, Currency and DateTime as text, Integers with all digits.
import { isObject, isReference, LocalValue, type ObjectValue, Real, type Value } from '../../stdlib/values/index.ts';
import { type PropertyDefinition, SYSTEM_PROPERTIES, type SystemProperty, type TypeDefinition } from '../types/index.ts';
import { wholeText } from './whole-text.ts';

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
  // Loops: what a program gives may be nested a thousand levels deep, and each function on the way takes its part of the stack.
  if (Array.isArray(value)) {
    const parts: string[] = [];
    for (const element of value) parts.push(write(element, bare));
    return `[${parts.join(',')}]`;
  }
  if (isObject(value)) {
    const parts: string[] = [];
    for (const key of Object.keys(value)) parts.push(`${JSON.stringify(key)}:${write(value[key], bare)}`);
    return `{${parts.join(',')}}`;
  }
  if (value instanceof Real) return realText(value.value, bare);
  if (value instanceof LocalValue) return write(value.data(), bare);
  return `"${value.toString()}"`;
}

/** `/resource/resourceId`, the form outside (resources-and-api.md 5.8). */
export const referenceText = (resource: string, resourceId: string): string => `/${resource}/${resourceId}`;

function writeReference(value: Value): string {
  return isReference(value) ? JSON.stringify(referenceText(value.resource, value.resourceId)) : write(value, false);
}

export type Written = Pick<PropertyDefinition, 'base' | 'structure'>;

/** How a value of the property reads outside; an element of a multi property as the property itself. */
export function propertyToJson(property: Written, value: Value): string {
  const structure = property.structure?.();
  if (structure) return structuredToJson(structure, value);
  if (Array.isArray(value) && property.base !== 'Object') return `[${value.map((element) => propertyToJson(property, element)).join(',')}]`;
  if (property.base === 'ResourceReference') return writeReference(value);
  return write(value, property.base === 'Real' || property.base === 'GeoJSON');
}

/** An Object with another type's properties, or several: numbers keep their kind, as in every Object. */
function structuredToJson(structure: TypeDefinition, value: Value): string {
  if (Array.isArray(value)) return `[${value.map((element) => structuredToJson(structure, element)).join(',')}]`;
  if (!isObject(value)) return write(value, false);
  const members = Object.keys(value).map((name) => {
    const typed = typedMember(structure, name);
    return `${JSON.stringify(name)}:${typed ? propertyToJson(typed, value[name] as Value) : write(value[name], false)}`;
  });
  return `{${members.join(',')}}`;
}

/** A property of such an Object that does not read as in any Object. */
export function typedMember(structure: TypeDefinition, name: string): Written | undefined {
  const declared = structure.properties.get(name);
  return declared && (declared.base === 'ResourceReference' || declared.structure) ? declared : undefined;
}

/** How the members of an instance are written, in their order. */
interface MemberWriter {
  readonly name: string;
  /** The name with its quotes and colon. */
  readonly label: string;
  /** Every object has something of that name: whether it is a member of its own has to be asked. */
  readonly isInherited: boolean;
  readonly property: Written;
}
const known = new WeakMap<TypeDefinition, readonly MemberWriter[]>();

export function writersOf(type: TypeDefinition): readonly MemberWriter[] {
  let writers = known.get(type);
  if (!writers) {
    const writer = (name: string, property: Written) => ({
      name,
      label: `"${name}":`,
      isInherited: name in Object.prototype,
      property,
    });
    writers = [
      writer('_id', { base: 'String' }),
      ...[...type.properties.values()].map((property) => writer(property.name, property)),
      ...(Object.keys(SYSTEM_PROPERTIES) as SystemProperty[]).map((name) => writer(name, { base: SYSTEM_PROPERTIES[name] })),
    ];
    known.set(type, writers);
  }
  return writers;
}

/**
 * An instance as clients see it: `_id`, declared properties, system properties, each where the instance has it. What is not declared is left out.
 * @param props the properties to keep besides `_id`; none or an empty list means all
 */
export function instanceToJson(type: TypeDefinition, instance: ObjectValue, props?: readonly string[]): string {
  const kept = props && props.length > 0 ? new Set(['_id', ...props.map(topLevel)]) : null;
  let json = '';
  for (const { name, label, isInherited, property } of writersOf(type)) {
    if ((isInherited && !Object.hasOwn(instance, name)) || (kept !== null && !kept.has(name))) continue;
    const value = instance[name];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? JSON.stringify(value) : propertyToJson(property, value);
    json += json === '' ? label + text : `,${label}${text}`;
  }
  return wholeText(`{${json}}`);
}

/** The property that a path into it belongs to. */
export const topLevel = (path: string): string => path.split('.', 1)[0] as string;
