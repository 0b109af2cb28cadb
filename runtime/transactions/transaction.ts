// One attempt to commit a batch: all writes and the journal row in one transaction, or, for inserts that no rule waits for, one unordered
// insert a collection. It reports which units made it fail; the batch writer decides what follows.

import { type ClientSession, type Db, type Document, Long, MongoBulkWriteError, MongoServerError } from 'mongodb';
import {
  type Changed,
  commitPipelined,
  deleteAll,
  insertAll,
  type Pipeline,
  pipelineInserts,
  replaceAll,
  type WriteError,
} from '../../platform/mongo/index.ts';
import { StoredBytes } from '../../model/values/index.ts';
import { overflowOf, writeOverflow } from './overflow.ts';
import { storedRow } from './row-form.ts';
import { DocumentRefused, DuplicateKey, Fenced, type JournalRow, type UnitOfWork, VersionConflict, type Write } from './types.ts';
import { keyOf, sizeOf } from './units.ts';

const DURABLE = { w: 'majority', j: true } as const;
const DUPLICATE = 11000;
/** Refusals of the store: geo keys it cannot extract, parallel arrays in one index, too large keys or documents. */
const REFUSALS = new Set([16755, 16756, 171, 17280, 10334, 17419, 17420]);
/** Bound of a document of the store; long texts overflow. */
const ROW_BYTES = 16 * 1024 * 1024;
/** Bound of the bytes of inserts that nobody waits for: they stand in the memory of the connection until the store has taken them. */
const PIPELINED_BYTES = 1024 * 1024;
/** The index of every collection: a duplicate there is our own earlier attempt, since ids are given out once. */
const ID_INDEX = '_id_';

/** Units that cannot commit, each with its reason. */
export class RejectedUnits extends Error {
  readonly units: ReadonlyMap<UnitOfWork, Error>;
  constructor(units: ReadonlyMap<UnitOfWork, Error>) {
    super('some units cannot commit');
    this.units = units;
  }
}
/** A replace or delete found another version: `findVersionConflicts` says which, once the transaction has been aborted. */
export class BatchConflict extends Error {}

interface Placed {
  readonly unit: UnitOfWork;
  readonly write: Write;
}

/**
 * Whether this unit needs no transaction and no row: repeating its insert is harmless, and no rule follows. Only one insert, since without
 * a transaction several would not be atomic. Without a row another owner of the namespace does not fence it, so only for instances, which
 * are read from the store, and not for what an owner holds in memory (definitions, subscriptions, backlogs).
 */
export const isPlain = (unit: UnitOfWork): boolean =>
  unit.events.every((event) => event.runs.length === 0) &&
  !unit.steps?.length &&
  !unit.done?.length &&
  unit.writes.length <= 1 &&
  unit.writes.every((write) => write.op === 'insert' && write.isNew === true);

/** Stores the units of a batch without a row. @throws RejectedUnits: all others are stored */
export async function insertPlain(db: Db, units: readonly UnitOfWork[]): Promise<void> {
  const rejected = new Map<UnitOfWork, Error>();
  const groups = [...byCollection(units)].map(async ([name, group]) => {
    for (const [unit, reason] of await insertGroup(db, name, group, undefined)) rejected.set(unit, reason);
  });
  await settleAll([...groups, writeLogs(db, units)]);
  if (rejected.size > 0) throw new RejectedUnits(rejected);
}

/**
 * Commits the units with their row.
 * @throws RejectedUnits, BatchConflict, Fenced, the driver's error: nothing is stored but log messages
 */
