// Sorting, properties, and conditions on one instance (resources-and-api.md 2.2, 3.2; language.md U2, U4).
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../errors/api-errors.ts';
import { parseJson } from '../values/index.ts';
import { toFilter } from './filter.ts';
import { instanceQuery } from './instance-query.ts';
import { matches } from './matches.ts';
import { openTestCollection, type TestCollection } from './testing/collection.ts';
import { parseProps, toProjection } from './props.ts';
import { parseSort, toSort } from './sort.ts';
import { instanceOf, parse, typeOf } from './testing.ts';

const type = typeOf(
  'Pump',
  {
    code: 'String',
    site: 'String',
    rpm: 'Integer',
    tags: 'String multi',
    cost: 'Currency',
    d: 'Decimal(1)',
    at: 'GeoJSON',
    o: 'Object',
    ref: 'ResourceReference',
    key: 'String encrypted',
  },
  { naturalKey: ['code', 'site'], indexes: [{ keys: ['#at'] }] },
);

const refusal = (run: () => unknown): string => {
  try {
    run();
    return 'accepted';
  } catch (error) {
    if (error instanceof CascadeError) return error.code.replace('cascade.', '');
    throw error;
  }
};

test('a sort keeps the order of its members, ends with _id, and skips what no instance has', () => {
  expect([...(toSort(parseSort(parseJson('{"rpm":-1,"zz":1,"o.k":1}'), type)) as unknown as Map<string, number>)]).toEqual([
    ['rpm', -1],
    ['o.k', 1],
    ['_id', 1],
  ]);
  expect([...(toSort(parseSort({ _id: -1 }, type)) as unknown as Map<string, number>)]).toEqual([['_id', -1]]);
});

test.each<[string, Value]>([
  ['query.sort.invalid', { rpm: true }],
  ['query.sort.invalid', { rpm: 2 }],
  ['query.sort.invalid', { rpm: 'asc' }],
  ['query.sort.invalid', { $where: 1 }],
  ['query.sort.unsupported', { tags: 1 }],
  ['query.sort.unsupported', { cost: 1 }],
  ['query.sort.unsupported', { d: 1 }],
  ['query.sort.unsupported', { at: 1 }],
  ['query.sort.unsupported', { o: 1 }],
  ['query.sort.unsupported', { ref: 1 }],
  ['query.property.forbidden', { key: 1 }],
  ['request.parameter.invalid', ['rpm']],
])('%s for the sort %j', (code, sort) => expect(refusal(() => parseSort(sort, type))).toBe(code));

test('props name properties and paths into Objects; unknown ones, and those inside others, are left out', () => {
  expect(parseProps([])).toBeNull();
  expect(toProjection(parseProps([]), type)).toBeUndefined();
  expect(toProjection(parseProps(['rpm', 'o.k', 'o', 'zz', 'rpm.x', '$x', 'key', '']), type)).toEqual({ _id: 1, rpm: 1, o: 1, key: 1 });
  expect(toProjection(parseProps(['o.k', 'ref.resource']), type)).toEqual({ _id: 1, 'o.k': 1 });
  expect(refusal(() => parseProps([1]))).toBe('request.parameter.invalid');
  expect(refusal(() => parseProps('rpm'))).toBe('request.parameter.invalid');
});

test.each([
  ['{"_id":"0123456789abcdef01234567"}', 'id'],
  ['{"_id":{"$eq":"0123456789abcdef01234567"}}', 'id'],
  ['{"$and":[{"code":"a"},{"site":{"$eq":"b"}}]}', 'key'],
  ['{"_id":"0123456789abcdef01234567","code":"a","site":"b"}', 'key'],
  ['{"code":"a"}', undefined],
  ['{"_id":"0123456789abcdef01234567","rpm":1}', undefined],
  ['{"_id":{"$in":["0123456789abcdef01234567"]}}', undefined],
  ['{"_id":{"$ne":"0123456789abcdef01234567"}}', undefined],
  ['{"_id":null}', undefined],
  ['{"$or":[{"_id":"0123456789abcdef01234567"}]}', undefined],
  ['{}', undefined],
])('%s addresses one instance by %s', (where, by) => expect(instanceQuery(parse(where, type), type)?.by).toBe(by));

const places = [
  [0, 0],
  [0, 1],
  [0, 2],
  [0, 3],
].map((coordinates) => instanceOf(type, JSON.stringify({ at: { type: 'Point', coordinates } })));

let store: TestCollection | null = null;
beforeAll(async () => {
  store = await openTestCollection('conditions_near');
  await store?.fill(type, places);
  await store?.createIndex({ at: '2dsphere' });
});
afterAll(() => store?.[Symbol.asyncDispose]());

test('$near finds in the store what is within its distances', async () => {
  const near = parse(
    '{"at":{"$near":{"$geometry":{"type":"Point","coordinates":[0,2.9]},"$minDistance":50000,"$maxDistance":250000}}}',
    type,
  );
  const expected = places.flatMap((place, i) => (matches(near, place) ? [i] : []));
  expect(expected).toEqual([1, 2]);
  expect(near.near?.path.text).toBe('at');
  expect(toFilter(near, { withoutNear: true })).toEqual({});
  if (store) expect(await store.find(toFilter(near))).toEqual(expected);
});
