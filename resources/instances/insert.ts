// INSERT into a type (resources-and-api.md 2.4, language.md 5.5).

import { decodeInner, encodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor, Initiator } from '../../runtime/context/index.ts';
import { DocumentRefused, DuplicateKey, type UnitOfWork, type Write } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { asError, finishInSlices, type MaybePromise } from '../../platform/structures/index.ts';
import { checkFinal, type InPieces, isLong, prepareInsert, prepareInsertInPieces, type TypeDefinition } from '../../model/types/index.ts';
import { instanceToBson } from '../../model/values/index.ts';
import { hasRulesBefore, runBefore } from './before.ts';
import { instanceEvent, raise } from '../../runtime/events/index.ts';
import { ensureCollection, trimCapped } from '../collections/index.ts';
import { isConverted, shownOne, storedMembers, toShown, toStored } from '../scalars/index.ts';
import { stampNew } from '../representation/index.ts';
import { accompanied, admit, requireWithin } from '../access/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { entriesFor } from './dependents.ts';
import { type LongParts, innerText, longParts, partsInPieces } from './in-pieces.ts';
import { keysTaken } from './natural-key.ts';
import { noteType } from './stale-writes.ts';
import { asApiError, sizeOf, sizeWithin } from './refusals.ts';

/**
 * Stores one instance. Gives it in its external form; null when a BEFORE rule cancelled it.
 * @param isAdmitted `insertAtOnce` has asked the policies already
 */
export function insertOne(
  space: Namespace,
  resource: InstanceResource,
  body: Value,
  actor: Actor,
  isAdmitted = false,
): Promise<ObjectValue | null> {
  if (resource.guard?.insert) return resource.guard.insert(space, resource, body, actor, false);
  const stored = toStored(space, resource.type, resource.receive?.(body, actor, true) ?? body, actor);
  if (stored instanceof Promise) return stored.then((all) => insertStored(space, resource, all, actor, isAdmitted));
  return insertStored(space, resource, stored, actor, isAdmitted);
}

/** Text that is made on first use: only a run's history, or an idempotency record, needs it. */
class LazyText {
  readonly #json: () => string;
  constructor(json: () => string) {
    this.#json = json;
  }
  get ok(): string {
    return this.#json();
  }
}

/** Inserts a body in its stored form. */
export async function insertStored(
  space: Namespace,
  resource: InstanceResource,
  body: Value,
  actor: Actor,
  isAdmitted = false,
): Promise<ObjectValue | null> {
  const ready = prepared(space, resource, body, actor);
  const instance = ready instanceof Promise ? await ready : ready;
  if (!instance) return null;
  const stamped = stampNew(instance, actor);
  const admitted = isAdmitted ? undefined : admitInsert(space, resource, stamped, actor);
  if (admitted) await admitted;
  const pending = shownOne(space, resource.type, stamped, actor);
  const shown = pending instanceof Promise ? await pending : pending;
  const long = longParts(space, resource.type, stamped, shown);
  const parts = long && (await long);
  const { unit, json } = unitOf(space, resource, stamped, shown, actor, parts);
  try {
    await actor.commit({ ...unit, keysTaken: keysTaken(resource, [stamped], actor) }, new LazyText(json));
  } catch (error) {
    throw asApiError(error, resource, stamped);
  }
  if (resource.type.maxStorage > 0) await trimCapped(space, resource.type);
  return shown;
}

/** An instance, and the unit that stores it. */
export interface ReadyInsert {
  readonly unit: UnitOfWork;
  /** The instance in its stored form, and in its external one. */
  readonly stamped: ObjectValue;
  readonly shown: ObjectValue;
}

/**
 * The unit that stores one instance, where it can be made without waiting (for a BEFORE rule, a procedure of a scalar, the store); null
 * where it cannot: then the caller uses `insertOne`. A promise where only the policies have to be waited for; the insert is counted by
 * then.
 * @throws errors of the instance
 */
export function insertAtOnce(
  space: Namespace,
  resource: InstanceResource,
  body: Value,
  initiator: Initiator,
): ReadyInsert | Promise<void> | null {
  const { type } = resource;
  if (!isAtOnce(space, resource)) return null;
  const instance = prepareInsert(type, body);
  checkFinal(type, instance);
  const stamped = stampNew(instance, initiator);
  const waits = admitInsert(space, resource, stamped, initiator);
  if (waits) {
    waits.catch(() => undefined); // the caller that awaits it gets the error
    return waits;
  }
  return { unit: unitOf(space, resource, stamped, stamped, initiator).unit, stamped, shown: stamped };
}

