// UPDATE of the instances of a condition (language.md 5.8): of one as by its address, of several in bulk with one event.

import type { Document } from 'mongodb';
import { encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Actor, committing, OwnChanges } from '../../runtime/context/index.ts';
import { type Pending, VersionConflict, type Write } from '../../runtime/transactions/index.ts';
import { refusalOfOne } from '../../model/errors/index.ts';
import { matches, type Predicate, toFilter } from '../../model/query/index.ts';
import { idOf, versionOf } from '../representation/index.ts';
import { additionsOf } from '../access/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { condition, reread } from './find.ts';
import { type Batch, BulkWalk, type Failed, isRefusal } from './bulk.ts';
import { pendingInstance } from './pending-instances.ts';
import { entriesFor } from './dependents.ts';
import { innerText, longParts } from './in-pieces.ts';
import { asApiError } from './refusals.ts';
import { StatementTurns, takesTurns } from '../turns.ts';
import { type Change, changed, present, replacement, type Step, updateOne } from './update.ts';

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
  const resultOf = onError ?? ((count: number) => (count > 0 ? String(count) : 'null'));
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
  await walk.through(first, async ({ instances, isLast }) => {
    using turns = new StatementTurns(space);
    const hasWaited = takesTurns(space, resource, actor, 'update') && (await turns.enterAll(resource, instances));
    const batch = hasWaited ? await reread(space, resource, filter, instances) : instances;
    await updateBatch(space, resource, batch, { filter, change, walk, onError: onError !== null }, isLast, actor);
  });
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
    const reason = refusalOfOne(error);
    if (!reason) throw error;
    return onError(0, [{ error: reason, instance: one }]);
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

interface Bulk {
  readonly filter: Document;
  readonly change: Change;
  readonly walk: BulkWalk;
  readonly onError: boolean;
}

/**
 * Stores a batch as one unit; after a conflict or a duplicate key it is halved, down to single instances.
 * @param known what the BEFORE rules have made of some already: they run again for those only that others have changed since (language.md O7)
 */
async function updateBatch(
  space: Namespace,
  resource: InstanceResource,
  batch: readonly ObjectValue[],
  bulk: Bulk,
  isLast: boolean,
  actor: Actor,
  known: readonly Step[] = [],
): Promise<void> {
  const { walk, onError } = bulk;
  const ready = await changedBatch(space, resource, batch, bulk, actor, new Map(known.map((step) => [idOf(step.stored), step])));
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
      await updateBatch(space, resource, await reread(space, resource, bulk.filter, left.map(storedOf)), bulk, false, actor, left);
      return updateBatch(space, resource, await reread(space, resource, bulk.filter, right.map(storedOf)), bulk, isLast, actor, right);
    }
    if (error instanceof VersionConflict)
      return updateBatch(space, resource, await reread(space, resource, bulk.filter, ready.map(storedOf)), bulk, isLast, actor, ready);
    const [one] = ready;
    const reason = one ? asApiError(error, resource, one.next) : error;
    const refusal = onError ? refusalOfOne(reason) : null;
    if (!refusal || !one) throw reason;
    walk.fail(refusal, one.stored);
  }
}

/** Makes the changes of a batch. The BEFORE rules of one may change others of it, before their turn or after. */
async function changedBatch(
  space: Namespace,
  resource: InstanceResource,
  batch: readonly ObjectValue[],
  { filter, change, walk, onError }: Bulk,
  actor: Actor,
  known: ReadonlyMap<string, Step>,
): Promise<Step[]> {
  const { collection } = resource;
  const within = new OwnChanges(actor.within);
  for (const one of batch) within.watch(collection, idOf(one));
  const ready: { readonly step: Step; readonly seen: bigint }[] = [];
  for (const one of batch) {
    const id = idOf(one);
    const ownChanges = within.countOf(collection, id);
    const made = known.get(id);
    if (made && ownChanges === 0n && versionOf(made.stored) === versionOf(one)) {
      ready.push({ step: made, seen: 0n });
      continue;
    }
    let [stored] = ownChanges === 0n ? [one] : await reread(space, resource, filter, [one]);
    while (stored)
      try {
        const found = stored;
        const step = await changed(space, resource, found, change, { ...walk.on(found), within }, () => present(space, resource, found));
        if (step) ready.push({ step, seen: within.countOf(collection, id) });
        break;
      } catch (error) {
        if (error instanceof VersionConflict) {
          [stored] = await reread(space, resource, filter, [stored]);
          continue;
        }
        const refusal = onError ? refusalOfOne(error) : null;
        if (!refusal) throw error;
        walk.fail(refusal, stored);
        break;
      }
  }
  const steps: Step[] = [];
  for (const { step, seen } of ready) {
    const later = within.countOf(collection, idOf(step.stored)) - seen;
    if (later === 0n) steps.push(step);
    else
      try {
        const [left] = await reread(space, resource, {}, [step.stored]);
        // What others have changed, too, is refused by the store, and its rules run again.
        if (left) steps.push(versionOf(left) === versionOf(step.stored) + later ? await step.onto(left) : step);
      } catch (error) {
        const refusal = onError ? refusalOfOne(error) : null;
        if (!refusal) throw error;
        walk.fail(refusal, step.stored);
      }
  }
  return steps;
}

const storedOf = ({ stored }: Step): ObjectValue => stored;
