// Every row of resources-and-api.md 3.1 to 3.4 by name, in memory; that the store agrees is held by filter.test.ts.
import { describe, expect, test } from 'vitest';
import { parseDecimal, real, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../errors/api-errors.ts';
import { parseJson } from '../values/index.ts';
import { withAllowance } from './host-budget.ts';
import { matches, passes } from './matches.ts';
import { parseWhere } from './parse.ts';
import { toStoredForm } from './substitutions.ts';
import { CONTEXT, instanceOf, parse, typeOf } from './testing.ts';

const type = typeOf(
  'Lot',
  {
    name: 'String',
    tags: 'String multi',
    qty: 'Integer',
    rate: 'Real',
    open: 'Boolean',
    seen: 'DateTime',
    size: 'Decimal(2)',
    price: 'Currency',
    prices: 'Currency multi',
    place: 'GeoJSON',
    ref: 'ResourceReference',
    info: 'Object',
    rows: 'Object multi',
    hidden: 'String encrypted',
  },
  { indexes: [{ keys: ['#place'] }] },
);

/** `expectMatch(where, instance)`, both as JSON. */
const isMatch = (where: string, instance: string): boolean => matches(parse(where, type), instanceOf(type, instance));

const rows = (cases: [where: string, instance: string, matched: boolean][]) =>
  test.each(cases)('%s on %s is %s', (where, instance, matched) => expect(isMatch(where, instance)).toBe(matched));

describe('3.2 equality', () =>
  rows([
    ['{"name":"a"}', '{"name":"a"}', true],
    ['{"name":{"$eq":"a"}}', '{"name":"b"}', false],
    ['{"tags":"b"}', '{"tags":["a","b"]}', true],
    ['{"tags":["a","b"]}', '{"tags":["a","b"]}', true],
    ['{"tags":["a","b"]}', '{"tags":["b","a"]}', false],
    ['{"name":null}', '{"name":null}', true],
    ['{"name":null}', '{}', true],
    ['{"name":null}', '{"name":""}', false],
  ]));

describe('3.2 $ne, $in, $nin', () =>
  rows([
    ['{"qty":{"$ne":5}}', '{}', true],
    ['{"qty":{"$ne":5}}', '{"qty":5}', false],
    ['{"qty":{"$in":[4,5]}}', '{"qty":5}', true],
    ['{"qty":{"$in":[null]}}', '{}', true],
    ['{"qty":{"$in":[]}}', '{}', false],
    ['{"qty":{"$nin":[]}}', '{}', true],
    ['{"qty":{"$nin":[5]}}', '{}', true],
    ['{"qty":{"$nin":[5,null]}}', '{}', false],
  ]));

describe('3.2 ranges', () =>
  rows([
    ['{"qty":{"$gt":4}}', '{"qty":5}', true],
    ['{"qty":{"$gte":5,"$lt":6}}', '{"qty":5}', true],
    ['{"qty":{"$lte":4}}', '{"qty":5}', false],
    ['{"qty":{"$lt":9}}', '{}', false],
    ['{"qty":{"$lt":9}}', '{"qty":null}', false],
    ['{"info.k":{"$gt":1}}', '{"info":{"k":"2"}}', false],
    ['{"name":{"$gt":"\\uffff"}}', '{"name":"\\ud83d\\ude00"}', true],
    ['{"open":{"$gt":false}}', '{"open":true}', true],
  ]));

describe('3.2 $all, $elemMatch, $size', () =>
  rows([
    ['{"tags":{"$all":["a","b"]}}', '{"tags":["b","x","a"]}', true],
    ['{"tags":{"$all":["a"]}}', '{"tags":[]}', false],
    ['{"tags":{"$all":[]}}', '{"tags":["a"]}', false],
    ['{"name":{"$all":["a"]}}', '{"name":"a"}', true],
    ['{"info.x":{"$all":[null]}}', '{"info":{}}', false],
    ['{"tags":{"$elemMatch":{"$gt":"a","$lt":"c"}}}', '{"tags":["a","c"]}', false],
    ['{"tags":{"$elemMatch":{"$gt":"a","$lt":"c"}}}', '{"tags":["a","b"]}', true],
    ['{"rows":{"$elemMatch":{"a":1,"b":{"$gt":1}}}}', '{"rows":[{"a":1,"b":1},{"a":2,"b":2}]}', false],
    ['{"rows":{"$elemMatch":{"a":1,"b":{"$gt":1}}}}', '{"rows":[{"a":1,"b":2}]}', true],
    ['{"rows":{"$elemMatch":{"$or":[{"a":1},{"a":2}]}}}', '{"rows":[{"a":2}]}', true],
    ['{"name":{"$elemMatch":{"$eq":"a"}}}', '{"name":"a"}', false],
    ['{"tags":{"$size":2}}', '{"tags":["a","b"]}', true],
    ['{"name":{"$size":1}}', '{"name":"a"}', false],
    ['{"prices":{"$elemMatch":{"$gt":"USD:1","$lt":"USD:3"}}}', '{"prices":["EUR:2","USD:5"]}', false],
  ]));

describe('3.2 $regex', () =>
  rows([
    ['{"name":{"$regex":"b.d"}}', '{"name":"abcde"}', true],
    ['{"name":{"$regex":"B"}}', '{"name":"abc"}', false],
    ['{"name":{"$regex":"B","$options":"i"}}', '{"name":"abc"}', true],
    ['{"name":{"$regex":"^b$","$options":"m"}}', '{"name":"a\\nb"}', true],
    ['{"name":{"$regex":"a.b","$options":"s"}}', '{"name":"a\\nb"}', true],
    ['{"name":{"$regex":"a b # c","$options":"x"}}', '{"name":"ab"}', true],
    ['{"name":{"$regex":"a$"}}', '{"name":"a\\n"}', false],
    ['{"tags":{"$regex":"^x"}}', '{"tags":["a","xy"]}', true],
    ['{"name":{"$not":{"$regex":"a"}}}', '{}', true],
    ['{"info.k":{"$regex":"1"}}', '{"info":{"k":1}}', false],
    ['{"_id":{"$regex":"^0123"}}', '{"_id":"0123456789abcdef01234567"}', true],
  ]));

describe('3.2 $not, $exists, $and, $or, $nor', () =>
  rows([
    ['{"qty":{"$not":{"$gt":1}}}', '{}', true],
    ['{"qty":{"$exists":true}}', '{"qty":null}', true],
    ['{"qty":{"$exists":false}}', '{}', true],
    ['{"$and":[{"qty":1},{"name":"a"}]}', '{"qty":1,"name":"b"}', false],
    ['{"$or":[{"qty":1},{"name":"a"}]}', '{"qty":1,"name":"b"}', true],
    ['{"$nor":[{"qty":1},{"name":"a"}]}', '{"qty":2,"name":"b"}', true],
  ]));

const SQUARE = '{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4],[0,0]]]}';
describe('3.2 geo operators', () =>
  rows([
    [`{"place":{"$geoWithin":{"$geometry":${SQUARE}}}}`, '{"place":{"type":"Point","coordinates":[1,1]}}', true],
    [`{"place":{"$geoWithin":{"geometry":${SQUARE}}}}`, '{"place":{"type":"LineString","coordinates":[[1,1],[5,1]]}}', false],
    [`{"place":{"$geoIntersects":{"$geometry":${SQUARE}}}}`, '{"place":{"type":"LineString","coordinates":[[1,1],[5,1]]}}', true],
    [`{"place":{"$geoIntersects":{"$geometry":${SQUARE}}}}`, '{}', false],
    [
      '{"place":{"$near":{"$geometry":{"type":"Point","coordinates":[0,0]},"$maxDistance":112000}}}',
      '{"place":{"type":"Point","coordinates":[0,1,500]}}',
      true,
    ],
    [
      '{"place":{"$near":{"$geometry":{"type":"Point","coordinates":[0,0]},"$minDistance":112000}}}',
      '{"place":{"type":"Point","coordinates":[0,1]}}',
      false,
    ],
  ]));

describe('3.3 constants become what the property declares', () =>
  rows([
    ['{"name":12}', '{"name":"12"}', true],
    ['{"name":true}', '{"name":"true"}', true],
    ['{"qty":"7"}', '{"qty":7}', true],
    ['{"qty":3.0}', '{"qty":3}', true],
    ['{"qty":{"$gt":1.5}}', '{"qty":2}', true],
    ['{"qty":9007199254740993}', '{"qty":9007199254740992}', false],
    ['{"rate":"1.5"}', '{"rate":1.5}', true],
    ['{"rate":3}', '{"rate":3}', true],
    ['{"open":"TRUE"}', '{"open":true}', true],
    ['{"open":0}', '{"open":false}', true],
    ['{"seen":{"$gte":1900000000000}}', '{"seen":"2030-03-17T17:46:40Z"}', true],
    ['{"size":"5"}', '{"size":"5.00"}', true],
    ['{"size":"1.504"}', '{"size":"1.50"}', false],
    ['{"price":{"$gt":"EUR:9.5"}}', '{"price":"USD:10"}', false],
    ['{"price":{"$gt":"9.5"}}', '{"price":"USD:10"}', true],
    ['{"price":5}', '{"price":"JPY:5"}', true],
    ['{"price.code":"USD"}', '{"price":"USD:5"}', true],
    ['{"place":{"type":"Point","coordinates":[1,2]}}', '{"place":{"coordinates":[1,2],"type":"Point"}}', true],
    ['{"ref":"/types/Pump"}', '{"ref":{"resource":"system.types","resourceId":"Pump"}}', true],
    ['{"ref":{"resource":"types","resourceId":"Pump"}}', '{"ref":"/types/Pump"}', true],
    ['{"ref.resource":"types"}', '{"ref":"/types/Pump"}', true],
    ['{"ref.resourceId":{"$ne":"Pump"}}', '{"ref":"/types/Pump"}', false],
    ['{"info":{"a":1,"b":2}}', '{"info":{"b":2,"a":1.0}}', true],
    ['{"info.at":"2030-01-01"}', '{"info":{"at":"2030-01-01T00:00:00.000Z"}}', false],
    ['{"rows.a":1}', '{"rows":[{"b":1},{"a":1}]}', true],
    ['{"rows.1.a":1}', '{"rows":[{"a":1},{"a":2}]}', false],
    ['{"tags.1":"b"}', '{"tags":["a","b"]}', true],
    ['{"qty.x":null}', '{"qty":1}', true],
  ]));

const code = (where: string | Value): string => {
  try {
    parseWhere(typeof where === 'string' ? parseJson(where) : where, type, CONTEXT);
    return 'accepted';
  } catch (error) {
    if (error instanceof CascadeError) return `${error.code.replace('cascade.query.', '')} ${JSON.stringify(error.params)}`;
    throw error;
  }
};

describe('conditions that are refused', () =>
  test.each([
    ['[]', 'condition.type ["List"]'],
    ['null', 'condition.type ["null"]'],
    ['"x"', 'condition.type ["String"]'],
    ['{"$or":[]}', 'operand.invalid ["where","$or"]'],
    ['{"$and":{"a":1}}', 'operand.invalid ["where","$and"]'],
    ['{"$nor":[1]}', 'operand.invalid ["where","$nor"]'],
    ['{"$and":[{"qty":1},{"$or":[]}]}', 'operand.invalid ["where.$and.1","$or"]'],
    ['{"info":{"$elemMatch":{"$or":[]}}}', 'operand.invalid ["info","$or"]'],
    ['{"qty":{"$gt":1,"x":2}}', 'operator.mixed ["$gt","qty"]'],
    ['{"qty":{"$near":{}}}', 'operand.invalid ["qty","$near"]'],
    ['{"qty":{"$foo":1}}', 'operator.unknown ["$foo","qty"]'],
    ['{"$foo":1}', 'operator.unknown ["$foo","where"]'],
    ['{"$gt":1}', 'operator.forbidden ["$gt","where"]'],
    ['{"info.$x":1}', 'operator.unknown ["$x","info.$x"]'],
    ['{"qty":"abc"}', 'operand.invalid ["qty","$eq"]'],
    ['{"qty":{"$in":["abc"]}}', 'operand.invalid ["qty","$in"]'],
    ['{"qty":1.5}', 'operand.invalid ["qty","$eq"]'],
    ['{"qty":[1]}', 'operand.invalid ["qty","$eq"]'],
    ['{"qty":{"$exists":1}}', 'operand.invalid ["qty","$exists"]'],
    ['{"qty":{"$size":-1}}', 'operand.invalid ["qty","$size"]'],
    ['{"qty":{"$regex":"1"}}', 'operand.invalid ["qty","$regex"]'],
    ['{"qty":{"$not":5}}', 'operand.invalid ["qty","$not"]'],
    ['{"qty":{"$not":{}}}', 'operand.invalid ["qty","$not"]'],
    ['{"name":{"$regex":"(a)\\\\1"}}', 'operand.invalid ["name","$regex"]'],
    ['{"name":{"$regex":"a(?=b)"}}', 'operand.invalid ["name","$regex"]'],
    ['{"name":{"$regex":"(?<=a)b"}}', 'operand.invalid ["name","$regex"]'],
    ['{"name":{"$regex":"("}}', 'operand.invalid ["name","$regex"]'],
    ['{"name":{"$regex":"a","$options":"g"}}', 'operand.invalid ["name","$regex"]'],
    ['{"name":{"$options":"i"}}', 'operator.forbidden ["$options","name"]'],
    ['{"price":{"$gt":"usd:5"}}', 'operand.invalid ["price","$gt"]'],
    ['{"size":"12345678901234567890123456789012345"}', 'operand.invalid ["size","$eq"]'],
    ['{"place":{"$gt":{"type":"Point","coordinates":[1,2]}}}', 'operand.invalid ["place","$gt"]'],
    ['{"place":{"$geoWithin":{"$geometry":{"type":"Point","coordinates":[1,2]}}}}', 'operand.invalid ["place","$geoWithin"]'],
    ['{"name":{"$geoWithin":{"$geometry":{"type":"Point","coordinates":[1,2]}}}}', 'operand.invalid ["name","$geoWithin"]'],
    ['{"ref":{"$lt":"/types/A"}}', 'operand.invalid ["ref","$lt"]'],
    ['{"ref":"types/A"}', 'operand.invalid ["ref","$eq"]'],
    ['{"info":5}', 'operand.invalid ["info","$eq"]'],
    ['{"tags":{"$elemMatch":{"a":1}}}', 'operand.invalid ["tags","$elemMatch"]'],
    ['{"hidden":"x"}', 'property.forbidden ["hidden"]'],
    ['{"info.p":{"$near":{"$geometry":{"type":"Point","coordinates":[1,2]}}}}', 'geo.index.missing ["info.p"]'],
    ['{"$or":[{"place":{"$near":{"$geometry":{"type":"Point","coordinates":[1,2]}}}}]}', 'operand.invalid ["place","$near"]'],
    ['{"place":{"$not":{"$near":{"$geometry":{"type":"Point","coordinates":[1,2]}}}}}', 'operand.invalid ["place","$near"]'],
    ['{"$and":[{"place":{"$near":{"$geometry":{"type":"Point","coordinates":[1,2]}}}}]}', 'accepted'],
    ['{"name":{"ars_substitution":"ars_password"}}', 'substitution.unknown ["ars_password"]'],
    ['{"name":{"ars_substitution_where":"1"}}', 'substitution.unknown ["ars_substitution_where"]'],
  ])('%s: %s', (where, refusal) => expect(code(where)).toBe(refusal)));

test.each([
  '$where',
  '$expr',
  '$function',
  '$accumulator',
  '$jsonSchema',
  '$text',
  '$type',
  '$mod',
  '$comment',
  '$rand',
  '$bitsAllSet',
  '$bitsAnyClear',
  '$natural',
])('%s is forbidden at the top, at a path, in $not, in $elemMatch and as a step of a path', (operator) => {
  const forbidden = `operator.forbidden ["${operator}",`;
  expect(code({ [operator]: 1 })).toContain(forbidden);
  expect(code({ qty: { [operator]: 1 } })).toContain(forbidden);
  expect(code({ $and: [{ qty: { $not: { [operator]: 1 } } }] })).toContain(forbidden);
  expect(code({ rows: { $elemMatch: { [operator]: 1 } } })).toContain(forbidden);
  expect(code({ rows: { $elemMatch: { a: { [operator]: 1 } } } })).toContain(forbidden);
  expect(code({ [`info.${operator}`]: 1 })).toContain('operator.unknown');
});

const eitherOf = (count: number): Value => ({
  $or: Array.from({ length: count }, (_, n) => ({ name: { $regex: `${'b'.repeat(800)}${n}` } })),
});
const nested = (levels: number): Value => (levels === 0 ? { qty: 1 } : { $and: [nested(levels - 1)] });

test.each([
  ['depth', nested(19), nested(20)],
  ['nodes', { $or: Array.from({ length: 999 }, () => ({ qty: 1 })) }, { $or: Array.from({ length: 1000 }, () => ({ qty: 1 })) }],
  ['listElements', { qty: { $in: Array(10_000).fill(1) } }, { qty: { $in: Array(10_000).fill(1) }, tags: ['a'] }],
  ['regexLength', { name: { $regex: 'a'.repeat(1_000) } }, { name: { $regex: 'a'.repeat(1_001) } }],
  ['regexSize', { name: { $regex: 'a{1000}'.repeat(40) } }, { name: { $regex: 'a{1000}'.repeat(60) } }],
  ['regexSize', eitherOf(4), eitherOf(6)],
] as [string, Value, Value][])('the limit %s is kept', (limit, within, beyond) => {
  expect(code(within)).toBe('accepted');
  expect(code(beyond)).toBe(`too.expensive ["${limit}"]`);
});

describe('3.4 substitutions', () => {
  rows([
    ['{"name":{"ars_substitution":"ars_username"}}', '{"name":"ann"}', true],
    ['{"tags":{"ars_substitution_in":[{"ars_substitution":"ars_currentNamespace"}]}}', '{"tags":["plant"]}', true],
    ['{"seen":{"ars_substitution_lt":{"ars_substitution":"ars_currentDateTime"}}}', '{"seen":"2030-12-31"}', true],
    ['{"ars_substitution_or":[{"qty":1},{"qty":{"ars_substitution_gte":5}}]}', '{"qty":5}', true],
    ['{"rows":{"ars_substitution_elemMatch":{"a":{"ars_substitution":"ars_username"}}}}', '{"rows":[{"a":"ann"}]}', true],
  ]);

  test('constraints are stored without $', () => {
    expect(toStoredForm(parseJson('{"$or":[{"qty":{"$gt":5}},{"name":{"$regex":"a","$options":"i"}}],"info":{"$x":1}}'))).toEqual({
      ars_substitution_or: [{ qty: { ars_substitution_gt: 5 } }, { name: { ars_substitution_regex: 'a', ars_substitution_options: 'i' } }],
      info: { $x: 1 },
    });
  });
});

test('a condition without a type takes paths as they are, but knows ids and system properties', () => {
  const where = parse('{"_id":"0123456789abcdef01234567","ars_createdAt":{"$gt":"2030-01-01"},"any.path":"5"}');
  const at = instanceOf(typeOf('T', { seen: 'DateTime' }), '{"seen":"2030-01-02"}').seen as Value;
  const instance = { _id: '0123456789abcdef01234567', ars_createdAt: at, any: { path: '5' } };
  expect(matches(where, instance)).toBe(true);
  expect(matches(where, { ...instance, any: { path: parseDecimal('5') } })).toBe(false);
});

test('a text that is not Unicode is no operand', () => {
  expect(code({ name: '\ud800' })).toBe('operand.invalid ["name","$eq"]');
  expect(code({ 'info.k': { $in: ['\ud800'] } })).toBe('operand.invalid ["info.k","$in"]');
});

test('members named like those of every object are names like any other', () => {
  const where = parse('{"info.constructor":1,"info.__proto__":{"$exists":false},"toString":null}', type);
  expect(matches(where, instanceOf(type, '{"info":{"constructor":1}}'))).toBe(true);
  expect(matches(where, instanceOf(type, '{"info":{"constructor":1,"__proto__":1}}'))).toBe(false);
});

test('many constants and many values are not compared each with each', () => {
  const words = (letter: string): string[] => Array.from({ length: 9_000 }, (_, i) => `${letter}${i}`);
  const tags = (...lists: string[][]): string => JSON.stringify({ tags: lists.flat() });
  const where = (operator: string, ...lists: (string | null)[][]): string => JSON.stringify({ tags: { [operator]: lists.flat() } });
  const [a, b] = [words('a'), words('b')];
  expect([isMatch(where('$in', a), tags(b)), isMatch(where('$in', a), tags(b, ['a8999']))]).toEqual([false, true]);
  expect([isMatch(where('$nin', a), tags(b)), isMatch(where('$nin', a), tags(b, ['a8999']))]).toEqual([true, false]);
  expect([isMatch(where('$all', a), tags(a)), isMatch(where('$all', a), tags(a.slice(1), b))]).toEqual([true, false]);
  expect([isMatch(where('$in', a, [null]), '{}'), isMatch(where('$in', a, [null]), tags(b))]).toEqual([true, false]);
  const sizes = Array.from({ length: 2_000 }, (_, i) => i);
  expect(isMatch(JSON.stringify({ 'rows.n': { $in: sizes } }), JSON.stringify({ rows: [{ n: 3_000 }, { n: 1_999 }] }))).toBe(true);
});

test('few values beside many constants are compared without keys, and take nothing of what conditions may take', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `a${i}`);
  const of = (operator: string, name: string): boolean =>
    withAllowance(0, () => isMatch(JSON.stringify({ name: { [operator]: names } }), JSON.stringify({ name })));
  expect([of('$in', 'b'), of('$in', 'a9999'), of('$nin', 'b'), of('$all', 'a0')]).toEqual([false, true, true, false]);
});

