// The payload of a program's statement.
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';

export const text = (payload: ObjectValue, name: string): string => String(getOwn(payload, name));
/** How an error names what a value is. */
export const typeName = (value: Value): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'List'
      : typeof value === 'string'
        ? 'String'
        : typeof value === 'boolean'
          ? 'Boolean'
          : 'value';
