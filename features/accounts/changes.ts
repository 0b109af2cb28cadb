// Changes of users, tokens and namespaces by REST and by programs, each with its log entry and its event. They are stored in the
// installation's database: the audit in the same transaction (along.ts), the event committed after it, so that a crash in between loses the
// event.

import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, withoutAnswers } from '../../runtime/context/index.ts';
import type { Identity } from '../../resources/api.ts';
import type { Answer, StoredEvent } from '../../runtime/transactions/index.ts';
import { type InstanceQuery, instanceQuery, matches, namedPath, parseWhere } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { isServiceSet } from '../../model/types/index.ts';
import { raise } from '../../runtime/events/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { audited, auditWrite, entryFor, newAudit, requireAdmin } from '../../resources/access/index.ts';
import { AuditAlong } from './along.ts';
import type { AccountResource } from './account-resource.ts';
import { comparedForm } from '../../resources/definitions/index.ts';
import { versionIn } from '../../resources/instances/index.ts';
import { noteFailure, outcome } from '../../resources/operations/index.ts';
import { objectOf } from '../../resources/requests/index.ts';

/** Who makes a change; `address` is the client's, where there is one. */
export interface By {
  readonly actor: Actor;
  readonly address: string | null;
}

/** Properties that only the answer to an INSERT has. */
const SECRETS: ReadonlySet<string> = new Set(['accessToken', 'generatedPassword']);

export async function insertAccount(space: Namespace, resource: AccountResource, given: Value, by: By): Promise<ObjectValue> {
  const body = bodyOf(given);
  if (!resource.insert) throw apiError('cascade.method.not.allowed', 'insert', resource.name);
  const audit = auditOf(space, resource, 'insert', by.actor);
  const made = await resource.insert(space, body, by.actor.identity, audit.store);
  note(space, resource, 'insert', by, made, body);
  await raiseEvent(space, resource, 'insert', made, by.actor, audit.events);
  return made;
}

/** Finds the object by its natural key (resources-and-api.md 2.6). */
export async function upsertAccount(space: Namespace, resource: AccountResource, given: Value, by: By): Promise<ObjectValue> {
  const body = bodyOf(given);
  const { identity } = by.actor;
  if (!resource.upserts) throw apiError('cascade.method.not.allowed', 'upsert', resource.name);
  requireAdmin(identity, 'upsert', resource.name);
  const key = resource.type.naturalKey[0]!;
  const id = getOwn(body, key);
  if (id === null) throw apiError('cascade.upsert.key.missing', resource.name, key);
  const stored = typeof id === 'string' ? await accountWith(space, resource, key, id.toLowerCase(), identity) : null;
  return stored
    ? updateAccount(space, resource, stored, without(body, new Set(['ars_version'])), by)
    : insertAccount(space, resource, body, by);
}

/**
 * @param options `version`: the expected version; `among`: collects the audits' events of a change of many, which are raised together
 * @returns the object after the change
 */
export async function updateAccount(
  space: Namespace,
  resource: AccountResource,
  stored: ObjectValue,
  changes: ObjectValue,
  by: By,
  { version, among }: { version?: bigint | undefined; among?: StoredEvent[] } = {},
): Promise<ObjectValue> {
  if (!resource.update) throw apiError('cascade.method.not.allowed', 'update', resource.name);
  const { identity } = by.actor;
  const audit = auditOf(space, resource, 'update', by.actor);
  await resource.update(space, stored, changes, identity, { address: by.address, version, along: audit.store });
  if (Object.keys(changes).every(isServiceSet)) return stored; // shown as to a caller who may change it
  note(space, resource, 'update', by, stored, changes);
  const id = getOwn(stored, '_id');
  const after = await accountWith(space, resource, '_id', id, identity); // the change may have renamed it
  if (!after) throw gone(resource, String(id));
  if (among) among.push(...audit.events);
  else await raiseEvent(space, resource, 'update', after, by.actor, audit.events);
  return after;
}

/**
 * @param where the condition of a DELETE of many, whose deletions share one event, even if a later one is refused
 * @param version the expected one, where one object is meant
 */
