// Constraints of profiles and of types' own access levels (resources-and-api.md 7.1, 7.3): checked when they are written, stored with
// substitutions in place of `$`.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { parseWhere, toStoredForm } from '../../model/query/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { convertsConstants } from '../scalars/index.ts';
import { decidable } from './comparators.ts';
import { CONSTRAINT_CONSTANTS, isSubstituted, openedConstraint } from './constraint-constants.ts';

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
export async function storedConstraint(
  space: Namespace,
  type: TypeDefinition | null,
  place: ConstraintPlace,
  operation: string,
  value: Value,
): Promise<Value> {
  const invalid = (reason: string, code: string | null = null): CascadeError =>
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
    const [stored, known] = await converted(space, type, where, invalid);
    const { near, condition } = parseWhere(stored, known, ANY_CALLER);
    if (near) throw invalid('$near orders a result, and restricts none');
    if (type && decidable(type, condition) !== condition) throw invalid('a comparator would have to decide, which no constraint can ask');
  } catch (error) {
    if (error instanceof CascadeError && error.code !== 'cascade.profile.constraint.invalid') throw invalid(error.message, error.code);
    throw error;
  }
  return isWrapped(operation, value) ? { qual: toStoredForm(where) } : toStoredForm(where);
}

/**
 * The condition with constants as they are compared: those of a scalar with procedures are given in its external form.
 * @returns no type where it cannot be told yet whether they fit it: within an import no procedure runs
 */
async function converted(
  space: Namespace,
  type: TypeDefinition | null,
  where: Value,
  invalid: (reason: string, code?: string) => CascadeError,
): Promise<[where: Value, type: TypeDefinition | null]> {
  if (!type || !convertsConstants(type)) return [where, type];
  const open = openedConstraint(space, where, type);
  if (open.constants.some(({ value }) => isSubstituted(value)))
    throw invalid('a procedure would have to convert what a substitution stands for');
  if (space.catalog.announced) return [where, null];
  const outcomes = await space.states.get(CONSTRAINT_CONSTANTS).convert(space, open.constants);
  for (const [index, constant] of open.constants.entries()) {
    const outcome = outcomes[index];
    if (outcome && 'error' in outcome) throw invalid(outcome.error.message, outcome.error.code);
    if (outcome) constant.put(outcome.value);
  }
  return [open.where, type];
}
