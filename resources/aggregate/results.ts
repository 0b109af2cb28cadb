// Rows of a pipeline in the external form: members that the type still describes as its properties, others by their kind in the store.

import { Decimal, getOwn, isObject, isReference, type ObjectValue, parseCurrency, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type InPieces, isDivisible, runsOf, SYSTEM_PROPERTIES, type SystemProperty } from '../../model/types/index.ts';
import {
  fromBson,
  fromBsonInPieces,
  instanceFromBson,
  instanceFromBsonInPieces,
  propertyToJsonInPieces,
  referenceText,
  toTypedJsonInPieces,
} from '../../model/values/index.ts';
import type { Shape } from './shape.ts';

/** The members of a row that the type still describes. */
export function typedPart(shape: Shape, raw: Uint8Array): ObjectValue {
  if (shape.typed.size === 0) return {};
  return typedOf(shape, instanceFromBson(shape.type, raw));
}

/** The same of a long row. */
export function* typedPartInPieces(shape: Shape, raw: Uint8Array): InPieces<ObjectValue> {
  if (shape.typed.size === 0) return {};
  return typedOf(shape, yield* instanceFromBsonInPieces(shape.type, raw));
}

const typedOf = (shape: Shape, instance: ObjectValue): ObjectValue =>
  Object.fromEntries(Object.entries(instance).filter(([name]) => shape.typed.has(name)));

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

/** Of a row, written at once. */
const MEMBERS = 64;

/** @param raw one row of BSON; @param exactReals whether a Real is written with its point */
export function* rowToJson(shape: Shape, raw: Uint8Array, { typed, computed }: ShownParts, exactReals: boolean): InPieces<string> {
  const row = { ...(yield* fromBsonInPieces(raw)), ...computed };
  const members: string[] = [];
  for (const name of Object.keys(row)) {
    const isTyped = Object.hasOwn(typed, name);
    const json = yield* isTyped ? typedJson(shape, name, typed[name] as Value, exactReals) : untypedJson(shape, row, name, exactReals);
    if (json !== null) members.push(`${JSON.stringify(name)}:${json}`);
    if (members.length % MEMBERS === 0) yield;
  }
  return `{${members.join(',')}}`;
}

/** The row as `rowToJson`, in JSON in which values keep their types (integrations.md 11.3). */
export function* rowToTypedJson(shape: Shape, raw: Uint8Array, { typed, computed }: ShownParts): InPieces<string> {
  const row = { ...(yield* fromBsonInPieces(raw)), ...computed };
  const shown: ObjectValue = {};
  for (const name of Object.keys(row)) {
    if (Object.hasOwn(typed, name)) setOwn(shown, name, getOwn(typed, name));
    else if (!shape.whole || name === '_id') setOwn(shown, name, inside(getOwn(row, name)));
  }
  return yield* toTypedJsonInPieces(shown);
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

function typedJson(shape: Shape, name: string, value: Value, exactReals: boolean): InPieces<string> {
  const system = Object.hasOwn(SYSTEM_PROPERTIES, name) ? { base: SYSTEM_PROPERTIES[name as SystemProperty] } : { base: 'String' as const };
  const declared = shape.type.properties.get(name) ?? system;
  return propertyToJsonInPieces(declared.base === 'Real' ? asReal(exactReals) : declared, value);
}

function* untypedJson(shape: Shape, row: ObjectValue, name: string, exactReals: boolean): InPieces<string | null> {
  if (shape.whole && name !== '_id') return null; // a property that the type no longer declares
  return yield* propertyToJsonInPieces(asReal(exactReals), yield* outsideInPieces(row[name] as Value));
}

/** Numbers in Objects always keep their kind. */
const asReal = (exactly: boolean) => ({ base: exactly ? ('Object' as const) : ('Real' as const) });

/** The external form of stored values: Currencies and references have two members each. */
function outside(value: Value): Value {
  if (Array.isArray(value)) return value.map(outside);
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const text = textOf(value, names);
  if (text !== null) return text;
  const result: ObjectValue = {};
  for (const name of names) setOwn(result, name, outside(value[name] as Value));
  return result;
}

/** Of a Currency or a reference; null for another object. */
function textOf(value: ObjectValue, names: readonly string[]): string | null {
  if (names.length !== 2) return null;
  const { c: code, v: amount } = value;
  if (typeof code === 'string' && amount instanceof Decimal) return `${code}:${amount.toString()}`;
  return isReference(value) ? referenceText(value.resource, value.resourceId) : null;
}

/** The same as `outside` for a long value. */
function* outsideInPieces(value: Value): InPieces<Value> {
  if (!isDivisible(value)) return outside(value);
  if (Array.isArray(value)) {
    const all: Value[] = [];
    for (const run of runsOf(value.length, (index) => value[index])) {
      const items = value.slice(run.from, run.to);
      for (const item of items) all.push(run.isDivisible ? yield* outsideInPieces(item) : outside(item));
      yield;
    }
    return all;
  }
  const names = Object.keys(value);
  const text = textOf(value, names);
  if (text !== null) return text;
  const result: ObjectValue = {};
  for (const run of runsOf(names.length, (index) => value[names[index] as string])) {
    for (const name of names.slice(run.from, run.to)) {
      const member = value[name] as Value;
      setOwn(result, name, run.isDivisible ? yield* outsideInPieces(member) : outside(member));
    }
    yield;
  }
  return result;
}
