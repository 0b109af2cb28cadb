// The tables of resources-and-api.md 5, row by row: the body as a client sends it, and what it gets back.
import { expect, test } from 'vitest';
import { CascadeError } from '../../stdlib/errors.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { CascadeErrors } from '../errors/api-errors.ts';
import { instanceToJson, parseJson } from '../values/index.ts';
import { checkFinal, parseType, prepareInsert, type TypeDefinition } from './index.ts';

/** What the row answers: the text that comes back, or `{reason}` of a 400. */
type Answer = string | { reason: string };
type Row = [row: string, input: string, answer: Answer, property?: ObjectValue];

const types = new Map<string, TypeDefinition>();
const known = { types, scalars: new Map() };
types.set(
  'Shelf',
  parseType({ name: 'Shelf', properties: { slot: { type: 'Integer', required: true }, weight: { type: 'Decimal', scale: 1 } } }, known),
);

function answerOf(property: ObjectValue, input: string): Answer {
  const type = parseType({ name: 'T', properties: { p: property } }, known);
  try {
    const instance = prepareInsert(type, parseJson(`{"p":${input}}`));
    checkFinal(type, instance);
    return instanceToJson(type, instance).slice('{"p":'.length, -1);
  } catch (error) {
    if (!(error instanceof CascadeError)) throw error;
    expect([error.code, error.params.slice(0, 3)]).toEqual(['cascade.type.property.invalid', ['T', 'p', property.type as Value]]);
    return { reason: error.params[3] as string };
  }
}

const refused = (reason = 'format'): Answer => ({ reason });

