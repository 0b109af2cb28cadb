// The filters that the store gets, as they are. That they find there what matches.ts matches is held where there is a store (filter.test.ts).
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { toFilter } from './filter.ts';
import { parse, typeOf } from './testing.ts';

const type = typeOf('Bin', {
  n: 'Integer',
  m: 'Currency',
  ms: 'Currency multi',
  t: 'String multi',
  o: 'Object',
  os: 'Object multi',
  g: 'GeoJSON',
  r: 'ResourceReference',
  rs: 'ResourceReference multi',
  s: 'String',
});
/** As relaxed Extended JSON, in which an ObjectId is `{$oid}` and a Decimal `{$numberDecimal}`. */
const filterOf = (where: string): unknown => BSON.EJSON.serialize(toFilter(parse(where, type)));

const ID = '0123456789abcdef01234567';
const OTHER_ID = '1123456789abcdef01234567';
const NOTHING = { _id: { $in: [] } };
const amount = (digits: string) => ({ $numberDecimal: digits });
const sources = { $in: ['sources', 'system.sources'] };
const data = { a: 1, b: 2 };
const eitherOrder = {
  $jsonSchema: {
    bsonType: 'object',
    required: ['o'],
    properties: { o: { anyOf: [{ enum: [data] }, { bsonType: 'array', not: { items: { not: { enum: [data] } } } }] } },
  },
};

test.each<[where: string, filter: unknown]>([
  ['{}', {}],
  ['{"n":1}', { n: { $eq: 1 } }],
  ['{"n":1,"s":"x"}', { $and: [{ n: { $eq: 1 } }, { s: { $eq: 'x' } }] }],
  ['{"n":{"$gt":1,"$lte":5}}', { $and: [{ n: { $gt: 1 } }, { n: { $lte: 5 } }] }],
  ['{"$or":[{"n":1},{"s":"x"}]}', { $or: [{ n: { $eq: 1 } }, { s: { $eq: 'x' } }] }],
  ['{"$and":[{},{"n":1}]}', { n: { $eq: 1 } }],
  ['{"n":{"$ne":1}}', { $nor: [{ n: { $eq: 1 } }] }],
  ['{"n":{"$not":{"$gt":1,"$lt":5}}}', { $nor: [{ $and: [{ n: { $gt: 1 } }, { n: { $lt: 5 } }] }] }],
  ['{"n":{"$in":[1,2]}}', { n: { $in: [1, 2] } }],
  ['{"n":{"$in":[1,null]}}', { $or: [{ n: { $in: [1] } }, { n: null }] }],
  ['{"n":{"$nin":[null]}}', { $nor: [{ $or: [{ n: null }] }] }],
  ['{"o.k":null}', { $or: [{ 'o.k': null }, { 'o.k': { $exists: false } }] }],
  ['{"t.0":null}', { $or: [{ 't.0': { $exists: false } }, { 't.0': { $type: 'null' } }] }],
  ['{"t":{"$size":2}}', { t: { $size: 2 } }],
  ['{"t":{"$size":2147483648}}', NOTHING],
  ['{"t":{"$all":["a","b"]}}', { $and: [{ t: { $eq: 'a' } }, { t: { $eq: 'b' } }] }],
  ['{"t":{"$all":["a",null]}}', { $and: [{ t: { $eq: 'a' } }, { t: { $elemMatch: { $eq: null } } }] }],
  ['{"t":{"$all":[]}}', NOTHING],
  ['{"s":{"$regex":"^a$"}}', { s: { $regex: '\\Aa\\z' } }],
  ['{"zz":1}', NOTHING],
  ['{"zz":{"$ne":1}}', {}],
])('%s', (where, filter) => {
  expect(filterOf(where)).toEqual(filter);
});

