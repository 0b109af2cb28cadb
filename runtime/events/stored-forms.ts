// The stored form of the instances that events show: their scalars' values are in the external form (resources-and-api.md 4.2), while rights
// are decided by the stored values. It is known for the value of an event, and goes with the event under a symbol, which no serialization
// includes: an event that is read from the store has none.

import { decodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { StoredEvent } from '../transactions/index.ts';

const FORMS = new WeakMap<ObjectValue, ObjectValue>();
const MEMBERS = Symbol('stored members');
/** An event, or what is kept of one. */
type Event = Pick<StoredEvent, 'value'>;
type Known = Event & { [MEMBERS]?: ObjectValue };

/** @param members the members of the shown instance that may be stored in another form, in that one */
export function keepStoredForm(shown: Value, members: ObjectValue): void {
  if (isObject(shown)) FORMS.set(shown, { ...shown, ...members });
}

/** Undefined where it is not known. */
export const storedFormOf = (shown: ObjectValue): ObjectValue | undefined => FORMS.get(shown);

/** Attaches the members to an event that was raised now, or that is made of what was kept of one. */
export function withStoredMembers<T extends Event>(event: T, members: ObjectValue): T {
  (event as Known)[MEMBERS] = members;
  return event;
}

export const storedMembersIn = (event: Event): ObjectValue | undefined => (event as Known)[MEMBERS];

/** The value of an event, by which rights can be decided. */
export const valueOf = (event: Event): Value => known(event, decodeInner(event.value));

/** The same of one that was decoded already. */
export function known(event: Event, value: Value): Value {
  const members = storedMembersIn(event);
  if (members) keepStoredForm(value, members);
  return value;
}
