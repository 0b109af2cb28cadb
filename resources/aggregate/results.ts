// Rows of a pipeline in the external form: members that the type still describes as its properties, others by their kind in the store.

import { Decimal, getOwn, isObject, isReference, type ObjectValue, parseCurrency, setOwn, type Value } from '../../stdlib/values/index.ts';
import { SYSTEM_PROPERTIES, type SystemProperty } from '../../model/types/index.ts';
import { fromBson, instanceFromBson, propertyToJson, referenceText, toTypedJson } from '../../model/values/index.ts';
import type { Shape } from './shape.ts';

/** The members of a row that the type still describes. */
export function typedPart(shape: Shape, raw: Uint8Array): ObjectValue {
  if (shape.typed.size === 0) return {};
  const instance = instanceFromBson(shape.type, raw);
  return Object.fromEntries(Object.entries(instance).filter(([name]) => shape.typed.has(name)));
}

/** The members of a row that are made of values of scalars. */
export function computedPart(shape: Shape, raw: Uint8Array): ObjectValue {
  const row = fromBson(raw);
  const part: ObjectValue = {};
  for (const name of Object.keys(row)) if (shape.computed.has(name)) setOwn(part, name, inside(getOwn(row, name)));
  return part;
}

/** Parts of a row, as everybody sees them. */
export interface ShownParts {
  readonly typed: ObjectValue;
  readonly computed: ObjectValue;
}

/** @param raw one row of BSON; @param exactReals whether a Real is written with its point */
export function rowToJson(shape: Shape, raw: Uint8Array, { typed, computed }: ShownParts, exactReals: boolean): string {
  const row = { ...fromBson(raw), ...computed };
  const members: string[] = [];
  for (const name of Object.keys(row)) {
    const isTyped = Object.hasOwn(typed, name);
    const json = isTyped ? typedJson(shape, name, typed[name] as Value, exactReals) : untypedJson(shape, row, name, exactReals);
    if (json !== null) members.push(`${JSON.stringify(name)}:${json}`);
  }
  return `{${members.join(',')}}`;
}

/** The row as `rowToJson`, in JSON in which values keep their types (integrations.md 11.3). */
export function rowToTypedJson(shape: Shape, raw: Uint8Array, { typed, computed }: ShownParts): string {
  const row = { ...fromBson(raw), ...computed };
  const shown: ObjectValue = {};
  for (const name of Object.keys(row)) {
    if (Object.hasOwn(typed, name)) setOwn(shown, name, getOwn(typed, name));
    else if (!shape.whole || name === '_id') setOwn(shown, name, inside(getOwn(row, name)));
  }
  return toTypedJson(shown);
}

/** The external value of a Currency, which is stored in two members. */
function inside(value: Value): Value {
  if (Array.isArray(value)) return value.map(inside);
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const { c: code, v: amount } = value;
  if (names.length === 2 && typeof code === 'string' && amount instanceof Decimal)
    return parseCurrency(`${code}:${amount.toString()}`) ?? value;
  const result: ObjectValue = {};
  for (const name of names) setOwn(result, name, inside(getOwn(value, name)));
  return result;
}

function typedJson(shape: Shape, name: string, value: Value, exactReals: boolean): string {
  const system = Object.hasOwn(SYSTEM_PROPERTIES, name) ? { base: SYSTEM_PROPERTIES[name as SystemProperty] } : { base: 'String' as const };
  const declared = shape.type.properties.get(name) ?? system;
  return propertyToJson(declared.base === 'Real' ? asReal(exactReals) : declared, value);
}

function untypedJson(shape: Shape, row: ObjectValue, name: string, exactReals: boolean): string | null {
  if (shape.whole && name !== '_id') return null; // a property that the type no longer declares
  return propertyToJson(asReal(exactReals), outside(row[name] as Value));
}

/** Numbers in Objects always keep their kind. */
const asReal = (exactly: boolean) => ({ base: exactly ? ('Object' as const) : ('Real' as const) });

/** The external form of stored values: Currencies and references have two members each. */
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
