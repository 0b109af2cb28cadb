// The access policy of profiles: every read, and every instance that is changed, must be within the grants of the caller's profiles.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Policy } from '../../resources/catalog/index.ts';
import { hasFixedRights, requireRight } from '../../resources/access/index.ts';
import { constraintsOn, grantsOf } from './grants.ts';

export const profilePolicy: Policy = {
  name: 'profiles',
  restrict(space, { resource, capability, caller }) {
    if (hasFixedRights(resource)) return null;
    const grants = grantsOf(space, resource.type, capability, caller);
    const [only, second] = grants;
    if (!only) throw apiError('cascade.authorization.denied', capability, resource.name);
    if (!second) return only;
    return grants.some(isUnrestricted) ? null : { $or: grants };
  },
  constraints: constraintsOn,
  /** POST with the name of an existing definition changes it, which needs more than the right to create one. */
  admit(space, { operation, resource, initiator }) {
    if (resource.kind === 'definitions' && operation === 'update') requireRight(space, resource, 'update', initiator.identity);
  },
};

const isUnrestricted = (grant: ObjectValue): boolean => Object.keys(grant).length === 0;
