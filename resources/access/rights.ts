// Who may do what to which resource, for the default profiles (resources-and-api.md 7.2, 7.3, 7.5), and as whom code runs (7.6). Every way in asks
// here: the requests of clients on both bindings, the statements of programs, and ResourceAPI.

import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../api.ts';
import { fault } from '../../model/errors/faults.ts';
import { narrowed } from '../../identity/index.ts';
import type { Soon } from '../../platform/structures/soon.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Namespace, Resource } from '../catalog/types.ts';

export const isAdmin = ({ profiles, system }: Identity): boolean => profiles.includes('admin') || system === true;

/** @throws cascade.authorization.denied */
export function requireAdmin(caller: Identity, operation: string, resource: string): void {
  if (!isAdmin(caller)) throw fault('cascade.authorization.denied', operation, resource);
}

/** Who calls a procedure that is open to everybody (7.6): no user, and no profiles but the procedure's. */
export const PUBLIC_EXECUTOR = 'publicExecutor';

// ---------------------------------------------------------------- as whom code runs
/**
 * Whom a program acts as, with the rights that there are now. Code that nobody has called just now has the profile of its namespace, never
 * rights on the whole installation.
 * @throws cascade.authorization.denied, at once or later: the user is gone, inactive or no longer in the namespace
 */
export function acting(space: Pick<Namespace, 'rightsOf'>, identity: Identity): Soon<Identity> {
  if (identity.ofService) return identity;
  if (identity.username === PUBLIC_EXECUTOR) {
    if (identity.lent) return identity;
    throw refusal(identity);
  }
  const present = space.rightsOf(identity.username, identity.namespace);
  return present instanceof Promise ? present.then((found) => presentOf(identity, found)) : presentOf(identity, present);
}

const byItself = new WeakMap<Identity, Identity>();

function presentOf(identity: Identity, present: Identity | null): Identity {
  if (!present) throw refusal(identity);
  if (identity.lent) return identity;
  if (identity.restricted) return { ...identity, profiles: narrowed(identity.profiles, present.profiles) };
  if (identity.token !== undefined) return present;
  let known = byItself.get(present);
  if (!known) {
    const { username, namespace, profiles } = present;
    known = { username, namespace, profiles: profiles.map((name) => (name.endsWith('__system') ? 'user__system' : name)) };
    byItself.set(present, known);
  }
  return known;
}

const refusal = ({ username }: Identity) => fault('cascade.authorization.denied', 'execute', `/users/${username}`);

/**
 * Whom a definition's code runs as that is its creator's: where somebody else has changed it, with no more rights than both have.
 * @throws cascade.authorization.denied
 */
export async function creatorOf(space: Pick<Namespace, 'rightsOf' | 'name'>, stored: ObjectValue): Promise<Identity> {
  const named = (name: string): Value => (Object.hasOwn(stored, name) ? getOwn(stored, name) : null);
  const as = (username: Value): Soon<Identity> => acting(space, { username: String(username), namespace: space.name, profiles: [] });
  const creator = await as(named('ars_createdBy'));
  const editor = named('ars_modifiedBy');
  if (editor === null || editor === creator.username) return creator;
  return { ...creator, profiles: narrowed((await as(editor)).profiles, creator.profiles), restricted: true };
}

// ---------------------------------------------------------------- what it may do
type Who = 'all' | 'admin' | 'own' | 'nobody';

interface Rights {
  readonly select: Who;
  /** insert, update, upsert, patch, and commands. */
  readonly write: Who;
  readonly delete: Who;
  readonly publish?: Who;
  /** Operations of a right of their own, and commands. */
  readonly apart?: Readonly<Record<string, Who>>;
  /** The condition that an instance is the caller's own. */
  readonly own?: (username: string) => ObjectValue;
}

const DEFINITION: Rights = { select: 'all', write: 'admin', delete: 'admin' };
const ADMINS: Rights = { select: 'admin', write: 'admin', delete: 'admin' };
const byProperty =
  (property: string) =>
  (username: string): ObjectValue => ({ [property]: username });

