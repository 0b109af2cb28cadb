// Finds the values of user scalars in an instance: in its properties, in elements of multi-valued ones, in Objects of another type.

import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { PropertyDefinition, ScalarAction, ScalarDefinition, TypeDefinition } from '../../model/types/index.ts';

export interface Slot {
  readonly scalar: ScalarDefinition;
  /** The value, never null: null is null in every form. */
  readonly value: Value;
  put(value: Value): void;
}

/** What may hold values of scalars: a property, or what a pipeline has made of some. */
export interface Holder extends Pick<PropertyDefinition, 'kind' | 'multi' | 'scalar'> {
  readonly structure?: () => Members | undefined;
}

export interface Members {
  readonly properties: ReadonlyMap<string, Holder>;
}

/** Whether an instance of the type may hold values of a scalar with this procedure. */
export const uses = (type: TypeDefinition, action: ScalarAction): boolean => !type.isPlain && usesIn(type, action, new Set());

function usesIn(type: Members, action: ScalarAction, seen: ReadonlySet<Members>): boolean {
  for (const property of type.properties.values()) if (holds(property, action, seen)) return true;
  return false;
}

/** The same of one property. */
export function holds(property: Holder, action: ScalarAction, seen: ReadonlySet<Members> = new Set()): boolean {
  if (property.kind === 'base') return false;
  if (property.scalar?.[action] !== undefined) return true;
  const members = property.structure?.();
  return members !== undefined && !seen.has(members) && usesIn(members, action, new Set([...seen, members]));
}

/** A copy of the instance, as deep as such values require, and their slots in it. */
export function slotsOf(type: Members, instance: ObjectValue, action: ScalarAction): { copy: ObjectValue; slots: Slot[] } {
  const slots: Slot[] = [];
  return { copy: copied(type, instance, action, slots), slots };
}

function copied(type: Members, object: ObjectValue, action: ScalarAction, slots: Slot[]): ObjectValue {
  const copy: ObjectValue = {};
  for (const name of Object.keys(object)) {
    const property = type.properties.get(name);
    const value = getOwn(object, name);
    setOwn(copy, name, property && property.kind !== 'base' ? copiedValue(property, value, action, slots, copy, name) : value);
  }
  return copy;
}

/** A copy of the value for `holder[name]`; a slot writes the converted value there. */
function copiedValue(
  property: Holder,
  value: Value,
  action: ScalarAction,
  slots: Slot[],
  holder: ObjectValue | Value[],
  name: string | number,
): Value {
  if (value === null) return null;
  // No stored value of a scalar is an array, while what a client submits for one may be.
  if (Array.isArray(value) && (action === 'toExternal' || (property.multi && !Array.isArray(holder)))) {
    const elements = [...value];
    value.forEach((element, index) => {
      elements[index] = copiedValue(property, element, action, slots, elements, index);
    });
    return elements;
  }
  const { scalar } = property;
  if (scalar?.[action] !== undefined) {
    const put = (converted: Value): void => {
      if (Array.isArray(holder)) holder[Number(name)] = converted;
      else setOwn(holder, String(name), converted);
    };
    slots.push({ scalar, value, put });
    return value;
  }
  const members = property.structure?.();
  return members && isObject(value) ? copied(members, value, action, slots) : value;
}
