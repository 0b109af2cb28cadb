// The worked cases of resources-and-api.md 3.7, a row a test, in memory and (with a mongod) in the store.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CascadeError } from '../errors/api-errors.ts';
import { toFilter } from './filter.ts';
import { matches } from './matches.ts';
import { openTestCollection, type TestCollection } from './testing/collection.ts';
import { instanceOf, parse, typeOf } from './testing.ts';

const bin = typeOf('Bin', { n: 'Integer', d: 'Decimal(2)', m: 'Currency', t: 'String multi', o: 'Object', w: 'DateTime' });
const bins = Object.entries({
  b1: '{"n":1,"d":"1.50","m":"USD:5.0000","t":["a","b"],"o":{"k":1},"w":"2030-01-01T00:00:00.000Z"}',
  b2: '{"n":2,"d":"10.00","m":"EUR:5.0000","t":[],"o":{"k":"1"}}',
  b3: '{"n":null,"d":"2.00","m":"USD:50.0000","t":["b"]}',
  b4: '{"t":["a","b","c"]}',
}).map(([name, json]) => ({ name, instance: instanceOf(bin, json) }));

let store: TestCollection | null = null;
beforeAll(async () => {
  store = await openTestCollection('conditions_worked');
  await store?.fill(
    bin,
    bins.map(({ instance }) => instance),
  );
});
afterAll(() => store?.[Symbol.asyncDispose]());

test.each([
  ['{}', 'b1 b2 b3 b4'],
  ['{"t":"a"}', 'b1 b4'],
  ['{"n":null}', 'b3 b4'],
  ['{"t":["a","b"]}', 'b1'],
  ['{"n":{"$exists":true}}', 'b1 b2 b3'],
  ['{"t":{"$all":["a","b"]}}', 'b1 b4'],
  ['{"n":{"$ne":1}}', 'b2 b3 b4'],
  ['{"t":{"$size":0}}', 'b2'],
  ['{"n":{"$nin":[1,null]}}', 'b2'],
  ['{"t":{"$in":["c",null]}}', 'b4'],
  ['{"n":{"$gt":1.5}}', 'b2'],
  ['{"t":{"$elemMatch":{"$gt":"b"}}}', 'b4'],
  ['{"n":{"$not":{"$gt":1}}}', 'b1 b3 b4'],
  ['{"t":{"$ne":"a"}}', 'b2 b3'],
  ['{"d":{"$gt":"2"}}', 'b2'],
  ['{"o.k":1}', 'b1'],
  ['{"d":2}', 'b3'],
  ['{"o":{"k":"1"}}', 'b2'],
  ['{"m":"5"}', 'b1 b2'],
  ['{"w":1893456000000}', 'b1'],
  ['{"m":{"$gte":"USD:5"}}', 'b1 b3'],
  ['{"w":{"$lt":"2030-01-01"}}', ''],
  ['{"m":{"$in":["EUR:5","50"]}}', 'b2 b3'],
  ['{"zz":1}', ''],
  ['{"$nor":[{"n":1},{"n":2}]}', 'b3 b4'],
])('%s gives [%s]', async (where, names) => {
  const predicate = parse(where, bin);
  const expected = names.split(' ').filter(Boolean);
  expect(bins.filter(({ instance }) => matches(predicate, instance)).map(({ name }) => name)).toEqual(expected);
  if (store) expect((await store.find(toFilter(predicate))).map((at) => bins[at]?.name)).toEqual(expected);
});

test.each([
  ['{"$or":[]}', 'cascade.query.operand.invalid'],
  ['{"n":{"$gt":1,"x":2}}', 'cascade.query.operator.mixed'],
  ['{"$where":"1"}', 'cascade.query.operator.forbidden'],
  ['{"n":{"$in":5}}', 'cascade.query.operand.invalid'],
  ['{"n":{"$foo":1}}', 'cascade.query.operator.unknown'],
  ['{"n":{"$gt":null}}', 'cascade.query.operand.invalid'],
  ['{"m":{"$gt":"usd:5"}}', 'cascade.query.operand.invalid'],
  ['{"n":"abc"}', 'cascade.query.operand.invalid'],
])('%s is refused with %s', (where, code) => {
  const refused = () => parse(where, bin);
  expect(refused).toThrow(CascadeError);
  expect(refused).toThrow(expect.objectContaining({ code, status: 400 }));
});
