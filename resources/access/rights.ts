// The rights of the default profiles on each resource (resources-and-api.md 7.2, 7.3, 7.5), and the identity that code runs with (7.6).
// Every way in asks here: the requests of clients on both bindings, the statements of programs, and ResourceAPI.

import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../api.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { PUBLIC_EXECUTOR } from '../../model/types/index.ts';
import { parseWhere, type Predicate } from '../../model/query/index.ts';
import type { Initiator } from '../../runtime/context/index.ts';
import { narrowed } from '../../identity/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { restrictionsOf } from './gate.ts';
import type { Capability, InstanceResource, Namespace, Resource } from '../catalog/index.ts';

export const isAdmin = ({ profiles, system }: Identity): boolean => profiles.includes('admin') || system === true;

/** @throws cascade.authorization.denied */
export function requireAdmin(caller: Identity, operation: string, resource: string): void {
  if (!isAdmin(caller)) throw apiError('cascade.authorization.denied', operation, resource);
}

// ---------------------------------------------------------------- the identity of code
/**
 * The identity that a program acts as, with the user's present rights. Code without a present caller has the profile of its namespace,
 * never rights on the whole installation. What it makes is bound to its namespace: the caller may be at home in another one, whose matter
 * the program's author has no part in.
 * @throws cascade.authorization.denied, at once or later: the user is gone, inactive or no longer in the namespace
 */
export function acting(space: Pick<Namespace, 'installation'>, identity: Identity): MaybePromise<Identity> {
  if (identity.ofService) return identity;
  if (identity.username === PUBLIC_EXECUTOR) {
    if (identity.lent) return bound(identity);
    throw refusal(identity);
  }
  const present = space.installation.rightsOf(identity.username, identity.namespace);
  return present instanceof Promise ? present.then((found) => presentOf(identity, found)) : presentOf(identity, present);
}

const byItself = new WeakMap<Identity, Identity>();
const boundForms = new WeakMap<Identity, Identity>();

/** Each statement of a program asks: the same identity gives the same object. */
function bound(identity: Identity): Identity {
  if (identity.bound) return identity;
  let known = boundForms.get(identity);
  if (!known) boundForms.set(identity, (known = { ...identity, bound: true }));
  return known;
}

function presentOf(identity: Identity, present: Identity | null): Identity {
  if (!present) throw refusal(identity);
  if (identity.lent) return bound(identity);
  if (identity.restricted) return { ...identity, profiles: narrowed(identity.profiles, present.profiles), bound: true };
  if (identity.token !== undefined) return withTokenOf(bound(present), identity);
  let known = byItself.get(present);
  if (!known) {
    const { username, namespace, profiles } = present;
    known = { username, namespace, profiles: profiles.map((name) => (name.endsWith('__system') ? 'user__system' : name)), bound: true };
    byItself.set(present, known);
  }
  return withTokenOf(known, identity);
}

/** A token is a member of groups beside its user (4.14). */
export const withTokenOf = (present: Identity, { ofToken }: Identity): Identity =>
  ofToken === undefined ? present : { ...present, ofToken };

const refusal = ({ username }: Identity) => apiError('cascade.authorization.denied', 'execute', `/users/${username}`);

/**
 * The identity for code of a definition that runs as its creator; where another user has changed it, only the rights that both have.
 * @throws cascade.authorization.denied
 */
export async function creatorOf(space: Pick<Namespace, 'installation' | 'name'>, stored: ObjectValue): Promise<Identity> {
  const named = (name: string): Value => (Object.hasOwn(stored, name) ? getOwn(stored, name) : null);
  const as = (username: Value): MaybePromise<Identity> =>
    acting(space, { username: String(username), namespace: space.name, profiles: [] });
  const creator = await as(named('ars_createdBy'));
  const editor = named('ars_modifiedBy');
  if (editor === null || editor === creator.username) return creator;
  return { ...creator, profiles: narrowed((await as(editor)).profiles, creator.profiles), restricted: true };
}

// ---------------------------------------------------------------- the rights of identities
type Who = 'all' | 'admin' | 'own' | 'nobody';

interface Rights {
  readonly select: Who;
  /** The right to insert, update, upsert, patch, and send commands. */
  readonly write: Who;
  readonly delete: Who;
  /** The right to insert, where it differs from `write`. */
  readonly insert?: Who;
  readonly publish?: Who;
  /** Operations with a right of their own, and commands. */
  readonly apart?: Readonly<Record<string, Who>>;
  /** The condition that an instance is the caller's own. */
  readonly own?: (username: string, reads: boolean) => ObjectValue;
}

const DEFINITION: Rights = { select: 'all', write: 'admin', delete: 'admin' };
const ADMINS: Rights = { select: 'admin', write: 'admin', delete: 'admin' };
const byProperty =
  (property: string) =>
  (username: string): ObjectValue => ({ [property]: username });