export async function removeAccounts(
  space: Namespace,
  resource: AccountResource,
  doomed: readonly ObjectValue[],
  where: Value,
  by: By,
  version?: bigint,
): Promise<void> {
  if (!resource.remove) throw apiError('cascade.method.not.allowed', 'delete', resource.name);
  const gone: ObjectValue[] = [];
  const events: StoredEvent[] = [];
  try {
    for (const one of doomed) {
      const audit = resource.name === 'namespaces' ? auditOfEnd(space, by.actor) : auditOf(space, resource, 'delete', by.actor);
      await resource.remove(space, one, by.actor.identity, { version, along: audit.store });
      note(space, resource, 'delete', by, one);
      gone.push(one);
      events.push(...audit.events);
    }
  } finally {
    // A deleted namespace cannot raise an event.
    if (!gone.some((one) => resource.name === 'namespaces' && getOwn(one, 'namespace') === space.name))
      await raiseEvents(space, resource, 'delete', gone, where, by.actor, events);
  }
}

// ---------------------------------------------------------------- statements of programs
/** Carries out INSERT and UPSERT of one or several, recorded as the run's statement where the result holds no secret. */
export async function putAccounts(
  space: Namespace,
  resource: AccountResource,
  values: ObjectValue | Value[],
  upsert: boolean,
  actor: Actor,
): Promise<Answer> {
  const by = { actor: withoutAnswers(actor), address: null };
  const one = (value: Value): Promise<ObjectValue> =>
    upsert ? upsertAccount(space, resource, value, by) : insertAccount(space, resource, value, by);
  if (!Array.isArray(values)) return recorded(actor, await one(values));
  const made: ObjectValue[] = [];
  for (const value of values) made.push(await one(value));
  return recorded(actor, made);
}

/**
 * @returns the instance for one, the count for several, null for none (language.md U2, U3); with `onError` the outcome (U6)
 * @throws cascade.update.version.query: `ars_version` needs a condition that names one (U4)
 */
export async function updateAccounts(
  space: Namespace,
  resource: AccountResource,
  changes: ObjectValue,
  where: Value,
  actor: Actor,
  onError: boolean,
): Promise<Answer> {
  const by = { actor: withoutAnswers(actor), address: null };
  requireCapability(space, resource, 'update', actor.identity);
  const version = versionIn({ kind: 'definitions', name: resource.name }, changes);
  if (version !== undefined && !queryOf(space, resource, where, actor.identity))
    throw apiError('cascade.update.version.query', resource.name);
  const found = await matching(space, resource, where, actor.identity);
  if (found.length === 0) {
    const none = unlessNamed(space, resource, where, actor.identity, null);
    return recorded(actor, onError ? outcome(0, []) : none);
  }
  const isOne = found.length === 1;
  const done: ObjectValue[] = [];
  const failed: Value[] | null = onError ? [] : null;
  const among: StoredEvent[] = [];
  try {
    for (const stored of found)
      try {
        done.push(await updateAccount(space, resource, stored, changes, by, isOne ? { version } : { among }));
      } catch (error) {
        noteFailure(failed, error, stored);
      }
  } finally {
    if (!isOne) await raiseEvents(space, resource, 'update', done, where, by.actor, among);
  }
  if (failed) return recorded(actor, outcome(done.length, failed));
  return recorded(actor, isOne ? (done[0] ?? null) : done.length);
}

export async function deleteAccounts(space: Namespace, resource: AccountResource, where: Value, actor: Actor): Promise<Answer> {
  requireCapability(space, resource, 'delete', actor.identity);
  const found = await matching(space, resource, where, actor.identity);
  if (found.length === 0) return recorded(actor, unlessNamed(space, resource, where, actor.identity, 0));
  await removeAccounts(space, resource, found, where, { actor: withoutAnswers(actor), address: null });
  return recorded(actor, found.length);
}

async function recorded(actor: Actor, result: Value): Promise<Answer> {
  const answer: Answer = { ok: encodeInner(result) };
  if (![result].flat().some(hasSecret)) await actor.commit({ writes: [], events: [] }, answer);
  return answer;
}

const hasSecret = (value: Value): boolean => isObject(value) && Object.keys(value).some((name) => SECRETS.has(name));

