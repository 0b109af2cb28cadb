// UPDATE of an instance of a type (resources-and-api.md 2.5, language.md 5.8). Those of a condition: update-many.ts.

import { encodeInner, getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, OwnChanges, RestartRun } from '../../runtime/context/index.ts';
import { type UnitOfWork, VersionConflict, type Write } from '../../runtime/transactions/index.ts';
import { deepEquals } from '../../stdlib/operators/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkFinal, coerceSystemProperty, prepareUpdate, type TypeDefinition } from '../../model/types/index.ts';
import { idToBson, instanceToBson } from '../../model/values/index.ts';
import { hasRulesBefore, runBefore } from './before.ts';
import { instanceEvent, raise } from '../../runtime/events/index.ts';
import { shownOne, storedMembers } from '../scalars/index.ts';
import { idOf, stampChanged, versionOf } from '../representation/index.ts';
import { accompanied, admit, requireWithin } from '../access/index.ts';
import type { InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { read, remember } from './find.ts';
import { entriesFor } from './dependents.ts';
import { type LongParts, longParts, updated } from './in-pieces.ts';
import { keysTaken } from './natural-key.ts';
import { noteType } from './stale-writes.ts';
import { asApiError, checkSize } from './refusals.ts';
import { StatementTurns, takesTurns } from '../turns.ts';

/** Bound of retries against other writers before the update takes a place in the instance's queue. */
const TRIES = 10;

/** Computes the new state of an instance, both in the stored form. */
export type Change = (stored: ObjectValue) => ObjectValue | Promise<ObjectValue>;

export interface Locked {
  /** The version that the caller expects; another one is a conflict (ars_version, If-Match). */
  readonly version?: bigint | undefined;
  /** The change names nothing: the instance stays as it is, and no event is raised. */
  readonly isNothing?: boolean;
  /** `find` has decided that the run may change what it finds, whatever version it has read. */
  readonly isDecided?: true;
}

/**
 * The change by a body in its stored form (scalars/): the named properties are set, the others stay.
 * @param space by which a long body is worked on in slices; absent: at once
 */
export const changeOf = (resource: InstanceResource, body: Value, space?: Namespace): Change => {
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  return (stored) => {
    resource.guard?.change?.(stored, body);
    return space ? updated(space, resource.type, stored, body) : prepareUpdate(resource.type, stored, body);
  };
};

/** The version that a body expects, for optimistic locking. @throws type.property.invalid, of a definition resource.property.invalid */
export function versionIn(resource: Pick<Resource, 'kind' | 'name'>, body: Value): bigint | undefined {
  const given = isObject(body) && Object.hasOwn(body, 'ars_version') ? getOwn(body, 'ars_version') : null;
  try {
    const version = coerceSystemProperty(resource, 'ars_version', given);
    return isInteger(version) ? BigInt(version) : undefined;
  } catch (error) {
    if (resource.kind === 'definitions') throw apiError('cascade.resource.property.invalid', resource.name, 'ars_version', 'no Integer');
    throw error;
  }
}

/**
 * Changes one instance; `find` reads it, again after each lost race.
 * @returns the changed instance in its external form; null when a BEFORE rule cancelled it
 */
export async function updateOne(
  space: Namespace,
  resource: InstanceResource,
  find: () => Promise<ObjectValue>,
  change: Change,
  actor: Actor,
  locked: Locked = {},
): Promise<ObjectValue | null> {
  using turns = new StatementTurns(space);
  for (let tries = 0; ; tries++) {
    let stored = await find();
    // A rule's run has its own turn and record.
    if (tries === 0 && !actor.readSet && takesTurns(space, resource, actor, 'update') && (await turns.enter(resource, stored)))
      stored = await find();
    checkVersion(resource, stored, actor, locked);
    if (locked.isNothing) {
      requireWithin(space, resource, 'update', stored, actor);
      remember(resource, [stored], actor);
      return await shownOne(space, resource.type, stored, actor);
    }
    try {
      const done = await changed(space, resource, stored, change, actor, find);
      if (!done) return null;
      const { next } = done;
      const shown = await shownOne(space, resource.type, next, actor);
      const parts = longParts(space, resource.type, next, shown);
      const long = parts && (await parts);
      const json = long?.json ?? encodeInner(shown);
      await actor
        .commit(unitOf(space, resource, done.stored, { next, shown, json, long }, actor), { ok: json })
        .catch((error: unknown) => Promise.reject(asApiError(error, resource, next)));
      actor.readSet?.record(resource.collection, idOf(next), versionOf(next));
      return shown;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      // With an expected version the instance is read again, so that its present version is told, or that it is gone.
      if (locked.version === undefined && actor.readSet?.expected(resource.collection, idOf(stored)) !== undefined)
        throw new RestartRun(`${resource.collection}/${idOf(stored)}`);
      // Those that this change is made for have turns themselves: two of them could wait for each other.
      if (tries >= TRIES && !actor.within) await turns.enter(resource, stored);
    }
  }
}

function checkVersion(resource: InstanceResource, stored: ObjectValue, actor: Actor, locked: Locked): void {
  const current = versionOf(stored);
  if (locked.version !== undefined) {
    if (locked.version !== current) throw conflict(resource, stored, locked.version);
    return;
  }
  if (locked.isDecided) return;
  const seen = actor.readSet?.expected(resource.collection, idOf(stored));
  if (seen !== undefined && seen !== current) throw new RestartRun(`${resource.collection}/${idOf(stored)}`);
}

const conflict = (resource: InstanceResource, stored: ObjectValue, expected: bigint) =>
  apiError('cascade.update.authorization.or.version.conflict', `/${resource.name}/${idOf(stored)}`, expected, versionOf(stored));

/** A changed instance, and the one that it takes the place of. */
export interface Step {
  readonly stored: ObjectValue;
  readonly next: ObjectValue;
  /** The same change, and what the BEFORE rules have made of it, of what others have left of the instance meanwhile. */
  readonly onto: (left: ObjectValue) => Promise<Step>;
}

/**
 * @param find reads the instance again
 * @throws VersionConflict when others have changed it while its BEFORE rules changed it, too
 */
export async function changed(
  space: Namespace,
  resource: InstanceResource,
  stored: ObjectValue,
  change: Change,
  actor: Actor,
  find: () => Promise<ObjectValue>,
): Promise<Step | null> {
  const { type } = resource;
  if (type.maxStorage > 0) throw apiError('cascade.type.capped.readonly', type.name);
  requireWithin(space, resource, 'update', stored, actor);
  const submitted = await change(stored);
  if (space.catalog.features.ofType(type.name)) requireSameKey(resource, stored, submitted);
  const done = hasRulesBefore(space, type, 'update')
    ? await afterRules(space, resource, { stored, submitted }, actor, find)
    : { left: stored, made: AS_IT_WAS };
  if (!done) return null;
  const apply = async (left: ObjectValue): Promise<Step> => {
    const before = left === stored ? submitted : await change(left);
    const final = done.made(before);
    checkFinal(type, final, left);
    const next = stampChanged(final, left, actor);
    await admit(space, { operation: 'update', resource, before: left, after: next, initiator: actor });
    return { stored: left, next, onto };
  };
  const onto = (left: ObjectValue): Promise<Step> => {
    requireWithin(space, resource, 'update', left, actor);
    return apply(left);
  };
  return done.left === stored ? apply(stored) : onto(done.left);
}

/** Programs and the service name a system resource by its key for as long as it exists. @throws resource.key.immutable */
function requireSameKey({ name, type }: InstanceResource, stored: ObjectValue, submitted: ObjectValue): void {
  const changedKey = type.naturalKey.find((key) => !deepEquals(getOwn(stored, key), getOwn(submitted, key)));
  if (changedKey !== undefined) throw apiError('cascade.resource.key.immutable', name, changedKey);
}

/** What the BEFORE rules make of a change. */
type Made = (next: ObjectValue) => ObjectValue;

const AS_IT_WAS: Made = (next) => next;

/**
 * Runs the BEFORE rules, once. What they have changed of the instance themselves is what the change is then applied to: what was submitted,
 * and what the rules made of it (language.md O1, O2).
 */
async function afterRules(
  space: Namespace,
  resource: InstanceResource,
  { stored, submitted }: { readonly stored: ObjectValue; readonly submitted: ObjectValue },
  actor: Actor,
  find: () => Promise<ObjectValue>,
): Promise<{ readonly left: ObjectValue; readonly made: Made } | null> {
  const { type, collection } = resource;
  const id = idOf(stored);
  const within = new OwnChanges(actor.within).watch(collection, id);
  const result = await runBefore(space, type, 'update', submitted, { ...actor, within });
  if (!result) return null;
  const made = result === submitted ? AS_IT_WAS : differences(type, submitted, result);
  const count = within.countOf(collection, id);
  if (count === 0n) return { left: stored, made };
  const found = await find();
  const left = versionOf(found) === versionOf(stored) ? await present(space, resource, stored) : found; // some give what they have
  if (versionOf(left) !== versionOf(stored) + count) throw new VersionConflict(collection, idToBson(getOwn(left, '_id')) as never);
  return { left, made };
}

/** What makes the second of the first: members that differ are set, and properties that the second has not are taken away. */
function differences(type: TypeDefinition, before: ObjectValue, after: ObjectValue): Made {
  const changes: ObjectValue = {};
  for (const name of Object.keys(after)) {
    const is = getOwn(after, name);
    if (!deepEquals(getOwn(before, name), is)) setOwn(changes, name, is);
  }
  const without = Object.keys(before).filter((name) => type.properties.has(name) && !Object.hasOwn(after, name));
  return (next) => {
    const made = prepareUpdate(type, next, changes);
    for (const name of without) delete made[name];
    return made;
  };
}

/** A changed instance: in its stored form, its external form, and that as text. */
interface Changed {
  readonly next: ObjectValue;
  readonly shown: ObjectValue;
  readonly json: string;
  readonly long: LongParts | null;
}

function unitOf(
  space: Namespace,
  resource: InstanceResource,
  stored: ObjectValue,
  { next, shown, json, long }: Changed,
  actor: Actor,
): UnitOfWork {
  const raising = { valueJson: () => json, stored: storedMembers(resource.type, next) };
  const unit: UnitOfWork = {
    writes: [replacement(resource, stored, { next, json, long }), ...entriesFor(resource, next, stored)],
    events: resource.type.rulesSuppressed ? [] : raise(space, instanceEvent(resource, 'update'), shown, actor, raising),
  };
  const whole = accompanied(space, { operation: 'update', resource, before: stored, after: next, initiator: actor }, unit);
  return { ...whole, keysTaken: keysTaken(resource, [next], actor) };
}

export function replacement(resource: InstanceResource, stored: ObjectValue, { next, json, long }: Omit<Changed, 'shown'>): Write {
  const document = long?.document ?? instanceToBson(resource.type, next);
  noteType(document, resource.type);
  checkSize(json, document);
  return { collection: resource.collection, op: 'replace', id: document['_id'], version: versionOf(stored), document, bytes: json.length };
}

/** @throws cascade.resource.not.found */
export async function present(space: Namespace, resource: InstanceResource, instance: ObjectValue): Promise<ObjectValue> {
  const [stored] = await read(space, resource, { _id: idToBson(getOwn(instance, '_id')) }, 1);
  if (!stored) throw apiError('cascade.resource.not.found', `/${resource.name}/${idOf(instance)}`);
  return stored;
}