export async function commitWithRow(db: Db, session: ClientSession, units: readonly UnitOfWork[], row: JournalRow): Promise<void> {
  session.startTransaction({ writeConcern: DURABLE, readConcern: { level: 'local' } });
  const besides = writeLogs(db, units);
  besides.catch(() => undefined); // awaited below; this only prevents an unhandled rejection
  const groups = [...byCollection(units)].map(([name, group]) => ({ name, ...sorted(group) }));
  const bytes = units.reduce((sum, unit) => sum + sizeOf(unit), 0);
  const isShort = bytes <= PIPELINED_BYTES && overflowOf(row).size === 0;
  try {
    const batch = { db, session, groups, row, besides };
    await (isShort ? writePipelined(batch) : writeAnswered(batch));
  } catch (error) {
    if (session.inTransaction()) await session.abortTransaction().catch(() => undefined); // a lost connection has aborted it already
    throw error;
  }
}

/** What a batch writes to one collection. */
interface Group {
  readonly name: string;
  readonly inserts: readonly Placed[];
  readonly changes: readonly Placed[];
}

interface Batch {
  readonly db: Db;
  readonly session: ClientSession;
  readonly groups: readonly Group[];
  readonly row: JournalRow;
  /** What is written outside the transaction, and awaited before the commit. */
  readonly besides: Promise<unknown>;
}

function sorted(group: readonly Placed[]): Omit<Group, 'name'> {
  return {
    inserts: group.filter(({ write }) => write.op === 'insert'),
    changes: folded(group.filter(({ write }) => write.op !== 'insert')),
  };
}

/** All inserts go out with the first command that has to be answered before the next one: a change, or the commit. */
async function writePipelined({ db, session, groups, row, besides }: Batch): Promise<void> {
  const inserting = groups.filter(({ inserts }) => inserts.length > 0);
  using pipeline = pipelineInserts(session, [
    ...inserting.map(({ name, inserts }) => ({ db: db.databaseName, collection: name, documents: inserts.map(insertOf) })),
    { db: db.databaseName, collection: 'journal', documents: [{ document: storedRow(row), mostBytes: ROW_BYTES }] },
  ]);
  try {
    for (const group of groups) await writeShortChanges(db, group, session);
    await besides;
    await commitPipelined(session, pipeline, DURABLE);
  } catch (error) {
    throw refusalOf(pipeline, inserting) ?? error;
  }
  // Not while the store works as it says: what follows a refused statement is refused.
  if (pipeline.refused) throw new Fenced('the store has committed a transaction without a statement that it had refused');
}

/** Why the store has refused one of the inserts; null: it has refused none. */
function refusalOf({ refused }: Pipeline, inserting: readonly Group[]): Error | null {
  if (!refused) return null;
  const { place, errors, reply } = refused;
  const [first] = errors;
  const group = inserting[place];
  try {
    if (!first) return new MongoServerError({ ...reply, message: String(reply['errmsg']) });
    return group ? new RejectedUnits(rejectedBy(errors, group.name, group.inserts, true)) : refusedRow(first);
  } catch (error) {
    return error as Error;
  }
}

/** Each statement waits for the answer to the one before. */
async function writeAnswered({ db, session, groups, row, besides }: Batch): Promise<void> {
  for (const group of groups) {
    const rejected = await insertGroup(db, group.name, group.inserts, session);
    if (rejected.size > 0) throw new RejectedUnits(rejected);
    await writeLongChanges(db, group, session);
  }
  const stored = await writeOverflow(db, session, row);
  const [refused] = await insertAll(db, 'journal', [{ document: storedRow(stored), mostBytes: ROW_BYTES }], session);
  if (refused) throw refusedRow(refused);
  await besides;
  await session.commitTransaction();
}

function byCollection(units: readonly UnitOfWork[]): Map<string, Placed[]> {
  const groups = new Map<string, Placed[]>();
  for (const unit of units)
    for (const write of unit.writes) {
      const group = groups.get(write.collection);
      if (group) group.push({ unit, write });
      else groups.set(write.collection, [{ unit, write }]);
    }
  return groups;
}

type ChangeOf<Op extends Write['op']> = Placed & { readonly write: Write & { readonly op: Op } };
const isReplacement = (one: Placed): one is ChangeOf<'replace'> => one.write.op === 'replace';
const isRemoval = (one: Placed): one is ChangeOf<'delete'> => one.write.op === 'delete';
/** A change holds only for the version that was read. */
const conditionOf = ({ write }: ChangeOf<'replace' | 'delete'>) => ({ _id: write.id, ars_version: Long.fromBigInt(write.version) });