/** @throws cascade.resource.not.found where the condition names one object */
function unlessNamed<T extends Value>(space: Namespace, resource: AccountResource, where: Value, caller: Identity, none: T): T {
  const query = queryOf(space, resource, where, caller);
  if (query) throw apiError('cascade.resource.not.found', namedPath(resource.name, query, resource.type));
  return none;
}

/** Capabilities that generic operations need; other operations are commands. */
const NEEDED = new Map([
  ['aggregate', 'read'],
  ['insert', 'insert'],
  ['upsert', 'insert'],
  ['update', 'update'],
  ['patch', 'update'],
  ['delete', 'delete'],
] as const);

/** @throws cascade.authorization.denied */
export function requireCapability(space: Namespace, { name, needs }: AccountResource, operation: string, caller: Identity): void {
  const need = needs?.[NEEDED.get(operation as 'insert') ?? 'command'];
  if (need && !need(space, caller)) throw apiError('cascade.authorization.denied', operation, name);
}

// ---------------------------------------------------------------- look-up
/** The objects that the caller may see and the condition matches, in their shown form. */
export async function matching(space: Namespace, resource: AccountResource, where: Value, caller: Identity): Promise<ObjectValue[]> {
  const predicate = predicateOf(space, resource, where, caller);
  const compared = comparedForm(resource.type);
  return (await resource.list(space, caller)).filter((object) => matches(predicate, compared(object)));
}

function predicateOf(space: Namespace, resource: AccountResource, where: Value, caller: Identity) {
  if (!isObject(where)) throw apiError('cascade.request.parameter.invalid', 'where', where);
  return parseWhere(where, resource.type, { username: caller.username, namespace: caller.namespace, now: space.clock.now() });
}

const queryOf = (space: Namespace, resource: AccountResource, where: Value, caller: Identity): InstanceQuery | null =>
  instanceQuery(predicateOf(space, resource, where, caller), resource.type);

/** @throws cascade.resource.not.found, also for objects that the caller may not see; cascade.resource.ambiguous */
export async function accountAt(space: Namespace, resource: AccountResource, id: string, caller: Identity): Promise<ObjectValue> {
  const found = await resource.at(space, await resource.list(space, caller), id, caller);
  if (!found) throw gone(resource, id);
  return found;
}

/** The id may be the token itself, which is not repeated. */
const gone = ({ name }: AccountResource, id: string) => apiError('cascade.resource.not.found', `/${name}/${name === 'tokens' ? '…' : id}`);

async function accountWith(
  space: Namespace,
  resource: AccountResource,
  property: string,
  value: Value,
  caller: Identity,
): Promise<ObjectValue | undefined> {
  return (await resource.list(space, caller)).find((object) => getOwn(object, property) === value);
}

// ---------------------------------------------------------------- events
/** Resources without events: a namespace must not learn of other namespaces. */
const WITHOUT_EVENTS: ReadonlySet<string> = new Set(['namespaces', 'organizations']);

/** Raises an event for subscribers and rules of admins, who may see all accounts. */
async function raiseEvent(
  space: Namespace,
  resource: AccountResource,
  operation: string,
  value: ObjectValue,
  actor: Actor,
  ofAudits: readonly StoredEvent[],
): Promise<void> {
  const path = `/types/system.${resource.name}/${operation}`;
  const ofChange = WITHOUT_EVENTS.has(resource.name) ? [] : raise(space, path, without(value, SECRETS), actor);
  const events = [...ofChange, ...ofAudits];
  if (events.length > 0) await actor.commit({ writes: [], events });
}

const auditOf = (space: Namespace, { name, unaudited }: AccountResource, operation: string, actor: Actor): AuditAlong =>
  new AuditAlong(space.storage.db, (key) => (unaudited ? null : entryFor(space, `/${name}/${key}`, operation, actor)));

