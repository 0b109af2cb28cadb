import { type Db, type Document, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../platform/clock/index.ts';
import type { Removed } from '../../platform/mongo/index.ts';
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
const MUCH = 1_000_000_000;
const all = ({ expired, excess }: Removed): number => expired + excess;
const left = async (name: string): Promise<number[]> =>
  (await db.collection(name).find().sort({ timestamp: -1 }).toArray()).map((row) => (NOW - (row['timestamp'] as Date).getTime()) / DAY);

test('messages and snapshots that are older than a week are removed', async () => {
  await put('logs', 0, 6.9, 7, 7.1, 30);
  await put('t.ArsRuleSnapshot', 1, 8);
  const { logs, snapshots } = await trimLogs(space, { mostBytes: MUCH });
  expect([logs, snapshots]).toEqual([
    { expired: 2, excess: 0 },
    { expired: 1, excess: 0 },
  ]);
  expect([await left('logs'), await left('t.ArsRuleSnapshot')]).toEqual([[0, 6.9, 7], [1]]);
  expect(all((await trimLogs(space, { mostBytes: MUCH })).logs)).toBe(0);
  await db.dropDatabase();
});

test('rows beyond the bound are removed in batches, the oldest first', async () => {
  await put('logs', ...Array.from({ length: 25 }, (_, i) => ((i * 7) % 25) / 10));
  expect((await trimLogs(space, { mostBytes: MUCH, mostRows: 4, pieceRows: 3 })).logs).toEqual({ expired: 0, excess: 21 });
  expect(await left('logs')).toEqual([0, 0.1, 0.2, 0.3]);
  await db.dropDatabase();
});

test('rows beyond the bytes are removed, the oldest first, until an eighth is free', async () => {
  const message = 'x'.repeat(10_000);
  await db.collection('logs').insertMany(Array.from({ length: 32 }, (_, n) => ({ timestamp: new Date(NOW - n * 60_000), n, message })));
  const mostBytes = 20 * 10_100;
  const { logs } = await trimLogs(space, { mostBytes, pieceRows: 5 });
  const rest = await db.collection('logs').find().sort({ n: 1 }).toArray();
  expect(logs).toEqual({ expired: 0, excess: 32 - rest.length });
  expect(rest.map(({ n }) => n)).toEqual(Array.from({ length: 17 }, (_, n) => n));
  expect((await trimLogs(space, { mostBytes })).logs).toEqual({ expired: 0, excess: 0 });
  await db.dropDatabase();
});
