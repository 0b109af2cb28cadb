// Subscriptions to the events of a namespace: which paths can be subscribed to, which events a user may see, and how their values are
// shown.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { narrowed } from '../../identity/index.ts';
import { areForAll, CONSTRAINT_CONSTANTS, raisedPath, resourceOfPath, sightOf, withTokenOf } from '../../resources/access/index.ts';
import type { Identity, Notice, SubscribeOptions, Subscription } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { InPieces, TypeDefinition } from '../../model/types/index.ts';
import {
  decodeInnerInPieces,
  instanceToJson,
  instanceToJsonInPieces,
  parseJson,
  parseJsonInPieces,
  toJson,
  toJsonInPieces,
} from '../../model/values/index.ts';
import { finishInSlices } from '../../platform/structures/index.ts';
import { LONG_TEXT } from '../../resources/instances/index.ts';
import type { StoredEvent } from '../../runtime/transactions/index.ts';
import { type EventPath, known, type Made, parseEventPath, type Present, type Sight } from '../../runtime/events/index.ts';
import { listen } from '../notifications/index.ts';
import { deliveriesOf, isTooLong } from '../delivery/index.ts';

/**
 * Starts a subscription that lasts until it is closed or its resource is deleted.
 * @throws cascade.request.parameter.invalid, cascade.event.path.invalid, cascade.resource.not.found, cascade.resource.type.not.found,
 *   cascade.subscription.unknown, cascade.quota.exceeded
 */