/** The audit of a namespace that is deleted with its own audits: the installation stores it, where it raises no event. */
function auditOfEnd({ installation }: Namespace, { identity, clock, chain }: Actor): AuditAlong {
  const initiator = { identity: { ...identity, namespace: 'system' }, clock, chain };
  return new AuditAlong(installation.lasting, (key) => {
    const entry = { entity: `/namespaces/${key}`, op: 'delete', message: `delete of /namespaces/${key} by ${identity.username}` };
    return { writes: [auditWrite(newAudit({ installation }, entry, initiator))], events: [] };
  });
}

/**
 * Runs a command on a namespace, with its audit (8.3) and its event (4.9): whose access was granted or revoked, and with which profiles.
 */
export async function command(
  space: Namespace,
  resource: AccountResource,
  op: string,
  stored: ObjectValue,
  given: Value,
  by: By,
): Promise<Value> {
  const { actor } = by;
  const data = objectOf(given);
  const name = Object.hasOwn(AUDITED_COMMANDS, op) ? AUDITED_COMMANDS[op] : undefined;
  const namespace = String(getOwn(stored, 'namespace'));
  const [username, profiles] = [getOwn(data, 'username'), getOwn(data, 'profiles')];
  const whom = typeof username === 'string' ? username.toLowerCase() : 'an invitation';
  const as = Array.isArray(profiles) ? ` as ${profiles.map(String).join(', ')}` : '';
  const audit = new AuditAlong(space.storage.db, () => {
    const entry = { entity: `/namespaces/${namespace}`, op: name ?? op, message: `${name} ${whom}${as} by ${actor.identity.username}` };
    return name === undefined ? null : audited(space, entry, actor);
  });
  const carriedOut = resource.commands?.[op];
  if (!carriedOut) throw apiError('cascade.operation.unknown', op);
  const { result, user } = await carriedOut(space, stored, given, actor, audit.store);
  if (op === 'getAuthorizedUsers') return result;
  note(space, resource, op, by, stored, data);
  const isHere = namespace === space.name && name !== undefined && user !== undefined;
  const raised = isHere ? raise(space, `/namespaces/${namespace}/${name}`, user, actor) : [];
  const events = [...raised, ...audit.events];
  if (events.length > 0) await actor.commit({ writes: [], events });
  return result;
}

const AUDITED_COMMANDS: Readonly<Record<string, string>> = {
  authorizeUser: 'authorized',
  delegateUserAuthZ: 'authorized',
  revokeUserAuthZ: 'revoked',
};

/** Raises one event for several objects (resources-and-api.md 8.1). */
async function raiseEvents(
  space: Namespace,
  resource: AccountResource,
  operation: string,
  objects: readonly ObjectValue[],
  where: Value,
  actor: Actor,
  ofAudits: readonly StoredEvent[],
): Promise<void> {
  const [only] = objects;
  if (!only) return;
  const value = objects.length === 1 ? only : { ars_bulkOperation: true, count: objects.length, qual: where };
  await raiseEvent(space, resource, operation, value, actor, ofAudits);
}

/** Logs the change, its author and address; values only where they are no secrets. */
export function note(
  space: Namespace,
  { name: resource, type }: AccountResource,
  operation: string,
  { actor, address }: By,
  object: ObjectValue,
  given: ObjectValue = {},
): void {
  const [key = '_id'] = type.naturalKey;
  const profiles = getOwn(given, 'profiles');
  const active = getOwn(given, 'active');
  const concerning = resource === 'namespaces' ? getOwn(given, 'username') : null;
  space.installation.security.changed({
    operation,
    resource,
    target: String(getOwn(object, key)),
    username: actor.identity.username,
    namespace: space.name,
    address,
    members: Object.keys(given).filter((member) => type.properties.has(member)),
    ...(Array.isArray(profiles) && { profiles: profiles.map(String) }),
    ...(typeof active === 'boolean' && { active }),
    ...(typeof concerning === 'string' && { concerning: concerning.toLowerCase() }),
  });
}

export function bodyOf(body: Value | undefined): ObjectValue {
  if (!isObject(body ?? null)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  return objectOf(body ?? null);
}

function without(object: ObjectValue, names: ReadonlySet<string>): ObjectValue {
  const rest: ObjectValue = {};
  for (const name of Object.keys(object)) if (!names.has(name)) setOwn(rest, name, getOwn(object, name));
  return rest;
}
