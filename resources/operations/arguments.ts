// Arguments that several services take, as far as their declarations leave something to check.
import type { CascadeError } from '../../stdlib/errors.ts';
import { langError } from '../../stdlib/errors.ts';
import { DateTime, getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { requireAdmin } from '../access/index.ts';
import type { Namespace } from '../catalog/index.ts';

export const outOfRange = (parameter: string, value: Value): CascadeError => langError('cascade.lang.range', parameter, value);

/** One name or a List of them, each once; none for null. @throws cascade.lang.range for what is no name */
export function nameList(parameter: string, value: Value): string[] {
  const list = value === null ? [] : Array.isArray(value) ? value : [value];
  for (const name of list) if (typeof name !== 'string' || name === '') throw outOfRange(parameter, name);
  return [...new Set(list as string[])];
}

/** Now, but later than what was stored last: so that "changed since" misses nothing within one millisecond. */
export function timeAfter({ clock }: Actor, before: Value): DateTime {
  const now = clock.now();
  return new DateTime(before instanceof DateTime ? Math.max(now, before.ms + 1) : now);
}

/** @throws cascade.authorization.denied */
export function adminOnly(actor: Actor, operation: string, resource: string): void {
  requireAdmin(actor.identity, operation, resource);
}

/** The definition of a source that a built-in needs. @throws cascade.resource.not.found */
export function sourceNamed(space: Namespace, name: Value): ObjectValue {
  const found = space.catalog.definitions.get('sources', String(name));
  if (!found) throw apiError('cascade.resource.not.found', `/sources/${String(name)}`);
  return found;
}

/** A member that may not be there. */
export const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);
