// A subscription to the events of a namespace: what may be listened to, and how the values of its events read.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { narrowed } from '../../identity/index.ts';
import { matches } from '../../model/query/index.ts';
import { restriction, restrictionsOf } from '../../resources/access/gate.ts';
import type { Identity, Notice, SubscribeOptions, Subscription } from '../../resources/api.ts';
import { fault } from '../../model/errors/faults.ts';
import { requireAdmin } from '../../resources/access/rights.ts';
import { resolve } from '../../resources/catalog/catalogue.ts';
import { ownOnly, requireRight } from '../../resources/access/rights.ts';
import type { InstanceResource, Namespace } from '../../resources/catalog/types.ts';
import { instanceToJson, toJson } from '../../model/values/index.ts';
import { parseEventPath } from '../../runtime/events/event-path.ts';
import type { Present, Subscriber } from '../../runtime/events/subscribers.ts';
import { listen } from '../notifications/inbox.ts';
import { deliveriesOf } from '../delivery/namespace-state.ts';

/**
 * Begins a subscription that lasts until it is closed or what it listens to is deleted.
 * @throws cascade.event.path.invalid, cascade.resource.not.found, cascade.resource.type.not.found,
 * cascade.subscription.unknown
 */
export async function subscribe(
  space: Namespace,
  identity: Identity,
  path: string,
  { eventFilter, persistent, subscriptionName }: SubscribeOptions,
  deliver: (notice: Notice) => void,
): Promise<Subscription> {
  const filter = eventFilter ?? null;
  const at = parseEventPath(path);
  if (at.resource === 'inbox') {
    if (persistent === true || subscriptionName !== undefined) throw fault('cascade.request.parameter.invalid', 'persistent', true);
    return listen(space, identity, at.name, filter, deliver);
  }
  if (at.resource === 'types') requireHearing(space, at.name, identity);
  if (at.resource === 'sources' && !space.definitions.get('sources', at.name))
    throw fault('cascade.resource.not.found', `/sources/${at.name}`);
  if (at.resource === 'services') requireOutbound(space, at.name, at.eventType ?? '');
  const isRestricted = at.resource === 'types' && isPartly(space, at.name, identity);
  if (persistent === true || subscriptionName !== undefined) {
    // What is stored for it is chosen at the commit, by the path and its filter alone.
    if (isRestricted) throw fault('cascade.authorization.denied', 'subscribe', at.name);
    return deliveriesOf(space).subscribe(identity, at.path, filter, subscriptionName ?? null, deliver);
  }
  const maySee = at.resource === 'types' ? sightOf(space, at.name, identity) : undefined;
  return { close: space.subscribers.add(at.path, { filter, deliver, ...(maySee && { maySee }) }) };
}

/** The resource whose instances an event path tells of, where policies have a say; null: a definition or a resource of the installation. */
function instancesAt(space: Namespace, name: string): InstanceResource | null {
  if (space.features.installationResource(name, !name.startsWith('system.'))) return null;
  const resource = resourceOf(space, name);
  return resource.kind === 'instances' ? resource : null;
}

function isPartly(space: Namespace, name: string, identity: Identity): boolean {
  const resource = instancesAt(space, name);
  return resource !== null && restrictionsOf(space, resource, 'select', identity).length > 0;
}

/**
 * What the listener may see of a type's events, by the rights that it has when each of them comes. An event of several instances tells how
 * many they are: it is for those only who may see all of them.
 */
function sightOf(space: Namespace, name: string, identity: Identity): Subscriber['maySee'] {
  if (!instancesAt(space, name)) return undefined;
  const allows = (present: Identity, value: Value): boolean => {
    try {
      const resource = instancesAt(space, name);
      const allowed = resource && restriction(space, resource, 'select', { identity: present, clock: space.clock });
      if (!allowed) return true;
      return isObject(value) && Object.hasOwn(value, '_id') && matches(allowed, value);
    } catch (error) {
      if (error instanceof CascadeError) return false; // the right, or the type, is gone
      throw error;
    }
  };
  return (value) => {
    if (identity.ofService) return true;
    const rights = space.rightsOf(identity.username, identity.namespace);
    const allowsNow = (now: Identity | null): boolean => now !== null && allows(presentRights(identity, now), value);
    return rights instanceof Promise ? rights.then(allowsNow) : allowsNow(rights);
  };
}

/** A token's own profiles stay what they are, as far as the user still has them. */
const presentRights = (identity: Identity, now: Identity): Identity =>
  identity.restricted ? { ...identity, profiles: narrowed(identity.profiles, now.profiles) } : now;

/** Whoever may select instances may listen to what becomes of these; to those of users, tokens and namespaces, admins. */
function requireHearing(space: Namespace, name: string, identity: Identity): void {
  const account = space.features.installationResource(name, !name.startsWith('system.'));
  if (account?.hasEvents === false) throw fault('cascade.event.path.invalid', `/types/${name}`);
  if (account) return requireAdmin(identity, 'subscribe', account.name);
  const resource = resourceOf(space, name);
  requireRight(space, resource, 'select', identity);
  if (ownOnly(space, resource, 'select', identity)) throw fault('cascade.authorization.denied', 'subscribe', resource.name);
}

/** In event paths `system.<resource>` is the resource, any other name a type. */
const resourceOf = (space: Namespace, name: string) => resolve(space, name, !name.startsWith('system.'));

function requireOutbound(space: Namespace, service: string, eventType: string): void {
  const events = getOwn(space.definitions.find('services', service)?.object ?? {}, 'eventTypes') ?? null;
  const declared = isObject(events) && Object.hasOwn(events, eventType) ? getOwn(events, eventType) : null;
  if (!isObject(declared) || getOwn(declared, 'direction') !== 'OUTBOUND')
    throw fault('cascade.resource.not.found', `/services/${service}/${eventType}`);
}

/** Instances read as in REST and have their id in the path; everything else is plain JSON. */
export const presentIn =
  (space: () => Namespace): Present =>
  (path, value) => {
    if (path.startsWith('/sources/')) return { path: path.replace(/publish$/, 'receive'), valueJson: toJson(value) };
    const [, type] = /^\/types\/([^/]+)\//.exec(path) ?? [];
    if (type === undefined || !isObject(value) || !Object.hasOwn(value, '_id')) return { path, valueJson: toJson(value) };
    return { path: `${path}/${idIn(type, value)}`, valueJson: instanceJson(space(), type, value) };
  };

/** The natural key of definitions, the `_id` of instances of types. */
function idIn(type: string, value: ObjectValue): string {
  if (type === 'system.users') return String(getOwn(value, 'username'));
  if (type === 'system.tokens') return String(getOwn(value, '_id'));
  const id: Value = type.startsWith('system.') && Object.hasOwn(value, 'name') ? getOwn(value, 'name') : getOwn(value, '_id');
  return String(id);
}

function instanceJson(space: Namespace, type: string, value: ObjectValue): string {
  if (space.features.installationResource(type, !type.startsWith('system.'))) return toJson(value);
  const resource = resourceOf(space, type);
  if (resource.kind === 'instances') return instanceToJson(resource.type, value);
  return toJson(resource.show?.(space, value) ?? value);
}
