// Converts instances between the external form, for clients and programs, and the stored one (resources-and-api.md 4.2). For types without
// scalars it costs one check of their properties.

import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { encodeInner, getOwn, isObject, setOwn } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { CascadeErrors, type CascadeError } from '../../model/errors/index.ts';
import type { ScalarAction, TypeDefinition } from '../../model/types/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { convertEach } from './calls.ts';
import { holds, type Members, type Slot, slotsOf, uses } from './slots.ts';

/** The stored form of a submitted body. @throws errors of the procedures */
export function toStored(space: Namespace, type: TypeDefinition, body: Value, actor: Actor): MaybePromise<Value> {
  if (!uses(type, 'toInternal') || !isObject(body)) return body;
  const { copy, slots } = slotsOf(type, body, 'toInternal');
  return fill(space, 'toInternal', slots, actor).then(() => copy);
}

/** The external form of stored instances: without secret properties. */
export async function toShown<T extends ObjectValue>(
  space: Namespace,
  type: TypeDefinition,
  stored: readonly T[],
  actor: Actor,
): Promise<ObjectValue[]> {
  if (stored.length === 0 || !isShownOtherwise(type)) return [...stored];
  const shown = await toShownMembers(space, type, stored, actor);
  for (const copy of shown) for (const name of type.secrets) delete copy[name];
  return shown;
}

/** The external form of Objects with these members, which are made of instances. */
export async function toShownMembers(
  space: Namespace,
  members: Members,
  rows: readonly ObjectValue[],
  actor: Actor,
): Promise<ObjectValue[]> {
  const each = rows.map((row) => slotsOf(members, row, 'toExternal'));
  await fill(
    space,
    'toExternal',
    each.flatMap(({ slots }) => slots),
    actor,
  );
  return each.map(({ copy }) => copy);
}

export function shownOne(space: Namespace, type: TypeDefinition, stored: ObjectValue, actor: Actor): MaybePromise<ObjectValue> {
  return isShownOtherwise(type) ? toShown(space, type, [stored], actor).then(([shown]) => shown as ObjectValue) : stored;
}

/** The members of an instance that are shown in another form than they are stored in; null: the type has none. */
export function storedMembers(type: TypeDefinition, stored: ObjectValue): ObjectValue | null {
  if (!uses(type, 'toExternal')) return null;
  const members: ObjectValue = {};
  for (const [name, property] of type.properties)
    if (holds(property, 'toExternal') && Object.hasOwn(stored, name)) setOwn(members, name, getOwn(stored, name));
  return members;
}

/** Whether the external form of instances differs from the stored one. */
export const isConverted = (type: TypeDefinition): boolean => uses(type, 'toInternal') || isShownOtherwise(type);

export const isShownOtherwise = (type: TypeDefinition): boolean => type.secrets.length > 0 || uses(type, 'toExternal');

/**
 * The stored form of a BEFORE rule's result: a value that the rule did not change keeps its stored form and is not converted again.
 * @param stored the instance before the rule; @param shown its external form
 */
export async function returned(
  space: Namespace,
  type: TypeDefinition,
  { stored, shown }: { stored: ObjectValue; shown: ObjectValue },
  result: ObjectValue,
  actor: Actor,
): Promise<ObjectValue> {
  if (!uses(type, 'toInternal') && !isShownOtherwise(type)) return result;
  const changed: ObjectValue = {};
  const kept: ObjectValue = {};
  for (const name of type.secrets) if (Object.hasOwn(stored, name) && !Object.hasOwn(result, name)) kept[name] = getOwn(stored, name);
  for (const name of Object.keys(result)) {
    const isKept = Object.hasOwn(shown, name) && encodeInner(getOwn(shown, name)) === encodeInner(getOwn(result, name));
    if (isKept && Object.hasOwn(stored, name)) kept[name] = getOwn(stored, name);
    else changed[name] = getOwn(result, name);
  }
  return { ...kept, ...((await toStored(space, type, changed, actor)) as ObjectValue) };
}

/** Bound of the errors in one message: a result may have thousands of rows that cannot be converted. */
const MOST_ERRORS = 20;

async function fill(space: Namespace, action: ScalarAction, slots: readonly Slot[], actor: Actor): Promise<void> {
  const outcomes = await Promise.all(
    [...groupedByScalar(slots)].map(async ([scalar, group]) => {
      const found = await convertEach(
        space,
        scalar,
        action,
        group.map(({ value }) => value),
        actor,
      );
      return group.map((slot, index) => ({ slot, outcome: found[index] as (typeof found)[number] }));
    }),
  );
  const errors: CascadeError[] = [];
  for (const { slot, outcome } of outcomes.flat()) {
    if ('error' in outcome) errors.push(outcome.error);
    else slot.put(outcome.value);
  }
  const [first, second] = errors;
  if (second) throw new CascadeErrors(errors.slice(0, MOST_ERRORS));
  if (first) throw first;
}

function groupedByScalar(slots: readonly Slot[]): Map<Slot['scalar'], Slot[]> {
  const groups = new Map<Slot['scalar'], Slot[]>();
  for (const slot of slots) {
    const group = groups.get(slot.scalar);
    if (group) group.push(slot);
    else groups.set(slot.scalar, [slot]);
  }
  return groups;
}
