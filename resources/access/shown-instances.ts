// Conditions of rights on instances as events and BEFORE rules show them: the conditions are about stored values, which scalars show otherwise.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import { type Condition, matches, type Predicate } from '../../model/query/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { storedFormOf } from '../../runtime/events/index.ts';
import { holds, uses } from '../scalars/index.ts';

/**
 * Whether the instance satisfies the conditions. Where its stored form is not known (an event that is read again after a crash), conditions on
 * what is shown otherwise do not hold.
 */
export function satisfies(type: TypeDefinition, shown: ObjectValue, conditions: readonly Predicate[]): boolean {
  const stored = storedFormOf(shown);
  if (!stored && uses(type, 'toExternal') && conditions.some(({ condition }) => isOnScalars(type, condition))) return false;
  return conditions.every((one) => matches(one, stored ?? shown));
}

function isOnScalars(type: TypeDefinition, condition: Condition): boolean {
  if (condition.op !== 'property') return condition.terms.some((term) => isOnScalars(type, term));
  const property = type.properties.get(condition.path.steps[0] ?? '');
  return property !== undefined && holds(property, 'toExternal');
}
