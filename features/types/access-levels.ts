// Access levels of a type's own (resources-and-api.md 7.1, 7.3): for each operation a condition, stored with substitutions in place of `$`.

import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { parseWhere, toStoredForm } from '../../model/query/index.ts';
import { CascadeError, fault } from '../../model/errors/faults.ts';
import type { TypeDefinition } from '../../model/types/index.ts';

const OPERATIONS = new Set(['select', 'insert', 'update', 'delete', 'aggregate']);
/** A condition is checked, not evaluated: who asks does not matter. */
const ANYBODY = { username: '', namespace: '', now: 0 };

/** The levels as they are stored. @throws cascade.profile.constraint.invalid for what is no condition on the type */
export function accessLevelsOf(type: TypeDefinition): ObjectValue {
  const levels: ObjectValue = {};
  for (const level of Object.keys(type.accessLevels)) {
    const entry = getOwn(type.accessLevels, level);
    if (!isObject(entry)) throw invalid(level, 'no Object');
    const stored: ObjectValue = {};
    for (const name of Object.keys(entry)) setOwn(stored, name, constraint(type, `${level}.${name}`, name, getOwn(entry, name)));
    setOwn(levels, level, stored);
  }
  return levels;
}

function constraint(type: TypeDefinition, path: string, operation: string, value: Value): Value {
  if (operation === 'invoke') {
    if (value === null || (Array.isArray(value) && value.every((name) => typeof name === 'string'))) return value;
    throw invalid(path, 'no array of String');
  }
  if (!OPERATIONS.has(operation)) throw invalid(path, 'no operation');
  if (value === null) return null;
  if (!isObject(value)) throw invalid(path, 'neither null nor a condition');
  const isWrapped = operation === 'delete' && Object.keys(value).length === 1 && Object.hasOwn(value, 'qual');
  const where = isWrapped ? getOwn(value, 'qual') : value;
  if (where === null) return value;
  try {
    parseWhere(where, type, ANYBODY);
  } catch (error) {
    if (error instanceof CascadeError) throw invalid(path, error.message);
    throw error;
  }
  return isWrapped ? { qual: toStoredForm(where) } : toStoredForm(where);
}

const invalid = (path: string, reason: string) => fault('cascade.profile.constraint.invalid', 'types', `accessLevels.${path}`, reason);
