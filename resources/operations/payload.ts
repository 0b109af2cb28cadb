// Access to the payload of a program's statement.
import { CascadeError } from '../../stdlib/errors.ts';
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';

export const text = (payload: ObjectValue, name: string): string => String(getOwn(payload, name));
/** The name of a value's type in error messages. */
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

/** The error for a statement that this installation cannot carry out. */
export const refused = (statement: string): CascadeError =>
  new CascadeError('cascade.operation.unknown', `Unknown operation ${statement}: this version cannot carry it out.`, [statement], 400);
