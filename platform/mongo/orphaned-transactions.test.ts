import { randomBytes } from 'node:crypto';
import type { ClientSession, MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { openStore } from './index.ts';
import { abortTransactionsOf } from './orphaned-transactions.ts';

const uri = process.env['CASCADE_TEST_MONGO'] ?? '';

test('what a dead client had open keeps nobody waiting once it is ended; what others have open goes on', async () => {
  const name = randomBytes(6).toString('hex');
  await using left = await openStore(uri);
  await using going = await openStore(uri);
  const [dead, living] = [left.client, going.client];
  const rows = (client: MongoClient) => client.db(`left_${name}`).collection<{ _id: number; by: string }>('rows');
  await rows(living).insertOne({ _id: 0, by: 'nobody' });
  const begin = async (client: MongoClient, _id: number, by: string): Promise<ClientSession> => {
    const session = client.startSession();
    session.startTransaction();
    await rows(client).insertOne({ _id, by }, { session });
    return session;
  };
  await begin(dead, 1, 'dead');
  const open = await begin(living, 2, 'living');
  expect(await abortTransactionsOf(living, [left.clientName])).toBe(1);
  expect(await abortTransactionsOf(living, [left.clientName])).toBe(0);
  await rows(living).insertOne({ _id: 1, by: 'next' }, { maxTimeMS: 30_000 });
  await open.commitTransaction();
  await open.endSession();
  expect((await rows(living).find().sort({ _id: 1 }).toArray()).map(({ by }) => by)).toEqual(['nobody', 'next', 'living']);
  await living.db(`left_${name}`).dropDatabase();
});
