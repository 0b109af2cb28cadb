// BSON to values, from the raw bytes (`raw: true` of the driver): only they still tell Long 5 from Double 5.0.
import { BSON, type Document } from 'mongodb';
import {
  Currency,
  DateTime,
  Decimal,
  decodeInner,
  integer,
  numberOf,
  type ObjectValue,
  parseCurrency,
  Real,
  real,
  rescale,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';
import { type PropertyDefinition, SYSTEM_PROPERTIES, type TypeDefinition, cipherOf } from '../types/index.ts';
import { asBytes, type Bytes, int64At, KIND, nameEnd, sizeOf, stringAt } from './bson-bytes.ts';
import { readDecimal128 } from './decimal128.ts';
import { unescapeKey } from './keys.ts';

/** A document without a type. A decoded one is taken too, with what its decoding has lost. */
export const fromBson = (raw: Uint8Array | Document): ObjectValue => documentAt(bytesOf(raw), 0);

/** The instance in a stored document; what the type does not declare is left out. */
export function instanceFromBson(type: TypeDefinition, raw: Uint8Array | Document): ObjectValue {
  const bytes = bytesOf(raw);
  const instance: ObjectValue = {};
  eachElement(bytes, 0, (name, kind, at) => takeMember(type, instance, name, kind, bytes, at));
  return instance;
}

export function takeMember(type: TypeDefinition, instance: ObjectValue, name: string, kind: number, bytes: Bytes, at: number): void {
  const property = type.properties.get(name);
  if (property?.encrypted && kind === KIND.binary) {
    instance[name] = decodeInner(cipherOf(type, name).open(binaryAt(bytes, at), name));
  } else if (property) instance[name] = propertyAt(property, kind, bytes, at);
  else if (name === '_id') instance['_id'] = valueAt(kind, bytes, at);
  else if (Object.hasOwn(SYSTEM_PROPERTIES, name))
    instance[name] = propertyAt({ base: SYSTEM_PROPERTIES[name as keyof typeof SYSTEM_PROPERTIES] }, kind, bytes, at);
}

const bytesOf = (raw: Uint8Array | Document): Bytes => asBytes(raw instanceof Uint8Array ? raw : BSON.serialize(raw));

/** The content of a BSON binary. */
export const binaryAt = (bytes: Bytes, at: number): Uint8Array => bytes.subarray(at + 5, at + 5 + bytes.readInt32LE(at));

function eachElement(bytes: Bytes, start: number, take: (name: string, kind: number, at: number) => void): void {
  let at = start + 4;
  for (let kind = bytes[at] as number; kind !== 0; kind = bytes[at] as number) {
    const end = nameEnd(bytes, at + 1);
    take(bytes.utf8Slice(at + 1, end), kind, end + 1);
    at = end + 1 + sizeOf(kind, bytes, end + 1);
  }
}

function documentAt(bytes: Bytes, start: number): ObjectValue {
  const document: ObjectValue = {};
  eachElement(bytes, start, (name, kind, at) => setOwn(document, unescapeKey(name), valueAt(kind, bytes, at)));
  return document;
}

export function valueAt(kind: number, bytes: Bytes, at: number): Value {
  switch (kind) {
    case KIND.string:
      return stringAt(bytes, at);
    case KIND.int64:
      return int64At(bytes, at);
    case KIND.int32:
      return bytes.readInt32LE(at);
    case KIND.double:
      return real(bytes.readDoubleLE(at));
    case KIND.boolean:
      return bytes[at] === 1;
    case KIND.date:
      return new DateTime(Number(int64At(bytes, at)));
    case KIND.decimal128:
      return readDecimal128(bytes, at);
    case KIND.document:
      return documentAt(bytes, at);
    case KIND.array: {
      const items: Value[] = [];
      eachElement(bytes, at, (_, itemKind, itemAt) => items.push(valueAt(itemKind, bytes, itemAt)));
      return items;
    }
    case KIND.objectId:
      return bytes.hexSlice(at, at + 12);
    default:
      return null;
  }
}

export type Stored = Pick<PropertyDefinition, 'base' | 'scale' | 'structure'>;

/** A value of a property: by its declared type where the stored form alone does not tell. */
export function propertyAt(property: Stored, kind: number, bytes: Bytes, at: number): Value {
  const { base, scale } = property;
  const structure = property.structure?.();
  if (structure) return structuredAt(structure, kind, bytes, at);
  if (kind === KIND.array && base !== 'Object') {
    const items: Value[] = [];
    eachElement(bytes, at, (_, itemKind, itemAt) => items.push(propertyAt(property, itemKind, bytes, itemAt)));
    return items;
  }
  const value = valueAt(kind, bytes, at);
  if (base === 'Currency' && kind === KIND.document) return toCurrency(value as ObjectValue, scale);
  if (base === 'Decimal' && value instanceof Decimal) return grown(value, scale);
  if (base === 'Real' && typeof value === 'number') return real(value);
  if (base === 'Integer' && (value instanceof Real || typeof value === 'number')) return integer(numberOf(value));
  return value;
}

/** An Object with another type's properties, or several. They may have had other types when it was written: what does not fit stays as it is. */
export function structuredAt(structure: TypeDefinition, kind: number, bytes: Bytes, at: number): Value {
  if (kind === KIND.array) {
    const items: Value[] = [];
    eachElement(bytes, at, (_, itemKind, itemAt) => items.push(structuredAt(structure, itemKind, bytes, itemAt)));
    return items;
  }
  if (kind !== KIND.document) return valueAt(kind, bytes, at);
  const object: ObjectValue = {};
  eachElement(bytes, at, (stored, memberKind, memberAt) => {
    const name = unescapeKey(stored);
    const declared = structure.properties.get(name);
    setOwn(object, name, declared ? memberOfObject(declared, memberKind, bytes, memberAt) : valueAt(memberKind, bytes, memberAt));
  });
  return object;
}

/** A member of such an Object, where a Currency is its text. */
export function memberOfObject(property: Stored, kind: number, bytes: Bytes, at: number): Value {
  const structure = property.structure?.();
  if (structure) return structuredAt(structure, kind, bytes, at);
  if (kind === KIND.array && property.base !== 'Object') {
    const items: Value[] = [];
    eachElement(bytes, at, (_, itemKind, itemAt) => items.push(memberOfObject(property, itemKind, bytes, itemAt)));
    return items;
  }
  const value = valueAt(kind, bytes, at);
  if (property.base === 'Currency' && typeof value === 'string') return currencyOfText(value, property.scale) ?? value;
  return property.base === 'Decimal' && value instanceof Decimal ? grown(value, property.scale) : value;
}

/** The Currency of its stored text inside an Object; null for any other text. */
export function currencyOfText(text: string, scale: number | undefined): Currency | null {
  const currency = STORED_CURRENCY.test(text) ? parseCurrency(text) : null;
  return currency && new Currency(currency.code, grown(currency.amount, scale));
}
const STORED_CURRENCY = /^[A-Z]{3}:-?\d{1,34}(?:\.\d{1,34})?$/;

const toCurrency = ({ c, v }: ObjectValue, scale: number | undefined): Value =>
  typeof c === 'string' && v instanceof Decimal ? new Currency(c, grown(v, scale)) : null;

/** `scale` of a property may grow while instances exist (resources-and-api.md 4.1). */
const grown = (value: Decimal, scale = 0): Decimal => (value.scale < scale ? rescale(value, scale) : value);