test('a long list that is asked again is looked up by keys: the cost of a condition on many instances does not grow with it', () => {
  let looks = 0;
  const counted = (values: Value[]) =>
    new Proxy(values, { get: (of, name) => ((looks += typeof name === 'string' && /^\d/.test(name) ? 1 : 0), Reflect.get(of, name)) });
  const isIn = (kind: 'String' | 'Integer', values: readonly Value[], ...found: Value[]): boolean =>
    passes({ op: 'in', values }, kind, { values: found, positioned: [], missing: false }, 'path');
  const texts = counted([...Array.from({ length: 1_000 }, (_, i) => `a${i}`), null, ['b', 'c']]);
  const numbers = counted(Array.from({ length: 1_000 }, (_, i) => i));
  for (let i = 0; i < 2; i += 1) expect([isIn('String', texts, 'b'), isIn('Integer', numbers, -1)]).toEqual([false, false]);
  looks = 0;
  expect([
    isIn('String', texts, 'b'),
    isIn('String', texts, 'a999'),
    isIn('String', texts, ['b', 'a1']),
    isIn('String', texts, null),
  ]).toEqual([false, true, true, true]);
  expect([isIn('String', texts), isIn('String', texts, ['b', 'c']), isIn('String', texts, ['c'])]).toEqual([true, true, false]);
  expect([isIn('Integer', numbers, 1_000), isIn('Integer', numbers, 999), isIn('Integer', numbers, [null])]).toEqual([false, true, false]);
  expect(looks).toBe(0);
  expect([isIn('Integer', numbers, 5n), isIn('Integer', numbers, real(5)), isIn('Integer', numbers, real(5.5))]).toEqual([
    true,
    true,
    false,
  ]);
});
