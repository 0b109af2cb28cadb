import { type CommandStartedEvent, type Db, Long, MongoClient, MongoNetworkError, ObjectId } from 'mongodb';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { amount } from '../../scripts/testing/amount.ts';
import { newId } from '../../model/types/index.ts';
import {
  Committer,
  type CommitterOptions,
  closeEpochs,
  DocumentRefused,
  DuplicateKey,
  Fenced,
  Pending,
  readUnfinished,
  removeRows,
  runIdOf,
  SLOTS,
  type StoredEvent,
  type StoredRow,
  type UnitOfWork,
  VersionConflict,
} from './index.ts';

const uri = process.env['CASCADE_TEST_MONGO'] ?? '';
let client: MongoClient;
let started: StoredEvent[];
let databases = 0;
const opened: Committer[] = [];

beforeAll(async () => {
  client = await new MongoClient(uri, { readConcern: { level: 'majority' }, monitorCommands: true }).connect();
});
afterAll(async () => {
  // Those that played a process which died, too: they clean the journal once in a while.
  for (const committer of opened) await committer[Symbol.asyncDispose]();
  await client.close();
});
beforeEach(() => {
  started = [];
});

const options = (db: Db, epoch: number, longRunMs = 30_000): CommitterOptions => ({
  client,
  db,
  epoch,
  onEvents: (events) => started.push(...events),
  uniqueKeys: (unit) => unit.writes.flatMap((write) => (write.op === 'delete' ? [] : [`k=${String(write.document['k'])}`])),
  findTaken: async (units) => {
    const taken = new Map<UnitOfWork, DuplicateKey>();
    const held = new Set(await db.collection('t.Thing').distinct('k'));
    for (const unit of units)
      for (const write of unit.writes)
        if (write.op === 'insert' && held.has(write.document['k'])) taken.set(unit, new DuplicateKey('t.Thing', 'unique_k'));
    return taken;
  },
  isFull: () => null,
  longRunMs,
  onError: (error) => {
    if (!(error instanceof Fenced)) throw error;
  },
});

async function space(epoch = 1, name = `committer_${process.pid}_${databases++}`, longRunMs?: number) {
  const db = client.db(name);
  const committer = new Committer(options(db, epoch, longRunMs));
  opened.push(committer);
  await db.collection('t.Thing').createIndex({ k: 1 }, { unique: true, name: 'unique_k' });
  return { db, committer, name };
}

/** The write concerns of the commands that commit something, while this runs. */
async function concernsOf(work: () => Promise<unknown>): Promise<unknown[]> {
  const concerns: unknown[] = [];
  const listener = ({ commandName, command }: CommandStartedEvent): void => {
    const isCommit = commandName === 'commitTransaction' || (commandName === 'insert' && command['txnNumber'] === undefined);
    if (isCommit) concerns.push(command['writeConcern']);
  };
  client.on('commandStarted', listener);
  await work();
  client.off('commandStarted', listener);
  return concerns;
}

test('what is committed is held by a majority and in the journal, in a transaction and without one', async () => {
  const { committer } = await space();
  const durable = expect.objectContaining({ w: 'majority', j: true });
  const inTransaction = await concernsOf(() => committer.submit(insert('a', [event('e1')])));
  expect(inTransaction.length).toBeGreaterThan(0);
  const alone = await concernsOf(() => committer.submit(insert('b')));
  expect(alone.length).toBeGreaterThan(0);
  for (const concern of [...inTransaction, ...alone]) expect(concern).toEqual(durable);
  await committer[Symbol.asyncDispose]();
});

const thing = (k: unknown, extra: object = {}) => ({ _id: new ObjectId(newId()), ars_version: Long.fromNumber(1), k, ...extra });
const insert = (k: unknown, events: StoredEvent[] = []): UnitOfWork => ({
  writes: [{ collection: 't.Thing', op: 'insert', document: thing(k), isNew: true }],
  events,
});
/** Its statements wait for their answers: it is too long for a pipeline. */
const long = (unit: UnitOfWork): UnitOfWork => ({ ...unit, writes: unit.writes.map((write) => ({ ...write, mostBytes: 2_000_000 })) });
const event = (uuid: string, rules: string[] = ['r']): StoredEvent => ({
  uuid,
  path: '/types/Thing/insert',
  value: '{}',
  at: new Date(),
  by: 'ann',
  chain: { root: uuid, depth: 0 },
  runs: rules.map((rule) => ({ rule, program: 'p', binds: 'value' })),
});

