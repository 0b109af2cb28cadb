// Open evaluations, and events on their way to the leader, whose texts are more than a document of the store holds.
import { type Db, MongoClient, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { encodeInner } from '../../stdlib/values/index.ts';
import { Committer, type StoredEvent, type Write } from '../transactions/index.ts';
import { HandedOffEvents } from '../cluster/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import { EVALUATIONS, EVALUATION_TEXTS, fromStored, insertion, removal } from './evaluation-store.ts';
import type { Evaluation, MatchedEvent } from './types.ts';

/** Seals by turning the bytes over. */
const turned = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 255);
const CIPHER: Cipher = {
  seal: (text) => turned(Buffer.from(text)),
  open: (sealed) => Buffer.from(turned(sealed)).toString(),
};

let client: MongoClient;
let db: Db;
let committer: Committer;
let committed: StoredEvent[];

beforeAll(() => {
  client = new MongoClient(String(process.env['CASCADE_TEST_MONGO']), { readConcern: { level: 'majority' } });
});
beforeEach(() => {
  db = client.db(`kept${new ObjectId().toHexString()}`);
  committed = [];
  committer = new Committer({
    client,
    db,
    epoch: 1,
    onEvents: (events) => committed.push(...events),
    uniqueKeys: () => [],
    findTaken: async () => new Map(),
    isFull: () => null,
    onError: (error) => {
      throw error;
    },
  });
});
afterEach(async () => {
  await committer[Symbol.asyncDispose]();
  await db.dropDatabase();
});
afterAll(() => client.close());

/** Of characters that take one to four bytes, two code units some; no two boundaries of pieces in it are alike. */
const longText = (length: number): string => encodeInner('aä€😀b'.repeat(length / 6));
const LONG = longText(6_000_000);

const matched = (uuid: string, value: string, properties?: string): MatchedEvent => ({
  uuid,
  path: '/topics/a/publish',
  value,
  atMs: 5,
  by: 'ann',
  chain: null,
  ...(properties !== undefined && { transport: { topic: 't', properties } }),
});
const evaluation = (...events: MatchedEvent[]): Evaluation => ({
  order: 1,
  node: 0,
  began: 'left',
  deadlineMs: 9,
  places: events.map((_, i) => i),
  events,
  isOpen: true,
  storedIn: 'store',
});
const OWNER = { rule: 'r', when: 'w' };
const submit = (writes: readonly Write[]): Promise<void> => committer.submit({ writes, events: [] });

test.each<[string, Cipher | null]>([
  ['open', null],
  ['sealed', CIPHER],
])(
  'an evaluation of two events of 6 million characters each is kept, %s, and goes without a trace',
  { timeout: 60_000 },
  async (_, cipher) => {
    const one = evaluation(matched('a', LONG), matched('b', LONG, '{"x":1}'), matched('c', '"short"'));
    await submit(insertion(OWNER, one, cipher));
    const [stored] = await db.collection(EVALUATIONS).find().toArray();
    expect((await fromStored(db, stored ?? {}, cipher)).evaluation).toEqual(one);
    await submit(removal(OWNER, one));
    for (const name of [EVALUATIONS, EVALUATION_TEXTS]) expect(await db.collection(name).countDocuments()).toBe(0);
  },
);

test('a short one is one document', () => {
  expect(insertion(OWNER, evaluation(matched('a', '1')), null)).toHaveLength(1);
});

test.each<[string, Cipher | null]>([
  ['open', null],
  ['sealed', CIPHER],
])('an event of 12 million characters goes to the leader, %s', { timeout: 60_000 }, async (_, cipher) => {
  const arrivals = new HandedOffEvents({
    db,
    committer: () => committer,
    cipher: () => cipher,
    onError: (error) => {
      throw error;
    },
  });
  const event: StoredEvent = {
    uuid: 'e',
    path: '/topics/a/publish',
    value: longText(12_000_000),
    at: new Date(5),
    by: 'ann',
    chain: { root: 'e', depth: 0 },
    runs: [{ rule: '~r', program: 'w', binds: 'event', places: [0] }],
    transport: { topic: 't', properties: '{}' },
  };
  await committer.submit(arrivals.handOff({ writes: [], events: [event] }));
  await arrivals.start((unit) => committer.submit(unit, true));
  expect(committed.filter(({ runs }) => runs.length > 0)).toEqual([event]);
  for (const name of ['arrivals', 'arrivalTexts']) expect(await db.collection(name).countDocuments()).toBe(0);
  await arrivals.close();
  await db.dropDatabase();
});
