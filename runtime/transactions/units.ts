// Properties of a unit that the committer needs: its instances, the ordered paths that it publishes on, its size.

import { type Answer, type UnitOfWork, VersionConflict, type Write } from './types.ts';

/**
 * The unit with all members in one order: the engine optimizes accesses to objects of one shape. Delivery records of its events become
 * writes.
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

/** Key of the instance that is written. */
export const keyOf = (write: Write): string =>
  `${write.collection}/${(write.op === 'insert' ? write.document._id : write.id).toHexString()}`;

/** The ordered paths of the unit's events: messages of a topic, source or service keep the order of publication. */
export function published({ events }: UnitOfWork): readonly string[] {
  let paths: string[] | undefined;
  for (const { path } of events) if (!UNORDERED.test(path)) (paths ??= []).push(path);
  return paths ?? NONE;
}
const UNORDERED = /^\/(?:types|procedures|rules|statements)\//;

/** The error of a unit that follows a change which was not stored. */
export function conflictOf({ after = NONE }: UnitOfWork): VersionConflict {
  const [first] = after.filter(({ isStored }) => isStored === false);
  const pending = first ?? after[0];
  if (!pending) throw new TypeError('the unit follows nothing');
  return new VersionConflict(pending.collection, pending.id);
}

/** The instances that only one unit of a batch may write; nobody else can write a new one. */
export function keysOf({ writes }: UnitOfWork): string[] {
  const keys: string[] = [];
  for (const write of writes) if (write.op !== 'insert' || !write.isNew) keys.push(keyOf(write));
  return keys;
}

/**
 * The key that two writes of a unit share; null where there is none. The store does not keep the order of changes in one request, and an
 * earlier change of the unit would replace the version that a later one expects.
 */
export const writtenTwice = (keys: readonly string[]): string | null =>
  keys.length > 1 && new Set(keys).size < keys.length ? (keys.find((key, index) => keys.indexOf(key) < index) ?? null) : null;

/** Assumed size of a document of unknown size. */
const SMALL_BYTES = 500;

/** A rough size in bytes, for the bounds of batch and queue: texts of documents, events and steps. */
export function sizeOf(unit: UnitOfWork): number {
  let bytes = 0;
  for (const write of unit.writes)
    bytes += (write.op === 'insert' ? write.mostBytes : write.op === 'replace' ? write.bytes : 0) ?? SMALL_BYTES;
  for (const event of unit.events) bytes += 2 * event.value.length;
  for (const step of unit.steps ?? []) bytes += lengthOf(step.answer) + step.reads.reduce((sum, read) => sum + lengthOf(read.answer), 0);
  return bytes;
}

const lengthOf = (answer: Answer): number => ('ok' in answer ? answer.ok.length : 'list' in answer ? answer.list.length : 500);
