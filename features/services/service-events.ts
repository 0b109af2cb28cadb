// Events of services (resources-and-api.md 4.5): who may raise them, which program handles inbound ones, and which events implement
// outbound ones.

import { langError } from '../../stdlib/errors.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { StoredEvent } from '../../runtime/transactions/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError, CascadeError } from '../../model/errors/index.ts';
import { asyncCall, raise } from '../../runtime/events/index.ts';
import { editorOf } from '../../resources/representation/index.ts';
import { acting, isAdmin, requireRight } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { SERVICES } from './services-kind.ts';

/**
 * Raises an event of a service: who may publish raises an inbound one, only the service itself an outbound one. The procedure that implements
 * an inbound event is called, too, while the service is active.
 * @param from the service whose code publishes; null for other code and clients
 * @throws cascade.resource.not.found, cascade.authorization.denied, cascade.service.event.direction
 */
export async function publishServiceEvent(
  space: Namespace,
  service: string,
  event: string,
  value: Value,
  actor: Actor,
  from: string | null = null,
): Promise<void> {
  const name = space.catalog.definitions.nameAt('services', service);
  const declared = declarationOf(space, name, event);
  if (!declared) throw apiError('cascade.resource.not.found', `/services/${name}/${event}`);
  const inbound = getOwn(declared, 'direction') === 'INBOUND';
  if (inbound) requireRight(space, SERVICES, 'publish', actor.identity);
  if (!inbound && from !== name) throw langError('cascade.service.event.direction', name, event);
  const raised = inbound
    ? await incoming(space, name, event, declared, value, actor)
    : raise(space, `/services/${name}/${event}`, value, actor);
  if (raised.length > 0) await actor.commit({ writes: [], events: raised }, { ok: 'null' });
}

async function incoming(
  space: Namespace,
  service: string,
  event: string,
  declared: ObjectValue,
  value: Value,
  actor: Actor,
): Promise<StoredEvent[]> {
  const handler = handlerIn(declared);
  const stored = space.catalog.definitions.get('services', service) ?? {};
  const isActive = getOwn(stored, 'active') !== false;
  const except = isActive || handler?.kind !== 'rules' ? new Set<string>() : versionsOf(space, handler.name);
  const raised = [
    ...raise(space, `/services/${service}/${event}`, value, actor, { except }),
    ...raise(space, `/topics/${service}/${event}/handler/inbound/publish`, value, actor, { except }),
  ];
  if (!isActive || handler?.kind !== 'procedures') return raised;
  const username = editorOf(space.catalog.definitions.get('procedures', handler.name)) ?? actor.identity.username;
  const identity = await handling(space, username, editorOf(stored) ?? username);
  return [...raised, asyncCall(handler.name, [value], null, { ...actor, identity })];
}

/**
 * The identity of a procedure that handles events: its editor, not the publisher (resources-and-api.md 7.6). Who has declared it as handler
 * in a service cannot lend itself more rights by that than it has: where that is another user, no admin, only what both may.
 */
async function handling(space: Namespace, editor: string, declaredBy: string): Promise<Identity> {
  const identity: Identity = { username: editor, namespace: space.name, profiles: [] };
  if (declaredBy === editor) return identity;
  const declaring = { ...identity, username: declaredBy };
  try {
    const present = await acting(space, declaring);
    return isAdmin(present) ? identity : { ...identity, profiles: present.profiles, restricted: true };
  } catch (error) {
    if (error instanceof CascadeError) return declaring; // it is gone: the run fails for that
    throw error;
  }
}

/** The paths on which an inbound event is raised: the service's own, and the topic of its handlers. */
const HANDLED = /^\/(?:services(?=\/[^/]+\/[^/]+$)|topics(?=\/[^/]+\/[^/]+\/handler\/inbound\/publish$))\/([^/]+)\/([^/]+)/;

/**
 * The service for whose inbound event a rule is registered as handler, so that the rule is part of the service (language.md Y8); null:
 * none.
 */
export function serviceHandledBy(space: Pick<Namespace, 'catalog'>, path: string, rule: string): string | null {
  const [, service, event] = HANDLED.exec(path) ?? [];
  if (service === undefined || event === undefined) return null;
  const declared = declarationOf(space, service, event);
  const handler = declared && handlerIn(declared);
  return handler?.kind === 'rules' && rule.split(':', 1)[0] === handler.name ? service : null;
}

function declarationOf(space: Pick<Namespace, 'catalog'>, service: string, event: string): ObjectValue | null {
  const found = space.catalog.definitions.get('services', service);
  const types = found && Object.hasOwn(found, 'eventTypes') ? getOwn(found, 'eventTypes') : null;
  const declared = isObject(types) && Object.hasOwn(types, event) ? getOwn(types, event) : null;
  return isObject(declared) ? declared : null;
}

function handlerIn(declared: ObjectValue): { kind: 'procedures' | 'rules'; name: string } | null {
  const implementing = Object.hasOwn(declared, 'implementingResource') ? getOwn(declared, 'implementingResource') : null;
  const [, kind, name] = /^\/(procedures|rules)\/(.+)$/.exec(String(implementing)) ?? [];
  return name === undefined ? null : { kind: kind as 'procedures' | 'rules', name };
}

const versionsOf = (space: Namespace, rule: string): Set<string> =>
  new Set(space.catalog.definitions.list('rules').flatMap(([name]) => (name.split(':', 1)[0] === rule ? [name] : [])));
