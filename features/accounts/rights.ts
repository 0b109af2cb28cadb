// Who may do what to accounts, and the fields of their bodies (resources-and-api.md 7.5 for the default profiles, 4.11).

import { isServiceSet } from '../../model/types/index.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../resources/api.ts';
import { fault } from '../../model/errors/faults.ts';
import { isAdmin } from '../../resources/access/rights.ts';
import type { Namespace } from '../../resources/catalog/types.ts';

/** @throws cascade.authorization.denied */
export function requireAdmin(caller: Identity, operation: string, resource: string): void {
  if (!isAdmin(caller)) throw fault('cascade.authorization.denied', operation, resource);
}

/**
 * Whoever lets others act under profiles must have these, or administer the namespace that they are of (language.md P8).
 * @throws cascade.profile.escalation
 */
export function requireGrantable(names: readonly string[], caller: Identity): void {
  const missing = names.map(usualName).find((name) => !isGrantable(name, caller));
  if (missing !== undefined) throw fault('cascade.profile.escalation', missing);
}

/** Whether a caller has what a profile gives, or administers the namespace that it is of. @param name in its usual spelling */
export function isGrantable(name: string, caller: Identity): boolean {
  if (caller.system === true || name === 'user__system' || caller.profiles.includes(name)) return true;
  return !name.endsWith('__system') && isAdmin(caller);
}

/** `system.p` is another spelling of `p__system`. */
const usualName = (name: string): string => (name.startsWith('system.') ? `${name.slice('system.'.length)}__system` : name);

/** The text of a field; null when it is not set. */
export function textIn(resource: string, body: ObjectValue, name: string): string | null {
  const value = Object.hasOwn(body, name) ? getOwn(body, name) : null;
  if (value !== null && typeof value !== 'string') throw fault('cascade.resource.property.invalid', resource, name, 'no String');
  return value;
}

export function requiredText(resource: string, body: ObjectValue, name: string): string {
  const text = textIn(resource, body, name);
  if (text === null) throw fault('cascade.resource.property.required', resource, name);
  return text;
}

/** @throws cascade.resource.property.unknown */
export function requireKnown(resource: string, body: ObjectValue, known: readonly string[]): void {
  const stranger = Object.keys(body).find((name) => !isServiceSet(name) && !known.includes(name));
  if (stranger !== undefined) throw fault('cascade.resource.property.unknown', resource, stranger);
}

/**
 * One profile of this namespace and one of the system namespace, in their usual spelling.
 * @throws cascade.user.profiles.invalid, cascade.profile.escalation
 */
export function profilesIn(space: Namespace, value: Value, caller: Identity): string[] {
  const invalid = (reason: string) => fault('cascade.user.profiles.invalid', 'users', 'profiles', reason);
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) throw invalid('no array of String');
  const names = value.map(usualName);
  const system = names.filter((name) => name.endsWith('__system'));
  const local = names.filter((name) => !name.endsWith('__system'));
  if (system.length !== 1 || local.length !== 1) throw invalid('one profile of the namespace and one of the system are expected');
  const [ours = ''] = local;
  const [theirs = ''] = system;
  if (ours !== 'user' && ours !== 'admin' && !space.definitions.get('profiles', ours)) throw invalid(`there is no profile ${ours}`);
  if (theirs !== 'user__system' && theirs !== 'admin__system') throw invalid(`there is no profile ${theirs}`);
  if (theirs !== 'user__system' && !caller.profiles.includes(theirs) && caller.system !== true)
    throw fault('cascade.profile.escalation', theirs);
  return [ours, theirs];
}

export const objectOf = (value: Value): ObjectValue => (isObject(value) ? value : {});