test.each<[where: string, filter: unknown]>([
  ['{"o":{"a":1}}', { o: { $eq: { a: 1 } } }],
  ['{"o":{"a":1,"b":2}}', eitherOrder],
  ['{"o":{"$in":[{"a":1},{"a":1,"b":2}]}}', { $or: [{ o: { $in: [{ a: 1 }] } }, eitherOrder] }],
  ['{"os":{"$elemMatch":{"$ne":{"a":1}}}}', { os: { $elemMatch: { $ne: { a: 1 } } } }],
  ['{"os":{"$elemMatch":{"$nin":[{"a":1,"b":2}]}}}', { os: { $elemMatch: { $nin: [data, { b: 2, a: 1 }] } } }],
  ['{"os":{"$elemMatch":{"$eq":{"a":1,"b":2}}}}', { os: { $elemMatch: { $in: [data, { b: 2, a: 1 }] } } }],
  ['{"os":{"$elemMatch":{"$eq":{"a":1,"b":2},"$in":[{"c":1}]}}}', { os: { $elemMatch: { $in: [] } } }],
  ['{"os":{"$elemMatch":{"$in":[{"c":1},{"b":2,"a":1}],"$eq":{"a":1,"b":2}}}}', { os: { $elemMatch: { $in: [data, { b: 2, a: 1 }] } } }],
  ['{"t":{"$elemMatch":{"$size":3000000000,"$all":["a"]}}}', { t: { $elemMatch: { $all: [] } } }],
  ['{"t":{"$elemMatch":{"$gt":"a","$not":{"$in":["b"]}}}}', { t: { $elemMatch: { $gt: 'a', $not: { $in: ['b'] } } } }],
  ['{"t":{"$elemMatch":{"$regex":"a$"}}}', { t: { $elemMatch: { $regex: 'a\\z' } } }],
  ['{"os":{"$elemMatch":{"k":1,"l":{"$gt":2}}}}', { os: { $elemMatch: { $and: [{ k: { $eq: 1 } }, { l: { $gt: 2 } }] } } }],
])('data, whatever the order of its members: %s', (where, filter) => {
  expect(filterOf(where)).toEqual(filter);
});

test('orders of members are tried up to six names', () => {
  const members = (count: number): string => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i])));
  const filter = filterOf(`{"os":{"$elemMatch":{"$eq":${members(6)}}}}`) as { os: { $elemMatch: { $in: unknown[] } } };
  expect(new Set(filter.os.$elemMatch.$in.map((one) => JSON.stringify(one))).size).toBe(720);
  expect(() => filterOf(`{"os":{"$elemMatch":{"$eq":${members(7)}}}}`)).toThrow(
    expect.objectContaining({ code: 'cascade.query.too.expensive' }),
  );
});

test.each<[where: string, filter: unknown]>([
  ['{"m":"5"}', { 'm.v': amount('5') }],
  ['{"m":"USD:5"}', { 'm.c': 'USD', 'm.v': amount('5') }],
  ['{"m":{"$gt":"USD:5"}}', { 'm.c': 'USD', 'm.v': { $gt: amount('5') } }],
  ['{"m":{"$lte":"5"}}', { 'm.v': { $lte: amount('5') } }],
  [
    '{"m":{"$in":["USD:5","USD:6","7"]}}',
    { $or: [{ 'm.c': 'USD', 'm.v': { $in: [amount('5'), amount('6')] } }, { 'm.v': { $in: [amount('7')] } }] },
  ],
  ['{"m":{"$in":["USD:5",null]}}', { $or: [{ 'm.c': 'USD', 'm.v': amount('5') }, { m: null }] }],
  ['{"ms":"USD:5"}', { ms: { $elemMatch: { c: 'USD', v: amount('5') } } }],
  [
    '{"ms":["USD:5","EUR:1"]}',
    {
      $and: [{ ms: { $size: 2 } }, { 'ms.0.c': 'USD', 'ms.0.v': amount('5') }, { 'ms.1.c': 'EUR', 'ms.1.v': amount('1') }],
    },
  ],
  ['{"ms":{"$all":[null]}}', NOTHING],
  [
    '{"ms":{"$elemMatch":{"$gt":"USD:5","$ne":"USD:6"}}}',
    { ms: { $elemMatch: { $and: [{ c: 'USD', v: { $gt: amount('5') } }, { $nor: [{ c: 'USD', v: amount('6') }] }] } } },
  ],
])('a Currency is a code and an amount: %s', (where, filter) => {
  expect(filterOf(where)).toEqual(filter);
});