/** As many as a message holds. */
async function writeShortChanges(db: Db, { name, changes }: Group, session: ClientSession): Promise<void> {
  const [replaced, removed] = [changes.filter(isReplacement), changes.filter(isRemoval)];
  const documents = replaced.map((one) => ({ filter: conditionOf(one), replacement: one.write.document }));
  if (replaced.length > 0) mustHold(await replaceAll(db, name, documents, session), name, replaced);
  if (removed.length > 0) mustHold(await deleteAll(db, name, removed.map(conditionOf), session), name, removed);
}

function mustHold({ count, errors }: Changed, name: string, changes: readonly Placed[]): void {
  if (errors.length > 0) throw new RejectedUnits(rejectedBy(errors, name, changes, true));
  if (count < changes.length) throw new BatchConflict();
}

/** In several messages, where there are many. */
async function writeLongChanges(db: Db, { name, changes }: Group, session: ClientSession): Promise<void> {
  // Long values are bytes already, which the driver would read and write once more.
  const ready = changes.filter(isReplacement).filter(({ write }) => holdsBytes(write.document));
  for (const one of ready)
    mustHold(await replaceAll(db, name, [{ filter: conditionOf(one), replacement: one.write.document }], session), name, [one]);
  const rest = ready.length === 0 ? changes : changes.filter((one) => !ready.includes(one as ChangeOf<'replace'>));
  if (rest.length > 0) await writeByDriver(db, name, rest, session);
}

const holdsBytes = (document: Document): boolean => Object.values(document).some((value) => value instanceof StoredBytes);

async function writeByDriver(db: Db, name: string, changes: readonly Placed[], session: ClientSession): Promise<void> {
  const operations = [
    ...changes.filter(isReplacement).map((one) => ({ replaceOne: { filter: conditionOf(one), replacement: one.write.document } })),
    ...changes.filter(isRemoval).map((one) => ({ deleteOne: { filter: conditionOf(one) } })),
  ];
  try {
    const result = await db.collection(name).bulkWrite(operations, { session, ordered: false });
    if (result.matchedCount + result.deletedCount < operations.length) throw new BatchConflict();
  } catch (error) {
    throw lost(refusals(error, name), [...changes.filter(isReplacement), ...changes.filter(isRemoval)], error);
  }
}

/** Folds changes of one instance that follow each other: the last is stored, conditional on the version that the first has read. */
function folded(changes: readonly Placed[]): readonly Placed[] {
  if (changes.every(({ unit }) => unit.after === undefined)) return changes;
  const places = new Map<string, number>();
  const rest: Placed[] = [];
  for (const { unit, write } of changes) {
    const key = keyOf(write);
    const place = unit.after?.some((pending) => pending.key === key) ? places.get(key) : undefined;
    const before = place === undefined ? undefined : rest[place]?.write;
    if (place !== undefined && before && before.op !== 'insert' && write.op !== 'insert')
      rest[place] = { unit, write: { ...write, version: before.version } };
    else {
      places.set(key, rest.length);
      rest.push({ unit, write });
    }
  }
  return rest;
}

/** Gives the units with a duplicate key; inside a transaction the store reports only the first one. */
async function insertGroup(
  db: Db,
  name: string,
  group: readonly Placed[],
  session: ClientSession | undefined,
): Promise<ReadonlyMap<UnitOfWork, Error>> {
  const errors = await insertAll(db, name, group.map(insertOf), session);
  return errors.length === 0 ? NOBODY : rejectedBy(errors, name, group, session !== undefined);
}

const insertOf = ({ write }: Placed): Write & { op: 'insert' } => write as Write & { op: 'insert' };

