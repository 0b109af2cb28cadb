// Properties that are typed with another type's name: conditions inside them mean in the store, where their values are data, what they mean in
// memory.
import { BSON } from 'mongodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareDecimals, Currency, Decimal, encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../errors/index.ts';
import { coerceProperty } from '../types/index.ts';
import { instanceFromBson, instanceToBson } from '../values/index.ts';
import { toFilter } from './filter.ts';
import { matches } from './matches.ts';
import { moneyPatterns } from './money-text.ts';
import { openTestCollection, type TestCollection } from './testing/collection.ts';
import { parseWhere } from './parse.ts';
import { parseSort } from './sort.ts';
import { instanceScope } from './path.ts';
import { CONTEXT, parse, typeOf } from './testing.ts';
import { amount } from '../../scripts/testing/amount.ts';

const part = typeOf('Part', { price: 'Currency', ref: 'ResourceReference', n: 'Integer', amt: 'Decimal(1)' });
const line = typeOf(
  'Line',
  {
    price: 'Currency',
    prices: 'Currency multi',
    ref: 'ResourceReference',
    refs: 'ResourceReference multi',
    part: 'Part',
    amt: 'Decimal(2)',
  },
  {},
  [part],
);
const order = typeOf('Order', { l: 'Line', ll: 'Line multi' }, {}, [line, part]);

const decimals = fc.tuple(fc.bigInt(-(10n ** 12n), 10n ** 12n), fc.nat(8)).map(([unscaled, scale]) => new Decimal(unscaled, scale));
const near = fc.tuple(fc.integer({ min: -1100, max: 1100 }), fc.nat(3)).map(([unscaled, scale]) => new Decimal(BigInt(unscaled), scale));
const amounts = fc.oneof(decimals, near);

test('an expression of the store compares amounts in texts', () => {
  const path = instanceScope(order)('l.price');
  const relations = { eq: [0], gt: [1], gte: [0, 1], lt: [-1], lte: [-1, 0] };
  fc.assert(
    fc.property(
      amounts,
      amounts,
      fc.boolean(),
      fc.constantFrom(...(Object.keys(relations) as (keyof typeof relations)[])),
      (a, b, any, op) => {
        const constant = any ? b : new Currency('USD', b);
        const [pattern = ''] = moneyPatterns({ op, value: constant }, path);
        const expected = relations[op].includes(Math.sign(compareDecimals(a, b)));
        expect(new RegExp(pattern).test(`USD:${a}`), `USD:${a} ${op} ${b}: ${pattern}`).toBe(expected);
        expect(new RegExp(pattern).test(`EUR:${a}`)).toBe(any && expected);
      },
    ),
    { numRuns: amount(1_000, 3_000) },
  );
});

test('what is compared as a Currency or reference is no order, and converts', () => {
  for (const path of ['l.price', 'l.ref', 'll.price', 'l.price.value', 'l.price.code', 'l.part.ref'])
    expect(() => parseSort({ [path]: 1 }, order), path).toThrow(expect.objectContaining({ code: 'cascade.query.sort.unsupported' }));
  for (const where of ['{"l.price":"bad"}', '{"ll.price":{"$gt":"usd:5"}}', '{"l.ref":"types/Bin"}', '{"l.ref":{"$gt":"/types/Bin"}}'])
    expect(() => parse(where, order), where).toThrow(expect.objectContaining({ code: 'cascade.query.operand.invalid' }));
});

