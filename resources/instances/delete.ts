// DELETE of instances of a type (resources-and-api.md 2.7, language.md 5.9).

import type { Document } from 'mongodb';
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Actor, OwnChanges, committing } from '../../runtime/context/index.ts';
import { type UnitOfWork, VersionConflict, type Write } from '../../runtime/transactions/index.ts';
import { toFilter } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { idToBson } from '../../model/values/index.ts';
import { runBefore } from './before.ts';
import { instanceEvent, raise } from '../../runtime/events/index.ts';
import { shownOne, storedMembers } from '../scalars/index.ts';
import { idOf, versionOf } from '../representation/index.ts';
import { accompanied, additionsOf, admit, requireWithin } from '../access/index.ts';
import type { InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { condition, read, reread } from './find.ts';
import { BulkWalk } from './bulk.ts';
import { addressesOf, dependentsOn } from './dependents.ts';
import { StatementTurns, takesTurns } from '../turns.ts';
import type { Locked } from './update.ts';

/** Deletes what has to go before instances, once nothing refuses or cancels their deletion. */
type First = (gone: readonly ObjectValue[]) => Promise<void>;

interface Deletion extends Locked {
  readonly first?: First | undefined;
}

/**
 * Deletes one instance; `find` reads it, again after each lost race. Gives the number of deleted ones: 0 when a BEFORE rule cancelled it.
 */
export async function deleteOne(
  space: Namespace,
  resource: InstanceResource,
  find: () => Promise<ObjectValue>,
  actor: Actor,
  locked: Deletion = {},
  doomed: ReadonlySet<string> = NONE,
): Promise<number> {
  using turns = new StatementTurns(space);
  for (let isFirst = true; ; isFirst = false) {
    let stored = await find();
    if (isFirst && takesTurns(space, resource, actor, 'delete') && (await turns.enter(resource, stored))) stored = await find();
    if (locked.version !== undefined && locked.version !== versionOf(stored))
      throw apiError(
        'cascade.update.authorization.or.version.conflict',
        `/${resource.name}/${idOf(stored)}`,
        locked.version,
        versionOf(stored),
      );
    if (doomed === NONE) requireWithin(space, resource, 'delete', stored, actor);
    const own = doomed === NONE ? withinOwn(resource, [stored], actor) : actor;
    if (!(await allowed(space, resource, stored, own))) return 0;
    if (doomed === NONE) await admit(space, deletionOf(resource, stored, actor));
    const along = await goingAlong(space, resource, [stored], own, doomed);
    // What its rules have changed of it themselves is deleted as they left it: they have let it go, and are not asked again.
    const count = doomed === NONE ? (own.within?.countOf(resource.collection, idOf(stored)) ?? 0n) : 0n;
    const gone = count === 0n ? stored : ((await read(space, resource, byId(stored), 1))[0] ?? (await find()));
    if (versionOf(gone) !== versionOf(stored) + count) continue; // others have changed it, too
    await locked.first?.([gone]);
    const { type } = resource;
    const path = instanceEvent(resource, 'delete');
    const raising = { stored: storedMembers(type, gone) };
    const events = type.rulesSuppressed ? [] : raise(space, path, await shownOne(space, type, gone, actor), actor, raising);
    try {
      const unit: UnitOfWork = { writes: [removal(resource, gone), ...along.writes], events: [...events, ...along.events] };
      await actor.commit(accompanied(space, deletionOf(resource, gone, actor), unit), { ok: '1' });
      return 1;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error; // changed meanwhile: its present state is deleted, if it still exists
    }
  }
}

/**
 * Deletes all instances of a condition. A single one raises its own event, several raise one together.
 * @returns how many; null: they are more than one batch, and the rest would be lost after a crash: the caller has to use `asRun`
 */
export async function deleteMany(
  space: Namespace,
  resource: InstanceResource,
  where: Value,
  actor: Actor,
  first?: First,
): Promise<number | null> {
  const filter = toFilter(await condition(space, resource, where, actor, 'delete'));
  if (resource.type.maxStorage > 0) throw apiError('cascade.type.capped.readonly', resource.type.name);
  const walk = new BulkWalk(space, resource, { operation: 'delete', where, filter, resultOf: String }, actor);
  const begin = await walk.read();
  if (!begin.isLast && !walk.isRecorded) return null;
  const [one] = begin.instances;
  if (!walk.hasBegun && begin.isLast && begin.instances.length < 2)
    return one ? deleteFound(space, resource, filter, one, actor, first) : 0;
  await walk.through(begin, async ({ instances: all, isLast }) => {
    using turns = new StatementTurns(space);
    const hasWaited = takesTurns(space, resource, actor, 'delete') && (await turns.enterAll(resource, all));
    const instances = hasWaited ? await reread(space, resource, filter, all) : all;
    const own = withinOwn(resource, instances, actor);
    const doomed: ObjectValue[] = [];
    for (const stored of instances) {
      if (!(await allowed(space, resource, stored, { ...walk.on(stored), within: own.within }))) continue;
      await admit(space, { operation: 'delete', resource, before: stored, after: null, initiator: actor });
      doomed.push(stored);
    }
    await deleteBatch(space, resource, filter, doomed, walk, isLast, own, first);
  });
  return walk.count;
}

/** Deletes an instance that was read, if it still exists. */
async function deleteFound(
  space: Namespace,
  resource: InstanceResource,
  filter: Document,
  one: ObjectValue,
  actor: Actor,
  first: First | undefined,
): Promise<number> {
  let known: ObjectValue | null = one;
  const find = async (): Promise<ObjectValue> => {
    const stored = known ?? (await read(space, resource, { $and: [filter, byId(one)] }, 1))[0];
    known = null;
    if (!stored) throw new Gone();
    return stored;
  };
  try {
    return await deleteOne(space, resource, find, actor, { first });
  } catch (error) {
    if (error instanceof Gone) return 0;
    throw error;
  }
}

/** Another writer has deleted the instance. */
class Gone extends Error {}

/** @param actor counts what the rules change of them */
async function deleteBatch(
  space: Namespace,
  resource: InstanceResource,
  filter: Document,
  doomed: readonly ObjectValue[],
  walk: BulkWalk,
  isLast: boolean,
  actor: Actor,
  first: First | undefined,
): Promise<void> {
  const last = doomed[doomed.length - 1];
  if (!last) return;
  const along = await goingAlong(space, resource, doomed, actor);
  const deletions = doomed.map(
    (before) => ({ operation: 'delete', resource, before, after: null, initiator: actor, isOneOfMany: true }) as const,
  );
  const added = additionsOf(space, deletions) ?? { writes: [], events: [] };
  if (walk.count + doomed.length === 1) {
    const isAsRead = (actor.within?.countOf(resource.collection, idOf(last)) ?? 0n) === 0n;
    const [left] = isAsRead ? [last] : await read(space, resource, byId(last), 1);
    const { type } = resource;
    walk.only = left ? { shown: await shownOne(space, type, left, actor), stored: storedMembers(type, left) } : null;
  }
  await first?.(doomed);
  try {
    await walk.store(
      doomed.map((stored) => asLeft(removal(resource, stored), actor)),
      last,
      { writes: [...along.writes, ...added.writes], events: [...along.events, ...added.events] },
      isLast,
    );
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    // Some were changed meanwhile: those that still exist and match are deleted in their present state.
    const fresh = await reread(space, resource, filter, doomed);
    return deleteBatch(space, resource, filter, fresh, walk, isLast, withinOwn(resource, fresh, actor), first);
  }
}

/**
 * The dependents that are deleted with these: each with its own event, and after its own BEFORE rules.
 * @param doomed those that are being deleted already
 */
export async function goingAlong(
  space: Namespace,
  resource: Resource,
  gone: readonly ObjectValue[],
  actor: Actor,
  doomed: ReadonlySet<string> = NONE,
): Promise<UnitOfWork> {
  const addresses = gone.flatMap((stored) => addressesOf(resource, stored));
  const all = new Set([...doomed, ...addresses]);
  const { entries, found } = await dependentsOn(space, addresses);
  const parts: UnitOfWork[] = [];
  const { childRunIds } = actor;
  // The rules of one may change another, before its turn or after: all of them go in one commit, as the rules left them.
  const watching = doomed === NONE ? { ...actor, within: new OwnChanges(actor.within) } : actor;
  for (const { resource: own, instance } of found) watching.within?.watch(own.collection, idOf(instance));
  for (const { resource: own, instance } of found) {
    const [address = ''] = addressesOf(own, instance);
    if (all.has(address)) continue;
    all.add(address);
    const batching = committing(watching, async (unit) => void parts.push(unit), {
      readSet: null,
      childRunIds: childRunIds && childRunIds.of(idOf(instance)),
    });
    await deleteOne(space, own, async () => instance, batching, {}, all);
  }
  const own = resource.kind === 'instances' ? await resource.guard?.along?.(space, gone) : undefined;
  const writes = parts.flatMap((part) => part.writes);
  const left = doomed === NONE ? writes.map((write) => asLeft(write, watching)) : writes;
  return { writes: [...entries, ...(own ?? []), ...left], events: parts.flatMap(({ events }) => events) };
}

/** The actor of the rules that these deletions wait for, who counts what they change of the instances. */
function withinOwn(resource: InstanceResource, all: readonly ObjectValue[], actor: Actor): Actor {
  const within = new OwnChanges(actor.within);
  for (const stored of all) within.watch(resource.collection, idOf(stored));
  return { ...actor, within };
}

/** A removal meets the version that the deletion's own rules have left. */
function asLeft(write: Write, { within }: Actor): Write {
  if (write.op !== 'delete' || !within) return write;
  return { ...write, version: write.version + within.countOf(write.collection, write.id.toHexString()) };
}

const deletionOf = (resource: InstanceResource, before: ObjectValue, initiator: Actor) =>
  ({ operation: 'delete', resource, before, after: null, initiator }) as const;

const NONE: ReadonlySet<string> = new Set();

async function allowed(space: Namespace, resource: InstanceResource, stored: ObjectValue, actor: Actor): Promise<boolean> {
  if (resource.type.maxStorage > 0) throw apiError('cascade.type.capped.readonly', resource.type.name);
  return resource.type.rulesSuppressed || (await runBefore(space, resource.type, 'delete', stored, actor)) !== null;
}

const byId = (stored: ObjectValue): Document => ({ _id: idToBson(getOwn(stored, '_id')) });

const removal = (resource: InstanceResource, stored: ObjectValue): UnitOfWork['writes'][number] => ({
  collection: resource.collection,
  op: 'delete',
  id: idToBson(getOwn(stored, '_id')) as never,
  version: versionOf(stored),
});
