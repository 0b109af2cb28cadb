// Checks of arguments that several services take, beyond those of their declarations.
import type { CascadeError } from '../../stdlib/errors.ts';
import { langError } from '../../stdlib/errors.ts';
import { DateTime, getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { requireAdmin } from '../access/index.ts';
import type { Namespace } from '../catalog/index.ts';

export const outOfRange = (parameter: string, value: Value): CascadeError => langError('cascade.lang.range', parameter, value);

/** A name or a List of names, without duplicates; none for null. @throws cascade.lang.range for an invalid name */
export function nameList(parameter: string, value: Value): string[] {
  const list = value === null ? [] : Array.isArray(value) ? value : [value];
  for (const name of list) if (typeof name !== 'string' || name === '') throw outOfRange(parameter, name);
  return [...new Set(list as string[])];
}

/** The same of users, whose names are stored in lower case. */
export const userList = (parameter: string, value: Value): string[] => [
  ...new Set(nameList(parameter, value).map((name) => name.toLowerCase())),
];

/** The present time, but later than the last stored one: so "changed since" misses nothing within one millisecond. */
export function timeAfter({ clock }: Actor, before: Value): DateTime {
  const now = clock.now();
  return new DateTime(before instanceof DateTime ? Math.max(now, before.ms + 1) : now);
}

/** @throws cascade.authorization.denied */
export function adminOnly(actor: Actor, operation: string, resource: string): void {
  requireAdmin(actor.identity, operation, resource);
}

/** The definition of a source for a built-in. @throws cascade.resource.not.found */
export function sourceNamed(space: Namespace, name: Value): ObjectValue {
  const found = space.catalog.definitions.get('sources', String(name));
  if (!found) throw apiError('cascade.resource.not.found', `/sources/${String(name)}`);
  return found;
}

/** An own member, or null where it is absent. */
export const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);