/** Rights by the name of the resource; other definitions have those of DEFINITION, instances of types those of the type's levels. */
const RIGHTS: ReadonlyMap<string, Rights> = new Map([
  ['topics', { ...DEFINITION, publish: 'all' }],
  ['services', { ...DEFINITION, publish: 'all' }],
  ['sources', { ...DEFINITION, publish: 'admin' }],
  ['logs', { select: 'own', write: 'nobody', delete: 'admin', own: byProperty('username') }],
  ['groups', { select: 'all', write: 'all', delete: 'all' }],
  ['documents', { select: 'own', insert: 'all', write: 'own', delete: 'own', own: ownOrPublic }],
  ['audits', { select: 'own', insert: 'all', write: 'admin', delete: 'admin', own: byProperty('username') }],
  ['secrets', ADMINS],
  // Each definition and document in a project's files needs the rights on its own resource.
  ['projects', { ...ADMINS, apart: { import: 'all', export: 'all', diff: 'all' } }],
  ['deadletters', ADMINS],
  ['ArsSubscription', { select: 'own', write: 'admin', delete: 'own', own: byProperty('username') }],
  ['ArsEventAcknowledgement', { select: 'own', write: 'admin', delete: 'own', own: byProperty('username') }],
  ['ArsRuleSnapshot', { select: 'own', write: 'admin', delete: 'own', own: byProperty('ars_createdBy') }],
  [
    'ArsPayloadMessage',
    {
      select: 'own',
      write: 'admin',
      delete: 'admin',
      own: byProperty('users'),
      apart: { submit: 'all', read: 'all', dismiss: 'all', preview: 'all' },
    },
  ],
  ['ArsPushTarget', { select: 'own', write: 'own', delete: 'own', own: byProperty('username'), apart: { insert: 'all', upsert: 'all' } }],
  ['ArsChat', { select: 'own', write: 'admin', delete: 'admin', own: byProperty('users') }],
  ['ArsActiveTrack', { select: 'own', write: 'admin', delete: 'admin', own: byProperty('username') }],
  ['ArsChatMessage', { select: 'own', write: 'admin', delete: 'admin', own: sentOrReceived }],
  // Users reach the collaborations that name them through the service of that name.
  ['collaborations', ADMINS],
  ['deploystatus', ADMINS],
  ['ArsResourceConfig', DEFINITION],
  ['ArsActivityPattern', DEFINITION],
  ['ArsCollaborationType', DEFINITION],
]);

/** The user's own documents, and public ones for reading. */
function ownOrPublic(username: string, reads: boolean): ObjectValue {
  const own = { ars_createdBy: username };
  return reads ? { $or: [own, { name: { $regex: '^public/' } }] } : own;
}

/** Messages of chats whose sender or receiver is the user. */
function sentOrReceived(username: string): ObjectValue {
  return { $or: [{ sender: username }, { notified: username }] };
}

const READS: ReadonlySet<string> = new Set(['select', 'selectOne', 'aggregate', 'schema', 'status', 'channels']);

/** @throws cascade.authorization.denied */
export function requireRight(space: Namespace, resource: Resource, operation: string, caller: Identity): void {
  if (!may(space, resource, operation, caller)) throw apiError('cascade.authorization.denied', operation, resource.name);
}

/** The same check with a boolean result. */
export const may = (space: Namespace, resource: Resource, operation: string, caller: Identity): boolean =>
  caller.ofService === true || whoMay(space, resource, operation, caller) !== 'nobody';

/** Whether the matrix (7.5) decides the rights of a resource; those of a type are decided by its levels and the profiles. */
export const hasFixedRights = (resource: Resource): boolean => resource.kind === 'definitions' || RIGHTS.has(resource.name);

/** Where all users may publish, unless a profile says `publish: false`. */
const PUBLISHED: ReadonlySet<string> = new Set(['topics', 'services']);

function whoMay(space: Namespace, resource: Resource, operation: string, caller: Identity): 'all' | 'own' | 'nobody' {
  const rights = RIGHTS.get(resource.name) ?? (resource.kind === 'definitions' ? DEFINITION : null);
  if (!rights) return mayTouchSome(space, resource as InstanceResource, operation, caller) ? 'all' : 'nobody';
  if (isAdmin(caller)) return 'all';
  const invoked = invocationOf(resource.name, operation);
  if (operation === 'execute' && isWithdrawn(space, 'executeProcedure', caller)) return 'nobody';
  if (operation === 'publish' && PUBLISHED.has(resource.name) && isWithdrawn(space, 'publish', caller)) return 'nobody';
  const who = whoIn(rights, operation);
  if (who !== 'admin' && who !== 'nobody') return who;
  return invoked.length > 0 && invoked.every((name) => mayInvoke(space, name, caller)) ? 'all' : 'nobody';
}

