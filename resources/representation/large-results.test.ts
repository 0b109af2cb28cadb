// Large results: the text of a whole result, made while it is sent (resources-and-api.md 2.2).
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiReply, ApiRequest, Pieces } from '../api.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import { RowReader } from '../../platform/mongo/index.ts';
import { LargeResults, readAhead } from './large-results.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('Large', { n: { type: 'Integer' }, text: { type: 'String' } });
  for (let n = 0; n < 60; n += 20)
    await t.ask('insert', 'Large', {
      body: JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ n: n + i, text: `${n + i} `.repeat(15_000) }))),
    });
});
afterAll(() => t[Symbol.asyncDispose]());

const select = (parameters: Record<string, string>, more: Partial<ApiRequest> = {}): Promise<ApiReply> =>
  t.engine.execute({
    identity: t.identity,
    op: 'select',
    resourceName: 'Large',
    custom: true,
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, parseJson(value)])),
    ...more,
  });
const streamed = (parameters: Record<string, string> = {}, more: Partial<ApiRequest> = {}) =>
  select(parameters, { streams: true, ...more });

async function all(pieces: Pieces | undefined): Promise<string[]> {
  const texts: string[] = [];
  for (let text = await pieces?.next(); text; text = await pieces?.next()) texts.push(text);
  await pieces?.close();
  return texts;
}

test('a large result is sent in pieces of the same text where the binding allows it', async () => {
  const whole = await select({ count: 'true' });
  const reply = await streamed({ count: 'true' });
  expect([whole.pieces, reply.body]).toEqual([undefined, undefined]);
  expect([whole.count, reply.count, reply.truncated]).toEqual([60, 60, undefined]);
  const texts = await all(reply.pieces);
  expect(texts.length).toBeGreaterThan(10);
  expect(texts.join('')).toBe(whole.body);
});

test('a small result is sent whole, and so is a large one where the binding cannot send pieces', async () => {
  expect((await streamed({ limit: '2' })).body).toBe((await select({ limit: '2' })).body);
  expect((await streamed({ props: '["n"]' })).pieces).toBeUndefined();
});

test('a result in pieces has the usual order, pages and props', async () => {
  const parameters = { sort: '{"n": -1}', limit: '45', page: '1', props: '["n", "text"]' };
  const rows = JSON.parse((await all((await streamed(parameters)).pieces)).join('')) as { n: number }[];
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 45 }, (_, i) => 59 - i));
});

test('a result cut at the cap says so before its rows, with and without a count', async () => {
  await t.type('Many', { n: { type: 'Integer' } });
  for (const rows of [10_000, 2]) await t.ask('insert', 'Many', { body: JSON.stringify(Array.from({ length: rows }, (_, n) => ({ n }))) });
  for (const parameters of [{}, { count: 'true' }] as Record<string, string>[]) {
    const { pieces, truncated, count } = await streamed(parameters, { resourceName: 'Many' });
    expect([truncated, count]).toEqual([true, 'count' in parameters ? 10_002 : undefined]);
    expect(JSON.parse((await all(pieces)).join(''))).toHaveLength(10_000);
  }
});

test('concurrent equality queries have the same answers as single ones', async () => {
  await t.type('Placed', { site: { type: 'String' }, n: { type: 'Integer' }, more: { type: 'Object' } });
  const objects = Array.from({ length: 90 }, (_, n) => ({ ...(n % 10 === 9 ? {} : { site: `s${n % 10}` }), n, more: { a: n, b: n } }));
  await t.ask('insert', 'Placed', { body: JSON.stringify(objects) });
  const parameters: Record<string, string>[] = [
    ...Array.from({ length: 12 }, (_, n) => ({ where: `{"site": "s${n}"}` })),
    { where: '{"site": "s1"}', props: '["n"]' },
    { where: '{"site": "s1"}', props: '["more.a"]' },
    { where: '{"site": "s1"}', count: 'true' },
    { where: '{"site": "s1"}', sort: '{"n": -1}' },
    { where: '{"site": "s1"}', limit: '2' },
    { where: '{"site": "s1", "n": 11}' },
    { where: '{"site": {"$ne": "s1"}}' },
    { where: '{"site": null}' },
  ];
  const ask = (one: Record<string, string>) => select(one, { resourceName: 'Placed' });
  const alone: ApiReply[] = [];
  for (const one of parameters) alone.push(await ask(one));
  expect(JSON.parse(alone[1]?.body ?? '')).toHaveLength(9);
  for (let tries = 0; tries < 3; tries++) expect(await Promise.all(parameters.map(ask))).toEqual(alone);
});

