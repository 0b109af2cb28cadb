// Which events of a path somebody may see (resources-and-api.md 7.2.3, 7.4, 8.4): one decision for subscribers and for the editors of rules.

import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError, CascadeError } from '../../model/errors/index.ts';
import type { EventPath } from '../../runtime/events/index.ts';
import { resolve, type Namespace } from '../catalog/index.ts';
import { requireUse, restriction } from './gate.ts';
import { isAdmin, ownCondition, requireAdmin, requireRight } from './rights.ts';
import { satisfies } from './shown-instances.ts';

type SeesNow = (value: Value, by: string) => boolean;

/** The caller may see every event of the path. */
export const SEES_ALL: SeesNow = () => true;

/** Topics on which the service publishes what it stores of a type, by their beginning: who sees it there sees it here. */
const STORED_TOO: readonly (readonly [topics: string, type: string])[] = [['/ars_chat/', 'ArsChatMessage']];

/**
 * The predicate for the events on a path that the caller may see.
 * @throws cascade.authorization.denied: it may see none; cascade.resource.not.found, cascade.resource.type.not.found,
 *   cascade.event.path.invalid
 */
export function sightOf(space: Namespace, { resource, name, path }: EventPath, caller: Identity): SeesNow {
  switch (resource) {
    case 'types':
      return sightOfType(space, name, caller);
    case 'topics':
    case 'sources': {
      requireUse(space, resource, name, 'subscribe', caller);
      const [, type] = (resource === 'topics' && STORED_TOO.find(([topics]) => name.startsWith(topics))) || [];
      return type === undefined ? SEES_ALL : sightOfType(space, type, caller);
    }
    case 'users':
      if (!isAdmin(caller) && name !== caller.username) throw apiError('cascade.resource.not.found', path);
      return SEES_ALL;
    case 'namespaces':
      if (name !== space.name) throw apiError('cascade.resource.not.found', path);
      requireAdmin(caller, 'subscribe', resource);
      return SEES_ALL;
    case 'audits':
      return isAdmin(caller) ? SEES_ALL : (_value, by) => by === caller.username;
    default:
      return SEES_ALL;
  }
}

const NOBODY: Identity = { username: '', namespace: '', profiles: [] };

/** Whether the events of a topic or source are for all users, so that rights need not be read. */
export function areForAll(space: Namespace, at: EventPath): boolean {
  try {
    return (at.resource === 'topics' || at.resource === 'sources') && sightOf(space, at, NOBODY) === SEES_ALL;
  } catch (error) {
    if (error instanceof CascadeError) return false;
    throw error;
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
    if (isAdmin(caller)) return SEES_ALL;
    return (value) => isObject(value) && Object.hasOwn(value, 'username') && getOwn(value, 'username') === caller.username;
  }
  const resource = resourceOfPath(space, name);
  requireRight(space, resource, 'select', caller);
  if (resource.kind !== 'instances') return (value) => !isObject(value) || (resource.maySee?.(space, value, caller) ?? true);
  const rights = { identity: caller, clock: space.clock };
  const mine = ownCondition(space, resource, 'select', rights);
  // Who sees instances in part hears none of their events: an event has one text for all who receive it, which shows the others' parts.
  if (mine && resource.seen) throw apiError('cascade.authorization.denied', 'subscribe', `/types/${name}`);
  const allowed = restriction(space, resource, 'select', rights);
  const conditions = [mine, allowed].filter((one) => one !== null);
  if (conditions.length === 0) return SEES_ALL;
  return (value) => isObject(value) && Object.hasOwn(value, '_id') && satisfies(resource.type, value, conditions);
}

/** In event paths `system.<resource>` is a resource of the service, any other name a type. */
export const resourceOfPath = (space: Namespace, name: string) => resolve(space, name, !name.startsWith('system.'));

/** The path on which events of a type are raised: those of system resources may be named by the resource or its type alone, too. */
export function raisedPath(space: Namespace, { resource, name, path }: EventPath): string {
  if (resource !== 'types' || name.startsWith('system.')) return path;
  const operation = path.slice(path.lastIndexOf('/') + 1);
  const account = space.catalog.features.installationResource(name, null);
  const own = account?.name ?? ownNameOf(space, name);
  return own === null ? path : `/types/system.${own}/${operation}`;
}

/** The name of the system resource that is meant, by its own name (no type of users has it) or that of its type; null for any other. */
function ownNameOf(space: Namespace, name: string): string | null {
  const { features } = space.catalog;
  const found = features.ofType(name) ?? features.named(name);
  return found && (found.name !== name || !features.ofType(name)) ? found.name : null;
}
