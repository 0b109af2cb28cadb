// Comparators in constraints (resources-and-api.md 4.2, 7.2). A comparator is a program, and rights are decided at once: a condition that it
// would decide in a request grants nothing.

import type { Condition, Test } from '../../model/query/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';

/**
 * The condition without alternatives that a comparator would decide.
 * @returns the same object where there are none; null: it grants nothing
 */
export function decidable(type: TypeDefinition, condition: Condition): Condition | null {
  if (condition.op === 'property') return asksComparator(type, condition) ? null : condition;
  const { op, terms } = condition;
  const decided = terms.map((term) => decidable(type, term));
  if (decided.every((term, index) => term === terms[index])) return condition;
  const left = decided.filter((term) => term !== null);
  if (op === 'nor' || left.length < (op === 'or' ? 1 : terms.length)) return null;
  return { op, terms: left };
}

/** Whether it compares a property of one value, which has a comparator, with anything but null. */
function asksComparator(type: TypeDefinition, { path: { steps }, tests }: Extract<Condition, { op: 'property' }>): boolean {
  const property = steps.length === 1 ? type.properties.get(steps[0] ?? '') : undefined;
  return property?.scalar?.comparator !== undefined && !property.multi && tests.some(compares);
}

function compares(test: Test): boolean {
  switch (test.op) {
    case 'eq':
    case 'ne':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return test.value !== null;
    case 'in':
    case 'nin':
      return test.values.some((value) => value !== null);
    case 'not':
      return test.tests.some(compares);
    default:
      return false;
  }
}
