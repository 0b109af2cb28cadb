// Unfinished events continue in the order in which they arrived, however often the processes that took them over died themselves.
import { type Db, MongoClient } from 'mongodb';
import { pino } from 'pino';
import { systemClock } from '../../platform/clock/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readUnfinished } from '../transactions/recovery.ts';
import { storedRow } from '../transactions/row-form.ts';
import type { Committer, StoredEvent, UnitOfWork } from '../transactions/index.ts';
import type { RowId } from '../transactions/types.ts';
import { TakeOver } from './take-over.ts';

let client: MongoClient;
let db: Db;
beforeAll(async () => {
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  db = client.db(`take_over_order_${process.pid}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

const event = (uuid: string, order?: number): StoredEvent => ({
  uuid,
  path: '/topics/t/publish',
  value: '1',
  at: new Date(0),
  by: 'ann',
  chain: { root: uuid, depth: 0 },
  runs: [{ rule: 'r', program: 'p', binds: 'event' }],
  ...(order !== undefined && { order }),
});
const stands = async (_id: RowId, order: number, events: StoredEvent[], more: object = {}): Promise<void> => {
  const row = { ...storedRow({ _id, order, events, steps: [], done: [] }), ...more };
  await db.collection<{ _id: object }>('journal').insertOne(row);
};

test('a void row whose neighbours are removed already does not count for the order', async () => {
  // Epoch 2 held `first` and `second`; 3 has taken both over, has declared the rows of 2 void, and died before it had removed them all.
  await stands({ epoch: 2, slot: 1, seq: 1 }, 4, [event('second')], { low: 9 });
  await stands({ epoch: 3, slot: 0, seq: 0 }, 1, [event('first', 0.3), event('second', 0.6)]);
  const { events } = await readUnfinished(db, [2, 3]);
  expect(events.map(({ uuid }) => uuid)).toEqual(['first', 'second']);
});

test('copies are ordered between earlier and later events, in whatever order their rows are committed', async () => {
  const submitted: UnitOfWork[] = [];
  const committer = {
    journal: { order: 7 },
    pinJournal: () => () => undefined,
    submit: async (unit: UnitOfWork) => void submitted.push(unit),
  } as unknown as Committer;
  const taken = {
    name: 'n',
    storage: { db, cipher: null },
    transactions: committer,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    execution: { executables: new Map([['r p', null as never]]) },
  };
  await new TakeOver(taken, { client }, new Map()).take([2, 3]);
  const places = submitted
    .flatMap(({ events }) => events)
    .map(({ uuid, order = 0 }) => ({ uuid, isBetween: order > 7 && order < 8, order }));
  expect(places.toSorted((a, b) => a.order - b.order).map(({ uuid, isBetween }) => [uuid, isBetween])).toEqual([
    ['first', true],
    ['second', true],
  ]);
});