/** The capabilities of a type for an operation, of which one must be granted. The gate decides which instances it covers. */
const CAPABILITIES: Readonly<Record<string, readonly Capability[]>> = {
  select: ['select'],
  selectOne: ['select'],
  aggregate: ['aggregate'],
  insert: ['insert'],
  update: ['update'],
  patch: ['update'],
  delete: ['delete'],
  upsert: ['insert', 'update'],
};

function mayTouchSome(space: Namespace, resource: InstanceResource, operation: string, caller: Identity): boolean {
  if (operation === 'schema') return true;
  const wanted = Object.hasOwn(CAPABILITIES, operation) ? (CAPABILITIES[operation] ?? []) : [];
  return wanted.some((capability) => {
    try {
      restrictionsOf(space, resource, capability, caller);
      return true;
    } catch (error) {
      if (error instanceof CascadeError) return false;
      throw error;
    }
  });
}

// ---------------------------------------------------------------- capabilities for invocations
/** The suffix of the names of capabilities (7.1), by resource. */
export const INVOKED: Readonly<Record<string, string>> = {
  types: 'Type',
  rules: 'Rule',
  procedures: 'Procedure',
  services: 'Service',
  sources: 'Source',
  topics: 'Topic',
  scalars: 'Scalar',
  nodes: 'Node',
  profiles: 'Profile',
  configurations: 'Configuration',
  debugconfigs: 'DebugConfig',
  scheduledevents: 'ScheduledEvent',
};
const VERBS: Readonly<Record<string, readonly string[]>> = {
  insert: ['create'],
  update: ['update'],
  patch: ['update'],
  upsert: ['create', 'update'],
  delete: ['delete'],
};

/** The capabilities that together allow an operation; none: no profile can grant it. */
function invocationOf(resource: string, operation: string): string[] {
  if (resource === 'sources' && operation === 'query') return ['querySource'];
  if (resource === 'sources' && operation === 'publish') return ['publish'];
  const kind = Object.hasOwn(INVOKED, resource) ? INVOKED[resource] : undefined;
  const verbs = Object.hasOwn(VERBS, operation) ? (VERBS[operation] ?? []) : [];
  return kind === undefined ? [] : verbs.map((verb) => `${verb}${kind}`);
}

/** The caller's grant or refusal of a capability by its profiles; undefined: they do not name it. */
function invoked(space: Namespace, name: string, { profiles }: Identity): boolean | undefined {
  let said: boolean | undefined;
  for (const profile of profiles) {
    const invoke = getOwn(space.catalog.definitions.get('profiles', profile) ?? {}, 'invoke') ?? null;
    const value = isObject(invoke) && Object.hasOwn(invoke, name) ? getOwn(invoke, name) : null;
    if (typeof value === 'boolean') said = said === true || value;
  }
  return said;
}

export const mayInvoke = (space: Namespace, name: string, caller: Identity): boolean =>
  isAdmin(caller) || invoked(space, name, caller) === true;

/** What all users may do unless their profiles set it to false. */
export const OF_ALL: readonly string[] = ['executeProcedure', 'publish'];

/** Whether a profile takes a right of all users away, by setting it to false. */
export const isWithdrawn = (space: Namespace, name: string, caller: Identity): boolean => invoked(space, name, caller) === false;

function whoIn(rights: Rights, operation: string): Who {
  if (READS.has(operation)) return rights.select;
  const apart = rights.apart && Object.hasOwn(rights.apart, operation) ? rights.apart[operation] : undefined;
  if (apart) return apart;
  if (operation === 'execute') return 'all';
  if (operation === 'publish' || operation === 'query') return rights.publish ?? 'nobody';
  if (operation === 'insert' && rights.insert !== undefined) return rights.insert;
  return operation === 'delete' ? rights.delete : rights.write;
}

/** The condition for an instance to be the caller's own, for reading and deleting; null where all instances are. */
export function ownOnly(space: Namespace, resource: Resource, operation: string, caller: Identity): ObjectValue | null {
  if (caller.ofService || whoMay(space, resource, operation, caller) !== 'own') return null;
  return RIGHTS.get(resource.name)?.own?.(caller.username, READS.has(operation)) ?? null;
}

/** The same as a checked condition, for instances in memory. */
export function ownCondition(
  space: Namespace,
  resource: InstanceResource,
  operation: string,
  { identity, clock }: Pick<Initiator, 'identity' | 'clock'>,
): Predicate | null {
  const own = ownOnly(space, resource, operation, identity);
  return own && parseWhere(own, resource.type, { username: identity.username, namespace: identity.namespace, now: clock.now() });
}

/** The conjunction of two conditions. */
export function withOwn(where: Value | undefined, own: ObjectValue | null): Value {
  if (own === null) return where ?? {};
  return where === undefined || where === null ? own : { $and: [where, own] };
}

/** A copy of a program's payload with another condition. */
export function payloadWith(payload: ObjectValue, where: Value): ObjectValue {
  const changed: ObjectValue = {};
  for (const key of Object.keys(payload)) setOwn(changed, key, getOwn(payload, key));
  setOwn(changed, 'where', where);
  return changed;
}
