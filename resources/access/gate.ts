// The single gate of access: it asks the registered policies, whose answers become a condition for reads, and refusals and additions for
// changes.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { matches, parseWhere, type Predicate, substitute } from '../../model/query/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Initiator } from '../../runtime/context/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import type { DefinitionResource, InstanceResource, Namespace, Capability, Change } from '../catalog/index.ts';
import { decidable } from './comparators.ts';
import { COMPILED_RESTRICTIONS } from './compiled.ts';
import { CONSTRAINT_CONSTANTS } from './constraint-constants.ts';

/**
 * The restrictions of all policies on the instances of a resource.
 * @returns where-objects that must all hold; none: no restriction
 * @throws cascade.authorization.denied
 */
export function restrictionsOf(space: Namespace, resource: InstanceResource, capability: Capability, caller: Identity): ObjectValue[] {
  if (caller.ofService) return [];
  const found: ObjectValue[] = [];
  for (const policy of space.catalog.features.policies) {
    const where = policy.restrict?.(space, { resource, capability, caller }) ?? null;
    if (where !== null && Object.keys(where).length > 0) found.push(where);
  }
  return found;
}

/** The restrictions as one checked condition; null without restriction. @throws cascade.authorization.denied */
export function restriction(
  space: Namespace,
  resource: InstanceResource,
  capability: Capability,
  initiator: Pick<Initiator, 'identity' | 'clock'>,
) {
  const { identity, clock } = initiator;
  const all = restrictionsOf(space, resource, capability, identity);
  if (all.length === 0) return null;
  const context = { username: identity.username, namespace: identity.namespace, now: clock.now() };
  const { type } = resource;
  const compiled = space.states.get(COMPILED_RESTRICTIONS);
  const parse = (where: ObjectValue): Predicate => {
    const stored = space.states.get(CONSTRAINT_CONSTANTS).within(substitute(where, context) as ObjectValue, type);
    const parsed = stored && parseWhere(stored, type, context);
    const condition = parsed && decidable(type, parsed.condition);
    if (!condition) throw apiError('cascade.authorization.denied', capability, resource.name);
    return condition === parsed.condition ? parsed : { ...parsed, condition };
  };
  return all.map((where) => compiled.predicate(where, type, context, () => parse(where))).reduce(both);
}

/** The conjunction of two conditions, with the order of the first. */
export const both = (first: Predicate, second: Predicate): Predicate => ({
  condition: { op: 'and', terms: [first.condition, second.condition] },
  type: first.type,
  near: first.near,
  hasRegex: first.hasRegex || second.hasRegex,
});

/** Kinds of definitions that other users than their creators use. */
type UsedKind = 'types' | 'procedures' | 'topics' | 'sources';

/** Checks that the caller may use a definition; a name without definition passes. @throws cascade.authorization.denied */
export function requireUse(space: Namespace, kind: UsedKind, name: string, operation: string, caller: Identity): void {
  if (caller.ofService) return;
  const found = space.catalog.definitions.find(kind, name);
  if (found) requireUseOf(space, found.object, operation, caller);
}

function requireUseOf(space: Namespace, definition: ObjectValue, operation: string, caller: Identity): void {
  for (const policy of space.catalog.features.policies) policy.use?.(space, definition, operation, caller);
}

export const mayUse = (space: Namespace, kind: UsedKind, name: string, caller: Identity): boolean =>
  isAllowed(() => requireUse(space, kind, name, 'use', caller));

/** The same check for a definition that may have been deleted since. */
export const mayUseThis = (space: Namespace, definition: ObjectValue, caller: Identity): boolean =>
  caller.ofService === true || isAllowed(() => requireUseOf(space, definition, 'use', caller));

/** Whether the caller may know that a definition exists. */
export const isThereFor = (space: Namespace, kind: DefinitionResource, stored: ObjectValue, caller: Identity): boolean =>
  kind.maySee?.(space, stored, caller) ?? true;

/** The stored definitions of a kind that the caller may know of, in the order of creation: every way to read many asks here. */
export function definitionsFor(space: Namespace, kind: DefinitionResource, caller: Identity): [name: string, stored: ObjectValue][] {
  const all = space.catalog.definitions.list(kind.name);
  return kind.maySee ? all.filter(([, stored]) => isThereFor(space, kind, stored, caller)) : all;
}

function isAllowed(require: () => void): boolean {
  try {
    require();
    return true;
  } catch (error) {
    if (error instanceof CascadeError) return false;
    throw error;
  }
}

/**
 * Checks that an instance about to be inserted, updated or deleted lies within the caller's rights. @throws cascade.authorization.denied
 */
export function requireWithin(
  space: Namespace,
  resource: InstanceResource,
  capability: Capability,
  instance: ObjectValue,
  initiator: Pick<Initiator, 'identity' | 'clock'>,
): void {
  const allowed = restriction(space, resource, capability, initiator);
  if (allowed && !matches(allowed, instance)) throw apiError('cascade.authorization.denied', capability, resource.name);
}

/** Asks all policies to admit the change. @throws the refusal of a policy */
export function admit(space: Namespace, change: Change): MaybePromise<void> {
  let waiting: Promise<void> | undefined;
  for (const policy of space.catalog.features.policies) {
    if (!policy.admit) continue;
    if (waiting) waiting = waiting.then(() => policy.admit?.(space, change));
    else waiting = policy.admit(space, change) ?? undefined;
  }
  return waiting;
}

/** The unit of a change, with the additions of the policies. */
export function accompanied(space: Namespace, change: Change, unit: UnitOfWork): UnitOfWork {
  const more = additionsOf(space, [change]);
  return more ? { ...unit, writes: [...unit.writes, ...more.writes], events: [...unit.events, ...more.events] } : unit;
}

/** The additions of the policies to several changes; null: none. */
export function additionsOf(space: Namespace, changes: readonly Change[]): Pick<UnitOfWork, 'writes' | 'events'> | null {
  let writes: UnitOfWork['writes'] = [];
  let events: UnitOfWork['events'] = [];
  let isEmpty = true;
  for (const policy of space.catalog.features.policies) {
    if (!policy.accompany) continue;
    for (const change of changes) {
      const added = policy.accompany(space, change);
      if (!added) continue;
      isEmpty = false;
      writes = [...writes, ...added.writes];
      events = [...events, ...added.events];
    }
  }
  return isEmpty ? null : { writes, events };
}
