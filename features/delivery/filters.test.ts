// resources-and-api.md 8.4, 8.5: how long filters may be, also those that are stored already.
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
});
afterAll(() => t[Symbol.asyncDispose]());

const members = (count: number): Record<string, number> => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, n]));
const begin = (eventFilter: Record<string, number | string>, more: object = { persistent: true }, username = 'ann') =>
  t.engine.subscribe({ ...t.identity, username }, '/topics/a', { eventFilter, ...more }, () => undefined);

test.each([
  ['members', members(1_000)],
  ['characters', { x: 'x'.repeat(64_000) }],
])('a filter with too many %s is refused', async (_of, filter) => {
  for (const more of [{}, { persistent: true }]) {
    await expect(begin(filter, more)).rejects.toMatchObject({
      status: 400,
      code: 'cascade.request.parameter.invalid',
      params: ['eventFilter', '…'],
    });
  }
});

test('the filters of the persistent subscriptions of a user have a bound together, and what ends or changes makes room', async () => {
  const full = { status: 429, code: 'cascade.quota.exceeded', params: ['persistentFiltersOfUser', 20_000] };
  const long = members(900);
  const all = await Promise.all(Array.from({ length: 20 }, () => begin(long)));
  await expect(begin(long)).rejects.toMatchObject(full);
  await begin(long, { persistent: true }, 'bo'); // has a bound of its own
  const resume = (eventFilter: Record<string, number>, at: number) => begin(eventFilter, { subscriptionName: all[at]?.name });
  await expect(resume({ ...long, m1: 5 }, 0)).rejects.toMatchObject(full);
  await resume({ n: 1 }, 0);
  const another = await begin(long);
  await expect(begin(long)).rejects.toMatchObject(full);
  await t.engine.unsubscribe({ ...t.identity, username: 'ann' }, '/topics/a', another.name ?? '');
  await begin(long);
});

test('a namespace opens with longer filters than are taken, without the subscriptions that have them', async () => {
  await using database = await openOwnDatabase();
  await using client = await new MongoClient(database.uri).connect();
  const earlier = await openTestEngine({ mongoUri: database.uri });
  const { namespace } = earlier.identity;
  const begun = ({ engine, identity }: TestEngine, options: object) => engine.subscribe(identity, '/topics/a', options, () => undefined);
  const names: string[] = [];
  for (let n = 0; n < 3; n++) names.push((await begun(earlier, { persistent: true, eventFilter: { n } })).name ?? '');
  await earlier[Symbol.asyncDispose]();
  const stored = client.db(`cascade_ns_${namespace}`).collection('t.ArsSubscription');
  const filters = [null, members(1_500), { x: 'x'.repeat(1_000_000) }];
  for (const [n, eventFilter] of filters.entries()) if (eventFilter) await stored.updateOne({ name: names[n] }, { $set: { eventFilter } });
  await using later = await openTestEngine({ mongoUri: database.uri, namespace });
  // All of them while the namespace is opened.
  const [resumed, ...others] = await Promise.allSettled(names.map((subscriptionName) => begun(later, { subscriptionName })));
  expect(resumed).toMatchObject({ status: 'fulfilled', value: { name: names[0] } });
  const refused = { status: 'rejected', reason: { code: 'cascade.subscription.unknown' } };
  expect(others).toMatchObject([refused, refused]);
  await later.ask('delete', 'ArsSubscription', { id: names[2] ?? '' });
  expect(await stored.distinct('name')).toEqual(names.slice(0, 2).sort());
});
