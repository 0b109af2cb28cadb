// A batch in the simulated store: what no single unit is seen to be at fault for must come to an end all the same.
import { type Db, Long, MongoNetworkError, MongoServerError, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { pipelineOf } from '../../platform/mongo/index.ts';
import { SimulatedStore, SimulatedTime, World } from '../../engine/testing/simulation/index.ts';
import { Journal } from './journal.ts';
import { BatchWriter } from './batch-writer.ts';
import { Fenced, type JournalRow, type UnitOfWork, type Write } from './types.ts';

/** Of a document whose statement waits for its answer: it is too long for a pipeline. */
const LONG = 2_000_000;

test('a unit that misses, though all it names is as it says, fails alone and in the end', async () => {
  const world = new World(1);
  const store = new SimulatedStore(world, {});
  const life = { alive: true };
  const { client, db } = store.connect(life);
  const target = new ObjectId();
  const add = (tag: string, _id = new ObjectId()): UnitOfWork => ({
    writes: [{ collection: 't.Thing', op: 'insert', document: { _id, ars_version: Long.ONE, tag } }],
    events: [],
    done: ['a/r/1'],
  });
  const removal: Write = { collection: 't.Thing', op: 'delete', id: target, version: 1n };
  const faulty: UnitOfWork = { writes: [removal, removal], events: [] };
  const settled: UnitOfWork[] = [];
  using time = new SimulatedTime();
  time.reset(1);
  const journal = new Journal(db, 1, 1);
  const settle = (row: JournalRow | null, units: readonly UnitOfWork[]): void => {
    if (row) journal.committed(row);
    settled.push(...units);
  };
  const writer = new BatchWriter(
    0,
    journal,
    { client, db, findTaken: async () => new Map() },
    { settled: settle, unnoted: () => undefined, away: () => undefined },
  );
  const failed = new Map<UnitOfWork, unknown>();
  const write = async (units: readonly UnitOfWork[]): Promise<void> => {
    let isOver = false;
    const written = writer.write(units, [], failed).finally(() => (isOver = true));
    written.catch(() => undefined); // awaited below
    for (let step = 0; !isOver; step++) {
      if (step > 50_000) throw new Error('the tick does not end');
      if (!world.advance()) time.pass(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await written;
  };
  await write([add('target', target)]);
  const others = ['a', 'b', 'c', 'd'].map((tag) => add(tag));
  await write([...others.slice(0, 2), faulty, ...others.slice(2)]);
  expect([...failed.keys()]).toEqual([faulty]);
  expect(settled.slice(1)).toEqual(others);
  expect(store.rows('t.Thing').map(({ tag }) => tag)).toEqual(['target', 'a', 'b', 'c', 'd']);
});

test('an attempt that comes late, after its repetition was refused, is stored and not doubted: nobody has taken over', async () => {
  const world = new World(1);
  const life = { alive: true };
  const { client, db } = new SimulatedStore(world, {}).connect(life);
  using time = new SimulatedTime();
  time.reset(1);
  let comesLate: (() => Promise<void>) | null = null;
  const starts = client.startSession.bind(client);
  let sessions = 0;
  client.startSession = () => {
    const session = starts();
    // The empty row that takes the place of the attempt goes out with its commit.
    const command = async (sent: object, options: object) => {
      if (comesLate) await comesLate().finally(() => (comesLate = null));
      return db.command(sent, options);
    };
    if (++sessions > 1) return Object.assign(session, { client: { db: () => ({ command }) } });
    const commit = session.commitTransaction.bind(session);
    session.inTransaction = () => false; // after a commit that was sent nothing is aborted
    session.commitTransaction = async () => {
      comesLate = commit;
      throw new MongoNetworkError('the connection broke');
    };
    return session;
  };
  let refused = 0;
  let unread = 0;
  const commands = { insert: [] as string[] };
  const troubled = {
    collection: (name: string) => {
      const collection = db.collection(name);
      const findOne = collection.findOne.bind(collection) as (filter: object) => Promise<unknown>;
      const read = (filter: object) =>
        ++unread <= 3 ? Promise.reject(new MongoServerError({ message: 'No keys found for HMAC', code: 211 })) : findOne(filter);
      return Object.assign(collection, { findOne: read });
    },
    command: async (command: { insert: string }, options: object) => {
      commands.insert.push(command.insert);
      if (comesLate && command.insert === 't.Thing' && ++refused === 1) throw new MongoServerError({ message: 'not authorized', code: 13 });
      return db.command(command, options);
    },
  } as unknown as Db;
  const unit: UnitOfWork = {
    writes: [{ collection: 't.Thing', op: 'insert', document: { _id: new ObjectId(), ars_version: Long.ONE }, mostBytes: LONG }],
    events: [],
    done: ['a/r/1'],
  };
  const settled: UnitOfWork[] = [];
  const settle = (_: JournalRow | null, units: readonly UnitOfWork[]): void => void settled.push(...units);
  const at = { client, db: troubled, findTaken: async () => new Map() };
  const writer = new BatchWriter(0, new Journal(db, 1, 1), at, { settled: settle, unnoted: () => undefined, away: () => undefined });
  const failed = new Map<UnitOfWork, unknown>();
  let isOver = false;
  const written = writer.write([unit], [], failed).finally(() => (isOver = true));
  written.catch(() => undefined); // awaited below
  for (let step = 0; !isOver && step < 5_000; step++) {
    if (!world.advance()) time.pass(200);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await written;
  expect(commands.insert).toEqual(['t.Thing', 'journal', 't.Thing']);
  expect([settled, failed.size, unread > 3]).toEqual([[unit], 0, true]);
});

test('half of a tick that comes late, and is found by the other half, does not stand for that one', async () => {
  const world = new World(1);
  const life = { alive: true };
  const store = new SimulatedStore(world, {});
  const { client, db } = store.connect(life);
  using time = new SimulatedTime();
  time.reset(1);
  const refusal = (): MongoServerError => new MongoServerError({ message: 'not authorized', code: 13 });
  let late: (() => Promise<void>) | null = null;
  const starts = client.startSession.bind(client);
  let commits = 0;
  client.startSession = () => {
    const session = starts();
    const commit = session.commitTransaction.bind(session);
    session.commitTransaction = async () => {
      commits++;
      if (commits === 1) throw refusal(); // of both units
      if (commits > 2) return commit();
      late = commit;
      session.inTransaction = () => false;
      throw new MongoNetworkError('the connection broke');
    };
    return session;
  };
  let inserts = 0;
  const troubled = {
    collection: (name: string) => db.collection(name),
    command: async (command: { insert: string }, options: object) => {
      if (command.insert === 't.Thing' && ++inserts === 3) throw refusal(); // the first half, once more
      if (late && command.insert === 'journal' && inserts > 3) await late().finally(() => (late = null));
      return db.command(command, options);
    },
  } as unknown as Db;
  const unit = (tag: string): UnitOfWork => ({
    writes: [{ collection: 't.Thing', op: 'insert', document: { _id: new ObjectId(), ars_version: Long.ONE, tag }, mostBytes: LONG }],
    events: [],
    done: [`${tag}/r/1`],
  });
  const units = [unit('first'), unit('second')];
  const journal = new Journal(db, 1, 1);
  const settled: UnitOfWork[] = [];
  const settle = (row: JournalRow | null, those: readonly UnitOfWork[]): void => {
    if (row) journal.committed(row);
    settled.push(...those);
  };
  const at = { client, db: troubled, findTaken: async () => new Map() };
  const writer = new BatchWriter(0, journal, at, { settled: settle, unnoted: () => undefined, away: () => undefined });
  const failed = new Map<UnitOfWork, unknown>();
  let isOver = false;
  const written = writer.write(units, [], failed).finally(() => (isOver = true));
  written.catch(() => undefined); // awaited below
  for (let step = 0; !isOver && step < 5_000; step++) {
    if (!world.advance()) time.pass(200);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await written;
  expect(store.rows('t.Thing').map(({ tag }) => tag)).toEqual(['first', 'second']);
  expect([settled, failed.size]).toEqual([units, 0]);
});

test('a change that meets others again and again is tried for a minute and a half, whatever the time of day is set to meanwhile', async () => {
  const world = new World(1);
  const { client, db } = new SimulatedStore(world, {}).connect({ alive: true });
  using time = new SimulatedTime();
  time.reset(1);
  let conflicts = 0;
  const contested = {
    collection: (name: string) => db.collection(name),
    command: async (command: { insert: string }, options: object) => {
      if (command.insert !== 't.Thing' || ++conflicts > 20) return db.command(command, options);
      if (conflicts === 10) time.setWrongBy(3_600_000);
      const error = new MongoServerError({ message: 'WriteConflict', code: 112 });
      error.addErrorLabel('TransientTransactionError');
      throw error;
    },
  } as unknown as Db;
  const unit: UnitOfWork = {
    writes: [{ collection: 't.Thing', op: 'insert', document: { _id: new ObjectId(), ars_version: Long.ONE }, mostBytes: LONG }],
    events: [],
    done: ['a/r/1'],
  };
  const settled: UnitOfWork[] = [];
  const settle = (_: JournalRow | null, units: readonly UnitOfWork[]): void => void settled.push(...units);
  const at = { client, db: contested, findTaken: async () => new Map() };
  const writer = new BatchWriter(0, new Journal(db, 1, 1), at, { settled: settle, unnoted: () => undefined, away: () => undefined });
  const failed = new Map<UnitOfWork, unknown>();
  let isOver = false;
  const written = writer.write([unit], [], failed).finally(() => (isOver = true));
  written.catch(() => undefined); // awaited below
  for (let step = 0; !isOver && step < 5_000; step++) {
    if (!world.advance()) time.pass(200);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await written;
  expect([conflicts, failed.size, settled]).toEqual([21, 0, [unit]]);
});

test('a store that commits a transaction although it has refused a statement of it is left alone, and nobody is told that it is stored', async () => {
  const world = new World(1);
  const { client, db } = new SimulatedStore(world, {}).connect({ alive: true });
  const session = client.startSession();
  const sessionId = (session as unknown as { serverSession: { id: object } }).serverSession.id;
  const command = async (): Promise<object> => {
    pipelineOf(sessionId)?.replies.push({ ok: 0, code: 13, errmsg: 'not authorized' }, { ok: 1 });
    return { ok: 1 };
  };
  const lax = {
    ...client,
    startSession: () => Object.assign(session, { client: { db: () => ({ command }) } }),
  } as unknown as typeof client;
  const unit: UnitOfWork = {
    writes: [{ collection: 't.Thing', op: 'insert', document: { _id: new ObjectId(), ars_version: Long.ONE } }],
    events: [],
    done: ['a/r/1'],
  };
  const settled: UnitOfWork[] = [];
  const settle = (_: JournalRow | null, units: readonly UnitOfWork[]): void => void settled.push(...units);
  const at = { client: lax, db, findTaken: async () => new Map() };
  const writer = new BatchWriter(0, new Journal(db, 1, 1), at, { settled: settle, unnoted: () => undefined, away: () => undefined });
  await expect(writer.write([unit], [], new Map())).rejects.toBeInstanceOf(Fenced);
  expect(settled).toEqual([]);
});
