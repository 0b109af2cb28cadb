// UPDATE of instances of a type (resources-and-api.md 2.5, language.md 5.8): of one by its address, of those of a condition one by one or,
// when there are several, in bulk with one event.

import { randomUUID } from 'node:crypto';
import type { Document } from 'mongodb';
import { encodeInner, getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, OwnChanges, RestartRun, committing } from '../../runtime/context/index.ts';
import { type Pending, type UnitOfWork, VersionConflict, type Write } from '../../runtime/transactions/index.ts';
import { matches, type Predicate, toFilter } from '../../model/query/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { deepEquals } from '../../stdlib/operators/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkFinal, coerceSystemProperty, prepareUpdate } from '../../model/types/index.ts';
import { idToBson, instanceToBson } from '../../model/values/index.ts';
import { runBefore } from './before.ts';
import { instanceEvent, raise } from '../../runtime/events/index.ts';
import { shownOne } from '../scalars/index.ts';
import { idOf, stampChanged, versionOf } from '../representation/index.ts';
import { accompanied, additionsOf, admit, requireWithin } from '../access/index.ts';
import type { InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { condition, read } from './find.ts';
import { type Batch, BulkWalk, type Failed, isRefusal } from './bulk.ts';
import { pendingInstance } from './pending-instances.ts';
import { entriesFor } from './dependents.ts';
import { innerText, type LongParts, longParts, updated } from './in-pieces.ts';
import { noteType } from './stale-writes.ts';
import { asApiError, checkSize } from './refusals.ts';

/** Bound of retries against other writers before the update takes a place in the instance's queue. */
const TRIES = 10;

/** Computes the new state of an instance, both in the stored form. */
export type Change = (stored: ObjectValue) => ObjectValue | Promise<ObjectValue>;

export interface Locked {
  /** The version that the caller expects; another one is a conflict (ars_version, If-Match). */
  readonly version?: bigint | undefined;
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
  const { contention } = space.execution;
  const waiter = randomUUID();
  try {
    for (let tries = 0; ; tries++) {
      const stored = await find();
      const instance = `${resource.collection}/${idOf(stored)}`;
      checkVersion(resource, stored, actor, locked);
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
        if (locked.version !== undefined) throw conflict(resource, stored, locked.version);
        if (actor.readSet?.expected(resource.collection, idOf(stored)) !== undefined) throw new RestartRun(instance);
        // One whose turn is waited for by what made this change would wait for itself.
        if (tries < TRIES || actor.within?.concerns(resource.collection, idOf(stored))) continue;
        if (!contention.isEngaged(waiter)) await contention.enter(instance, waiter);
        await contention.pendingFor(instance, waiter)?.settled();
      }
    }
  } finally {
    contention.leave(waiter);
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
interface Step {
  readonly stored: ObjectValue;
  readonly next: ObjectValue;
}

/**
 * @param find reads the instance again
 * @throws VersionConflict when others have changed it while its BEFORE rules changed it, too
 */
async function changed(
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
  const done =
    type.rulesSuppressed || !space.events.before.has(`/types/${type.name}/update`)
      ? { stored, next: submitted }
      : await afterRules(space, resource, { stored, next: submitted }, change, actor, find);
  if (!done) return null;
  checkFinal(type, done.next, done.stored);
  const next = stampChanged(done.next, done.stored, actor);
  await admit(space, { operation: 'update', resource, before: done.stored, after: next, initiator: actor });
  return { stored: done.stored, next };
}

/**
 * Runs the BEFORE rules, once. What they have changed of the instance themselves is what the change is then applied to: what was submitted,
 * and what the rules made of it (language.md O1, O2).
 */
async function afterRules(
  space: Namespace,
  resource: InstanceResource,
  { stored, next: submitted }: Step,
  change: Change,
  actor: Actor,
  find: () => Promise<ObjectValue>,
): Promise<Step | null> {
  const { type, collection } = resource;
  const id = idOf(stored);
  const within = new OwnChanges(actor.within).watch(collection, id);
  const result = await runBefore(space, type, 'update', submitted, { ...actor, within });
  if (!result) return null;
  const count = within.countOf(collection, id);
  if (count === 0n) return { stored, next: result === submitted ? submitted : prepareUpdate(type, stored, result) };
  const found = await find();
  const left = versionOf(found) === versionOf(stored) ? await present(space, resource, stored) : found; // some give what they have
  if (versionOf(left) !== versionOf(stored) + count) throw new VersionConflict(collection, idToBson(getOwn(left, '_id')) as never);
  requireWithin(space, resource, 'update', left, actor);
  const next = await change(left);
  return { stored: left, next: result === submitted ? next : prepareUpdate(type, left, { ...next, ...differences(submitted, result) }) };
}

/** The members of the second that differ from the first's; those that it lacks are null. */
function differences(before: ObjectValue, after: ObjectValue): ObjectValue {
  const found: ObjectValue = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [getOwn(before, name), getOwn(after, name)];
    if (!deepEquals(was, is)) setOwn(found, name, is);
  }
  return found;
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
  const unit: UnitOfWork = {
    writes: [replacement(resource, stored, { next, json, long }), ...entriesFor(resource, next, stored)],
    events: resource.type.rulesSuppressed ? [] : raise(space, instanceEvent(resource, 'update'), shown, actor, { valueJson: () => json }),
  };
  return accompanied(space, { operation: 'update', resource, before: stored, after: next, initiator: actor }, unit);
}

function replacement(resource: InstanceResource, stored: ObjectValue, { next, json, long }: Omit<Changed, 'shown'>): Write {
  const document = long?.document ?? instanceToBson(resource.type, next);
  noteType(document, resource.type);
  checkSize(json, document);
  return { collection: resource.collection, op: 'replace', id: document['_id'], version: versionOf(stored), document, bytes: json.length };
}

/** The result of an UPDATE with ON ERROR, as inner JSON. */
export type ResultOf = (count: number, failed: readonly Failed[]) => Promise<string>;

/**
 * Changes all instances of a condition.
 * @param onError the statement goes on after a failed instance, with this result; null: the first failure ends the statement (earlier
 *   changes stay), and the result is the instance when it was a single one, else the number
 * @returns inner JSON; null: they are more than one batch, and the rest would be lost after a crash: the caller has to use `asRun`
 */
export async function updateMany(
  space: Namespace,
  resource: InstanceResource,
  where: Value,
  change: Change,
  actor: Actor,
  onError: ResultOf | null,
): Promise<string | null> {
  const predicate = await condition(space, resource, where, actor, 'update');
  const filter = toFilter(predicate);
  const resultOf = onError ?? ((count: number) => (count > 1 ? String(count) : 'null'));
  let walk = new BulkWalk(space, resource, { operation: 'update', where, filter, resultOf }, actor);
  let first = await walk.read();
  const followed = actor.readSet?.followed(resource.collection) ?? [];
  if (followed.length > 0) {
    const one = walk.hasBegun ? null : onlyOne(resource, predicate, first, followed);
    if (!one) {
      await actor.readSet?.standing();
      walk = new BulkWalk(space, resource, { operation: 'update', where, filter, resultOf }, actor);
    }
    first = one ?? (await walk.read());
  }
  if (!first.isLast && !walk.isRecorded) return null;
  if (!walk.hasBegun && first.isLast && first.instances.length < 2) {
    const [one] = first.instances;
    return one ? updateFound(space, resource, one, change, actor, onError) : resultOf(0, []);
  }
  await walk.through(first, ({ instances, isLast }) =>
    updateBatch(space, resource, instances, { filter, change, walk, onError: onError !== null }, isLast, actor),
  );
  return resultOf(walk.count, walk.failed);
}

/** The single candidate of a condition, with pending changes; null where only the store can decide. */
function onlyOne(
  resource: InstanceResource,
  predicate: Predicate,
  { instances, isLast }: Batch,
  followed: readonly Pending[],
): Batch | null {
  const changed = followed.map((pending) => pendingInstance(resource, pending).instance);
  const ids = new Set(changed.map(idOf));
  const all = [...instances.filter((one) => !ids.has(idOf(one))), ...changed.filter((one) => matches(predicate, one))];
  return isLast && all.length < 2 ? { instances: all, isLast } : null;
}

async function updateFound(
  space: Namespace,
  resource: InstanceResource,
  one: ObjectValue,
  change: Change,
  actor: Actor,
  onError: ResultOf | null,
): Promise<string> {
  const find = again(space, resource, one);
  if (!onError) return innerText(space, await updateOne(space, resource, find, change, actor));
  const done = { ok: await onError(1, []) };
  try {
    const answering = committing(actor, (unit, answer, part) => actor.commit(unit, answer && done, part));
    return (await updateOne(space, resource, find, change, answering)) ? done.ok : await onError(0, []);
  } catch (error) {
    if (!(error instanceof CascadeError)) throw error;
    return onError(0, [{ error, instance: one }]);
  }
}

/** Gives the instance that was read already first, and fresh reads after. */
function again(space: Namespace, resource: InstanceResource, instance: ObjectValue): () => Promise<ObjectValue> {
  let fresh: ObjectValue | null = instance;
  return async () => {
    const stored = fresh ?? (await present(space, resource, instance));
    fresh = null;
    return stored;
  };
}

/** @throws cascade.resource.not.found */
async function present(space: Namespace, resource: InstanceResource, instance: ObjectValue): Promise<ObjectValue> {
  const [stored] = await read(space, resource, { _id: idToBson(getOwn(instance, '_id')) }, 1);
  if (!stored) throw apiError('cascade.resource.not.found', `/${resource.name}/${idOf(instance)}`);
  return stored;
}

interface Bulk {
  readonly filter: Document;
  readonly change: Change;
  readonly walk: BulkWalk;
  readonly onError: boolean;
}

/** Stores a batch as one unit; after a conflict or a duplicate key it is halved, down to single instances. */
async function updateBatch(
  space: Namespace,
  resource: InstanceResource,
  batch: readonly ObjectValue[],
  bulk: Bulk,
  isLast: boolean,
  actor: Actor,
): Promise<void> {
  const { change, walk, onError } = bulk;
  const ready: { stored: ObjectValue; next: ObjectValue }[] = [];
  for (const one of batch)
    for (let stored: ObjectValue | undefined = one; stored; )
      try {
        const found = stored;
        const done = await changed(space, resource, found, change, walk.on(found), () => present(space, resource, found));
        if (done) ready.push(done);
        break;
      } catch (error) {
        if (error instanceof VersionConflict) {
          [stored] = await reread(space, resource, bulk.filter, [{ stored }]);
          continue;
        }
        if (!onError || !(error instanceof CascadeError)) throw error;
        walk.fail(error, stored);
        break;
      }
  const last = ready[ready.length - 1]?.stored;
  if (!last) return;
  const changes = ready.map(
    ({ stored, next }) => ({ operation: 'update', resource, before: stored, after: next, initiator: actor, isOneOfMany: true }) as const,
  );
  const added = additionsOf(space, changes) ?? { writes: [], events: [] };
  const replacements: Write[] = [];
  for (const { stored, next } of ready) {
    const parts = longParts(space, resource.type, next, next);
    const long = parts && (await parts);
    replacements.push(replacement(resource, stored, { next, json: long?.json ?? encodeInner(next), long }));
  }
  try {
    await walk.store(
      replacements,
      last,
      { writes: [...ready.flatMap(({ stored, next }) => entriesFor(resource, next, stored)), ...added.writes], events: added.events },
      isLast,
    );
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (ready.length > 1) {
      const middle = ready.length >> 1;
      const [left, right] = [ready.slice(0, middle), ready.slice(middle)];
      await updateBatch(space, resource, await reread(space, resource, bulk.filter, left), bulk, false, actor);
      return updateBatch(space, resource, await reread(space, resource, bulk.filter, right), bulk, isLast, actor);
    }
    if (error instanceof VersionConflict)
      return updateBatch(space, resource, await reread(space, resource, bulk.filter, ready), bulk, isLast, actor);
    const [one] = ready;
    const reason = one ? asApiError(error, resource, one.next) : error;
    if (!onError || !(reason instanceof CascadeError) || !one) throw reason;
    walk.fail(reason, one.stored);
  }
}

/** The present state of those that still exist and match. */
function reread(
  space: Namespace,
  resource: InstanceResource,
  filter: Document,
  half: readonly { stored: ObjectValue }[],
): Promise<ObjectValue[]> {
  const ids = half.map(({ stored }) => idToBson(getOwn(stored, '_id')));
  return read(space, resource, { $and: [filter, { _id: { $in: ids } }] }, half.length);
}