test('a committer that was closed commits nothing more: what comes is left to the next owner, also what needs no row', async () => {
  const { db, committer } = await space();
  await committer[Symbol.asyncDispose]();
  for (const events of [[], [event('late')]]) await expect(committer.submit(insert('late', events))).rejects.toBeInstanceOf(Fenced);
  expect(await db.collection('t.Thing').countDocuments()).toBe(0);
});

test('units that come together share ticks, and all of them are stored', async () => {
  const { db, committer } = await space();
  await Promise.all(Array.from({ length: 500 }, (_, k) => committer.submit(insert(k, [event(`e${k}`)]))));
  expect(await db.collection('t.Thing').countDocuments()).toBe(500);
  expect(await db.collection('journal').countDocuments()).toBeLessThan(50);
  expect(started).toHaveLength(500);
  await committer[Symbol.asyncDispose]();
});

test('a listener that throws after the commit changes nothing: each event is committed and announced once', async () => {
  const db = client.db(`committer_${process.pid}_${databases++}`);
  const reported: unknown[] = [];
  const committer = new Committer({
    ...options(db, 1),
    onEvents: (events) => {
      started.push(...events);
      throw new Error('a listener failed');
    },
    onError: (error) => reported.push(error),
  });
  const units = ['a', 'b', 'c', 'd'].map((uuid): UnitOfWork => ({ writes: [], events: [event(uuid)] }));
  await Promise.all(units.map((unit) => committer.submit(unit)));
  expect(started.map(({ uuid }) => uuid)).toEqual(['a', 'b', 'c', 'd']);
  expect((await readUnfinished(db, [1])).events.map(({ uuid }) => uuid)).toEqual(['a', 'b', 'c', 'd']);
  expect(reported).toEqual([new Error('a listener failed')]);
  await committer[Symbol.asyncDispose]();
});

test.each([['with a row', (k: string) => [event(`e-${k}`)]] as const, ['without one', () => []] as const])(
  'a unit whose document the store refuses fails alone, %s',
  async (_, events) => {
    const { db, committer } = await space();
    await db.collection('t.Thing').createIndex({ place: '2dsphere' });
    const crossed = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 1],
          [0, 0],
        ],
      ],
    };
    const units = ['a', 'crossed', 'b'].map((k) => ({
      writes: [{ collection: 't.Thing', op: 'insert' as const, document: thing(k, k === 'crossed' ? { place: crossed } : {}) }],
      events: events(k),
    }));
    const results = await Promise.allSettled(units.map((unit) => committer.submit(unit)));
    expect(results.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(DocumentRefused);
    expect((await db.collection('t.Thing').distinct('k')).sort()).toEqual(['a', 'b']);
    await committer[Symbol.asyncDispose]();
  },
);

test('the inserts of one unit stand or fall together, also where no rule waits for them', async () => {
  const { db, committer } = await space();
  await committer.submit(insert('taken'));
  const writes = ['a', 'taken', 'b'].map((k) => ({ collection: 't.Thing', op: 'insert' as const, document: thing(k) }));
  await expect(committer.submit({ writes, events: [] })).rejects.toBeInstanceOf(DuplicateKey);
  expect(await db.collection('t.Thing').distinct('k')).toEqual(['taken']);
  await committer[Symbol.asyncDispose]();
});

