import { type Db, type Document, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../platform/clock/index.ts';
import { trimLogs } from './trim-logs.ts';
import type { Namespace } from '../../resources/catalog/types.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 0, 31);
let client: MongoClient;
let db: Db;
let space: Namespace;

beforeAll(() => {
  client = new MongoClient(String(process.env['CASCADE_TEST_MONGO']));
});
beforeEach(() => {
  db = client.db(`trim${new ObjectId().toHexString()}`);
  space = { storage: { db }, clock: new VirtualClock(NOW) } as unknown as Namespace;
});
afterAll(() => client.close());

/** Stores rows with the given ages in days. */
async function put(name: string, ...daysAgo: number[]): Promise<void> {
  await db
    .collection(name)
    .insertMany(daysAgo.map((days, sequenceId): Document => ({ timestamp: new Date(NOW - days * DAY), sequenceId })));
}
const left = async (name: string): Promise<number[]> =>
  (await db.collection(name).find().sort({ timestamp: -1 }).toArray()).map((row) => (NOW - (row['timestamp'] as Date).getTime()) / DAY);

test('messages and snapshots that are older than a week are removed', async () => {
  await put('logs', 0, 6.9, 7, 7.1, 30);
  await put('t.ArsRuleSnapshot', 1, 8);
  expect(await trimLogs(space)).toBe(3);
  expect([await left('logs'), await left('t.ArsRuleSnapshot')]).toEqual([[0, 6.9, 7], [1]]);
  expect(await trimLogs(space)).toBe(0);
  await db.dropDatabase();
});

test('rows beyond the bound are removed in batches, the oldest first', async () => {
  await put('logs', ...Array.from({ length: 25 }, (_, i) => ((i * 7) % 25) / 10));
  expect(await trimLogs(space, { mostRows: 4, pieceRows: 3 })).toBe(21);
  expect(await left('logs')).toEqual([0, 0.1, 0.2, 0.3]);
  await db.dropDatabase();
});
