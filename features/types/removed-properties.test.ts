// Values of properties that a type does not declare any more: nothing shows them while they are stored, and they are removed.
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { instancesIn } from '../../engine/testing/stored.ts';

const change = (t: TestEngine, type: string, properties: object) =>
  t.ask('update', 'types', { id: type, body: JSON.stringify({ properties }), custom: false });
const aggregated = async (t: TestEngine, type: string, pipeline: object[]): Promise<unknown> =>
  JSON.parse((await t.ask('aggregate', type, { body: JSON.stringify(pipeline) })).body as string);
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(5);
};

/** What pipelines show of the values. */
const shown = async (t: TestEngine, type: string) => ({
  matched: await aggregated(t, type, [{ $match: { old: 'x' } }, { $project: { _id: 0, n: 1 } }]),
  whole: await aggregated(t, type, [{ $addFields: { a: 1 } }, { $project: { _id: 0, ars_createdAt: 0, ars_modifiedAt: 0 } }]),
  grouped: await aggregated(t, type, [{ $group: { _id: '$old' } }]),
  joined: await aggregated(t, 'Other', [
    { $lookup: { from: type, localField: 'n', foreignField: 'n', as: 'p' } },
    { $project: { _id: 0, 'p.old': 1 } },
  ]),
  joinedBy: await aggregated(t, 'Other', [
    { $lookup: { from: type, localField: 's', foreignField: 'old', as: 'p' } },
    { $project: { _id: 0, p: { $size: '$p' } } },
  ]),
});

test('pipelines leave out the values of removed properties that are stored still, and a restart removes them', async () => {
  await using database = await openOwnDatabase();
  await using client = await new MongoClient(database.uri).connect();
  const before = await openTestEngine({ mongoUri: database.uri });
  const { namespace } = before.identity;
  const db = client.db(`cascade_ns_${namespace}`);
  const removedIn = async (name: string): Promise<unknown> =>
    (await db.collection('resources').findOne({ kind: 'types', name }))?.['removed'];
  await before.type('P', { n: { type: 'Integer' }, old: { type: 'String' } });
  await before.type('Other', { n: { type: 'Integer' }, s: { type: 'String' } });
  await before.ask('insert', 'P', { body: '{"n":1,"old":"x"}' });
  await before.ask('insert', 'Other', { body: '{"n":1,"s":"x"}' });
  const stored = await instancesIn(db, 'P');
  // The store refuses the removal, as if it never came to an end.
  const validated = (validator: object) => db.command({ collMod: stored.collectionName, validator });
  await validated({ old: { $exists: true } });
  await change(before, 'P', { n: { type: 'Integer' } });
  const none = await shown(before, 'P');
  expect(none).toMatchObject({
    matched: [],
    whole: [{ n: 1, a: 1 }],
    grouped: [{ _id: null }],
    joined: [{ p: [{}] }],
    joinedBy: [{ p: 0 }],
  });
  expect((none.whole as object[])[0]).not.toHaveProperty('old');
  await before.ask('rename', 'types', { id: 'P', body: '{"newName":"Q"}', custom: false });
  expect(await removedIn('Q')).toBe('old');
  await change(before, 'Q', { n: { type: 'Integer' }, more: { type: 'String' } });
  await before[Symbol.asyncDispose]();
  expect(await removedIn('Q')).toBe('old');
  const stuck = await openTestEngine({ mongoUri: database.uri, namespace });
  expect(await shown(stuck, 'Q')).toMatchObject({ matched: [], grouped: [{ _id: null }], joined: [{ p: [{}] }] });
  await stuck[Symbol.asyncDispose]();
  await validated({});
  const after = await openTestEngine({ mongoUri: database.uri, namespace });
  try {
    await after.rows('Q');
    await until(async () => (await removedIn('Q')) === undefined);
    expect(await stored.findOne({ old: { $exists: true } })).toBe(null);
    await change(after, 'Q', { n: { type: 'Integer' }, old: { type: 'String' } });
    await after.ask('insert', 'Q', { body: '{"n":2,"old":"x"}' });
    expect(await aggregated(after, 'Q', [{ $group: { _id: '$old' } }, { $sort: { _id: 1 } }])).toEqual([{ _id: null }, { _id: 'x' }]);
  } finally {
    await after[Symbol.asyncDispose]();
  }
});
