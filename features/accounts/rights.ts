// Checks which profiles a caller may grant (resources-and-api.md 7.5 for the default profiles, 4.11).

import type { Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { isAdmin } from '../../resources/access/index.ts';
import { DEFINITIONS, type Namespace } from '../../resources/catalog/index.ts';

/**
 * A caller may let others act under profiles that it has itself, or whose namespace it administers (language.md P8).
 * @throws cascade.profile.escalation
 */
export function requireGrantable(names: readonly string[], caller: Identity): void {
  const missing = names.map(usualName).find((name) => !isGrantable(name, caller));
  if (missing !== undefined) throw apiError('cascade.profile.escalation', missing);
}

/** Whether the caller has the rights of a profile, or administers its namespace. @param name the profile in its usual spelling */
export function isGrantable(name: string, caller: Identity): boolean {
  if (caller.system === true || name === 'user__system' || caller.profiles.includes(name)) return true;
  return !name.endsWith('__system') && isAdmin(caller);
}

/** The usual spelling of a profile: `system.p` is `p__system`. */
const usualName = (name: string): string => (name.startsWith('system.') ? `${name.slice('system.'.length)}__system` : name);

/**
 * Exactly one profile of a namespace and one of the system namespace, in their usual spelling.
 * @param namespace the one in which they are to be had: the system admin gives profiles elsewhere, too
 * @throws cascade.user.profiles.invalid, cascade.profile.escalation
 */
export async function profilesIn(space: Namespace, value: Value, caller: Identity, namespace: string): Promise<string[]> {
  const invalid = (reason: string) => apiError('cascade.user.profiles.invalid', 'users', 'profiles', reason);
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) throw invalid('no array of String');
  const names = value.map(usualName);
  const system = names.filter((name) => name.endsWith('__system'));
  const local = names.filter((name) => !name.endsWith('__system'));
  if (system.length !== 1 || local.length !== 1) throw invalid('one profile of the namespace and one of the system are expected');
  const [ours = ''] = local;
  const [theirs = ''] = system;
  if (ours !== 'user' && ours !== 'admin' && !(await isProfile(space, ours, namespace))) throw invalid(`there is no profile ${ours}`);
  if (theirs !== 'user__system' && theirs !== 'admin__system') throw invalid(`there is no profile ${theirs}`);
  requireGrantable([ours, theirs], caller);
  return [ours, theirs];
}

/** What another namespace has is read from its store: it may be open in another process, or nowhere. */
async function isProfile(space: Namespace, name: string, namespace: string): Promise<boolean> {
  if (namespace === space.name) return space.catalog.definitions.get('profiles', name) !== undefined;
  const definitions = space.installation.databaseOf(namespace).collection(DEFINITIONS);
  return (await definitions.findOne({ kind: 'profiles', name }, { projection: { _id: 1 } })) !== null;
}
