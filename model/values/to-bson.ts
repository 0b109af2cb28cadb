// Values to BSON (mechanisms of storage: Integer always Long, Real always Double, Decimal as Decimal128, DateTime as Date).
import { Double, type Document, Long, ObjectId } from 'mongodb';
import {
  Currency,
  DateTime,
  Decimal,
  encodeInner,
  isObject,
  LocalValue,
  numberOf,
  type ObjectValue,
  Real,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';
import {
  type BaseType,
  type PropertyDefinition,
  SYSTEM_PROPERTIES,
  type SystemProperty,
  type TypeDefinition,
  cipherOf,
} from '../types/index.ts';
import { toDecimal128 } from './decimal128.ts';
import { escapeKey } from './keys.ts';

/** A value without a declared type. Currency becomes its text; names of members take their stored form. */
export function toBson(value: Value | undefined): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isInteger(value) ? Long.fromNumber(value) : value;
    case 'bigint':
      return Long.fromBigInt(value);
    case 'undefined':
    case 'function':
      return null;
    default:
      return value === null ? null : objectToBson(value);
  }
}

function objectToBson(value: Extract<Value, object>): unknown {
  if (Array.isArray(value)) return value.map(toBson);
  if (isObject(value)) {
    const document: Document = {};
    for (const key of Object.keys(value)) setOwn(document, escapeKey(key), toBson(value[key]) as Value);
    return document;
  }
  if (value instanceof Real) return new Double(value.value);
  if (value instanceof Decimal) return toDecimal128(value);
  if (value instanceof DateTime) return new Date(value.ms);
  if (value instanceof LocalValue) return toBson(value.data());
  return value.toString();
}

/** A coerced value of a property with this base type; elements of a multi property one by one. */
export function propertyToBson(base: BaseType, value: Value): unknown {
  if (Array.isArray(value) && base !== 'Object') return value.map((element) => propertyToBson(base, element));
  if (base === 'Real' && typeof value === 'number') return Number.isInteger(value) ? new Double(value) : value; // a fraction is stored as a Double
  if (base === 'Real' && value !== null) return new Double(numberOf(value));
  if (value instanceof Currency) return base === 'Currency' ? { c: value.code, v: toDecimal128(value.amount) } : value.toString();
  return toBson(value);
}

const SYSTEM_NAMES = Object.keys(SYSTEM_PROPERTIES) as SystemProperty[];

/** How a declared property is stored. */
interface Stored {
  readonly property: PropertyDefinition;
  /** Every object has something of that name: whether it is a member of its own has to be asked. */
  readonly isInherited: boolean;
}
const known = new WeakMap<TypeDefinition, readonly Stored[]>();

function storedProperties(type: TypeDefinition): readonly Stored[] {
  let stored = known.get(type);
  if (!stored) {
    stored = [...type.properties.values()].map((property) => ({ property, isInherited: property.name in Object.prototype }));
    known.set(type, stored);
  }
  return stored;
}

/** The stored document: `_id`, declared properties, system properties; `transcode` relies on that order. Others are left out. */
export function instanceToBson(type: TypeDefinition, instance: ObjectValue): Document {
  const document: Document = {};
  const id = instance['_id'];
  if (id !== undefined) document['_id'] = idToBson(id);
  for (const { property, isInherited } of storedProperties(type)) {
    if (isInherited && !Object.hasOwn(instance, property.name)) continue;
    const value = instance[property.name];
    if (value !== undefined) document[property.name] = storedProperty(type, property, value);
  }
  for (const name of SYSTEM_NAMES) {
    const value = instance[name];
    if (value !== undefined) document[name] = propertyToBson(SYSTEM_PROPERTIES[name], value);
  }
  return document;
}

/** A property's value as stored; null is stored in the clear, so that `required` and `$exists` need no key. */
export function storedProperty(type: Pick<TypeDefinition, 'cipher'>, property: PropertyDefinition, value: Value): unknown {
  if (!property.encrypted || value === null) return propertyToBson(property.base, value);
  return cipherOf(type, property.name).seal(encodeInner(value), property.name);
}

const OBJECT_ID = /^[0-9a-f]{24}$/;

/** The stored form of an `_id`; a text that is none of ours finds nothing. */
export const idToBson = (id: Value): unknown => (typeof id === 'string' && OBJECT_ID.test(id) ? ObjectId.createFromHexString(id) : id);
