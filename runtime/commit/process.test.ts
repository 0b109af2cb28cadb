import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openProcess } from './index.ts';

const uri = process.env['CASCADE_TEST_MONGO'] ?? '';
let client: MongoClient;

beforeAll(async () => {
  client = await new MongoClient(uri).connect();
});
afterAll(() => client.close());
afterEach(() => vi.useRealTimers());

test('a process that another one has taken for dead hears of it when it renews its lease', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const db = client.db(`process_${process.pid}`);
  const records = db.collection<{ _id: number }>('processes');
  let taken = 0;
  await using own = await openProcess(
    db,
    'one of a test',
    false,
    () => taken++,
    (error) => expect.unreachable(String(error)),
  );
  const renewed = async (): Promise<Date> => ((await records.findOne({ _id: own.epoch })) as unknown as { leaseUntil: Date }).leaseUntil;
  await records.updateOne({ _id: own.epoch }, { $set: { leaseUntil: new Date(0) } });
  vi.advanceTimersByTime(5_000);
  while ((await renewed()).getTime() === 0) await sleep(5);
  expect(taken).toBe(0);
  await records.updateOne({ _id: own.epoch }, { $set: { takenBy: own.epoch + 1 } });
  vi.advanceTimersByTime(5_000);
  while (taken === 0) await sleep(5);
  await db.dropDatabase();
});
