// What a real store makes of a type's indexes and of odd names of members; runs where the test set-up gives a mongod.
import { type Collection, type Document, MongoClient, MongoServerError, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { instanceFromBson, instanceToBson, parseJson, toBson } from '../values/index.ts';
import { mongoIndexes, newId, parseType, prepareInsert } from './index.ts';

const uri = process.env['CASCADE_TEST_MONGO'];
const stored = test.skipIf(uri === undefined);

const bases: ObjectValue = {
  text: { type: 'String' },
  count: { type: 'Integer' },
  rate: { type: 'Real' },
  level: { type: 'Decimal', scale: 2 },
  at: { type: 'DateTime' },
  price: { type: 'Currency' },
  owner: { type: 'ResourceReference' },
  data: { type: 'Object' },
  tags: { type: 'String', multi: true },
};
const type = parseType(
  {
    name: 'Thing',
    properties: bases,
    indexes: [...Object.keys(bases), 'owner.resource'].map((key) => ({ keys: [key, 'ars_group'], options: { unique: true } })),
  },
  { types: new Map(), scalars: new Map() },
);

let client: MongoClient;
let things: Collection<Document>;
beforeAll(async () => {
  if (uri === undefined) return;
  client = await new MongoClient(uri).connect();
  things = client.db(`types_${process.pid}`).collection('t.Thing');
  for (const { key, ...options } of mongoIndexes(type)) await things.createIndex(key, options);
});
afterAll(async () => {
  if (uri === undefined) return;
  await client.db(`types_${process.pid}`).dropDatabase();
  await client.close();
});

const documentOf = (body: string): Document => ({
  ...instanceToBson(type, prepareInsert(type, parseJson(body))),
  _id: new ObjectId(newId()),
});
const insert = (body: string) => things.insertOne(documentOf(body));

stored('a unique index ignores instances in which all keys are missing or null, or an empty array', async () => {
  for (const body of ['{}', '{}', '{"text":null,"tags":[]}', '{"text":null,"tags":[]}']) await expect(insert(body)).resolves.toBeDefined();
});

const samples: [body: string, filter: (document: Document) => Document][] = [
  ['{"text":"a"}', ({ text }) => ({ text })],
  ['{"count":5}', ({ count }) => ({ count: { $gte: count } })],
  ['{"rate":2.5}', ({ rate }) => ({ rate })],
  ['{"level":"1.5"}', ({ level }) => ({ level })],
  ['{"at":"2031-05-04"}', ({ at }) => ({ at })],
  ['{"price":"USD:5"}', ({ price }) => ({ price })],
  ['{"owner":"/users/ann"}', ({ owner }) => ({ owner })],
  ['{"data":{"n":1}}', ({ data }) => ({ data })],
  ['{"tags":["x"]}', ({ tags }) => ({ tags: tags[0] })],
];
for (const [body, filterOf] of samples) {
  stored(`a second ${body} is a duplicate, and a look-up by it uses the unique index`, async () => {
    const document = documentOf(body);
    await things.insertOne(document);
    await expect(insert(body)).rejects.toThrow(MongoServerError);
    const plan = JSON.stringify(await things.find(filterOf(document)).explain('queryPlanner'));
    expect(plan).toContain('"IXSCAN"');
  });
}

stored('every name of a member survives insert, replace and a transaction, and is found by equality', async () => {
  for (const name of ['$set', '$ref', '$id', '$', 'a.b', '', '.', '__proto__', 'a\\u0000b', '\\u0001', '_bsontype', '$oid', '_id', '0']) {
    const body = `{"data":{"${name}":[{"${name}":"x"}]}}`;
    const inGroup = (group: string): Document => ({ ...documentOf(body), ars_group: `${name}${group}` });
    await things.insertOne(inGroup('inserted'));
    const replaced = inGroup('replaced');
    await things.insertOne({ _id: replaced['_id'] });
    await things.replaceOne({ _id: replaced['_id'] }, replaced);
    const transacted = inGroup('transacted');
    await client.withSession((session) =>
      session.withTransaction(() => things.bulkWrite([{ insertOne: { document: transacted } }], { session })),
    );
    const { data } = parseJson(body) as ObjectValue;
    for (const filter of [{ data: { $eq: toBson(data) } }, { data: { $in: [toBson(data)] } }]) {
      const found = await things.find(filter, { raw: true }).toArray();
      expect(found.map((raw) => JSON.stringify(instanceFromBson(type, raw)['data']))).toEqual(Array(3).fill(JSON.stringify(data)));
    }
  }
});
