// Restores the types of a reply's rows: a value that clients get as text (a DateTime, a Decimal, a whole Real) gets its declared type.
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { isApiError } from '../../model/errors/index.ts';
import {
  coerceProperty,
  coerceSystemProperty,
  SYSTEM_PROPERTIES,
  type SystemProperty,
  type TypeDefinition,
} from '../../model/types/index.ts';

export function typed(type: TypeDefinition, row: Value): Value {
  if (!isObject(row)) return row;
  const result: ObjectValue = {};
  for (const key of Object.keys(row)) setOwn(result, key, typedProperty(type, key, getOwn(row, key)));
  return result;
}

function typedProperty(type: TypeDefinition, key: string, value: Value): Value {
  const property = type.properties.get(key);
  try {
    if (property) return coerceProperty(type, property, value);
    return isSystemProperty(key) ? coerceSystemProperty(type, key, value) : value;
  } catch (error) {
    // A part of a structure chosen by `props`, or stored before the type changed: it stays as clients see it.
    if (isApiError(error)) return value;
    throw error;
  }
}

const isSystemProperty = (key: string): key is SystemProperty => Object.hasOwn(SYSTEM_PROPERTIES, key);
