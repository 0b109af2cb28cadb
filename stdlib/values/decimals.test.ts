import { Decimal as Reference } from 'decimal.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDecimals, compareDecimals, Decimal, divideDecimals, multiplyDecimals, parseCurrency, parseDecimal, rescale } from './index.ts';

const Exact = Reference.clone({ precision: 2000, rounding: Reference.ROUND_HALF_UP, toExpNeg: -9e15, toExpPos: 9e15 });
const decimals = fc.tuple(fc.bigInt(-(10n ** 40n), 10n ** 40n), fc.nat(40)).map(([unscaled, scale]) => new Decimal(unscaled, scale));
const scales = fc.nat(40);
const reference = (value: Decimal): Reference => new Exact(value.toString());
/** Digits of a result at a scale, without a sign on zero. */
const digits = (value: Reference, scale: number): string => value.toFixed(scale).replace(/^-(?=[0.]*$)/, '');

test('sums, products and quotients are those of decimal.js, rounded half up', () => {
  fc.assert(
    fc.property(decimals, decimals, scales, (a, b, scale) => {
      expect(addDecimals(a, b).toString()).toBe(digits(reference(a).plus(reference(b)), Math.max(a.scale, b.scale)));
      expect(multiplyDecimals(a, b, scale).toString()).toBe(digits(reference(a).times(reference(b)), scale));
      if (b.unscaled !== 0n) {
        // half up on the exact quotient: one digit more than asked for and whether anything follows decides
        const quotient = reference(a).div(reference(b));
        expect(divideDecimals(a, b, scale).toString()).toBe(digits(quotient, scale));
      }
    }),
    { numRuns: 300 },
  );
});

test('rescaling rounds half away from zero', () => {
  fc.assert(
    fc.property(decimals, scales, (value, scale) => {
      expect(rescale(value, scale).toString()).toBe(digits(reference(value), scale));
    }),
  );
  expect(['2.5', '-2.5', '0.005', '-0.004'].map((text) => rescale(parseDecimal(text)!, text.length > 4 ? 2 : 0).toString())).toEqual([
    '3',
    '-3',
    '0.01',
    '0.00',
  ]);
});

test('text and value are one', () => {
  fc.assert(
    fc.property(decimals, (value) => {
      expect(parseDecimal(value.toString())).toStrictEqual(value);
    }),
  );
});

test('order is by value, whatever the scales', () => {
  fc.assert(
    fc.property(decimals, decimals, (a, b) => {
      expect(compareDecimals(a, b)).toBe(reference(a).cmp(reference(b)));
    }),
  );
});

test.each([
  ['12.50', '12.50'],
  ['-.5', '-0.5'],
  ['+5.', '5'],
  ['1e3', '1000'],
  ['1.25E1', '12.5'],
  ['1e-3', '0.001'],
  ['007', '7'],
  ['0e5000', '0'],
  ['-0', '0'],
])('%s reads as %s', (text, expected) => {
  expect(parseDecimal(text)?.toString()).toBe(expected);
});

test.each(['', '.', '-', 'e5', '1e', '1,5', ' 1', '0x1', 'NaN', '1e1.5', '١'])('%j is no Decimal', (text) => {
  expect(parseDecimal(text)).toBe(null);
});

test.each(['1e1000', '1e-1001', `1${'0'.repeat(1000)}`, '1e999999999999'])('%s has too many digits', (text) => {
  expect(() => parseDecimal(text)).toThrow(expect.objectContaining({ code: 'cascade.lang.arithmetic.overflow' }));
});

test('a currency has a code of ISO 4217 and a number', () => {
  expect([parseCurrency('USD:1.50')?.toString(), parseCurrency('XXX:1')?.toString()]).toEqual(['USD:1.50', 'XXX:1']);
  for (const text of ['usd:1', 'XQQ:1', 'USD', 'USD:', 'USD: 1', 'USDX:1', '12.5']) expect(parseCurrency(text)).toBe(null);
});
