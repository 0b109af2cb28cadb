// Rows of a pipeline in the external form: what the type still describes as its properties, the rest by what it is in the store.

import { Decimal, isObject, isReference, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import { SYSTEM_PROPERTIES, type SystemProperty } from '../../types/index.ts';
import { fromBson, instanceFromBson, propertyToJson, referenceText } from '../../values/index.ts';
import type { Shape } from './shape.ts';

/** What of a row still is what the type says; other members are left out. */
export function typedPart(shape: Shape, raw: Uint8Array): ObjectValue {
  if (shape.typed.size === 0) return {};
  const instance = instanceFromBson(shape.type, raw);
  return Object.fromEntries(Object.entries(instance).filter(([name]) => shape.typed.has(name)));
}

/** @param raw one row of BSON; @param typed its typedPart, as everybody sees it */
export function rowToJson(shape: Shape, raw: Uint8Array, typed: ObjectValue): string {
  const row = fromBson(raw);
  const members: string[] = [];
  for (const name of Object.keys(row)) {
    const json = Object.hasOwn(typed, name) ? typedJson(shape, name, typed[name] as Value) : untypedJson(shape, row, name);
    if (json !== null) members.push(`${JSON.stringify(name)}:${json}`);
  }
  return `{${members.join(',')}}`;
}

function typedJson(shape: Shape, name: string, value: Value): string {
  const system = Object.hasOwn(SYSTEM_PROPERTIES, name) ? { base: SYSTEM_PROPERTIES[name as SystemProperty] } : { base: 'String' as const };
  return propertyToJson(shape.type.properties.get(name) ?? system, value);
}

function untypedJson(shape: Shape, row: ObjectValue, name: string): string | null {
  if (shape.whole && name !== '_id') return null; // a property that the type no longer declares
  return propertyToJson({ base: 'Real' }, outside(row[name] as Value));
}

/** Currencies and references lie in two members each. */
function outside(value: Value): Value {
  if (Array.isArray(value)) return value.map(outside);
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  if (names.length === 2) {
    const { c: code, v: amount } = value;
    if (typeof code === 'string' && amount instanceof Decimal) return `${code}:${amount.toString()}`;
    if (isReference(value)) return referenceText(value.resource, value.resourceId);
  }
  const result: ObjectValue = {};
  for (const name of names) result[name] = outside(value[name] as Value);
  return result;
}