const money = fc.constantFrom('USD:9', 'USD:9.5', 'USD:10', 'EUR:100', 'EUR:-1.5', 'EUR:9', 'JPY:0');
const reference = fc.constantFrom<Value>(
  '/types/Bin',
  '/system.types/Bin',
  '/users/ann',
  { resourceId: 'Bin', resource: 'types' },
  { resource: 'sources', resourceId: 'a' },
);
const some = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { maxLength: 3 });
const record = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<ObjectValue> =>
  fc.record(
    Object.fromEntries(Object.entries(members).map(([name, value]) => [name, name.endsWith('s') ? value : fc.option(value, { freq: 6 })])),
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<ObjectValue>;
const parts = record({ price: money, ref: reference, n: fc.nat(2), amt: fc.constantFrom('1', '2.0') });
const lines = record({
  price: money,
  prices: some(money),
  ref: reference,
  refs: some(reference),
  part: parts,
  amt: fc.constantFrom('1', '2.50'),
});
const orders = record({ l: lines, lls: some(lines) }).map(({ lls, ...rest }) => ({ ...rest, ...(lls && { ll: lls }) }));

const constants: Readonly<Record<string, fc.Arbitrary<Value>>> = {
  price: fc.oneof(money, fc.constantFrom<Value>('9', 10, '-1.5', 'USD:9.50')),
  code: fc.constantFrom<Value>('USD', 'EUR', 'US', 'ZZZ'),
  value: fc.constantFrom<Value>('9', 10, 0, '-1.5'),
  ref: reference,
  line: lines,
  part: parts,
};
const PATHS: readonly [path: string, kind: string][] = [
  ...['l.price', 'll.price', 'll.0.price', 'l.prices', 'll.prices', 'l.prices.0', 'l.part.price', 'll.part.price'].map(
    (path): [string, string] => [path, 'price'],
  ),
  ...['l.price.code', 'll.price.code', 'l.prices.code'].map((path): [string, string] => [path, 'code']),
  ...['l.price.value', 'll.price.value', 'l.part.price.value'].map((path): [string, string] => [path, 'value']),
  ...['l.ref', 'll.ref', 'l.refs', 'll.refs', 'l.part.ref'].map((path): [string, string] => [path, 'ref']),
  ...['l', 'll', 'll.0'].map((path): [string, string] => [path, 'line']),
  ...['l.part', 'll.part'].map((path): [string, string] => [path, 'part']),
];
const UNORDERED: ReadonlySet<string> = new Set(['ref', 'line', 'part']);

function tests(constant: fc.Arbitrary<Value>, ordered: boolean): fc.Arbitrary<Value> {
  const nullable = fc.option(constant, { freq: 8 });
  const simple = fc.oneof(
    nullable.map((value) => ({ $eq: value })),
    nullable.map((value) => ({ $ne: value })),
    some(nullable).map((values) => ({ $in: values })),
    some(nullable).map((values) => ({ $nin: values })),
    ...(ordered
      ? [
          fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), constant).map(([operator, value]) => ({ [operator]: value })),
          fc.tuple(constant, constant).map(([low, high]) => ({ $gte: low, $lt: high })),
          fc.tuple(constant, constant).map(([low, other]) => ({ $gte: low, $ne: other, $nin: [other] })),
        ]
      : []),
  ) as fc.Arbitrary<ObjectValue>;
  return fc.oneof(
    constant,
    simple,
    simple.map(($not) => ({ $not })),
    some(constant).map((values) => ({ $all: values })),
    some(constant),
    fc.nat(2).map((size) => ({ $size: size })),
    simple.map(($elemMatch) => ({ $elemMatch })),
    simple.map(($not) => ({ $elemMatch: { $not } })),
  );
}

const inPath = fc
  .constantFrom(...PATHS)
  .chain(([path, kind]) =>
    tests(constants[kind] as fc.Arbitrary<Value>, !UNORDERED.has(kind)).map((value) => ({ [path]: value })),
  ) as fc.Arbitrary<ObjectValue>;
const inElement = fc
  .tuple(fc.constantFrom('price', 'prices', 'part.price'), money, fc.constantFrom('$eq', '$gt', '$ne'))
  .map(([path, value, operator]) => ({ ll: { $elemMatch: { [path]: { [operator]: value } } } })) as fc.Arbitrary<ObjectValue>;

test('a whole Object equals what is stored of it', () => {
  fc.assert(
    fc.property(orders, (raw) => {
      const stored = coerced(raw);
      for (const [name, value] of Object.entries(raw)) {
        if (value === null) continue;
        expect(matches(parseWhere({ [name]: { $eq: value } }, order, CONTEXT), stored)).toBe(true);
        if (Array.isArray(value))
          for (const element of value) expect(matches(parseWhere({ [name]: { $eq: element } }, order, CONTEXT), stored)).toBe(true);
      }
    }),
  );
});

let store: TestCollection | null = null;
beforeAll(async () => {
  store = await openTestCollection('conditions_structured');
});
afterAll(() => store?.[Symbol.asyncDispose]());

const coerced = (raw: ObjectValue): ObjectValue =>
  Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, coerceProperty(order, order.properties.get(name) as never, value)]));

test('conditions find in the store what they match in memory, read back or not', { timeout: 600_000 }, async (context) => {
  if (!store) return context.skip('CASCADE_TEST_MONGO is not set');
  const open = store;
  const written = fc.sample(orders, { numRuns: 300, seed: 7 }).map(coerced);
  const read = written.map((each) => instanceFromBson(order, BSON.serialize(instanceToBson(order, each))));
  await open.fill(order, written);
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: inPath }, { weight: 1, arbitrary: inElement }), async (condition) => {
      let predicate: ReturnType<typeof parseWhere>;
      let filter: ReturnType<typeof toFilter>;
      try {
        predicate = parseWhere(condition, order, CONTEXT);
        filter = toFilter(predicate); // members of an element in all their orders may be too many
      } catch (error) {
        if (error instanceof CascadeError) return; // not every operator suits every path
        throw error;
      }
      const inMemory = written.flatMap((each, place) => (matches(predicate, each) ? [place] : []));
      expect(read.flatMap((each, place) => (matches(predicate, each) ? [place] : []))).toEqual(inMemory);
      const stored = await open.find(filter);
      const differing = [...new Set([...inMemory, ...stored])].find((place) => inMemory.includes(place) !== stored.includes(place));
      const reported =
        differing === undefined
          ? ''
          : `${encodeInner(condition)} on ${encodeInner(written[differing] as ObjectValue)}: ${JSON.stringify(filter)}`;
      expect(stored, reported).toEqual(inMemory);
    }),
    { numRuns: amount(200, 500) },
  );
});
