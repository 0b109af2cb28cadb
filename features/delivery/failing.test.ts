// Due deliveries that cannot be stored are retried with back-off, and do not delay others.
import { Long, MongoClient, ObjectId } from 'mongodb';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VirtualClock } from '../../platform/clock/index.ts';
import { Fenced, type UnitOfWork } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { DueDeliveries } from './due.ts';
import { DELIVERIES } from './stored-delivery.ts';
import type { PersistentSubscriptions } from './persistent.ts';
import type { Sending } from './sending.ts';

const START = Date.UTC(2026, 0, 1);
let client: MongoClient;
beforeAll(() => {
  client = new MongoClient(String(process.env['CASCADE_TEST_MONGO']));
});
afterAll(() => client.close());

/** One full batch of deliveries that are due at once, and one delivery that is due a little later. */
async function world(submit: (unit: UnitOfWork) => Promise<void>) {
  const db = client.db(`due${new ObjectId().toHexString()}`);
  const clock = new VirtualClock(START);
  const rows = Array.from({ length: 501 }, (_, i) => ({
    _id: new ObjectId(),
    ars_version: Long.ONE,
    target: i < 500 ? 'broken' : 'fine',
    event: { uuid: `${i}`, path: '/topics/a/publish', value: '1', chain: { root: `${i}`, depth: 0 } },
    attempts: 0,
    nextAt: new Date(START + (i < 500 ? 0 : 1)),
    deadline: new Date(START + 86_400_000),
    frequencyMs: 1_000,
  }));
  await db.collection(DELIVERIES).insertMany(rows);
  const space = {
    storage: { db },
    clock,
    log: pino({ level: 'silent' }),
    execution: { runs: { backpressure: { whenRelieved: async () => undefined } } },
    transactions: { submit },
  } as unknown as Namespace;
  const persistent = { beginning: [], listening: [], size: 0, get: () => undefined } as unknown as PersistentSubscriptions;
  const due = new DueDeliveries({ space: () => space, isOpen: () => false }, persistent, null as unknown as Sending);
  const targets = new Map(rows.map(({ _id, target }) => [_id.toHexString(), target]));
  const targetOf = ({ writes: [write] }: UnitOfWork): string => (write?.op === 'delete' && targets.get(write.id.toHexString())) || '';
  return { db, clock, due, targetOf };
}

test('failing deliveries do not delay the others, and are retried later', async () => {
  const tried: Record<string, number> = { broken: 0, fine: 0 };
  const it = await world(async (unit) => {
    const target = it.targetOf(unit);
    tried[target] = (tried[target] ?? 0) + 1;
    if (target === 'broken') throw new Error('no');
    await it.db.collection(DELIVERIES).deleteOne({ target });
  });
  it.due.arm(START + 1);
  await it.clock.advanceTo(START + 1);
  await expect.poll(() => tried['fine']).toBe(1);
  await expect.poll(() => it.clock.next()).toBe(START + 1_001);
  expect(tried['broken']).toBe(500); // once each
  await it.due.close();
  await it.db.dropDatabase();
});

test('a fenced process retries nothing', async () => {
  let tried = 0;
  const it = await world(() => {
    tried++;
    return Promise.reject(new Fenced('another process goes on'));
  });
  it.due.arm(START);
  await it.clock.advanceTo(START);
  await expect.poll(() => tried).toBe(500);
  await it.due.close(); // waits for the poll in progress
  expect([tried, it.clock.next()]).toEqual([500, null]);
  await it.db.dropDatabase();
});
