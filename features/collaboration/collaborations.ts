// Collaborations (builtins.md 29), in ArsCollaboration: participants by role, and results of activities.
import { randomUUID } from 'node:crypto';
import { ConversionError, toReference } from '../../stdlib/convert/index.ts';
import { langError } from '../../stdlib/errors.ts';
import { DateTime, encodeInner, getOwn, isObject, type ObjectValue, setOwn, text, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { isAdmin } from '../../resources/access/index.ts';
import { read, readAt, insertOne, changeOf, updateOne, atomically } from '../../resources/instances/index.ts';
import { PAYLOAD_MESSAGES, notifyDevices, usersOf, withdrawn } from '../notifications/index.ts';
import { inBatches } from './batches.ts';
import { COLLABORATIONS, TRACKS } from './service-types.ts';
import { endTrack } from './track-notices.ts';
import type { Namespace, HostBuiltin, HostBuiltins } from '../../resources/catalog/index.ts';
import { outOfRange } from '../../resources/operations/index.ts';

/** Role names become part of queries. */
const ROLE = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Limits what findByEntity gives. */
const MOST = 1_000;

/** Computes the changed properties of a collaboration that was read; null where nothing changes. */
export type Step = (collaboration: ObjectValue, batching: Actor) => Promise<ObjectValue | null> | ObjectValue | null;

/**
 * Changes an active collaboration.
 * @param given computes the result for the program after the step; by default the collaboration after the change
 * @throws cascade.resource.not.found, cascade.collaboration.inactive
 */
export function changeCollaboration(space: Namespace, id: Value, actor: Actor, step: Step, given?: () => Value): Promise<Answer> {
  return atomically(space, `collaboration ${String(id)}`, actor, async (batching) => {
    const stored = await ownAt(space, id, actor);
    requireActive(stored);
    const after = await store(space, stored, await step(stored, batching), batching);
    return given ? given() : after;
  });
}

/** Whether the caller takes part (resources-and-api.md 4.21): as admin, as who has made it, or since it is named. */
function isOwn(collaboration: ObjectValue, { identity }: Pick<Actor, 'identity'>): boolean {
  if (identity.ofService || isAdmin(identity) || getOwn(collaboration, 'ars_createdBy') === identity.username) return true;
  const people = getOwn(collaboration, 'collaborators');
  return isObject(people) && Object.keys(people).some((role) => getOwn(people, role) === identity.username);
}

/** A collaboration in which the caller takes part. @throws cascade.resource.not.found */
export async function ownAt(space: Namespace, id: Value, actor: Pick<Actor, 'identity'>): Promise<ObjectValue> {
  const found = await readAt(space, COLLABORATIONS, String(id));
  if (!isOwn(found, actor)) throw apiError('cascade.resource.not.found', `/${COLLABORATIONS.name}/${String(id)}`);
  return found;
}

async function store(space: Namespace, stored: ObjectValue, changes: ObjectValue | null, batching: Actor): Promise<Value> {
  if (!changes) return stored;
  return updateOne(space, COLLABORATIONS, async () => stored, changeOf(COLLABORATIONS, changes), batching);
}

export function requireActive(collaboration: ObjectValue): void {
  const status = getOwn(collaboration, 'status');
  if (status !== 'active') throw langError('cascade.collaboration.inactive', getOwn(collaboration, 'id'), status);
}

/** Sets a member of a property that is an Object, or removes it (null). */
export function withMember(collaboration: ObjectValue, property: string, name: string, value: Value, nullRemoves = false): ObjectValue {
  const before = getOwn(collaboration, property);
  const after: ObjectValue = {};
  for (const key of isObject(before) ? Object.keys(before) : []) setOwn(after, key, getOwn(before as ObjectValue, key));
  if (value === null && nullRemoves) delete after[name];
  else setOwn(after, name, value);
  return { [property]: after };
}

export async function assigned(space: Namespace, collaboration: ObjectValue, role: Value, username: Value): Promise<ObjectValue> {
  return withMember(collaboration, 'collaborators', roleOf(role), await userNamed(space, username));
}

/** Ends a collaboration, and deletes its tracks and its unanswered messages. */
export async function closed(space: Namespace, collaboration: ObjectValue, status: Value, batching: Actor): Promise<ObjectValue> {
  if (status !== 'completed' && status !== 'failed') throw outOfRange('status', status);
  const own = { collaborationId: String(getOwn(collaboration, 'id')) };
  for await (const track of inBatches(space, TRACKS, own)) await endTrack(space, track, batching);
  for await (const message of inBatches(space, PAYLOAD_MESSAGES, own)) {
    const changes = withdrawn(message, []);
    if (!changes) continue;
    await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
    await notifyDevices(space, 'retract', message, usersOf(message, 'pendingUsers'), batching);
  }
  return { status, closedAt: new DateTime(batching.clock.now()) };
}

const createCollaboration: HostBuiltin = async (space, [name = null, entities = null, collaborators = null], actor) => {
  if (name === '') throw outOfRange('name', name);
  const roles = Object.entries((entities ?? {}) as ObjectValue).map(([role, ref]) => [roleOf(role), referenceOf(ref)] as const);
  const people: (readonly [string, string])[] = [];
  for (const [role, username] of Object.entries((collaborators ?? {}) as ObjectValue))
    people.push([roleOf(role), await userNamed(space, username)]);
  const collaboration: ObjectValue = {
    id: randomUUID(),
    name,
    status: 'active',
    entities: Object.fromEntries(roles),
    collaborators: Object.fromEntries(people),
    results: {},
    createdAt: new DateTime(actor.clock.now()),
  };
  return atomically(space, null, actor, (batching) => insertOne(space, COLLABORATIONS, collaboration, batching));
};

const getCollaboration: HostBuiltin = async (space, [id = null], actor) => {
  const [found = null] = await read(space, COLLABORATIONS, { id: String(id) }, 1);
  return { ok: encodeInner(found && isOwn(found, actor) ? found : null) };
};

const findByEntity: HostBuiltin = async (space, [role = null, entityRef = null, activeOnly = null], actor) => {
  const filter = { [`entities.${roleOf(role)}`]: referenceOf(entityRef), ...(activeOnly === true ? { status: 'active' } : {}) };
  const found: ObjectValue[] = [];
  for await (const one of inBatches(space, COLLABORATIONS, filter)) {
    if (isOwn(one, actor)) found.push(one);
    if (found.length >= MOST) break;
  }
  return { ok: encodeInner(found) };
};

const closeCollaboration: HostBuiltin = async (space, [id = null, status = null], actor) =>
  atomically(space, `collaboration ${String(id)}`, actor, async (batching) => {
    if (status !== 'completed' && status !== 'failed') throw outOfRange('status', status);
    const stored = await ownAt(space, id, actor);
    const changes = getOwn(stored, 'status') === 'active' ? await closed(space, stored, status, batching) : null;
    return store(space, stored, changes, batching);
  });

export const collaborations: HostBuiltins = {
  'CollaborationUtils.createCollaboration': createCollaboration,
  'CollaborationUtils.getCollaboration': getCollaboration,
  'CollaborationUtils.findByEntity': findByEntity,
  'CollaborationUtils.setEntity': (space, [id = null, role = null, ref = null], actor) =>
    changeCollaboration(space, id, actor, (one) => withMember(one, 'entities', roleOf(role), ref === null ? null : referenceOf(ref), true)),
  'CollaborationUtils.assignCollaborator': (space, [id = null, role = null, username = null], actor) =>
    changeCollaboration(space, id, actor, (one) => assigned(space, one, role, username)),
  'CollaborationUtils.setResult': (space, [id = null, activity = null, value = null], actor) =>
    changeCollaboration(space, id, actor, (one) => withMember(one, 'results', String(activity), value)),
  'CollaborationUtils.closeCollaboration': closeCollaboration,
};

function roleOf(role: Value): string {
  if (typeof role !== 'string' || !ROLE.test(role)) throw outOfRange('role', role);
  return role;
}

/** The reference as text, in the spelling by which collaborations are found. */
function referenceOf(value: Value): string {
  try {
    return text(toReference(typeof value === 'string' && !value.startsWith('/') ? `/${value}` : value));
  } catch (error) {
    if (error instanceof ConversionError || error instanceof CascadeError)
      throw outOfRange('entityRef', typeof value === 'string' ? value : null);
    throw error;
  }
}

/** The name as it is stored: it may be given in any case. */
async function userNamed(space: Namespace, given: Value): Promise<string> {
  const users = await space.installation.directory.users(space.name);
  const named = typeof given === 'string' ? users.find(({ username }) => username === given.toLowerCase()) : undefined;
  if (!named) throw apiError('cascade.resource.not.found', `/users/${String(given)}`);
  return named.username;
}
