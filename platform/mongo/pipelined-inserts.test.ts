import { Long, MongoClient, MongoNetworkError, ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { commitPipelined, pipelineInserts } from './pipelined-inserts.ts';

const DURABLE = { w: 'majority', j: true } as const;
let client: MongoClient;
let databases = 0;
let db: string;

beforeAll(async () => {
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] ?? '').connect();
});
afterAll(() => client.close());
beforeEach(async () => {
  db = `pipelined_${process.pid}_${databases++}`;
  await client.db(db).createCollection('a');
  await client.db(db).createCollection('b');
});

const insert = (collection: string, ...documents: object[]) => ({ db, collection, documents: documents.map((document) => ({ document })) });
const values = async (collection: string): Promise<unknown[]> =>
  (await client.db(db).collection(collection).find().sort({ n: 1 }).toArray()).map(({ n }) => n);

function begin() {
  const session = client.startSession();
  session.startTransaction({ writeConcern: DURABLE, readConcern: { level: 'local' } });
  return session;
}

test('inserts of several collections are one transaction with the commit behind them, and each has its answer', async () => {
  const session = begin();
  using pipeline = pipelineInserts(session, [insert('a', { n: 1 }, { n: 2 }), insert('b', { n: Long.fromNumber(3) })]);
  await commitPipelined(session, pipeline, DURABLE);
  expect(pipeline.replies.map(({ n, ok }) => [n, ok])).toEqual([
    [2, 1],
    [1, 1],
  ]);
  expect([await values('a'), await values('b'), pipeline.refused]).toEqual([[1, 2], [3], null]);
  // The session and its connection serve as before.
  session.startTransaction();
  await client.db(db).collection('b').insertOne({ n: 4 }, { session });
  await session.commitTransaction();
  expect(await values('b')).toEqual([3, 4]);
});

test('they go out in front of a change, whose answer is told from theirs', async () => {
  await client.db(db).collection('a').insertOne({ n: 1 });
  const session = begin();
  using pipeline = pipelineInserts(session, [insert('b', { n: 2 })]);
  const { modifiedCount } = await client
    .db(db)
    .collection('a')
    .updateOne({ n: 1 }, { $set: { n: 5 } }, { session });
  expect([modifiedCount, pipeline.replies.length]).toEqual([1, 1]);
  await commitPipelined(session, pipeline, DURABLE);
  expect([await values('a'), await values('b')]).toEqual([[5], [2]]);
});

test('a refused insert aborts all, and says which one it is', async () => {
  const taken = new ObjectId();
  await client.db(db).collection('b').insertOne({ _id: taken, n: 0 });
  const session = begin();
  using pipeline = pipelineInserts(session, [insert('a', { n: 1 }), insert('b', { n: 2 }, { _id: taken, n: 3 }), insert('a', { n: 4 })]);
  await expect(commitPipelined(session, pipeline, DURABLE)).rejects.toMatchObject({ code: 251 });
  expect(pipeline.refused).toMatchObject({ place: 1, errors: [{ index: 1, code: 11000 }] });
  expect([await values('a'), await values('b')]).toEqual([[], [0]]);
});

test('a pipeline whose session sends nothing is not sent with the next transaction', async () => {
  const session = begin();
  {
    using _ = pipelineInserts(session, [insert('a', { n: 1 })]);
  }
  await session.abortTransaction();
  session.startTransaction();
  await client.db(db).collection('a').insertOne({ n: 2 }, { session });
  await session.commitTransaction();
  expect(await values('a')).toEqual([2]);
});

test('when the connection breaks nothing of it holds a lock afterwards', async () => {
  const _id = new ObjectId();
  const admin = client.db('admin');
  const session = begin();
  using pipeline = pipelineInserts(session, [insert('a', { _id, n: 1 })]);
  // It arrives, and the commit does not.
  await client.db(db).collection('b').findOne({}, { session });
  await admin.command({ ping: 1 });
  pipeline.replies.length = 0;
  const { command } = admin.constructor.prototype as typeof admin;
  let commits = 0;
  admin.constructor.prototype.command = function (this: typeof admin, sent: object, options: object) {
    if ('commitTransaction' in sent && ++commits === 1) return Promise.reject(new MongoNetworkError('the connection broke'));
    return command.call(this, sent, options);
  };
  try {
    const error: unknown = await commitPipelined(session, pipeline, DURABLE).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MongoNetworkError);
    expect((error as MongoNetworkError).hasErrorLabel('UnknownTransactionCommitResult')).toBe(true);
  } finally {
    admin.constructor.prototype.command = command;
  }
  await client.db(db).collection('a').insertOne({ _id, n: 2 }, { maxTimeMS: 5_000 });
  expect(await values('a')).toEqual([2]);
});