/** By the name of the resource; other definitions are as DEFINITION, instances of types as their levels say. */
const RIGHTS: ReadonlyMap<string, Rights> = new Map([
  ['topics', { ...DEFINITION, publish: 'all' }],
  ['services', { ...DEFINITION, publish: 'all' }],
  ['sources', { ...DEFINITION, publish: 'admin' }],
  ['logs', DEFINITION],
  ['deadletters', ADMINS],
  ['ArsSubscription', { select: 'own', write: 'admin', delete: 'own', own: byProperty('username') }],
  ['ArsEventAcknowledgement', { select: 'own', write: 'admin', delete: 'admin', own: byProperty('username') }],
  ['ArsRuleSnapshot', { select: 'own', write: 'admin', delete: 'admin', own: byProperty('ars_createdBy') }],
  ['ArsPayloadMessage', { select: 'own', write: 'admin', delete: 'admin', own: byProperty('users'), apart: { submit: 'all' } }],
  ['ArsPushTarget', { select: 'own', write: 'own', delete: 'own', own: byProperty('username'), apart: { insert: 'all', upsert: 'all' } }],
  ['ArsChat', { select: 'own', write: 'admin', delete: 'admin', own: byProperty('users') }],
  ['ArsActiveTrack', { select: 'own', write: 'admin', delete: 'admin', own: byProperty('username') }],
  // What names its users elsewhere is theirs through its service.
  ['ArsChatMessage', ADMINS],
  ['collaborations', ADMINS],
  ['deploystatus', ADMINS],
  ['ArsResourceConfig', DEFINITION],
  ['ArsActivityPattern', DEFINITION],
  ['ArsCollaborationType', DEFINITION],
]);

const READS: ReadonlySet<string> = new Set(['select', 'selectOne', 'aggregate', 'schema', 'status']);

/** @throws cascade.authorization.denied */
export function requireRight(resource: Resource, operation: string, caller: Identity): void {
  if (caller.ofService || whoMay(resource, operation, caller) !== 'nobody') return;
  throw fault('cascade.authorization.denied', operation, resource.name);
}

function whoMay(resource: Resource, operation: string, caller: Identity): 'all' | 'own' | 'nobody' {
  const rights = RIGHTS.get(resource.name) ?? (resource.kind === 'definitions' ? DEFINITION : null);
  if (!rights) return hasLevel((resource as { type: TypeDefinition }).type, operation, caller) ? 'all' : 'nobody';
  if (isAdmin(caller)) return 'all';
  const who = whoIn(rights, operation);
  return who === 'admin' ? 'nobody' : who;
}

function whoIn(rights: Rights, operation: string): Who {
  if (READS.has(operation)) return rights.select;
  const apart = rights.apart && Object.hasOwn(rights.apart, operation) ? rights.apart[operation] : undefined;
  if (apart) return apart;
  if (operation === 'execute') return 'all';
  if (operation === 'publish' || operation === 'query') return rights.publish ?? 'nobody';
  return operation === 'delete' ? rights.delete : rights.write;
}

/** What an instance must meet to be the caller's to see or delete; null where all are. */
export function ownOnly(resource: Resource, operation: string, caller: Identity): ObjectValue | null {
  if (caller.ofService || whoMay(resource, operation, caller) !== 'own') return null;
  return RIGHTS.get(resource.name)?.own?.(caller.username) ?? null;
}

/** Both conditions. */
export function withOwn(where: Value | undefined, own: ObjectValue | null): Value {
  if (own === null) return where ?? {};
  return where === undefined || where === null ? own : { $and: [where, own] };
}

// ---------------------------------------------------------------- levels of types
/** Operations that some instances of a type of this level are open to; which these are is its constraints'. */
const LEVELS: Readonly<Record<string, ReadonlySet<string>>> = {
  ars_denied: new Set(),
  ars_readOnly: new Set(['select', 'aggregate']),
  ars_readWrite: new Set(['select', 'aggregate', 'insert', 'update', 'delete']),
  ars_readByOwner: new Set(['select', 'aggregate']),
  ars_writeByOwner: new Set(['select', 'aggregate', 'insert', 'update', 'delete']),
};

const CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  selectOne: ['select'],
  patch: ['update'],
  upsert: ['insert', 'update'],
  schema: [],
};

function hasLevel(type: TypeDefinition, operation: string, caller: Identity): boolean {
  const level = isAdmin(caller) ? type.adminAccessLevel : type.userAccessLevel;
  const named = Object.hasOwn(LEVELS, level) ? LEVELS[level] : undefined;
  const own = Object.hasOwn(type.accessLevels, level) ? getOwn(type.accessLevels, level) : null;
  const has = (capability: string): boolean => named?.has(capability) ?? (isObject(own) && Object.hasOwn(own, capability));
  return (CAPABILITIES[operation] ?? [operation]).every(has);
}

/** A payload of a program with another condition. */
export function payloadWith(payload: ObjectValue, where: Value): ObjectValue {
  const changed: ObjectValue = {};
  for (const key of Object.keys(payload)) setOwn(changed, key, getOwn(payload, key));
  setOwn(changed, 'where', where);
  return changed;
}
