// What the committer has to know of a unit: its instances, the paths that it publishes on, its size.

import { type Answer, type UnitOfWork, VersionConflict, type Write } from './types.ts';

/**
 * The unit with all its members, in one order: objects of many shapes make each look at a member a search. What is stored for those who must
 * acknowledge an event becomes writes.
 */
export function uniform({
  writes,
  events,
  steps = NONE,
  done = NONE,
  logs = NONE,
  isRecovered,
  pending,
  after,
  makes,
}: UnitOfWork): UnitOfWork {
  let whole: UnitOfWork =
    isRecovered === undefined ? { writes, events, steps, done, logs } : { writes, events, steps, done, logs, isRecovered };
  if (pending || after) whole = { ...whole, ...(pending && { pending }), ...(after && after.length > 0 && { after }) };
  if (makes) whole = { ...whole, makes };
  for (const event of events) if (event.deliveries) return withDeliveries(whole);
  return whole;
}

const NONE: readonly never[] = [];

const withDeliveries = (unit: UnitOfWork): UnitOfWork => ({
  ...unit,
  writes: [...unit.writes, ...unit.events.flatMap((event) => event.deliveries ?? [])],
  events: unit.events.map(({ deliveries: _, ...event }) => event),
});

/** Names the instance that is written. */
export const keyOf = (write: Write): string =>
  `${write.collection}/${(write.op === 'insert' ? write.document._id : write.id).toHexString()}`;

/** Messages of a topic, a source or a service event are taken in the order in which they were published. */
export function published({ events }: UnitOfWork): readonly string[] {
  let paths: string[] | undefined;
  for (const { path } of events) if (!UNORDERED.test(path)) (paths ??= []).push(path);
  return paths ?? NONE;
}
const UNORDERED = /^\/(?:types|procedures|rules|statements)\//;

/** Why a unit cannot be stored that goes on from what was not stored. */
export function conflictOf({ after = NONE }: UnitOfWork): VersionConflict {
  const [first] = after.filter(({ isStored }) => isStored === false);
  const pending = first ?? after[0];
  if (!pending) throw new TypeError('the unit follows nothing');
  return new VersionConflict(pending.collection, pending.id);
}

/** The instances that only one unit of a tick may write: nobody else can mean a new one. */
export function keysOf({ writes }: UnitOfWork): string[] {
  const keys: string[] = [];
  for (const write of writes) if (write.op !== 'insert' || !write.isNew) keys.push(keyOf(write));
  return keys;
}

/**
 * The instance that two writes of a unit name, by its keys; null where there is none. The order in which the store makes the changes of one request
 * is not ours, and a version that an earlier change of the same unit has replaced can never be met.
 */
export const writtenTwice = (keys: readonly string[]): string | null =>
  keys.length > 1 && new Set(keys).size < keys.length ? (keys.find((key, index) => keys.indexOf(key) < index) ?? null) : null;

/** Of a document of which nobody knows more. */
const SMALL_BYTES = 500;

/** A rough size, for the bounds of a tick and of the queue: what documents, events and steps carry as text. */
export function sizeOf(unit: UnitOfWork): number {
  let bytes = 0;
  for (const write of unit.writes)
    bytes += (write.op === 'insert' ? write.mostBytes : write.op === 'replace' ? write.bytes : 0) ?? SMALL_BYTES;
  for (const event of unit.events) bytes += 2 * event.value.length;
  for (const step of unit.steps ?? []) bytes += lengthOf(step.answer) + step.reads.reduce((sum, read) => sum + lengthOf(read.answer), 0);
  return bytes;
}

const lengthOf = (answer: Answer): number => ('ok' in answer ? answer.ok.length : 'list' in answer ? answer.list.length : 500);