test('a unit that meets a unique key fails alone, and names the index', async () => {
  const { db, committer } = await space();
  await committer.submit(insert('taken'));
  const results = await Promise.allSettled(['a', 'taken', 'b', 'taken', 'c'].map((k) => committer.submit(insert(k, [event(`e-${k}`)]))));
  expect(results.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
  const reason = (results[1] as PromiseRejectedResult).reason as DuplicateKey;
  expect(reason).toBeInstanceOf(DuplicateKey);
  expect(reason.index).toBe('unique_k');
  expect((await db.collection('t.Thing').distinct('k')).sort()).toEqual(['a', 'b', 'c', 'taken']);
  expect(started.map((one) => one.uuid).sort()).toEqual(['e-a', 'e-b', 'e-c']);
  await committer[Symbol.asyncDispose]();
});

test('a tick with many taken keys needs at most three transactions', async () => {
  const { db, committer } = await space();
  await Promise.all(Array.from({ length: 100 }, (_, k) => committer.submit(insert(k * 2))));
  let transactions = 0;
  const count = ({ commandName }: CommandStartedEvent): void => void (transactions += commandName === 'commitTransaction' ? 1 : 0);
  client.on('commandStarted', count);
  const blocker = committer.submit(insert('first', [event('first')])); // the others gather while this one is committed
  const blocker2 = committer.submit(insert('second', [event('second')]));
  const results = await Promise.allSettled(Array.from({ length: 200 }, (_, k) => committer.submit(insert(k, [event(`e${k}`)]))));
  await Promise.all([blocker, blocker2]);
  expect(results.map((one) => one.status === 'fulfilled')).toEqual(Array.from({ length: 200 }, (_, k) => k % 2 === 1));
  client.off('commandStarted', count);
  expect(transactions).toBeGreaterThanOrEqual(3);
  expect(transactions).toBeLessThanOrEqual(2 + 3 + 3);
  expect(await db.collection('t.Thing').countDocuments()).toBe(202);
  await committer[Symbol.asyncDispose]();
});

test('inserts that no rule waits for are stored without a journal row, and a taken key fails one of them only', async () => {
  const { db, committer } = await space();
  const results = await Promise.allSettled([committer.submit(insert(1)), committer.submit(insert(2)), committer.submit(insert(1))]);
  expect(results.map((one) => one.status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(await db.collection('journal').countDocuments()).toBe(0);
  // What an owner knows by heart is fenced by a row.
  await committer.submit({ writes: [{ collection: 'resources', op: 'insert', document: thing(4) }], events: [] });
  expect(await db.collection('journal').countDocuments()).toBe(1);
  await committer[Symbol.asyncDispose]();
});

test('a unit of several inserts is stored whole or not at all', async () => {
  const { db, committer } = await space();
  await committer.submit(insert('taken'));
  const writes = ['x', 'taken', 'y'].map((k) => insert(k).writes).flat();
  await expect(committer.submit({ writes, events: [] })).rejects.toBeInstanceOf(DuplicateKey);
  expect(await db.collection('t.Thing').distinct('k')).toEqual(['taken']);
  await committer[Symbol.asyncDispose]();
});

test('a replacement of a version that is no longer the stored one is a miss, and leaves the others of its tick alone', async () => {
  const { db, committer } = await space();
  const [a, b] = [thing('a'), thing('b')];
  await committer.submit({ writes: [a, b].map((document) => ({ collection: 't.Thing', op: 'insert', document })), events: [] });
  const replace = (document: ReturnType<typeof thing>, version: bigint): UnitOfWork => ({
    writes: [
      {
        collection: 't.Thing',
        op: 'replace',
        id: document._id,
        version,
        document: { ...document, ars_version: Long.fromBigInt(version + 1n) },
      },
    ],
    events: [],
  });
  const results = await Promise.allSettled([committer.submit(replace(a, 7n)), committer.submit(replace(b, 1n))]);
  expect(results.map((one) => one.status)).toEqual(['rejected', 'fulfilled']);
  expect((results[0] as PromiseRejectedResult).reason).toBeInstanceOf(VersionConflict);
  expect((await db.collection('t.Thing').findOne({ k: 'b' }))?.['ars_version']).toBe(2);
  await committer[Symbol.asyncDispose]();
});

/** So many changes of one instance, each from what the one before leaves; each raises an event. */
function chained(first: { _id: ObjectId; k: unknown }, version: number, links: number): UnitOfWork[] {
  const units: UnitOfWork[] = [];
  let before: Pending | null = null;
  for (let n = 1; n <= links; n++) {
    const document = { ...first, n, ars_version: Long.fromNumber(version + n) };
    const pending: Pending = new Pending('t.Thing', first._id, document, BigInt(version + n));
    const write = { collection: 't.Thing', op: 'replace' as const, id: first._id, version: BigInt(version + n - 1), document };
    units.push({ writes: [write], events: [event(`e${n}`)], pending, ...(before && { after: [before] }) });
    before = pending;
  }
  return units;
}

test('changes of one instance that go on from each other are stored as one, with the events of each', async () => {
  const { db, committer } = await space();
  const first = thing('hot');
  await committer.submit({ writes: [{ collection: 't.Thing', op: 'insert', document: first }], events: [] });
  const units = chained(first, 1, 200);
  await Promise.all(units.map((unit) => committer.submit(unit, true)));
  expect(await db.collection('t.Thing').findOne({}, { promoteLongs: true })).toMatchObject({ n: 200, ars_version: 201 });
  expect(started.map(({ uuid }) => uuid)).toEqual(units.map((_, index) => `e${index + 1}`));
  expect(await db.collection('journal').countDocuments()).toBeLessThan(5);
  expect(units.map(({ pending }) => pending?.isStored)).toEqual(units.map(() => true));
  await committer[Symbol.asyncDispose]();
});

test('what goes on from a change that is not stored is not stored either, and nothing else of its tick is lost', async () => {
  const { db, committer } = await space();
  const first = thing('hot');
  await committer.submit({ writes: [{ collection: 't.Thing', op: 'insert', document: first }], events: [] });
  const units = chained(first, 7, 3); // another version than the one that is stored
  const later: UnitOfWork = { ...insert('later', [event('later')]), after: units.flatMap(({ pending }) => pending ?? []) };
  const outcomes = await Promise.allSettled(
    [...units, later, insert('other', [event('other')])].map((unit) => committer.submit(unit, true)),
  );
  expect(outcomes.map((one) => (one.status === 'rejected' ? one.reason : null))).toEqual([
    ...Array.from({ length: 4 }, () => expect.any(VersionConflict)),
    null,
  ]);
  expect(started.map(({ uuid }) => uuid)).toEqual(['other']);
  expect(await db.collection('t.Thing').distinct('k')).toEqual(['hot', 'other']);
  expect(units.map(({ pending }) => pending?.isStored)).toEqual([false, false, false]);
  await committer[Symbol.asyncDispose]();
});

test('a change that goes on from one in the middle of another waits for it', async () => {
  const { db, committer } = await space();
  const first = thing('hot');
  await committer.submit({ writes: [{ collection: 't.Thing', op: 'insert', document: first }], events: [] });
  const [one, two, three] = chained(first, 1, 3) as [UnitOfWork, UnitOfWork, UnitOfWork];
  const before = committer.submit(one, true);
  await new Promise(setImmediate); // its batch is under way
  const behind = [committer.submit(two, true), committer.submit(three, true)];
  await Promise.all([before, ...behind]);
  expect(await db.collection('t.Thing').findOne({}, { promoteLongs: true })).toMatchObject({ n: 3, ars_version: 4 });
  await committer[Symbol.asyncDispose]();
});

test('parallel conditional increments, each repeated until it holds, give their number', async () => {
  const [writers, each] = [20, amount(12, 50)];
  const { db, committer } = await space();
  const counter = thing('n', { n: 0 });
  await committer.submit({ writes: [{ collection: 't.Thing', op: 'insert', document: counter }], events: [] });
  const increment = async (): Promise<void> => {
    for (;;) {
      const found = await db.collection('t.Thing').findOne({ _id: counter._id });
      const version = BigInt(found?.['ars_version'] as number);
      const document = { ...counter, n: (found?.['n'] as number) + 1, ars_version: Long.fromBigInt(version + 1n) };
      try {
        return await committer.submit({
          writes: [{ collection: 't.Thing', op: 'replace', id: counter._id, version, document }],
          events: [],
        });
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
    }
  };
  await Promise.all(
    Array.from({ length: writers }, async () => {
      for (let i = 0; i < each; i++) await increment();
    }),
  );
  expect((await db.collection('t.Thing').findOne({ _id: counter._id }))?.['n']).toBe(writers * each);
  await committer[Symbol.asyncDispose]();
}); // one after the other, each a transaction: on a busy machine that takes its time

test('a unit that names one instance twice is refused, and its neighbours are stored', async () => {
  const { db, committer } = await space();
  const target = thing('target');
  await committer.submit({ writes: [{ collection: 't.Thing', op: 'insert', document: target }], events: [] });
  const removal = { collection: 't.Thing', op: 'delete', id: target._id, version: 1n } as const;
  const replacement = { ...removal, op: 'replace', document: thing('other') } as const;
  const refusal = `two writes of one unit name t.Thing/${target._id.toHexString()}`;
  const results = await Promise.allSettled([
    committer.submit(insert('a', [event('a')])),
    committer.submit({ writes: [removal, removal], events: [] }),
    committer.submit({ writes: [replacement, removal], events: [] }),
    committer.exclusive((commit) => commit({ writes: [removal, removal], events: [] })),
    committer.submit(insert('b', [event('b')])),
  ]);
  expect(results.map((one) => (one.status === 'rejected' ? String(one.reason) : 'stored'))).toEqual([
    'stored',
    ...Array.from({ length: 3 }, () => `TypeError: ${refusal}`),
    'stored',
  ]);
  expect(await db.collection('t.Thing').distinct('k')).toEqual(['a', 'b', 'target']);
  await committer[Symbol.asyncDispose]();
});

test('rows go when their runs are done, and stay while one is open', async () => {
  const { db, committer } = await space();
  await committer.submit(insert(1, [event('one')]));
  await committer.submit(insert(2, [event('two')]));
  await committer.submit({ writes: [], events: [], done: [runIdOf(event('two'), 'r')] }, true);
  expect(await committer.journal.truncate()).toBe(0);
  await committer.submit({ writes: [], events: [], done: [runIdOf(event('one'), 'r')] }, true);
  await committer.submit(insert(3, []), true);
  await committer.submit({ writes: [], events: [], done: ['none'] }, true);
  await committer.journal.truncate();
  expect(await db.collection('journal').countDocuments()).toBeLessThanOrEqual(SLOTS);
  expect(committer.journal.openRuns).toBe(0);
  await committer[Symbol.asyncDispose]();
});

test('a run that is open for long does not keep the rows after it: it goes on from a fresh one', async () => {
  const { db, committer } = await space(1, undefined, 0);
  const rows = db.collection('journal');
  const step = { run: 'long/a/1', site: '3', nth: 0, at: new Date(5), startedAt: new Date(4), answer: { ok: '{"x":1}' }, reads: [] };
  const long = { ...event('long', ['a', 'b', 'c']), value: JSON.stringify('x'.repeat(1_500_000)) };
  await committer.submit({ writes: [], events: [long] });
  await committer.submit({ writes: [], events: [event('second')], steps: [step], done: ['long/b/1'] }, true);
  const short = Array.from({ length: 20 }, (_, n) => `short${n}`);
  for (const uuid of short) await committer.submit({ writes: [], events: [event(uuid)] });
  for (const uuid of short) await committer.submit({ writes: [], events: [], steps: [], done: [`${uuid}/r/1`] }, true);
  while ((await rows.countDocuments()) > 2 * SLOTS) await new Promise((resolve) => setTimeout(resolve, 50));
  const left = await readUnfinished(db, [1]);
  expect(left.events).toEqual(
    [{ ...long, runs: [long.runs[0], long.runs[2]] }, event('second')].map((one) => ({ ...one, at: expect.any(Date) })),
  );
  expect(left.steps.get('long/a/1')).toEqual([step]);
  expect(started.map(({ uuid }) => uuid)).toEqual(['long', 'second', ...short]); // nothing is told twice
  await committer.submit({ writes: [], events: [], done: ['long/a/1', 'long/c/1', 'second/r/1'] }, true);
  expect((await readUnfinished(db, [1])).events).toEqual([]);
  while ((await db.collection('journalValues').countDocuments()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  await committer[Symbol.asyncDispose]();
});

test.each([1_999_999, 3_999_999])('a long text keeps the character on its cut: two code units from %i', async (before) => {
  const { db, committer } = await space();
  const text = `${'x'.repeat(before)}\u{1f600}tail`;
  const step = { run: 'cut/r/1', site: '3', nth: 0, at: new Date(5), startedAt: new Date(4), answer: { ok: text }, reads: [] };
  await committer.submit({ writes: [], events: [{ ...event('cut'), value: text }] });
  await committer.submit({ writes: [], events: [], steps: [step] }, true);
  const left = await readUnfinished(db, [1]);
  expect(left.events[0]?.value === text).toBe(true);
  expect(left.steps.get('cut/r/1')).toEqual([step]);
  await committer[Symbol.asyncDispose]();
});

test('a text that an earlier version has cut elsewhere is read whole', async () => {
  const { db, committer } = await space();
  await committer.submit({ writes: [], events: [{ ...event('older'), value: 'x'.repeat(5_000_000) }] });
  const pieces = db.collection('journalValues');
  const [first] = await pieces.find().sort({ _id: 1 }).toArray();
  await pieces.deleteMany({});
  for (const [n, text] of ['a'.repeat(4_000_000), 'b'.repeat(1_000_000)].entries())
    await pieces.insertOne({ _id: { ...(first?._id as object), n } as never, text });
  const [left] = (await readUnfinished(db, [1])).events;
  expect(left?.value === 'a'.repeat(4_000_000) + 'b'.repeat(1_000_000)).toBe(true);
  await committer[Symbol.asyncDispose]();
});

test('what stays of rows that are not needed says nothing any more, in no slot', async () => {
  const { db, committer } = await space();
  // Both slots are used; the marks that end the runs come by one of them alone.
  for (let i = 0; i < 10; i++) {
    const first = committer.submit(insert(`a${i}`, [event(`a${i}`)]));
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, committer.submit(insert(`b${i}`, [event(`b${i}`)]))]);
  }
  for (let i = 0; i < 10; i++)
    await committer.submit({ writes: [], events: [], done: [runIdOf(event(`a${i}`), 'r'), runIdOf(event(`b${i}`), 'r')] }, true);
  await committer.submit({ writes: [], events: [], done: ['none'] }, true);
  await committer.journal.truncate();
  const rows = await db.collection('journal').find().toArray();
  expect(rows.map(({ events, steps, done }) => [events, steps, done])).toEqual(rows.map(() => [[], [], []]));
  expect((await readUnfinished(db, [1])).events).toEqual([]);
  await committer.submit(insert('after', [event('after')]));
  expect((await readUnfinished(db, [1])).events.map(({ uuid }) => uuid)).toEqual(['after']);
  await committer[Symbol.asyncDispose]();
});

test('a process from which another has taken over finds no free place, though it has not heard of its last tick', async () => {
  const { db, committer, name } = await space(1);
  await committer.submit(insert(1, [event('heard')]));
  const [last] = await db.collection('journal').find().sort({ _id: -1 }).toArray();
  await closeEpochs(db, [1], SLOTS, Date.now());
  await removeRows(client, db, [1], Date.now());
  const { committer: late } = await space(1, name); // it begins where it believes to be: at the place of the batch that is removed
  await expect(Promise.all([late.submit(insert(2, [event('late')])), late.submit(insert(3, [event('late too')]))])).rejects.toBeInstanceOf(
    Fenced,
  );
  expect((last?.['_id'] as unknown as { seq: number }).seq).toBe(0);
  expect(await db.collection('t.Thing').countDocuments()).toBe(1);
});

test('closing an epoch tells the second of its newest id, also when it is closed already and its rows are removed', async () => {
  const { db, committer } = await space(1);
  const second = Number.parseInt(newId().slice(0, 8), 16);
  await committer.submit(insert(1, [event('one')]));
  const newest = await closeEpochs(db, [1, 2], SLOTS, Date.now());
  expect(newest).toBeGreaterThanOrEqual(second);
  await removeRows(client, db, [1, 2], Date.now());
  expect(await closeEpochs(db, [2, 1], SLOTS, Date.now())).toBe(newest);
  expect(await closeEpochs(db, [2], SLOTS, Date.now())).toBe(0);
  await committer[Symbol.asyncDispose]();
});

test('what a dead process left open is read with its steps; what it finished is not', async () => {
  const { db, committer } = await space(1);
  await committer.submit(insert(1, [event('open', ['a', 'b'])]));
  await committer.submit(insert(2, [event('done')]));
  const step = { run: 'open/a/1', site: '3', nth: 0, at: new Date(5), startedAt: new Date(4), answer: { ok: '{"x":1}' }, reads: [] };
  await committer.submit({ writes: [], events: [], steps: [step], done: ['open/b/1', 'done/r/1'] }, true);
  const left = await readUnfinished(db, [1]);
  expect(left.events.map((one) => [one.uuid, one.runs.map(({ rule }) => rule)])).toEqual([['open', ['a']]]);
  expect(left.steps.get('open/a/1')).toEqual([step]);
  await closeEpochs(db, [1], SLOTS, Date.now());
  await removeRows(client, db, [1], Date.now());
  expect(await db.collection('journal').countDocuments({ closed: { $ne: true } })).toBe(0);
  await committer[Symbol.asyncDispose]();
});

test('a commit that was not heard of and comes late is found, also when its tick has been parted meanwhile', async () => {
  const start = client.startSession.bind(client);
  let late: (() => Promise<void>) | null = null;
  let attempts = 0;
  client.startSession = (options) => {
    const session = start(options);
    const [begin, commit] = [session.startTransaction.bind(session), session.commitTransaction.bind(session)];
    session.startTransaction = (given) => {
      if (++attempts === 6) void late?.(); // four lost conflicts with it, and the batch is parted
      begin(given);
    };
    session.commitTransaction = async () => {
      if (late) return commit();
      late = commit;
      session.abortTransaction = async () => undefined; // does not get through either
      throw new MongoNetworkError('the connection broke');
    };
    return session;
  };
  try {
    const { db, committer } = await space();
    await Promise.all(['a', 'b'].map((k) => committer.submit(long(insert(k, [event(k)])))));
    await committer.submit(long(insert('after', [event('after')])));
    expect((await db.collection('t.Thing').distinct('k')).sort()).toEqual(['a', 'after', 'b']);
    await committer[Symbol.asyncDispose]();
  } finally {
    client.startSession = start;
  }
  expect(attempts).toBeGreaterThanOrEqual(6);
  expect(started.map(({ uuid }) => uuid)).toEqual(['a', 'b', 'after']);
});

test('a pipeline that was not heard of is looked up: it was stored, or it was not and is sent again', async () => {
  const { db, committer } = await space();
  const sent = { commits: 0 };
  const write = Connection.prototype.writeCommand;
  Connection.prototype.writeCommand = async function (this: Connection, message, options) {
    if (message.command?.['commitTransaction'] !== 1 || ++sent.commits > 2) return write.call(this, message, options);
    // The first is carried out without anybody hearing of it, the second never arrives.
    if (sent.commits === 1) {
      await write.call(this, message, options);
      await stored(db, 'a');
    }
    this.onError(new MongoNetworkError('the connection broke'));
  };
  try {
    await committer.submit(insert('a', [event('a')]));
    await committer.submit(insert('b', [event('b')]));
  } finally {
    Connection.prototype.writeCommand = write;
  }
  expect(sent.commits).toBe(3);
  expect((await db.collection('t.Thing').distinct('k')).sort()).toEqual(['a', 'b']);
  expect(started.map(({ uuid }) => uuid)).toEqual(['a', 'b']);
  await committer[Symbol.asyncDispose]();
});

async function stored(db: Db, k: string): Promise<void> {
  while (!(await db.collection('t.Thing').findOne({ k }))) await sleep(5);
}

test('what one who comes back removes while his rows are read is not taken for open', async () => {
  const { db, committer } = await space(1);
  await committer.submit(insert(1, [event('done')]));
  await committer.submit({ writes: [], events: [], done: [runIdOf(event('done'), 'r')] }, true);
  const rows = (await db.collection<StoredRow>('journal').find().toArray()).sort((a, b) => a.order - b.order);
  let isRemoved = false;
  /** Gives one row after the other; once the event has been given, both are gone. */
  const find = ({ done }: { done?: unknown }) => {
    const given = async function* () {
      for (const row of rows) {
        if (isRemoved || (done !== undefined && row.done.length === 0)) continue;
        yield row;
        isRemoved ||= row.events.length > 0;
      }
    };
    return Object.assign(given(), { sort: () => ({ allowDiskUse: given }) });
  };
  const reading = { collection: () => ({ find }) } as unknown as Db;
  expect(rows.map((row) => [row.events.length, row.done.length])).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect((await readUnfinished(reading, [1])).events).toEqual([]);
  expect(isRemoved).toBe(true);
  await committer[Symbol.asyncDispose]();
});

test('a closed epoch commits nothing more', async () => {
  const { db, committer } = await space(1);
  await committer.submit(insert(1, [event('before')]));
  await closeEpochs(db, [1], SLOTS, Date.now());
  await expect(committer.submit(insert(2, [event('after')]))).rejects.toBeInstanceOf(Fenced);
  expect(await db.collection('t.Thing').countDocuments()).toBe(1);
  await expect(committer.submit(insert(3, [event('later')]))).rejects.toBeInstanceOf(Fenced);
});

test('a value above a megabyte stands beside its row and comes back with it', async () => {
  const { db, committer } = await space(1);
  const value = JSON.stringify('x'.repeat(1_500_000));
  await committer.submit({ writes: [], events: [{ ...event('big'), value }] });
  const [row] = await db.collection('journal').find().toArray();
  expect(JSON.stringify(row).length).toBeLessThan(1_000);
  expect((await readUnfinished(db, [1])).events[0]?.value).toBe(value);
  await committer[Symbol.asyncDispose]();
});

test('changes of collections happen while no tick is in flight', async () => {
  const { db, committer } = await space();
  const writes = Array.from({ length: 6_000 }, (_, k) => committer.submit(insert(k, [event(`e${k}`)]))); // several batches
  await writes[0];
  const seen = await committer.exclusive(async () => {
    for (let k = 6_000; k < 6_100; k++) writes.push(committer.submit(insert(k, [event(`e${k}`)]))); // some wait, whatever was stored before
    const before = await db.collection('t.Thing').countDocuments();
    await db.collection('t.Thing').createIndex({ extra: 1 });
    return [before, await db.collection('t.Thing').countDocuments()];
  });
  expect(seen[0]).toBe(seen[1]);
  expect(seen[0]).toBeGreaterThan(0);
  expect(seen[0]).toBeLessThanOrEqual(6_000);
  await Promise.all(writes);
  expect(await db.collection('t.Thing').countDocuments()).toBe(6_100);
  await committer[Symbol.asyncDispose]();
});

test('what is made of units may change between two ticks; who changes it may commit some before all that waits', async () => {
  const db = client.db(`committer_${process.pid}_${databases++}`);
  let made = 'before';
  const committer = new Committer({
    ...options(db, 1),
    toStored: (unit) => ({ ...unit, events: unit.events.map((one) => ({ ...one, by: made })) }),
  });
  await committer.submit({ writes: [], events: [event('first')] });
  let waiting: Promise<void> | undefined;
  await committer.exclusive(async (commit) => {
    waiting = committer.submit({ writes: [], events: [event('waiting')] });
    await commit({ writes: [], events: [event('own')] });
    made = 'after';
  });
  await waiting;
  expect(started.map(({ uuid, by }) => [uuid, by])).toEqual([
    ['first', 'before'],
    ['own', 'ann'],
    ['waiting', 'after'],
  ]);
  await committer[Symbol.asyncDispose]();
});

test('after the end nothing is planned any more, also not for a run that ends late', async () => {
  const { committer } = await space();
  await committer[Symbol.asyncDispose]();
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  committer.markDone(runIdOf(event('late'), 'r'));
  expect(timers()).toBe(before);
});

test('ids ascend in the order in which they are given', () => {
  const ids = Array.from({ length: 1_000 }, () => newId());
  expect([...ids].sort()).toEqual(ids);
  expect(ObjectId.isValid(ids[0] as string)).toBe(true);
});

test('what is published on one path is handed out in its order, across ticks of either kind', async () => {
  const { committer } = await space();
  const numbers = Array.from({ length: 3_000 }, (_, n) => n);
  const published = (n: number) => ({ ...event(`e-${n}`, n % 7 === 0 ? ['r'] : []), path: '/topics/a/publish' });
  await Promise.all(numbers.map((n) => committer.submit({ writes: [], events: [published(n)] })));
  expect(started.map(({ uuid }) => uuid)).toEqual(numbers.map((n) => `e-${n}`));
  await committer[Symbol.asyncDispose]();
});

test('what belongs to what was acknowledged does not wait behind what comes new', async () => {
  const { db, committer } = await space();
  const order: string[] = [];
  const reported = (name: string) => () => void order.push(name);
  const waiting = Array.from({ length: 5_000 }, (_, k) => committer.submit(insert(k)).then(reported('new')));
  const urgent = committer.submit(insert('urgent', [event('urgent')]), true).then(reported('urgent'));
  await Promise.all([...waiting, urgent]);
  // It is the first of its batch, which is one of the first two; behind all others it would be the last.
  expect(order.indexOf('urgent')).toBeLessThan(4_500);
  expect(await db.collection('t.Thing').countDocuments()).toBe(5_001);
  await committer[Symbol.asyncDispose]();
});

test('what waits is bounded by its size, too; what was acknowledged is not refused', async () => {
  const { committer } = await space();
  const large = (k: number): UnitOfWork => ({
    writes: [],
    events: [{ ...event(`large${k}`), value: JSON.stringify('x'.repeat(4_000_000)) }],
  });
  const all = await Promise.allSettled([
    ...Array.from({ length: 12 }, (_, k) => committer.submit(large(k))),
    committer.submit(large(12), true),
  ]);
  const refused = all.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(4);
  expect(all.at(-1)?.status).toBe('fulfilled');
  await committer.submit(insert('after'));
  await committer[Symbol.asyncDispose]();
});
