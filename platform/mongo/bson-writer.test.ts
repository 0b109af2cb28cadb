import fc from 'fast-check';
import { BSON, Decimal128, type Document, Double, Long, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { BsonWriter } from './bson-writer.ts';
import { amount } from '../../scripts/testing/amount.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ minLength: 38, maxLength: 44 }),
  fc.constant('😀'.repeat(30)),
);
const name = fc
  .oneof(text, fc.constantFrom('_id', 'a', 'ars_version', '$x', 'a.b', '0', 'constructor', '__proto__'))
  .filter((one) => !one.includes('\0'));
const { value } = fc.letrec<{ value: unknown; document: Document }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.double(),
    fc.integer(),
    fc.constantFrom(-0, 0, 2 ** 31, -(2 ** 31), 2 ** 31 - 1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, true, false),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((one) => Long.fromBigInt(one)),
    fc.double().map((one) => new Double(one)),
    fc.date({ min: new Date(-8e15), max: new Date(8e15), noInvalidDate: true }),
    fc.constantFrom(...['0', '-12.50', '1E+10', '9999999999999999999999999999999999'].map((digits) => Decimal128.fromString(digits))),
    fc.constant(new ObjectId('65a0b0c0d0e0f00102030405')),
    fc.constantFrom<unknown>(/x/i, Buffer.from([1, 2, 3]), new Map([['k', 1]]), 5n),
    fc.array(tie('value'), { maxLength: 12 }),
    tie('document'),
  ),
  document: fc.array(fc.tuple(name, tie('value')), { maxLength: 6 }).map((members) => {
    const document: Document = {};
    for (const [key, one] of members)
      Object.defineProperty(document, key, { value: one, enumerable: true, configurable: true, writable: true });
    return document;
  }),
}));
const document = fc.dictionary(name, value, { maxKeys: 6, noNullPrototype: true });

test('documents are written as the driver writes them, byte for byte', () => {
  const writer = new BsonWriter();
  fc.assert(
    fc.property(fc.array(document, { maxLength: 3 }), (documents) => {
      expect(Buffer.from(writer.write(documents)).toString('hex')).toBe(
        Buffer.concat(documents.map((one) => BSON.serialize(one, { ignoreUndefined: false }))).toString('hex'),
      );
    }),
    { numRuns: amount(400, 1_000) },
  );
});

test('what the driver refuses is refused, and the next documents are written', () => {
  const writer = new BsonWriter();
  expect(() => writer.write([{ 'a\0b': 1 }])).toThrow('null bytes');
  expect(BSON.deserialize(writer.write([{ a: 1 }]))).toEqual({ a: 1 });
});

test('large documents and many of them', () => {
  const writer = new BsonWriter();
  const large = { text: 'ü'.repeat(3_000_000), many: Array.from({ length: 50_000 }, (_, n) => ({ n })) };
  expect(Buffer.compare(writer.write([large, { a: 1 }]), Buffer.concat([BSON.serialize(large), BSON.serialize({ a: 1 })]))).toBe(0);
});

test('what was written stays as it is, however much is written after it', () => {
  const writer = new BsonWriter();
  const lengths = Array.from({ length: 400 }, (_, n) => (n % 90 === 89 ? 100_000 : (n * 37) % 900));
  const written = lengths.map((length, n) => writer.write([{ n, text: 'a'.repeat(length) }]));
  expect(written.map((bytes) => BSON.deserialize(bytes))).toEqual(lengths.map((length, n) => ({ n, text: 'a'.repeat(length) })));
});
