import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openProcess } from '../transactions/index.ts';
import { WatchedLeases } from './process.ts';

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

test('who takes over from a process takes over what that had taken over, and nobody gets a part of it', async () => {
  const db = client.db(`process_claims_${process.pid}`);
  const records = db.collection<{ _id: number; takenBy?: number }>('processes');
  const open = () =>
    openProcess(
      db,
      'one of a test',
      false,
      () => undefined,
      (error) => expect.unreachable(String(error)),
    );
  const [a, b] = [await open(), await open()];
  await a[Symbol.asyncDispose]();
  expect(await b.claim()).toEqual([a.epoch]);
  await b[Symbol.asyncDispose](); // before it has taken over
  const [c, d] = [await open(), await open()];
  const claimed = await Promise.all([c.claim(), d.claim()]);
  expect(claimed.filter((epochs) => epochs.length > 0)).toEqual([[a.epoch, b.epoch]]);
  expect(new Set((await records.find({ _id: { $in: [a.epoch, b.epoch] } }).toArray()).map(({ takenBy }) => takenBy)).size).toBe(1);
  await c[Symbol.asyncDispose]();
  await d[Symbol.asyncDispose]();
  await db.dropDatabase();
});

test('a lease is over when it has been seen unchanged for as long as it lasts', () => {
  const watched = new WatchedLeases();
  const lease = (ms: number) => ({ _id: 1, leaseUntil: new Date(ms) });
  const away = new WatchedLeases();
  for (const now of [0, 2_000, 40_000]) {
    away.look(now); // the database did not answer for long
    expect(away.isStale(lease(5), now)).toBe(false);
  }
  expect([watched.isStale(lease(5), 0), watched.isStale(lease(5), 29_999), watched.isStale(lease(5), 30_000)]).toEqual([
    false,
    false,
    true,
  ]);
  expect([watched.isStale(lease(6), 31_000), watched.isStale(lease(6), 60_999), watched.isStale(lease(6), 61_000)]).toEqual([
    false,
    false,
    true,
  ]);
  expect(watched.isStale({ _id: 2, leaseUntil: new Date(0) }, 0)).toBe(true);
});
