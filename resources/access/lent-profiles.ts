// Procedures with profiles of their own (language.md P8): whoever calls them, from wherever, has those while they run.
import type { Identity } from '../../identity/index.ts';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';

/** @param procedure as stored. @returns the caller; with the profiles of the procedure where it has any, and then with nothing else */
export function actingIn(procedure: ObjectValue, caller: Identity): Identity {
  const profiles = Object.hasOwn(procedure, 'profiles') ? getOwn(procedure, 'profiles') : null;
  if (!Array.isArray(profiles)) return caller;
  const names = profiles.map((name) => String(name).replace(/^system\.(.+)$/, '$1__system'));
  const whole = names.some((name) => name.endsWith('__system')) ? names : [...names, 'user__system'];
  return { username: caller.username, namespace: caller.namespace, profiles: whole, lent: true };
}

/** Whether the rights of a call are not those of the code that calls: a program asks the service for it, in place of calling it itself. */
export const hasRightsOfItsOwn = (procedure: ObjectValue): boolean =>
  ['profiles', 'ars_group'].some((name) => Object.hasOwn(procedure, name) && getOwn(procedure, name) !== null);
