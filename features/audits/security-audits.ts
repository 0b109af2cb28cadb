// Audits of logins, refusals and quotas (resources-and-api.md 8.3), with their events (8.1): the security entries of the service's log, for
// the admins of the namespace.
import type { Directory, SecurityEvent } from '../../identity/index.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Initiator } from '../../runtime/context/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { audited } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

/** The namespace of audits that concern no other namespace. */
const INSTALLATION = 'system';
const NAME = /^[A-Za-z0-9_.@-]{1,128}$/;

/**
 * The namespace of an audit: that of the request, else the user's own, else the installation's. A namespace that the user named without
 * access to it does not count.
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
  const isUser = NAME.test(username); // an arbitrary text from a client must not become part of an event path
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