test.each<[where: string, filter: unknown]>([
  ['{"r":"/sources/a"}', { 'r.resource': sources, 'r.resourceId': 'a' }],
  [
    '{"r":{"$in":["/sources/a","/sources/b","/types/c"]}}',
    {
      $or: [
        { 'r.resource': sources, 'r.resourceId': { $in: ['a', 'b'] } },
        { 'r.resource': { $in: ['types', 'system.types'] }, 'r.resourceId': { $in: ['c'] } },
      ],
    },
  ],
  ['{"r.resource":"sources"}', { 'r.resource': sources }],
  ['{"r.resource":{"$in":["sources","types"]}}', { 'r.resource': { $in: ['sources', 'system.sources', 'types', 'system.types'] } }],
  ['{"r.resourceId":"a"}', { 'r.resourceId': { $eq: 'a' } }],
  ['{"rs":{"$elemMatch":{"$eq":"/sources/a"}}}', { rs: { $elemMatch: { resource: sources, resourceId: 'a' } } }],
  [
    '{"rs":{"$elemMatch":{"resource":"sources","resourceId":"x"}}}',
    { rs: { $elemMatch: { $and: [{ resource: sources }, { resourceId: { $eq: 'x' } }] } } },
  ],
])('a resource of the system has two names: %s', (where, filter) => {
  expect(filterOf(where)).toEqual(filter);
});

test.each<[where: string, filter: unknown]>([
  [`{"_id":"${ID}"}`, { _id: { $in: [{ $oid: ID }] } }],
  ['{"_id":"x"}', NOTHING],
  ['{"_id":null}', { _id: null }],
  ['{"_id":{"$ne":"x"}}', { $nor: [NOTHING] }],
  [`{"_id":{"$in":["${ID}","x","${OTHER_ID}"]}}`, { _id: { $in: [{ $oid: ID }, { $oid: OTHER_ID }] } }],
  [`{"_id":{"$all":["${ID}","${ID}"]}}`, { _id: { $in: [{ $oid: ID }] } }],
  [`{"_id":{"$all":["${ID}","${OTHER_ID}"]}}`, NOTHING],
  [`{"_id":{"$gte":"${ID}"}}`, { _id: { $gte: { $oid: ID } } }],
  ['{"_id":{"$gt":"x"}}', NOTHING],
  ['{"_id":{"$gt":"5"}}', { _id: { $gte: { $oid: '500000000000000000000000' } } }],
  ['{"_id":{"$lte":"5"}}', { _id: { $lt: { $oid: '500000000000000000000000' } } }],
  ['{"_id":{"$lt":"zz"}}', {}],
  ['{"_id":{"$regex":"^01"}}', { $expr: { $regexMatch: { input: { $toString: '$_id' }, regex: '\\A01' } } }],
])('an id is an ObjectId, any other text none: %s', (where, filter) => {
  expect(filterOf(where)).toEqual(filter);
});

test('a shape in data is looked for in what is a shape', () => {
  const point = { type: 'Point', coordinates: [1, 2] };
  const near = { $geoIntersects: { $geometry: point } };
  const where = (path: string): string => JSON.stringify({ [path]: near });
  expect(filterOf(where('g'))).toEqual({ g: near });
  expect(filterOf(where('o.g'))).toEqual({ $and: [{ 'o.g.type': { $in: ['Point', 'LineString', 'Polygon'] } }, { 'o.g': near }] });
});
