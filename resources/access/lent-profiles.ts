// Procedures with profiles of their own (language.md P8): every caller has these profiles while the procedure runs.
import type { Identity } from '../../identity/index.ts';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';

/** @param procedure as stored. @returns the identity to run with: the caller's, or with the profiles of the procedure and no others */
export function actingIn(procedure: ObjectValue, caller: Identity): Identity {
  const profiles = Object.hasOwn(procedure, 'profiles') ? getOwn(procedure, 'profiles') : null;
  if (!Array.isArray(profiles)) return caller;
  const names = profiles.map((name) => String(name).replace(/^system\.(.+)$/, '$1__system'));
  const whole = names.some((name) => name.endsWith('__system')) ? names : [...names, 'user__system'];
  return {
    username: caller.username,
    namespace: caller.namespace,
    profiles: whole,
    lent: true,
    bound: true,
    ...(caller.restricted && { restricted: true as const }),
    ...(caller.ofToken !== undefined && { ofToken: caller.ofToken }),
  };
}

/** Whether a call has other rights than the calling code: then the program asks the service to carry out the call. */
export const hasRightsOfItsOwn = (procedure: ObjectValue): boolean =>
  ['profiles', 'ars_group'].some((name) => Object.hasOwn(procedure, name) && getOwn(procedure, name) !== null);
