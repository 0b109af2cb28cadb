// The door of the conversions: what parameters, returns, properties and query operands do to a value (language.md 4.3).
import { isObject, type Value } from '../values/index.ts';
import { unconvertible } from './conversion-error.ts';
import { toGeoJson } from './geojson.ts';
import { toReference } from './references.ts';
import { type Destination, toBoolean, toCurrency, toDateTime, toDecimal, toInteger, toReal, toText } from './scalars.ts';

export { ConversionError, type Reason, unconvertible } from './conversion-error.ts';
export { toGeoJson } from './geojson.ts';
export { toReference } from './references.ts';
export type { Destination } from './scalars.ts';

/** What a property, a parameter or a result may be of, besides types and scalars of users. */
export const BASE_TYPES = [
  'String',
  'Integer',
  'Real',
  'Boolean',
  'DateTime',
  'Decimal',
  'Currency',
  'GeoJSON',
  'ResourceReference',
  'Object',
] as const;
const STANDARD: ReadonlySet<string> = new Set([...BASE_TYPES, 'Any']);
/** Whether the name is not that of a user's type or scalar, which only the host knows. */
export const isStandardType = (name: string): boolean => STANDARD.has(name);

export interface Target {
  /** A standard type (isStandardType), not Any. */
  type: string;
  scale?: number | undefined;
}

/**
 * `value` as the target type. null stays null.
 * @throws {ConversionError} `cascade.lang.conversion`, which the caller re-codes for its place
 */
export function convert(value: Value, target: Target, where: Destination): Value {
  if (value === null || value === undefined) return null;
  switch (target.type) {
    case 'String':
      return toText(value, where);
    case 'Integer':
      return toInteger(value, where);
    case 'Real':
      return toReal(value, where);
    case 'Boolean':
      return toBoolean(value);
    case 'DateTime':
      return toDateTime(value);
    case 'Decimal':
      return toDecimal(value, target.scale, where);
    case 'Currency':
      return toCurrency(value, target.scale, where);
    case 'GeoJSON':
      return toGeoJson(value);
    case 'ResourceReference':
      return toReference(value);
    default:
      return isObject(value) ? value : unconvertible(value, target.type);
  }
}
