// What identity asks of a collection that grows with each login.
import { randomUUID } from 'node:crypto';
import { type Db, type Document, type Filter, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectionsOf, ensureIndexes } from './documents.ts';

let client: MongoClient;
let db: Db;
beforeAll(async () => {
  client = await MongoClient.connect(process.env.CASCADE_TEST_MONGO!);
  db = client.db(`identity_${randomUUID().slice(0, 8)}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

// spec: resources-and-api.md 6.4
test('the sessions of a user, and those of a long-lived token, are found without reading all sessions', async () => {
  await ensureIndexes(collectionsOf(db));
  const tokens = db.collection('tokens');
  const [ann, token] = [new ObjectId(), new ObjectId()];
  const many = Array.from({ length: 200 }, (_, index) => ({
    hash: String(index),
    kind: 'session',
    userId: index < 3 ? ann : new ObjectId(),
    passwordVersion: 1,
    origin: index < 190 ? null : index < 195 ? token : new ObjectId(),
  }));
  await tokens.insertMany(many);
  const read = async (wanted: Filter<Document>) => {
    const { executionStats } = await tokens.find(wanted).explain('executionStats');
    return [executionStats.nReturned, executionStats.totalDocsExamined];
  };
  expect(await read({ userId: ann, kind: 'session', origin: null, passwordVersion: { $ne: 2 } })).toEqual([3, 3]);
  expect(await read({ origin: token })).toEqual([5, 5]);
  expect(await read({ userId: ann })).toEqual([3, 3]);
});
