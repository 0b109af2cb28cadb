// What is made in pieces is what is made at once, and the pieces are short: counted, as times depend on the machine.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { BsonWriter } from '../../platform/mongo/bson-writer.ts';
import { decodeInner, encodeInner, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { scalars, values } from '../../stdlib/values/testing/arbitrary.ts';
import {
  type InPieces,
  isLong,
  parseType,
  prepareInsert,
  prepareInsertInPieces,
  prepareUpdate,
  prepareUpdateInPieces,
  type TypeDefinition,
} from '../types/index.ts';
import { finished } from '../types/testing/finished.ts';
import {
  decodeInnerInPieces,
  encodeInnerInPieces,
  fromBson,
  fromBsonInPieces,
  instanceFromBson,
  instanceFromBsonInPieces,
  instanceHead,
  instanceToBson,
  instanceToBsonInPieces,
  instanceToJson,
  instanceToJsonInPieces,
  StoredBytes,
  toJson,
  toJsonInPieces,
  transcoder,
} from './index.ts';
import { amount } from '../../scripts/testing/amount.ts';

const types = new Map<string, TypeDefinition>();
types.set(
  'Line',
  parseType({ name: 'Line', properties: { price: { type: 'Currency' }, r: { type: 'Real' } } }, { types, scalars: new Map() }),
);
types.set(
  'Box',
  parseType(
    {
      name: 'Box',
      properties: {
        a: { type: 'Integer', multi: true },
        o: { type: 'Object' },
        l: { type: 'Line', multi: true },
        s: { type: 'String', multi: true, maxLength: 9 },
        n: { type: 'Integer', required: true },
      },
    },
    { types, scalars: new Map() },
  ),
);
const type = parseType(
  {
    name: 'Silo',
    properties: {
      n: { type: 'Integer' },
      o: { type: 'Object' },
      oo: { type: 'Object', multi: true },
      a: { type: 'Integer', multi: true },
      r: { type: 'Real', multi: true },
      s: { type: 'String', multi: true },
      d: { type: 'Decimal', scale: 2, multi: true },
      c: { type: 'Currency', multi: true },
      refs: { type: 'ResourceReference', multi: true },
      l: { type: 'Line', multi: true },
      b: { type: 'Box' },
      bb: { type: 'Box', multi: true },
    },
  },
  { types, scalars: new Map() },
);

const result = <T>(work: InPieces<T>): T => finished(work)[0];
const outcome = (work: () => unknown): unknown => {
  try {
    return { value: work() };
  } catch (error) {
    return { error: String(error), errors: (error as { errors?: unknown[] }).errors?.map(String) };
  }
};
const same = (actual: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
};

/** A value that is long at several depths, of these over and over. */
function long(given: readonly Value[], isNested: boolean): ObjectValue {
  const repeated = (count: number): Value[] => Array.from({ length: count }, (_, index) => given[index % given.length] ?? null);
  const members: ObjectValue = {};
  for (const [index, value] of repeated(700).entries()) setOwn(members, index % 7 === 0 ? `$\u0000${index}` : `k${index}`, value);
  setOwn(members, '__proto__', repeated(600));
  return isNested ? { list: [1, repeated(1_900), members, repeated(3)], members } : { list: repeated(4_500), members };
}

const short = fc.oneof(
  scalars,
  values.filter((value) => encodeInner(value).length < 200),
);

test('any data is coerced, stored, read and shown as at once', () => {
  fc.assert(
    fc.property(fc.array(short, { minLength: 1, maxLength: 9 }), fc.boolean(), (given, isNested) => {
      const body: ObjectValue = { n: 1, o: long(given, isNested) };
      const expected = outcome(() => prepareInsert(type, body));
      same(
        outcome(() => result(prepareInsertInPieces(type, body))),
        expected,
      );
      if (!(expected as { value?: unknown }).value) return;
      const instance: ObjectValue = { _id: '66b0c0ffee0000000000a001', ...prepareInsert(type, body), ars_version: 7 };
      expectSame(instance);
    }),
    { numRuns: amount(8, 20) },
  );
});

function expectSame(instance: ObjectValue): void {
  const raw = BSON.serialize(instanceToBson(type, instance));
  const document = result(instanceToBsonInPieces(type, instance));
  expect(Object.values(document).some((value) => value instanceof StoredBytes)).toBe(true);
  for (const bytes of [new BsonWriter().write([document]), BSON.serialize(document)])
    expect(Buffer.compare(Buffer.from(bytes), Buffer.from(raw))).toBe(0);
  expect(BSON.calculateObjectSize(document)).toBe(raw.length);
  same(result(instanceFromBsonInPieces(type, raw)), instanceFromBson(type, raw));
  same(result(fromBsonInPieces(raw)), fromBson(raw));
  for (const spelling of ['rest', 'inner'] as const)
    for (const props of [undefined, ['n', 'o.list', 's']]) {
      const write = transcoder(type, spelling, props ? { props } : {});
      expect(result(write.inPieces(raw)) === write(raw)).toBe(true);
    }
  expect(result(instanceToJsonInPieces(type, instance)) === instanceToJson(type, instance)).toBe(true);
  expect(result(toJsonInPieces(instance)) === toJson(instance)).toBe(true);
  const inner = encodeInner(instance);
  expect(result(encodeInnerInPieces(instance)) === inner).toBe(true);
  same(result(decodeInnerInPieces(inner)), decodeInner(inner));
  expect(instanceHead(raw)).toEqual({ _id: instance['_id'], ars_version: 7 });
}

const COUNT = 6_000;
const many = (make: (index: number) => Value): Value[] => Array.from({ length: COUNT }, (_, index) => make(index));

test.each<[string, ObjectValue]>([
  ['Integers', { a: many((index) => index) }],
  ['Reals', { r: many((index) => index / 2) }],
  ['texts', { s: many((index) => `t${index} \u0001ü`) }],
  ['Decimals', { d: many((index) => `${index}.5`) }],
  ['Currencies', { c: many((index) => `USD:${index}.25`) }],
  ['references', { refs: many((index) => `/types/T${index}`) }],
  ['Objects', { oo: many((index) => ({ index, list: [index, null] })) }],
  ['Objects of a type', { l: many((index) => ({ price: 'EUR:1.00', r: index })) }],
  ['an Object of a type', { b: { n: 1, a: many((index) => `${index}`), s: many((index) => `t${index}`) } }],
  ['a long one among Objects of a type', { bb: [{ n: 1 }, { n: 2, l: many((index) => ({ price: 'EUR:1.00', r: index })) }, { n: 3 }] }],
  ['an Object in an Object of a type', { b: { n: 1, o: { list: many((index) => index) } } }],
  ['an Object of many members', { o: Object.fromEntries(many((index) => index).map((index) => [`k${String(index)}`, index])) }],
  ['arrays in arrays', { o: { list: [many((index) => [index]), many((index) => [[index]])] } }],
])('%s: each step gives way after some hundred values', (_, body) => {
  expect(isLong(body)).toBe(true);
  const [prepared, pauses] = finished(prepareInsertInPieces(type, body));
  same(prepared, prepareInsert(type, body));
  same(result(prepareUpdateInPieces(type, { n: 4 }, body)), prepareUpdate(type, { n: 4 }, body));
  const instance: ObjectValue = { _id: '66b0c0ffee0000000000a001', ...prepared, ars_version: 7 };
  expectSame(instance);
  const raw = BSON.serialize(instanceToBson(type, instance));
  const steps = [
    pauses,
    finished(instanceToBsonInPieces(type, instance))[1],
    finished(instanceFromBsonInPieces(type, raw))[1],
    finished(transcoder(type, 'rest').inPieces(raw))[1],
    finished(instanceToJsonInPieces(type, instance))[1],
    finished(encodeInnerInPieces(instance))[1],
    finished(decodeInnerInPieces(encodeInner(instance)))[1],
  ];
  expect(Math.min(...steps)).toBeGreaterThan(COUNT / 600);
});

test('what is wrong is told as at once: the place of an element, several properties, a depth', () => {
  const deep: Value[] = [];
  let inner = deep;
  for (let depth = 0; depth < 200; depth++) inner.push((inner = []));
  for (const body of [
    { a: [...many((index) => index), 'x'], r: [...many(() => 1), null] },
    { a: many((index) => index), other: 1, o: { list: [...many(() => 1), '\ud800'] } },
    { o: many(() => 1), n: many(() => 1) },
    { o: { list: [...many(() => 1), deep] } },
    { l: [...many(() => ({ r: 1 })), { r: 'x', other: 1 }] },
    { b: { a: [...many((index) => index), 'x', null], s: [...many(() => 'short'), 'longer than nine'], other: many((index) => index) } },
    { bb: [{ n: 1 }, { n: 'x', l: [...many(() => ({ r: 1 })), { r: 'y' }], o: { list: [...many(() => 1), deep] } }] },
    { b: { n: 1, ars_other: many((index) => index), o: many((index) => index) }, bb: { n: 1, a: many((index) => index) } },
  ] as ObjectValue[]) {
    const expected = outcome(() => prepareInsert(type, body));
    expect(expected).toHaveProperty('error');
    same(
      outcome(() => result(prepareInsertInPieces(type, body))),
      expected,
    );
  }
});

test('what is short is no work for slices', () => {
  expect([isLong({ a: [1, 2], s: 'x'.repeat(10_000) }), isLong('x'.repeat(1_000_000)), isLong(null), isLong(undefined)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