/** The same for a long instance. @returns in a member: a promise would be waited for */
export function* insertInPieces(
  space: Namespace,
  resource: InstanceResource,
  body: Value,
  initiator: Initiator,
): InPieces<{ readonly ready: ReturnType<typeof insertAtOnce> }> {
  const { type } = resource;
  if (!isAtOnce(space, resource)) return { ready: null };
  const instance = yield* prepareInsertInPieces(type, body);
  checkFinal(type, instance);
  const stamped = stampNew(instance, initiator);
  const waits = admitInsert(space, resource, stamped, initiator);
  if (waits) {
    waits.catch(() => undefined);
    return { ready: waits };
  }
  const parts = yield* partsInPieces(type, stamped, stamped);
  return { ready: { unit: unitOf(space, resource, stamped, stamped, initiator, parts).unit, stamped, shown: stamped } };
}

/** Whether nothing has to be waited for but the policies. */
function isAtOnce(space: Namespace, resource: InstanceResource): boolean {
  const { type } = resource;
  if (type.maxStorage > 0 || resource.isLazy || resource.guard?.insert || isConverted(type)) return false;
  return !hasRulesBefore(space, type, 'insert');
}

/**
 * The units that store several instances of a type whose values procedures convert, without BEFORE rules. The procedures run side by side; the
 * instances are stamped in their order, as they are to be stored.
 * @returns of each its unit, or why there is none
 */
export async function convertedInserts(
  space: Namespace,
  resource: InstanceResource,
  bodies: readonly Value[],
  actor: Actor,
): Promise<(ReadyInsert | Error)[]> {
  const { type } = resource;
  const converted = await Promise.allSettled(
    bodies.map(async (body) => toStored(space, type, resource.receive?.(body, actor, true) ?? body, actor)),
  );
  const stamped: (ObjectValue | Error)[] = [];
  for (const one of converted)
    try {
      mustBeObject(bodies[stamped.length] as Value, stamped.length);
      if (one.status === 'rejected') throw one.reason;
      const instance = stampNew((await prepared(space, resource, one.value, actor)) as ObjectValue, actor); // null is only for BEFORE rules
      await admitInsert(space, resource, instance, actor);
      stamped.push(instance);
    } catch (error) {
      stamped.push(asError(error));
    }
  return Promise.all(
    stamped.map(async (instance) => {
      if (instance instanceof Error) return instance;
      try {
        const shown = await shownOne(space, type, instance, actor);
        return { unit: unitOf(space, resource, instance, shown, actor).unit, stamped: instance, shown };
      } catch (error) {
        return asError(error);
      }
    }),
  );
}
/**
 * A program's INSERT of an array of a type without BEFORE rules (language.md I3): in order; instances before a failing one stay. All are
 * stored as one unit if possible, which only the store can decide. The parts of the statement are numbered by their last instance; a repetition goes on behind them.
 */
export async function insertMany(
  space: Namespace,
  resource: InstanceResource,
  bodies: readonly Value[],
  actor: Actor,
): Promise<ObjectValue[]> {
  const ready: ObjectValue[] = [];
  let failure: Error | null = null;
  // Conversions by procedures run together; a failure is reported when its turn comes.
  const converted = bodies.map(async (body) => toStored(space, resource.type, resource.receive?.(body, actor, true) ?? body, actor));
  for (const one of converted) one.catch(() => undefined);
  for (const [index, body] of converted.entries()) {
    try {
      mustBeObject(bodies[index] as Value, index);
      const instance = await prepared(space, resource, await body, actor);
      if (!instance) continue;
      await admitInsert(space, resource, stampNew(instance, actor), actor);
      ready.push(instance);
    } catch (error) {
      failure = asError(error);
      break;
    }
  }
  const stored = await storeAll(space, resource, ready, actor, failure === null);
  if (resource.type.maxStorage > 0) await trimCapped(space, resource.type);
  if (failure !== null) throw failure;
  return stored;
}

/** An element of an array: where it stands is said, as it has no offset in a body. */
export function mustBeObject(element: Value, index: number): void {
  if (!isObject(element)) throw apiError('cascade.request.body.invalid', `an object was expected as element ${index}`, index);
}

async function storeAll(
  space: Namespace,
  resource: InstanceResource,
  ready: readonly ObjectValue[],
  actor: Actor,
  last: boolean,
): Promise<ObjectValue[]> {
  const before = storedBefore(actor);
  const all = before.length === 0 ? await storeTogether(space, resource, ready, actor, last) : null;
  if (all) return all;
  // One instance is refused: storing them one by one finds it, and keeps those before it.
  const stored = [...before];
  for (const instance of ready.slice(before.length)) {
    const stamped = stampNew(instance, actor);
    const shown = await shownOne(space, resource.type, stamped, actor);
    const { unit, json } = unitOf(space, resource, stamped, shown, actor);
    try {
      const taking = { ...unit, keysTaken: keysTaken(resource, [stamped], actor) };
      await actor.commit(taking, undefined, { number: stored.length, note: `[${json()}]` });
    } catch (error) {
      throw asApiError(error, resource, stamped);
    }
    stored.push(shown);
  }
  if (last) await actor.commit({ writes: [], events: [] }, { ok: await innerText(space, stored) });
  return stored;
}