/** @throws MongoServerError when the store's errors are not those of single documents */
function rejectedBy(
  errors: readonly WriteError[],
  name: string,
  group: readonly Placed[],
  isInTransaction: boolean,
): ReadonlyMap<UnitOfWork, Error> {
  const [first] = errors;
  const found = refusalsIn(errors, name);
  if (found.size === 0) throw new MongoServerError({ ...first, message: first?.errmsg });
  if (isInTransaction) return lost(found, group, first).units;
  // The only duplicates are our own earlier attempt: all units are stored.
  const others = new Map([...found].filter(([, reason]) => !(reason instanceof DuplicateKey && reason.index === ID_INDEX)));
  return others.size === 0 ? NOBODY : lost(others, group, first).units;
}

const NOBODY: ReadonlyMap<UnitOfWork, Error> = new Map();

function lost(found: ReadonlyMap<number, Error>, group: readonly Placed[], error: unknown): RejectedUnits {
  const rejected = new Map<UnitOfWork, Error>();
  for (const [index, reason] of found) {
    const placed = group[index];
    if (placed) rejected.set(placed.unit, reason);
  }
  if (rejected.size === 0) throw error;
  return new RejectedUnits(rejected);
}

/** The errors of single documents, by their place in the request; empty when there is another error, too. */
function refusals(error: unknown, collection: string): Map<number, Error> {
  return error instanceof MongoBulkWriteError ? refusalsIn([error.writeErrors].flat(), collection) : new Map();
}

function refusalsIn(errors: readonly WriteError[], collection: string): Map<number, Error> {
  const found = new Map<number, Error>();
  for (const one of errors) {
    const message = one.errmsg ?? '';
    if (one.code === DUPLICATE) found.set(one.index, new DuplicateKey(collection, /index: (\S+) dup key/.exec(message)?.[1] ?? ''));
    else if (REFUSALS.has(one.code)) found.set(one.index, new DocumentRefused(collection, one.code, message));
    else return new Map();
  }
  return found;
}

/** After an abort: the units whose documents no longer have the version that they expect. */
export async function findVersionConflicts(db: Db, units: readonly UnitOfWork[]): Promise<ReadonlyMap<UnitOfWork, Error>> {
  const rejected = new Map<UnitOfWork, Error>();
  for (const [name, group] of byCollection(units)) {
    const changes = group.flatMap(({ unit, write }) => (write.op === 'insert' ? [] : [{ unit, write }]));
    if (changes.length === 0) continue;
    const versions = new Map<string, bigint>();
    const wanted = { _id: { $in: changes.map(({ write }) => write.id) } };
    for await (const found of db.collection(name).find(wanted, { projection: { ars_version: 1 }, promoteLongs: false }))
      versions.set(String(found['_id']), (found['ars_version'] as Long).toBigInt());
    for (const { unit, write } of changes)
      if (versions.get(write.id.toHexString()) !== write.version) rejected.set(unit, new VersionConflict(name, write.id));
  }
  return rejected;
}

/** Why the store has refused a journal row. */
function refusedRow(refused: WriteError): Error {
  if (refused.code === DUPLICATE) return new Fenced('the journal of this process was closed by its successor');
  return new MongoServerError({ ...refused, message: refused.errmsg });
}

/** A run may leave ten thousand: to write them all as BSON in one go would keep the thread for long. */
const LOGS_AT_ONCE = 1_000;

/** Log messages are written outside the transaction; a duplicate was written by an earlier attempt. */
async function writeLogs(db: Db, units: readonly UnitOfWork[]): Promise<void> {
  const logs = units.flatMap((unit) => unit.logs ?? []);
  for (let from = 0; from < logs.length; from += LOGS_AT_ONCE)
    try {
      const some = logs.slice(from, from + LOGS_AT_ONCE) as Document[];
      await db.collection('logs').insertMany(some, { ordered: false, writeConcern: DURABLE });
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || [error.writeErrors].flat().some((one) => one.code !== DUPLICATE)) throw error;
    }
}

/** Waits for all, then throws the first failure: no write goes on after the caller got its error. */
async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
}