const tables: Record<string, { property: ObjectValue; rows: Row[] }> = {
  '5.1 String': {
    property: { type: 'String' },
    rows: [
      ['a text', '"abc"', '"abc"'],
      ['the empty text', '""', '""'],
      ['blanks are kept', '"  x "', '"  x "'],
      ['one code point of two units, maxLength 1', '"😀"', '"😀"', { type: 'String', maxLength: 1 }],
      ['two code points of two units, maxLength 1', '"😀😀"', refused('maxLength'), { type: 'String', maxLength: 1 }],
      ['beyond maxLength 3', '"abcd"', refused('maxLength'), { type: 'String', maxLength: 3 }],
      ['an Integer', '12', '"12"'],
      ['a Real', '1.5', '"1.5"'],
      ['true', 'true', '"true"'],
      ['an Object', '{}', refused()],
      ['an array', '[]', refused('array')],
      ['a number beyond every double', '1e400', refused('range')],
      ['a NUL inside', '"a\\u0000b"', '"a\\u0000b"'],
      ['null', 'null', 'null'],
    ],
  },
  '5.2 Integer': {
    property: { type: 'Integer' },
    rows: [
      ['42', '42', '42'],
      ['-0', '-0', '0'],
      ['beyond 2^53', '9007199254740993', '9007199254740993'],
      ['a digit string beyond 2^53', '"9007199254740993"', '9007199254740993'],
      ['a digit string with a plus', '"+7"', '7'],
      ['the largest', '9223372036854775807', '9223372036854775807'],
      ['the smallest', '-9223372036854775808', '-9223372036854775808'],
      ['one above the largest', '9223372036854775808', refused('range')],
      ['one above the largest as a digit string', '"9223372036854775808"', refused('range')],
      ['3.0', '3.0', '3'],
      ['1e3', '1e3', '1000'],
      ['one above the largest with a point', '9223372036854775808.0', refused('range')],
      ['the smallest with a point', '-9223372036854775808.0', '-9223372036854775808'],
      ['one below the smallest with a point', '-9223372036854775809.0', refused('range')],
      ['beyond 2^53 with a point', '9007199254740993.0', '9007199254740993'],
      ['1e400', '1e400', refused('range')],
      ['1e99999', '1e99999', refused('range')],
      ['3.5', '3.5', refused('fraction')],
      ['3.5 with digits that no double holds', '3.50000000000000000000001', refused('fraction')],
      ['"3.0"', '"3.0"', refused()],
      ['"abc"', '"abc"', refused()],
      ['the empty text', '""', refused()],
      ['blanks around', '" 7 "', '7'],
      ['true', 'true', refused()],
      ['an Object', '{}', refused()],
    ],
  },
  '5.3 Real': {
    property: { type: 'Real' },
    rows: [
      ['1.5', '1.5', '1.5'],
      ['3 is written back as 3', '3', '3'],
      ['-0.0', '-0.0', '-0.0'],
      ['1e308', '1e308', '1e+308'],
      ['1e400', '1e400', refused('range')],
      ['"1e400"', '"1e400"', refused('range')],
      ['5e-324', '5e-324', '5e-324'],
      ['1e-400', '1e-400', '0'],
      ['"1.5"', '"1.5"', '1.5'],
      ['"1e3"', '"1e3"', '1000'],
      ['"abc"', '"abc"', refused()],
      ['the empty text', '""', refused()],
      ['"NaN"', '"NaN"', refused()],
      ['true', 'true', refused()],
      ['0.1', '0.1', '0.1'],
      ['more digits than a double holds', '0.1000000000000000055511151231257827', '0.1'],
    ],
  },
  '5.4 DateTime': {
    property: { type: 'DateTime' },
    rows: [
      ['seconds', '"2031-05-04T03:02:01Z"', '"2031-05-04T03:02:01.000Z"'],
      ['tenths', '"2031-05-04T03:02:01.5Z"', '"2031-05-04T03:02:01.500Z"'],
      ['nanoseconds are cut off', '"2031-05-04T03:02:01.123456789Z"', '"2031-05-04T03:02:01.123Z"'],
      ['an offset', '"2031-05-04T05:02:01+02:00"', '"2031-05-04T03:02:01.000Z"'],
      ['an offset without colon', '"2031-05-04T05:02:01+0200"', '"2031-05-04T03:02:01.000Z"'],
      ['a date', '"2031-05-04"', '"2031-05-04T00:00:00.000Z"'],
      ['without seconds and zone', '"2031-05-04T03:02"', '"2031-05-04T03:02:00.000Z"'],
      ['epoch milliseconds', '1900000000000', '"2030-03-17T17:46:40.000Z"'],
      ['epoch milliseconds as text', '"1900000000000"', refused()],
      ['before the epoch', '-1', '"1969-12-31T23:59:59.999Z"'],
      ['an integral Real', '1.9e12', '"2030-03-17T17:46:40.000Z"'],
      ['a Real with a fraction', '1.5', refused('fraction')],
      ['a day that is not', '"2031-02-30T00:00:00Z"', refused()],
      ['another format', '"04/05/2031"', refused()],
      ['the empty text', '""', refused()],
      ['24:00', '"2031-05-04T24:00:00Z"', refused()],
      ['second 60', '"2031-05-04T03:02:60Z"', refused()],
      ['the first instant', '-62135596800000', '"0001-01-01T00:00:00.000Z"'],
      ['before the first instant', '-62135596800001', refused('range')],
      ['the last instant', '253402300799999', '"9999-12-31T23:59:59.999Z"'],
      ['after the last instant', '253402300800000', refused('range')],
    ],
  },
  '5.5 Decimal(2)': {
    property: { type: 'Decimal', scale: 2 },
    rows: [
      ['zeros are added', '"12.5"', '"12.50"'],
      ['half up', '"12.345"', '"12.35"'],
      ['half up is away from zero', '"-12.345"', '"-12.35"'],
      ['a number', '12.5', '"12.50"'],
      ['a number by the digits as written', '1.00500000000000000000', '"1.01"'],
      ['a number beyond a double', '12345678901234567890123.45', '"12345678901234567890123.45"'],
      ['an Integer beyond 64 bits', '123456789012345678901234567890', '"123456789012345678901234567890.00"'],
      ['an Integer', '12', '"12.00"'],
      ['no negative zero', '"-0.001"', '"0.00"'],
      ['an exponent', '"1e3"', '"1000.00"'],
      ['a comma', '"12,5"', refused()],
      ['"abc"', '"abc"', refused()],
      ['the empty text', '""', refused()],
      ['an amount of money', '"USD:1"', refused()],
      ['32 digits before the point', `"${'9'.repeat(32)}"`, `"${'9'.repeat(32)}.00"`],
      ['33 digits before the point', `"${'9'.repeat(33)}"`, refused('range')],
      ['1e5000', '1e5000', refused('range')],
      ['a text of 5,000 digits', `"${'9'.repeat(5000)}"`, refused('range')],
      ['true', 'true', refused()],
      ['an Object', '{}', refused()],
      ['scale 0', '"2.5"', '"3"', { type: 'Decimal', scale: 0 }],
    ],
  },
  '5.6 Currency': {
    property: { type: 'Currency' },
    rows: [
      ['the default scale is 4', '"USD:100"', '"USD:100.0000"'],
      ['half up', '"EUR:0.00005"', '"EUR:0.0001"'],
      ['negative', '"JPY:-7.5"', '"JPY:-7.5000"'],
      ['a lower-case code', '"usd:1"', refused()],
      ['a code of two letters', '"US:1"', refused()],
      ['no code of ISO 4217', '"XQQ:1"', refused()],
      ['XXX', '"XXX:1"', '"XXX:1.0000"'],
      ['XTS', '"XTS:1"', '"XTS:1.0000"'],
      ['no code, as text', '"100"', refused('currency.code')],
      ['no code, as number', '100', refused('currency.code')],
      ['no number', '"USD:"', refused()],
      ['another word', '"USD:abc"', refused()],
      ['no colon', '"USD 5"', refused()],
      ['an Object', '{"code":"USD","value":"5"}', refused()],
      ['a blank after the colon', '"USD: 5"', refused()],
      ['scale 0', '"USD:2.5"', '"USD:3"', { type: 'Currency', scale: 0 }],
    ],
  },
  '5.7 GeoJSON': {
    property: { type: 'GeoJSON' },
    rows: [
      ['a Point', '{"type":"Point","coordinates":[13.4,52.5]}', '{"type":"Point","coordinates":[13.4,52.5]}'],
      ['an altitude', '{"type":"Point","coordinates":[13.4,52.5,34]}', '{"type":"Point","coordinates":[13.4,52.5,34]}'],
      ['coordinates are written plain', '{"type":"Point","coordinates":[13.0,52]}', '{"type":"Point","coordinates":[13,52]}'],
      ['a lower-case type', '{"type":"point","coordinates":[13.4,52.5]}', refused()],
      ['one number', '{"type":"Point","coordinates":[13.4]}', refused()],
      ['four numbers', '{"type":"Point","coordinates":[1,2,3,4]}', refused()],
      ['a text', '{"type":"Point","coordinates":["13",52]}', refused()],
      ['a latitude out of range', '{"type":"Point","coordinates":[52.5,193.4]}', refused('range')],
      ['a longitude out of range', '{"type":"Point","coordinates":[-180.5,0]}', refused('range')],
      ['another member', '{"type":"Point","coordinates":[1,2],"crs":1}', refused()],
      ['a LineString of 1', '{"type":"LineString","coordinates":[[1,2]]}', refused()],
      ['a LineString of 2', '{"type":"LineString","coordinates":[[1,2],[3,4]]}', '{"type":"LineString","coordinates":[[1,2],[3,4]]}'],
      [
        'a Polygon',
        '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}',
        '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}',
      ],
      ['an open ring', '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}', refused('ring.open')],
      ['a ring of 3', '{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}', refused()],
      [
        'a flat ring is one ring',
        '{"type":"Polygon","coordinates":[[0,0],[1,0],[1,1],[0,0]]}',
        '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}',
      ],
      [
        'a ring that crosses itself',
        '{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}',
        '{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}',
      ],
      ['a MultiPoint', '{"type":"MultiPoint","coordinates":[[1,2]]}', refused()],
      ['a Feature', '{"type":"Feature","geometry":null}', refused()],
    ],
  },
  '5.8 ResourceReference': {
    property: { type: 'ResourceReference' },
    rows: [
      ['a text', '"/types/Silo"', '"/types/Silo"'],
      ['a topic', '"/topics//plant/7"', '"/topics//plant/7"'],
      ['an id with slashes', '"/documents/a/b.txt"', '"/documents/a/b.txt"'],
      ['system. is kept', '"/system.sources/gate"', '"/system.sources/gate"'],
      ['an Object', '{"resource":"users","resourceId":"ann"}', '"/users/ann"'],
      ['an instance', '"/Silo/66b0c0ffee0000000000a001"', '"/Silo/66b0c0ffee0000000000a001"'],
      ['custom/ is dropped', '"/custom/Silo/66b0c0ffee0000000000a001"', '"/Silo/66b0c0ffee0000000000a001"'],
      ['no leading slash', '"types/Silo"', refused()],
      ['no id', '"/types"', refused()],
      ['an empty id', '"/types/"', refused()],
      ['an Object without id', '{"resource":"users"}', refused()],
      ['an Object with more', '{"resource":"users","resourceId":"ann","x":1}', refused()],
      ['a number', '12', refused()],
      ['the empty text', '""', refused()],
    ],
  },
  '5.9 Object': {
    property: { type: 'Object' },
    rows: [
      ['the empty Object', '{}', '{}'],
      ['nested', '{"a":{"b":[1,"x",null]}}', '{"a":{"b":[1,"x",null]}}'],
      ['$set as a key', '{"$set":1}', '{"$set":1}'],
      ['a key with a dot', '{"a.b":1}', '{"a.b":1}'],
      ['__proto__ as a key', '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
      ['an array', '[1]', refused('array')],
      ['an array, multi', '[{"a":1}]', '[{"a":1}]', { type: 'Object', multi: true }],
      ['a text', '"text"', refused()],
      ['a number', '5', refused()],
      ['an Integer beyond 2^53', '{"n":9007199254740993}', '{"n":9007199254740993}'],
      ['an integral Real stays one', '{"n":5.0}', '{"n":5.0}'],
      ['a number that is none', '{"n":1e400}', refused('range')],
      ['an ISO date stays a text', '{"d":"2031-05-04"}', '{"d":"2031-05-04"}'],
    ],
  },
  '5.9 Object of another type': {
    property: { type: 'Shelf' },
    rows: [
      ['coerced by its properties', '{"slot":"7","weight":1.25}', '{"slot":7,"weight":"1.3"}'],
      ['system properties are plain data', '{"slot":1,"_id":"x","ars_version":3}', '{"slot":1,"_id":"x","ars_version":3}'],
      ['a text', '"text"', refused()],
    ],
  },
  '5.10 Boolean': {
    property: { type: 'Boolean' },
    rows: [
      ['true', 'true', 'true'],
      ['false', 'false', 'false'],
      ['"true"', '"true"', 'true'],
      ['"TRUE"', '"TRUE"', 'true'],
      ['any other text', '"yes"', 'false'],
      ['true with blanks is another text', '" true "', 'false'],
      ['0', '0', 'false'],
      ['1', '1', 'true'],
      ['0.0', '0.0', 'false'],
      ['1.0', '1.0', 'true'],
      ['2', '2', refused('range')],
      ['0.5', '0.5', refused('range')],
      ['null', 'null', 'null'],
      ['an Object', '{}', refused()],
      ['an array', '[]', refused('array')],
    ],
  },
  '5 multi': {
    property: { type: 'Integer', multi: true },
    rows: [
      ['every element is coerced, order and duplicates are kept', '["3",1.0,1]', '[3,1,1]'],
      ['the empty array', '[]', '[]'],
      ['no array', '3', refused('multi')],
      ['null', 'null', 'null'],
      ['a null element', '[1,null]', refused('null')],
      ['array is a synonym', '[1]', '[1]', { type: 'Integer', array: true }],
    ],
  },
};

for (const [table, { property, rows }] of Object.entries(tables)) {
  for (const [row, input, answer, other] of rows) {
    test(`${table}: ${row}`, () => expect(answerOf(other ?? property, input)).toEqual(answer));
  }
}

test('5.1 String: a lone surrogate from a program is refused', () => {
  const type = parseType({ name: 'T', properties: { p: { type: 'String' }, o: { type: 'Object' } } }, known);
  const bodies: ObjectValue[] = [{ p: '\ud800' }, { o: { a: ['\udc00'] } }, { o: { '\ud800': 1 } }];
  for (const body of bodies)
    expect(() => prepareInsert(type, body)).toThrow(expect.objectContaining({ params: expect.arrayContaining(['surrogate']) }));
});

test('5.9 Object: more than 100 levels are refused', () => {
  const type = parseType({ name: 'T', properties: { p: { type: 'Object' } } }, known);
  let value: ObjectValue = {};
  for (let depth = 1; depth < 100; depth++) value = { a: value };
  expect(() => prepareInsert(type, { p: value })).not.toThrow();
  expect(() => prepareInsert(type, { p: { a: value } })).toThrow(expect.objectContaining({ params: ['T', 'p', 'Object', 'depth'] }));
});

test('problems inside an Object of another type name their place', () => {
  const type = parseType({ name: 'T', properties: { p: { type: 'Shelf', multi: true } } }, known);
  try {
    prepareInsert(type, { p: [{ slot: 1 }, { weight: 'x', odd: 1 }] });
    throw new Error('no error');
  } catch (error) {
    expect((error as CascadeErrors).errors.map(({ code, params }) => [code, ...params])).toEqual([
      ['cascade.type.property.invalid', 'T', 'p.1.weight', 'Decimal', 'format'],
      ['cascade.type.property.unknown', 'T', 'p.1.odd'],
      ['cascade.type.property.required', 'T', 'p.1.slot'],
    ]);
  }
});

test('an Object of its own type nests 100 levels, not more', () => {
  const trees = new Map<string, TypeDefinition>();
  const tree = parseType({ name: 'Tree', properties: { next: { type: 'Tree' } } }, { types: trees, scalars: new Map() });
  trees.set('Tree', tree);
  let value: ObjectValue = {};
  for (let depth = 1; depth < 100; depth++) value = { next: value };
  expect(() => prepareInsert(tree, { next: value })).not.toThrow();
  expect(() => prepareInsert(tree, { next: { next: value } })).toThrow(expect.objectContaining({ code: 'cascade.type.property.invalid' }));
});