/** Stores the instances as one unit; null when the store refuses one of several. */
async function storeTogether(
  space: Namespace,
  resource: InstanceResource,
  ready: readonly ObjectValue[],
  actor: Actor,
  last: boolean,
): Promise<ObjectValue[] | null> {
  const stamped = ready.map((instance) => stampNew(instance, actor));
  const shown = await toShown(space, resource.type, stamped, actor);
  const long = new Map<ObjectValue, LongParts>();
  for (const [index, instance] of stamped.entries()) {
    const parts = longParts(space, resource.type, instance, shown[index] as ObjectValue);
    if (parts) long.set(instance, await parts);
  }
  const parts = stamped.map((instance, index) => unitOf(space, resource, instance, shown[index] as ObjectValue, actor, long.get(instance)));
  const whole: UnitOfWork = {
    writes: parts.flatMap(({ unit }) => unit.writes),
    events: parts.flatMap(({ unit }) => unit.events),
    keysTaken: keysTaken(resource, stamped, actor),
  };
  const note = `[${parts.map(({ json }) => json()).join(',')}]`;
  try {
    if (last) await actor.commit(whole, { ok: note });
    else if (parts.length > 0) await actor.commit(whole, undefined, { number: 0, note });
  } catch (error) {
    const isOne = error instanceof DuplicateKey || error instanceof DocumentRefused;
    if (!isOne || parts.length === 1) throw stamped[0] ? asApiError(error, resource, stamped[0]) : error;
    return null;
  }
  return shown;
}

/** The instances that an earlier attempt of the statement has stored, in order. */
function storedBefore({ checkpoints }: Actor): ObjectValue[] {
  const numbers = [...(checkpoints?.keys() ?? [])].sort((a, b) => a - b);
  return numbers.flatMap((number) => decodeInner(checkpoints?.get(number) ?? '[]') as ObjectValue[]);
}

function prepared(space: Namespace, resource: InstanceResource, body: Value, actor: Actor): MaybePromise<ObjectValue | null> {
  const { type } = resource;
  if (type.role === 'schema') throw apiError('cascade.type.role.no.instances', type.name);
  const ready = ensureCollection(space, resource);
  return ready ? ready.then(() => passed(space, type, body, actor)) : passed(space, type, body, actor);
}

/** The instance after the BEFORE rules. */
function passed(space: Namespace, type: TypeDefinition, body: Value, actor: Actor): MaybePromise<ObjectValue | null> {
  if (isLong(body)) return passedInSlices(space, type, body, actor);
  const submitted = prepareInsert(type, body);
  const left = type.rulesSuppressed ? submitted : runBefore(space, type, 'insert', submitted, actor);
  const checked = (final: ObjectValue | null): ObjectValue | null => {
    if (!final) return null;
    const instance = final === submitted ? final : prepareInsert(type, final);
    checkFinal(type, instance);
    return instance;
  };
  return left instanceof Promise ? left.then(checked) : checked(left);
}

async function passedInSlices(space: Namespace, type: TypeDefinition, body: Value, actor: Actor): Promise<ObjectValue | null> {
  const submitted = await finishInSlices(space.name, prepareInsertInPieces(type, body));
  const final = type.rulesSuppressed ? submitted : await runBefore(space, type, 'insert', submitted, actor);
  if (!final) return null;
  const instance = final === submitted ? final : await finishInSlices(space.name, prepareInsertInPieces(type, final));
  checkFinal(type, instance);
  return instance;
}

/** @throws cascade.authorization.denied, and refusals of policies */
function admitInsert(space: Namespace, resource: InstanceResource, stamped: ObjectValue, initiator: Initiator): MaybePromise<void> {
  requireWithin(space, resource, 'insert', stamped, initiator);
  return admit(space, { operation: 'insert', resource, before: null, after: stamped, initiator });
}

/** @param stamped the stored form; @param shown the external form @returns the unit, and the external form as text, made on first use */
function unitOf(
  space: Namespace,
  resource: InstanceResource,
  stamped: ObjectValue,
  shown: ObjectValue,
  initiator: Initiator,
  long: LongParts | null = null,
) {
  const { type, collection } = resource;
  let text = long?.json;
  const json = (): string => (text ??= encodeInner(shown));
  const raising = { valueJson: json, stored: storedMembers(type, stamped) };
  const events = type.rulesSuppressed ? [] : raise(space, instanceEvent(resource, 'insert'), shown, initiator, raising);
  const document = (long?.document ?? instanceToBson(type, stamped)) as never;
  noteType(document, type);
  const mostBytes = sizeWithin(stamped) ?? sizeOf(document);
  const own: Write = { collection, op: 'insert', document, isNew: true, mostBytes };
  const entries = entriesFor(resource, stamped);
  const unit: UnitOfWork = { writes: entries.length === 0 ? [own] : [own, ...entries], events };
  return { unit: accompanied(space, { operation: 'insert', resource, before: null, after: stamped, initiator }, unit), json };
}
