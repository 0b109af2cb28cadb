import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Currency, DateTime, Decimal, decodeInner, encodeInner, integer, real, type Value } from '../../stdlib/values/index.ts';
import { innerInPieces, innerToJson } from './inner-to-json.ts';
import { toJson } from './to-json.ts';

const awkward = fc.oneof(
  fc.string({ unit: fc.constantFrom('\u0001', 'r', 's', '"', '\\', ':', ',', '1', '\u{1F600}', 'u0001') }),
  fc.string({ unit: 'grapheme' }),
);
const values = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    awkward,
    fc.integer(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => integer(n)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => real(n)),
    fc.boolean(),
    fc.constant(null),
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map((n) => new Decimal(n, 3)),
    fc.integer({ min: 0, max: 10 ** 12 }).map((ms) => new DateTime(ms)),
    fc.constant(new Currency('USD', new Decimal(1250n, 2))),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(awkward, tie('value'), { maxKeys: 6 }) as fc.Arbitrary<Value>,
  ),
})).value;

test('the text is that of the values, whole and in pieces', () => {
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 40 }), (value, pieceChars) => {
      const inner = encodeInner(value);
      const expected = toJson(decodeInner(inner));
      expect(innerToJson(inner)).toBe(expected);
      const pieces = [...innerInPieces(inner, pieceChars)];
      expect(pieces.join('')).toBe(expected);
      for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('a long text is made piece by piece', () => {
  const inner = encodeInner({ a: 'x'.repeat(100_000), b: Array.from({ length: 10_000 }, (_, n) => real(n)) });
  const pieces = [...innerInPieces(inner, 1_000)];
  expect(pieces.join('')).toBe(toJson(decodeInner(inner)));
  expect(pieces.length).toBeGreaterThan(100);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2_100);
});
