// Subscriptions to the events of a namespace: which paths can be subscribed to, which events a user may see, and how their values are
// shown.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { narrowed } from '../../identity/index.ts';
import { matches, parseWhere } from '../../model/query/index.ts';
import {
  mayAnybodyUse,
  requireUse,
  restriction,
  isAdmin,
  ownOnly,
  requireAdmin,
  requireRight,
  withTokenOf,
} from '../../resources/access/index.ts';
import type { Identity, Notice, SubscribeOptions, Subscription } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { resolve, type Namespace } from '../../resources/catalog/index.ts';
import { instanceToJson, toJson } from '../../model/values/index.ts';
import { type EventPath, parseEventPath, type Present, type Sight } from '../../runtime/events/index.ts';
import { listen } from '../notifications/index.ts';
import { deliveriesOf } from '../delivery/index.ts';

/**
 * Starts a subscription that lasts until it is closed or its resource is deleted.
 * @throws cascade.event.path.invalid, cascade.resource.not.found, cascade.resource.type.not.found, cascade.subscription.unknown
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
    if (persistent === true || subscriptionName !== undefined) throw apiError('cascade.request.parameter.invalid', 'persistent', true);
    return listen(space, identity, at.name, filter, deliver);
  }
  if (at.resource === 'sources' && !space.catalog.definitions.get('sources', at.name))
    throw apiError('cascade.resource.not.found', `/sources/${at.name}`);
  if (at.resource === 'services') requireOutbound(space, at.name, at.eventType ?? '');
  sightOf(space, at, identity); // throws for users who may not see any of its events
  const sight = presentSight(space, at, identity);
  if (persistent === true || subscriptionName !== undefined)
    return deliveriesOf(space).subscribe(identity, at.path, filter, subscriptionName ?? null, deliver, sight);
  return { close: space.events.subscribers.add(at.path, { filter, deliver, ...(sight && { sight }) }) };
}

/** Decides for each event whether the subscriber may see it, by the current rights of the user; undefined: it may always see all events. */
function presentSight(space: Namespace, at: EventPath, identity: Identity): Sight | undefined {
  if (identity.ofService || at.resource === 'services') return undefined;
  const now = (allows: (present: Identity) => boolean): boolean | Promise<boolean> => {
    if (isOpen(space, at)) return true;
    const rights = space.installation.rightsOf(identity.username, identity.namespace);
    const allowsNow = (found: Identity | null): boolean => found !== null && allows(presentRights(identity, found));
    return rights instanceof Promise ? rights.then(allowsNow) : allowsNow(rights);
  };
  return {
    maySee: (value, by) =>
      now((present) => {
        try {
          return sightOf(space, at, present)(value, by);
        } catch (error) {
          if (error instanceof CascadeError) return false; // the right, or the resource, no longer exists
          throw error;
        }
      }),
    mayListen: () =>
      now((present) => {
        try {
          sightOf(space, at, present);
          return true;
        } catch (error) {
          if (error instanceof CascadeError) return error.status !== 403; // a deleted resource is reported otherwise
          throw error;
        }
      }),
  };
}

/** Definitions that grant rights, or limit who may use them. */
const GIVES_RIGHTS: ReadonlySet<string> = new Set(['profiles', 'groups', 'types', 'topics', 'sources']);

/** Ends subscriptions whose rights a change of definitions withdraws; changes within one turn of the event loop are checked together. */
export function endWithRights(space: Namespace): (kind: string) => void {
  let isDue = false;
  const recheck = (): void => {
    isDue = false;
    Promise.all([space.events.subscribers.recheck(), deliveriesOf(space).recheck()]).catch((error: unknown) =>
      space.log.error({ err: error }, 'the rights of subscribers could not be read'),
    );
  };
  return (kind) => {
    if (isDue || !GIVES_RIGHTS.has(kind)) return;
    isDue = true;
    setImmediate(recheck);
  };
}

/** Whether all users may currently receive messages of a topic or source, so that rights need not be read. */
const isOpen = (space: Namespace, { resource, name }: EventPath): boolean =>
  (resource === 'topics' || resource === 'sources') && mayAnybodyUse(space, resource, name);

type SeesNow = (value: Value, by: string) => boolean;

const ALL: SeesNow = () => true;

/**
 * The predicate for the events on a path that the caller may see.
 * @throws cascade.authorization.denied: it may see none; cascade.resource.not.found, cascade.resource.type.not.found,
 *   cascade.event.path.invalid
 */
