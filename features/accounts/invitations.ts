// Redeems an invitation by its code (resources-and-api.md 4.9), for any user of the installation, whichever namespace the request is in.

import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { definitionJson } from '../../resources/definitions/index.ts';
import { reply } from '../../resources/requests/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Along } from '../../identity/index.ts';
import { audited } from '../../resources/access/index.ts';
import { AuditAlong } from './along.ts';
import { requireAnotherAdmin } from './users.ts';

export const INVITATIONS = 'delegatedrequests';

/** @throws method.not.allowed, authorization.denied, namespace.last.admin; resource.not.found also for a used or expired code */
export async function redeemInvitation(space: Namespace, { op, resourceId, address }: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { identity } = actor;
  if (op !== 'redeem' || resourceId === undefined) throw apiError('cascade.method.not.allowed', op, INVITATIONS);
  // What is limited to one namespace, a token or a program, cannot join another.
  if (identity.restricted || identity.bound) throw apiError('cascade.authorization.denied', op, INVITATIONS);
  const { installation } = space;
  const offered = await installation.identity.invitation(resourceId);
  if (!offered) throw apiError('cascade.resource.not.found', `/${INVITATIONS}/…`);
  const { namespace, profiles } = offered;
  const message = `authorized ${identity.username} as ${profiles.join(', ')} by an invitation`;
  const audit = new AuditAlong(space.storage.db, () =>
    audited(space, { entity: `/namespaces/${namespace}`, op: 'authorized', message }, actor),
  );
  const stored: Along = (session) => audit.store(session, namespace);
  const wholly = profiles.includes('admin') ? stored : await requireAnotherAdmin(space, identity.username, namespace, stored);
  await installation.identity.redeem(resourceId, identity.username, wholly);
  if (audit.events.length > 0) await actor.commit({ writes: [], events: audit.events });
  const { username, namespace: from } = identity;
  const by = { username, namespace: from, address: address ?? null };
  installation.security.changed({ operation: op, resource: 'namespaces', target: namespace, ...by, profiles });
  return reply(definitionJson({ namespace, profiles }));
}