test('a long aggregation is sent in pieces of the same text, cut at the cap', async () => {
  const pipeline = '[{"$sort": {"n": 1}}, {"$project": {"n": 1, "text": 1}}]';
  const aggregate = { op: 'aggregate', object: parseJson(pipeline) };
  const whole = await select({}, aggregate);
  const reply = await streamed({}, aggregate);
  expect(reply.body).toBeUndefined();
  expect((await all(reply.pieces)).join('')).toBe(whole.body);
  const doubled = await streamed({}, { ...aggregate, object: parseJson(`[{"$match": {"n": {"$lt": 20}}}, ${pipeline.slice(1)}`) });
  expect([doubled.truncated, JSON.parse((await all(doubled.pieces)).join(''))]).toMatchObject([undefined, { length: 20 }]);
  const cut = await streamed({}, { ...aggregate, resourceName: 'Many', object: parseJson('[{"$sort": {"n": 1}}]') });
  expect([cut.truncated, JSON.parse((await all(cut.pieces)).join(''))]).toMatchObject([true, { length: 10_000 }]);
});

test('a long array of a procedure is sent in pieces, a long text is not', async () => {
  await t.program(
    'procedures',
    'PROCEDURE manyTexts(n Integer)\nvar texts = []\nFOR i IN range(0, n) { texts.push("0123456789".repeat(100)) }\nreturn texts',
  );
  const execute = (n: string) =>
    streamed({}, { op: 'execute', resourceName: 'procedures', custom: false, resourceId: 'manyTexts', object: parseJson(`[${n}]`) });
  expect((await execute('3')).pieces).toBeUndefined();
  expect(JSON.parse((await all((await execute('1000')).pieces)).join(''))).toEqual(Array(1_000).fill('0123456789'.repeat(100)));
});

test('a query that the store refuses fails before the first piece', async () => {
  await expect(streamed({ where: '{"text": {"$regex": "("}}' })).rejects.toMatchObject({ status: 400 });
});

test('a closed result frees its cursor', async () => {
  await using client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  const database = `cascade_ns_${t.identity.namespace}`;
  const stored = await client.db(database).collection('resources').findOne({ kind: 'types', name: 'Large' });
  const ns = `${database}.${String(stored?.['collection'])}`;
  const cursors = async (): Promise<number> => {
    const found = await client
      .db('admin')
      .aggregate([{ $currentOp: { idleCursors: true } }, { $match: { ns, type: 'idleCursor' } }])
      .toArray();
    return found.length;
  };
  const reply = await streamed();
  await reply.pieces?.next();
  expect(await cursors()).toBe(1);
  await reply.pieces?.close();
  expect(await cursors()).toBe(0);
  expect(await reply.pieces?.next()).toBeNull();
});

test('a namespace has at most a hundred large results open, and one that ends makes room', async () => {
  const results = new LargeResults();
  let closed = 0;
  const begin = () => results.begin({ first: [1], write: String, close: async () => void closed++ });
  const open = await Promise.all(Array.from({ length: 100 }, begin));
  await expect(begin()).rejects.toMatchObject({ status: 429, code: 'cascade.quota.exceeded' });
  expect(closed).toBe(1); // the source of the refused one
  await open[0]?.close();
  await open[0]?.close();
  expect([results.open, closed]).toEqual([99, 2]);
  expect(await all(await begin())).toEqual(['[1]']);
});

test('elements beyond the cap are left out, and an empty array is one piece', async () => {
  const batches = [[3, 4], [5, 6], []];
  const next = async () => batches.shift() ?? [];
  const results = new LargeResults();
  const capped = await results.begin({ first: [1, 2], next, most: 5, write: String, pieceChars: 2 });
  const texts = await all(capped);
  expect(texts.join('')).toBe('[1,2,3,4,5]');
  expect(texts.length).toBeGreaterThan(2);
  expect(await all(await results.begin({ first: [], write: String }))).toEqual(['[]']);
  expect((await all(await results.begin({ first: [1, 2], write: String, pieceChars: 1 }))).join('')).toBe('[1,2]');
});

test('a result that has to be in memory as a whole is bounded, and so are all of a namespace together', async () => {
  await using client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  const db = client.db(`whole${new ObjectId().toHexString()}`);
  const rows = db.collection<{ n: number; text: string }>('t', { writeConcern: { w: 'majority' } }); // majority is what is read
  await rows.insertMany(Array.from({ length: 40 }, (_, n) => ({ n, text: 'x'.repeat(10_000) })));
  const reader = new RowReader(db);
  const read = (wholeBytes: number) => readAhead(reader, reader.find('t', { filter: {}, limit: 0 }), null, wholeBytes);
  expect((await read(500_000)).rows).toHaveLength(40);
  await expect(read(300_000)).rejects.toMatchObject({ code: 'cascade.query.too.expensive' });
  {
    using _held = reader.hold(200_000);
    await expect(read(500_000)).rejects.toMatchObject({ status: 429, code: 'cascade.quota.exceeded' });
  }
  expect((await read(500_000)).rows).toHaveLength(40);
  expect(reader.heldBytes).toBe(0);
  await db.dropDatabase();
});
