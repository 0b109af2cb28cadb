// Compares a path without a declared type with an operand: language.md 4.7 for each value there and each element of an array (W4, W8), with
// the queries' null (W6).
import type { CompareOperator } from '../../compiler/types.ts';
import { fail } from '../../stdlib/errors.ts';
import { eq, ge, gt, le, lt } from '../../stdlib/operators/index.ts';
import { typeOf, type Value } from '../../stdlib/values/index.ts';
import { areFew, type Leaves, Lookup } from '../../model/query/index.ts';
import { ANY, keyOfValue } from './keys.ts';

/** @param byPosition a step of the path was a position in an array, so that only a path without any value counts as null */
export function compareData(operator: CompareOperator, leaves: Leaves, right: Value, byPosition: boolean): boolean {
  switch (operator) {
    case '==':
      return isEqual(leaves, right, byPosition);
    case '!=':
      return !isEqual(leaves, right, byPosition);
    case 'in':
      if (!Array.isArray(right)) return fail('cascade.lang.class.cast', 'in', 'value', typeOf(right));
      return isAnyOf(leaves, right, byPosition);
    case '<':
      return isOrdered(leaves, right, lt);
    case '<=':
      return isOrdered(leaves, right, le);
    case '>':
      return isOrdered(leaves, right, gt);
    case '>=':
      return isOrdered(leaves, right, ge);
    default:
      throw new Error(`${operator} is no comparison of data`);
  }
}

/** `in` of a path with several values: any of them may be any element. */
function isAnyOf(leaves: Leaves, list: readonly Value[], byPosition: boolean): boolean {
  const found = [...leaves.values, ...leaves.values.flatMap((value) => (Array.isArray(value) ? value : [])), ...leaves.positioned];
  if (areFew(found.length, list.length)) return list.some((element) => isEqual(leaves, element, byPosition));
  if (list.includes(null) && isNothing(leaves, byPosition)) return true;
  return Lookup.within(found, EQUALITY, (lookup) => list.some((element) => lookup.has(element)));
}

const EQUALITY = {
  keyOf: (value: Value) => {
    const key = keyOfValue(value);
    return key === ANY ? undefined : key;
  },
  isEqual: eq,
};

function isEqual(leaves: Leaves, right: Value, byPosition: boolean): boolean {
  if (right === null && isNothing(leaves, byPosition)) return true;
  for (const value of leaves.values)
    if (eq(value, right) || (Array.isArray(value) && value.some((element) => eq(element, right)))) return true;
  return leaves.positioned.some((value) => eq(value, right));
}

/** Whether no value was found, or some branch of the path ended early. */
export const isNothing = ({ values, positioned, missing }: Leaves, byPosition: boolean): boolean =>
  (values.length === 0 && positioned.length === 0) || (missing && !byPosition);

function isOrdered({ values, positioned }: Leaves, right: Value, compare: (a: Value, b: Value) => boolean): boolean {
  for (const value of values)
    if (Array.isArray(value) ? value.some((element) => compare(element, right)) : compare(value, right)) return true;
  return positioned.some((value) => !Array.isArray(value) && compare(value, right));
}
