// Audits of logins, refusals and quotas (resources-and-api.md 8.3), with their events (8.1): what the log of the service has, for the admins of the namespace.
import type { Directory, SecurityEvent } from '../../identity/index.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Initiator } from '../../runtime/context/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { audited } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

/** Where what nobody's namespace hears of is audited. */
const INSTALLATION = 'system';
const NAME = /^[A-Za-z0-9_.@-]{1,128}$/;

/**
 * The namespace in which something is audited: that of the request, else the user's home, else the installation's. What somebody has named and may
 * not enter is none.
 */
export async function auditedIn(
  { namespace, username, operation }: SecurityEvent,
  directory: Pick<Directory, 'user' | 'hasNamespace'>,
): Promise<string> {
  if (namespace !== null && operation !== 'enter' && (await directory.hasNamespace(namespace))) return namespace;
  return (await directory.user(username, null))?.home ?? INSTALLATION;
}

export async function auditSecurity(
  space: Namespace,
  { kind, username, address, operation, resource, code, quota }: SecurityEvent,
  clock: Clock,
): Promise<void> {
  const initiator: Initiator = { identity: { username, namespace: space.name, profiles: [] }, clock, chain: { root: null, depth: 0 } };
  const isUser = NAME.test(username); // what anybody may send as one is in no event path
  const from = address === null ? '' : ` from ${address}`;
  if (quota) {
    const message = `the quota ${quota[0]} of ${quota[1]} is exceeded`;
    return space.transactions.submit(audited(space, { entity: `/namespaces/${space.name}`, op: 'quota', message }, initiator));
  }
  if (kind === 'refused') {
    const name = (resource ?? '').replace(/^system\./, '');
    const isOurs =
      space.catalog.features.named(name) !== undefined || space.catalog.features.installationResource(name, null) !== undefined;
    const entity = `/types/${isOurs ? 'system.' : ''}${name}`;
    const unit = audited(space, { entity, op: 'authorize', message: `${operation} on ${resource} was refused to ${username}` }, initiator);
    const failed = isUser
      ? raise(space, `/users/${username}/authorizationFailure`, { error: code ?? null, namespace: space.name }, initiator)
      : [];
    return space.transactions.submit({ writes: unit.writes, events: [...unit.events, ...failed] });
  }
  const message = kind === 'login' ? `login of ${username}${from}` : `login of ${username}${from} failed`;
  const unit = audited(space, { entity: `/users/${username}`, op: 'authenticate', message }, initiator);
  const known =
    kind === 'login' && isUser ? raise(space, `/users/${username}/authenticationSuccess`, { namespace: space.name }, initiator) : [];
  return space.transactions.submit({ writes: unit.writes, events: [...unit.events, ...known] });
}
