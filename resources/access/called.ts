// Calls of a procedure by its name, from whatever place: its group admits the caller (4.22), and its own profiles count (language.md P8).
import type { Identity } from '../../identity/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { requireUse } from './gate.ts';
import { actingIn } from './lent-profiles.ts';

/**
 * Every call that names a procedure asks here, so that a mock, a step of a collaboration or a statement on `self` is no way around a group.
 * @returns the identity that the procedure runs with. @throws cascade.authorization.denied
 */
export function calledAs(space: Namespace, name: string, caller: Identity): Identity {
  requireUse(space, 'procedures', name, 'execute', caller);
  return actingIn(space.catalog.definitions.get('procedures', name) ?? {}, caller);
}
