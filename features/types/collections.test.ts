// Collections of instances: each type has its own, whichever types are created, renamed or deleted at the same time.
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { instancesIn } from '../../engine/testing/stored.ts';
import { dropOrphans, undoHalfRenames } from './collections.ts';

let one: TestEngine;
let client: MongoClient;
beforeAll(async () => {
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  one = await openTestEngine();
});
afterAll(async () => {
  await one[Symbol.asyncDispose]();
  await client.close();
});
const db = () => client.db(`cascade_ns_${one.identity.namespace}`);
const code = (error: { code: string }): string => error.code;

test('an instance that is stored while its type is renamed belongs to the renamed type', async () => {
  for (let n = 0; n < 5; n++) {
    let stored = 0;
    await one.type(`Named${n}`, { n: { type: 'Integer' } });
    const inserts = Array.from({ length: 10 }, async () => {
      await one.ask('insert', `Named${n}`, { body: '{"n":1}' }).then(() => stored++, code);
    });
    await one.ask('rename', 'types', { id: `Named${n}`, body: `{"newName":"Renamed${n}"}`, custom: false });
    await Promise.all(inserts);
    expect(await (await instancesIn(db(), `Renamed${n}`)).countDocuments()).toBe(stored);
  }
});

test('a new type with the former name of a renamed type is empty, and the renamed type keeps its instances', async () => {
  await one.type('Free', { n: { type: 'Integer' } });
  await one.ask('insert', 'Free', { body: '{"n":1}' });
  await one.ask('rename', 'types', { id: 'Free', body: '{"newName":"Taken"}', custom: false });
  await one.type('Free', { n: { type: 'Integer' } });
  expect([await one.rows('Free'), (await one.rows('Taken')).length]).toEqual([[], 1]);
  await one.ask('delete', 'types', { id: 'Free', custom: false });
  expect(await one.rows('Taken')).toHaveLength(1);
});

test('a collection that is named after its type, as in earlier versions, is kept when the type changes', async () => {
  await using database = await openOwnDatabase();
  await using theirs = await new MongoClient(database.uri).connect();
  const earlier = await openTestEngine({ mongoUri: database.uri });
  const { namespace } = earlier.identity;
  const stored = theirs.db(`cascade_ns_${namespace}`);
  await earlier.type('Early', { n: { type: 'Integer' } });
  await earlier.ask('insert', 'Early', { body: '[{"n":1},{"n":2}]' });
  await earlier[Symbol.asyncDispose]();
  await (await instancesIn(stored, 'Early')).rename('t.Early');
  await stored.collection('resources').updateOne({ kind: 'types', name: 'Early' }, { $unset: { collection: '' } });
  const later = await openTestEngine({ mongoUri: database.uri, namespace });
  try {
    expect(await later.rows('Early')).toHaveLength(2);
    await later.ask('update', 'types', { id: 'Early', body: '{"indexes":[{"keys":["n"],"options":{"unique":true}}]}', custom: false });
    await later.ask('rename', 'types', { id: 'Early', body: '{"newName":"Late"}', custom: false });
    await later.ask('insert', 'Late', { body: '{"n":3}' });
    await later.type('Early', { n: { type: 'Integer' } });
    expect([await later.rows('Early'), (await later.rows('Late')).length]).toEqual([[], 3]);
    expect((await instancesIn(stored, 'Late')).collectionName).toBe('t.Early');
    await expect(later.ask('insert', 'Late', { body: '{"n":3}' })).rejects.toMatchObject({ code: 'cascade.resource.duplicate.key' });
  } finally {
    await later[Symbol.asyncDispose]();
  }
});

test('collections without a type are dropped when no definition can be about to use them', async () => {
  const at = Date.now();
  const named = (hours: number): string => `t.${ObjectId.createFromTime(at / 1_000 - hours * 3_600).toHexString()}`;
  const orphans = client.db(`orphans_${process.pid}`);
  try {
    for (const name of [named(0.5), named(2), 't.Left', 't.ArsTrack', 't.Used', named(3)]) await orphans.createCollection(name);
    await orphans.collection('resources').insertMany([
      { kind: 'types', name: 'Used' },
      { kind: 'types', name: 'New', collection: named(3) },
    ]);
    expect(await dropOrphans(orphans, at, false)).toEqual([named(2)]);
    expect(await dropOrphans(orphans, at, true)).toEqual(['t.Left']);
  } finally {
    await orphans.dropDatabase();
  }
});

test('a rename that an earlier version left unfinished is undone', async () => {
  const half = client.db(`half_${process.pid}`);
  try {
    await half.collection<{ _id: string; to: string }>('renames').insertOne({ _id: 'From', to: 'To' });
    await half.collection('t.To').insertOne({ n: 1 });
    await undoHalfRenames(half, (type) => type === 'From');
    expect(await half.collection('t.From').countDocuments()).toBe(1);
    expect(await half.collection('renames').countDocuments()).toBe(0);
  } finally {
    await half.dropDatabase();
  }
});
