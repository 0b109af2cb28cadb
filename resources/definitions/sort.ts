// Sorts definitions in memory in the store's order: null and missing first, ties by `_id`.

import { eq, lt } from '../../stdlib/operators/index.ts';
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { SortKey } from '../../model/query/index.ts';
import { idOf } from '../representation/index.ts';

export function compareBy(keys: readonly SortKey[]): (a: ObjectValue, b: ObjectValue) => number {
  return (a, b) => {
    for (const { path, descending } of keys) {
      if (!path.known) continue; // as in the store: what is not declared may hold values that have no common order
      const compared = compare(at(a, path.steps), at(b, path.steps));
      if (compared !== 0) return descending ? -compared : compared;
    }
    return compare(idOf(a), idOf(b));
  };
}

function compare(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return eq(a, b) ? 0 : lt(a, b) ? -1 : 1;
}

function at(object: ObjectValue, steps: readonly string[]): Value {
  let value: Value = object;
  for (const step of steps) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return null;
    value = getOwn(value as ObjectValue, step);
  }
  return value;
}
