// Constraints of profiles and of types' own access levels (resources-and-api.md 7.1, 7.3): checked when they are written, stored with
// substitutions in place of `$`.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { parseWhere, toStoredForm } from '../../model/query/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';

const OPERATIONS = new Set(['select', 'insert', 'update', 'delete', 'aggregate']);

/** Whether a constraint of `delete` is the condition in its only member `qual` (7.1): a property may be called so, too. */
export const isWrapped = (operation: string, constraint: ObjectValue): boolean =>
  operation === 'delete' && Object.keys(constraint).length === 1 && Object.hasOwn(constraint, 'qual');

/** A caller for checks: a constraint is not evaluated, so the caller does not matter. */
const ANY_CALLER = { username: '', namespace: '', now: 0 };

/** The place of a constraint in a definition, for error messages. */
export interface ConstraintPlace {
  readonly resource: string;
  readonly path: string;
}

/**
 * The stored form of a member of a `dml` entry.
 * @param type null: the type does not exist yet, so only the form of the condition is checked
 * @throws cascade.profile.constraint.invalid
 */
export function storedConstraint(type: TypeDefinition | null, place: ConstraintPlace, operation: string, value: Value): Value {
  const invalid = (reason: string, code: string | null = null) =>
    apiError('cascade.profile.constraint.invalid', place.resource, place.path, reason, code);
  if (operation === 'invoke') {
    if (value === null || (Array.isArray(value) && value.every((name) => typeof name === 'string'))) return value;
    throw invalid('no array of String');
  }
  if (!OPERATIONS.has(operation)) throw invalid('no operation');
  if (value === null) return null;
  if (!isObject(value)) throw invalid('neither null nor a condition');
  const where = isWrapped(operation, value) ? getOwn(value, 'qual') : value;
  if (where === null) return value;
  try {
    if (parseWhere(where, type, ANY_CALLER).near) throw invalid('$near orders a result, and restricts none');
  } catch (error) {
    if (error instanceof CascadeError && error.code !== 'cascade.profile.constraint.invalid') throw invalid(error.message, error.code);
    throw error;
  }
  return isWrapped(operation, value) ? { qual: toStoredForm(where) } : toStoredForm(where);
}