function sightOf(space: Namespace, { resource, name, path }: EventPath, caller: Identity): SeesNow {
  switch (resource) {
    case 'types':
      return sightOfType(space, name, caller);
    case 'topics':
    case 'sources':
      requireUse(space, resource, name, 'subscribe', caller);
      return ALL;
    case 'users':
      if (!isAdmin(caller) && name !== caller.username) throw apiError('cascade.resource.not.found', path);
      return ALL;
    case 'namespaces':
      if (name !== space.name) throw apiError('cascade.resource.not.found', path);
      requireAdmin(caller, 'subscribe', resource);
      return ALL;
    case 'audits':
      return isAdmin(caller) ? ALL : (_value, by) => by === caller.username;
    default:
      return ALL;
  }
}

/**
 * The predicate for events of a type. An event of several instances reveals their number, so that only users who may see all instances
 * receive it.
 */
function sightOfType(space: Namespace, name: string, caller: Identity): SeesNow {
  const account = space.catalog.features.installationResource(name, !name.startsWith('system.'));
  if (account) {
    if (account.hasEvents === false) throw apiError('cascade.event.path.invalid', `/types/${name}`);
    if (isAdmin(caller)) return ALL;
    return (value) => isObject(value) && Object.hasOwn(value, 'username') && getOwn(value, 'username') === caller.username;
  }
  const resource = resourceOf(space, name);
  requireRight(space, resource, 'select', caller);
  if (resource.kind !== 'instances') return (value) => !isObject(value) || (resource.maySee?.(space, value, caller) ?? true);
  const context = { username: caller.username, namespace: caller.namespace, now: space.clock.now() };
  const own = ownOnly(space, resource, 'select', caller);
  const mine = own && parseWhere(own, resource.type, context);
  const allowed = restriction(space, resource, 'select', { identity: caller, clock: space.clock });
  const conditions = [mine, allowed].filter((one) => one !== null);
  if (conditions.length === 0) return ALL;
  return (value) => isObject(value) && Object.hasOwn(value, '_id') && conditions.every((one) => matches(one, value));
}

/** The current rights of a user; a token's own profiles stay, as far as the user still has them. */
const presentRights = (identity: Identity, now: Identity): Identity =>
  identity.restricted ? { ...identity, profiles: narrowed(identity.profiles, now.profiles) } : withTokenOf(now, identity);

/** In event paths `system.<resource>` is a resource of the service, any other name a type. */
const resourceOf = (space: Namespace, name: string) => resolve(space, name, !name.startsWith('system.'));

function requireOutbound(space: Namespace, service: string, eventType: string): void {
  const events = getOwn(space.catalog.definitions.find('services', service)?.object ?? {}, 'eventTypes') ?? null;
  const declared = isObject(events) && Object.hasOwn(events, eventType) ? getOwn(events, eventType) : null;
  if (!isObject(declared) || getOwn(declared, 'direction') !== 'OUTBOUND')
    throw apiError('cascade.resource.not.found', `/services/${service}/${eventType}`);
}

/** Shows instances as REST does, with their id in the path, and other values as plain JSON. */
export const presentIn =
  (space: () => Namespace): Present =>
  (path, value) => {
    if (path.startsWith('/sources/')) return { path: path.replace(/publish$/, 'receive'), valueJson: toJson(value) };
    const [, type] = /^\/types\/([^/]+)\//.exec(path) ?? [];
    if (type === undefined || !isObject(value) || !Object.hasOwn(value, '_id')) return { path, valueJson: toJson(value) };
    return { path: `${path}/${idIn(type, value)}`, valueJson: instanceJson(space(), type, value) };
  };

/** The id in the path: the natural key of definitions, the `_id` of instances. */
function idIn(type: string, value: ObjectValue): string {
  if (type === 'system.users') return String(getOwn(value, 'username'));
  if (type === 'system.tokens') return String(getOwn(value, '_id'));
  const id: Value = type.startsWith('system.') && Object.hasOwn(value, 'name') ? getOwn(value, 'name') : getOwn(value, '_id');
  return String(id);
}

function instanceJson(space: Namespace, type: string, value: ObjectValue): string {
  if (space.catalog.features.installationResource(type, !type.startsWith('system.'))) return toJson(value);
  const resource = resourceOf(space, type);
  if (resource.kind === 'instances') return instanceToJson(resource.type, value);
  return toJson(resource.show?.(space, value) ?? value);
}
