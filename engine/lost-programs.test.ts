// The compiled text of a rule stays while a row of any process's journal, or something that waits for its commit, names it; and a run whose text is lost is reported.
import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import type { RunReference, Step } from '../runtime/transactions/index.ts';
import { storedRow } from '../runtime/transactions/row-form.ts';
import { ProgramStore } from '../runtime/programs/program-store.ts';
import type { Executable } from '../runtime/programs/executable.ts';
import { openOwnDatabase } from './testing/database.ts';
import { openTestEngine } from './testing/engine.ts';

const DEAD = 999;
const GRACE_MS = 600_000;

async function leave(db: Db, uuid: string, run: RunReference, steps: readonly Step[] = []): Promise<void> {
  const chain = { root: uuid, depth: 0 };
  const event = {
    uuid,
    path: '/types/Row/insert',
    value: '{"_id":"0123456789abcdef01234567"}',
    at: new Date(),
    by: 'ann',
    chain,
    runs: [run],
  };
  const row = storedRow({ _id: { epoch: DEAD, slot: 0, seq: 0 }, order: 1, events: [event], steps, done: [] });
  await db.collection<{ _id: object }>('journal').insertOne(row);
}

const between = (program: string, next: string): RunReference => ({
  rule: 'chosen',
  program,
  binds: 'event',
  asks: { triggers: [], condition: null, next: { rule: 'chosen:2', program: next, binds: 'event' } },
});

test('a text is removed when no journal names it, be it as one of the versions that a program chooses from', async () => {
  const client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] ?? '').connect();
  const db = client.db(`test_programs_${randomUUID()}`);
  const stored = db.collection<{ _id: string }>('programs');
  const left = async (): Promise<string[]> => (await stored.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  await stored.insertMany(['chosen one', 'chosen:2 two', 'other three'].map((_id) => ({ _id })));
  await leave(db, randomUUID(), between('one', 'two'));
  const executables = new Map(['chosen:2 two', 'other three'].map((key) => [key, {} as Executable]));
  const programs = new ProgramStore({ db, executables, epoch: 1, committer: { references: () => [] } });
  await programs.open(0);
  expect(await programs.sweep(GRACE_MS, () => false)).toBe(1);
  expect(await left()).toEqual(['chosen one', 'chosen:2 two']);
  expect([...executables.keys()]).toEqual(['chosen:2 two']);
  await db.collection('journal').deleteMany({});
  expect(await programs.sweep(2 * GRACE_MS - 1, () => false)).toBe(0); // the journal is not read with each sweep
  expect(await programs.sweep(2 * GRACE_MS, () => false)).toBe(2);
  expect(await left()).toEqual([]);
  await db.dropDatabase();
  await client.close();
});

test('a text stays while something that waits for its commit names it', async () => {
  const client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] ?? '').connect();
  const db = client.db(`test_programs_${randomUUID()}`);
  await db.collection<{ _id: string }>('programs').insertOne({ _id: 'other three' });
  let waiting: RunReference[] = [{ rule: 'other', program: 'three', binds: 'event' }];
  const executables = new Map([['other three', {} as Executable]]);
  const programs = new ProgramStore({ db, executables, epoch: 1, committer: { references: () => waiting } });
  await programs.open(0);
  expect(await programs.sweep(GRACE_MS, () => false)).toBe(0);
  expect([executables.size, await db.collection('programs').countDocuments()]).toEqual([1, 1]);
  waiting = [];
  expect(await programs.sweep(GRACE_MS, () => false)).toBe(1);
  expect([executables.size, await db.collection('programs').countDocuments()]).toEqual([0, 0]);
  await db.dropDatabase();
  await client.close();
});

test('a chosen version whose text is lost becomes a dead letter', { timeout: 120_000 }, async () => {
  await using database = await openOwnDatabase();
  const client = await new MongoClient(database.uri).connect();
  let namespace: string;
  {
    await using before = await openTestEngine({ mongoUri: database.uri });
    namespace = before.identity.namespace;
    await database.register(namespace);
    await before.type('Row', { n: { type: 'Integer' } });
    await before.program('rules', 'RULE chosen WHEN INSERT OCCURS ON Row AS r\nINSERT Row(n: 1)');
  }
  const db = client.db(`cascade_ns_${namespace}`);
  const kept = await db.collection<{ _id: string }>('programs').findOne({ _id: /^chosen / });
  const uuid = randomUUID();
  const at = new Date();
  const decided: Step = { run: `${uuid}/chosen/1`, site: 'version', nth: 0, at, startedAt: at, answer: { ok: '"chosen:2"' }, reads: [] };
  const processes = client.db('cascade').collection<{ _id: number }>('processes');
  await processes.insertOne({ _id: DEAD, host: 'gone', pid: 1, startedAt: at, leaseUntil: new Date(0) } as { _id: number });
  await leave(db, uuid, between(kept?._id.split(' ')[1] ?? '', 'gone'), [decided]);

  await using after = await openTestEngine({ mongoUri: database.uri, namespace });
  expect(await after.eventually('ArsDeadLetter', {}, 1)).toMatchObject([{ reason: 'lost' }]);
  await after.engine.settled();
  expect(await after.rows('Row')).toEqual([]);
  await client.close();
});