export async function subscribe(
  space: Namespace,
  identity: Identity,
  path: string,
  { eventFilter, persistent, subscriptionName }: SubscribeOptions,
  deliver: (notice: Notice) => void,
): Promise<Subscription> {
  if (isTooLong(eventFilter ?? null)) throw apiError('cascade.request.parameter.invalid', 'eventFilter', '…');
  // A copy: texts of a long message keep the whole of it.
  const filter = eventFilter ? (parseJson(toJson(eventFilter)) as ObjectValue) : null;
  const at = eventPathIn(space, path);
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

/** Deletes a persistent subscription of the user on this path. @throws cascade.subscription.unknown, cascade.event.path.invalid */
export const unsubscribe = (space: Namespace, identity: Identity, path: string, name: string): Promise<void> =>
  deliveriesOf(space).unsubscribe(identity, eventPathIn(space, path).path, name);

/** A path as clients write it, with the one on which its events are raised. @throws cascade.event.path.invalid */
function eventPathIn(space: Namespace, path: string): EventPath {
  const named = parseEventPath(path);
  return { ...named, path: raisedPath(space, named) };
}

/** Decides for each event whether the subscriber may see it, by the current rights of the user; undefined: it may always see all events. */
function presentSight(space: Namespace, at: EventPath, identity: Identity): Sight | undefined {
  if (identity.ofService || at.resource === 'services') return undefined;
  const now = (allows: (present: Identity) => boolean): boolean | Promise<boolean> => {
    if (areForAll(space, at)) return true;
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

/** Whether a user, who need not be connected, may listen on a path with its rights of the moment: for who may not, no events are kept. */
export const mayListenIn =
  (space: () => Namespace) =>
  (username: string, path: string): boolean | Promise<boolean> => {
    const namespace = space();
    const rights = namespace.installation.rightsOf(username, namespace.name);
    const mayListen = (present: Identity | null): boolean => {
      try {
        if (present) sightOf(namespace, parseEventPath(path), present);
        return present !== null;
      } catch (error) {
        if (error instanceof CascadeError) return error.status !== 403; // a deleted resource raises no events
        throw error;
      }
    };
    return rights instanceof Promise ? rights.then(mayListen) : mayListen(rights);
  };

/** Definitions that grant rights, or limit who may use them. */
const GIVES_RIGHTS: ReadonlySet<string> = new Set(['profiles', 'groups', 'types', 'topics', 'sources']);

/**
 * Ends subscriptions whose rights a change of definitions withdraws, when it is known what its constants stand for; changes within one turn of
 * the event loop are checked together.
 */
export function endWithRights(space: Namespace): (kind: string) => void {
  let isDue = false;
  const recheck = (): void => {
    isDue = false;
    const settled = space.states.get(CONSTRAINT_CONSTANTS).settle(space);
    settled
      .then(() => Promise.all([space.events.subscribers.recheck(), deliveriesOf(space).recheck()]))
      .catch((error: unknown) => space.log.error({ err: error }, 'the rights of subscribers could not be read'));
  };
  return (kind) => {
    if (isDue || !GIVES_RIGHTS.has(kind)) return;
    isDue = true;
    setImmediate(recheck);
  };
}

/** The current rights of a user; a token's own profiles stay, as far as the user still has them. */
const presentRights = (identity: Identity, now: Identity): Identity =>
  identity.restricted ? { ...identity, profiles: narrowed(identity.profiles, now.profiles) } : withTokenOf(now, identity);

function requireOutbound(space: Namespace, service: string, eventType: string): void {
  const events = getOwn(space.catalog.definitions.find('services', service)?.object ?? {}, 'eventTypes') ?? null;
  const declared = isObject(events) && Object.hasOwn(events, eventType) ? getOwn(events, eventType) : null;
  if (!isObject(declared) || getOwn(declared, 'direction') !== 'OUTBOUND')
    throw apiError('cascade.resource.not.found', `/services/${service}/${eventType}`);
}

/** Shows instances as REST does, with their id in the path, and other values as plain JSON. */
export const presentIn = (space: () => Namespace): Present =>
  Object.assign(
    (path: string, value: Value) => {
      const type = typeIn(path, value);
      return {
        path: shownPath(path, type, value),
        valueJson: type === null ? toJson(value) : instanceJson(space(), type, value as ObjectValue),
      };
    },
    {
      long: (event: StoredEvent, isFiltered: () => boolean) =>
        event.value.length < LONG_TEXT ? null : finishInSlices(space().name, presentedInPieces(space(), event, isFiltered())),
    },
  );

function* presentedInPieces(space: Namespace, event: StoredEvent, isFiltered: boolean): InPieces<Made> {
  const { path } = event;
  const value = known(event, yield* decodeInnerInPieces(event.value));
  const type = typeIn(path, value);
  const instances = type === null ? null : typeOfInstances(space, type);
  const valueJson = instances
    ? yield* instanceToJsonInPieces(instances, value as ObjectValue)
    : type === null
      ? yield* toJsonInPieces(value)
      : instanceJson(space, type, value as ObjectValue);
  const shown = { path: shownPath(path, type, value), valueJson };
  return isFiltered ? { value, shown, parsed: yield* parseJsonInPieces(valueJson) } : { value, shown };
}

/** Of the instance that the event is about; null for another value. */
function typeIn(path: string, value: Value): string | null {
  const [, type] = /^\/types\/([^/]+)\//.exec(path) ?? [];
  return type === undefined || !isObject(value) || !Object.hasOwn(value, '_id') ? null : type;
}

function shownPath(path: string, type: string | null, value: Value): string {
  if (path.startsWith('/sources/')) return path.replace(/publish$/, 'receive');
  return type === null ? path : `${path}/${idIn(type, value as ObjectValue)}`;
}

/** The id in the path: the natural key of definitions, the `_id` of instances. */
function idIn(type: string, value: ObjectValue): string {
  if (type === 'system.users') return String(getOwn(value, 'username'));
  if (type === 'system.tokens') return String(getOwn(value, '_id'));
  const id: Value = type.startsWith('system.') && Object.hasOwn(value, 'name') ? getOwn(value, 'name') : getOwn(value, '_id');
  return String(id);
}

/** Null for definitions, and what belongs to the installation. */
function typeOfInstances(space: Namespace, type: string): TypeDefinition | null {
  if (space.catalog.features.installationResource(type, !type.startsWith('system.'))) return null;
  const resource = resourceOfPath(space, type);
  return resource.kind === 'instances' ? resource.type : null;
}

function instanceJson(space: Namespace, type: string, value: ObjectValue): string {
  if (space.catalog.features.installationResource(type, !type.startsWith('system.'))) return toJson(value);
  const resource = resourceOfPath(space, type);
  if (resource.kind === 'instances') return instanceToJson(resource.type, value);
  return toJson(resource.show?.(space, value) ?? value);
}
