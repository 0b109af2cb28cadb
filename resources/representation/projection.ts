// Projects an instance or a definition to some of its properties (resources-and-api.md 2.2, language.md E7).

import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';

/** The projection: `_id` and the values at the paths, through arrays of objects, too. The object itself is not changed. */
export function projected(object: ObjectValue, props: readonly string[]): ObjectValue {
  const whole = new Set(props);
  const kept: ObjectValue = { _id: getOwn(object, '_id') };
  for (const path of whole) {
    const steps = path.split('.');
    if (!steps.some((_, index) => index > 0 && whole.has(steps.slice(0, index).join('.')))) keep(object, kept, steps);
  }
  return kept;
}

function keep(from: ObjectValue, to: ObjectValue, [name = '', ...rest]: readonly string[]): void {
  if (!Object.hasOwn(from, name)) return;
  setOwn(to, name, part(getOwn(from, name), Object.hasOwn(to, name) ? getOwn(to, name) : null, rest));
}

/** @param present the part that other paths have kept already */
function part(value: Value, present: Value, rest: readonly string[]): Value {
  if (rest.length === 0) return value;
  if (Array.isArray(value))
    return value.map((element, index) => part(element, Array.isArray(present) ? (present[index] ?? null) : null, rest));
  if (!isObject(value)) return value;
  const inner = isObject(present) ? present : {};
  keep(value, inner, rest);
  return inner;
}
