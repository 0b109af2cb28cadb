import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  Binary,
  civilFromDays,
  DateTime,
  daysFromCivil,
  formatReal,
  integer,
  LocalValue,
  parseDateTime,
  parseInteger,
  parseReal,
  Real,
  text,
  typeOf,
  type Value,
} from './index.ts';
import { c, d, t } from './testing/outcome.ts';

test('an Integer may be written with many zeros', () => {
  for (const zeros of ['0', '00000', '0'.repeat(15), '0'.repeat(16), '0'.repeat(40)])
    expect([zeros, `+${zeros}`, `-${zeros}`, `${zeros}12`, `-${zeros}12`].map(parseInteger), zeros).toEqual([0, 0, 0, 12, -12]);
});

test.each([
  [5, '5.0'],
  [9_999_999, '9999999.0'],
  [1e7, '1.0E7'],
  [0.001, '0.001'],
  [0.0001, '1.0E-4'],
  [123_456_789.123, '1.23456789123E8'],
  [0.1, '0.1'],
  [-0, '-0.0'],
  [0, '0.0'],
  [-2.5, '-2.5'],
  [1e300, '1.0E300'],
  [5e-324, '5.0E-324'],
  [1.5e-7, '1.5E-7'],
  [9_999_999.5, '9999999.5'],
  [12_345_678.5, '1.23456785E7'],
  [Number.NaN, 'NaN'],
  [Number.NEGATIVE_INFINITY, '-Infinity'],
])('builtins.md 0.3: the Real %d reads %s', (value, expected) => {
  expect(formatReal(value)).toBe(expected);
});

test('the text of a Real reads back as the same double, and never as an Integer', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const written = formatReal(value);
      expect(Object.is(parseReal(written), value)).toBe(true);
      expect(parseInteger(written)).toBe(null);
    }),
    { numRuns: 1000 },
  );
});

const instants = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });

test('the text of a DateTime is ISO and reads back', () => {
  fc.assert(
    fc.property(instants, (ms) => {
      const written = new DateTime(ms).toString();
      expect(written).toBe(new Date(ms).toISOString());
      expect(parseDateTime(written)).toStrictEqual(new DateTime(ms));
    }),
    { numRuns: 1000 },
  );
});

test('days and dates are inverse', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000, max: 3_000_000 }), (days) => {
      const { year, month, day } = civilFromDays(days);
      expect(daysFromCivil(year, month, day)).toBe(days);
    }),
  );
});

test.each([
  ['2031-05-04T03:02:01Z', '2031-05-04T03:02:01.000Z'],
  ['2031-05-04T03:02:01.5Z', '2031-05-04T03:02:01.500Z'],
  ['2031-05-04T03:02:01.123456789Z', '2031-05-04T03:02:01.123Z'],
  ['2031-05-04T05:02:01+02:00', '2031-05-04T03:02:01.000Z'],
  ['2031-05-04T05:02:01+0200', '2031-05-04T03:02:01.000Z'],
  ['2031-05-04T01:02:01-02', '2031-05-04T03:02:01.000Z'],
  ['2031-05-04', '2031-05-04T00:00:00.000Z'],
  ['2031-05-04T03:02', '2031-05-04T03:02:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
])('%s is %s', (source, expected) => {
  expect(parseDateTime(source)?.toString()).toBe(expected);
});

test.each([
  '2031-02-30T00:00:00Z',
  '2023-02-29',
  '1900-02-29',
  '04/05/2031',
  '',
  '2031-05-04T24:00',
  '2031-05-04T03:02:60Z',
  '2031-05-04T03:60',
  '2031-13-01',
  '2031-00-01',
  '2031-01-00',
  '0000-01-01',
  '2031-05-04T03',
  '2031-05-04 03:02',
  '2031-05-04T03:02:01.Z',
  '2031-05-04T03:02:01.1234567890Z',
  '2031-05-04T03:02+24:00',
  '0001-01-01T00:00+01:00',
  '31-05-04',
])('%j is no DateTime', (source) => {
  expect(parseDateTime(source)).toBe(null);
});

class Lock extends LocalValue {
  readonly typeName = 'Lock';
}

test.each([
  [null, 'null', 'null'],
  ['a', 'a', 'String'],
  [-7, '-7', 'Integer'],
  [2n ** 62n, '4611686018427387904', 'Integer'],
  [new Real(5), '5.0', 'Real'],
  [d('3.50'), '3.50', 'Decimal'],
  [d('-0.05'), '-0.05', 'Decimal'],
  [c('EUR:3.5000'), 'EUR:3.5000', 'Currency'],
  [true, 'true', 'Boolean'],
  [t('1970-01-01'), '1970-01-01T00:00:00.000Z', 'DateTime'],
  [[1, { a: null }], '[1,{"a":null}]', 'List'],
  [{ resource: 'users', resourceId: 'ann' }, '/users/ann', 'Object'],
  [{ resource: 'users', resourceId: 'ann', x: 1 }, '{"resource":"users","resourceId":"ann","x":1}', 'Object'],
  [new Binary(Uint8Array.of(0, 255)), '00ff', 'Binary'],
  [new Lock(), 'Lock', 'Lock'],
  [() => null, 'Function', 'Function'],
] as [Value, string, string][])('builtins.md 0.3: text %# is %s', (value, expected, type) => {
  expect([text(value), typeOf(value)]).toEqual([expected, type]);
});

test('an Integer has one form only', () => {
  expect([integer(5n), integer(-0), integer(2n ** 53n), integer(2 ** 53)]).toStrictEqual([5, 0, 2n ** 53n, 2n ** 53n]);
  expect(() => integer(2n ** 63n)).toThrow(expect.objectContaining({ code: 'cascade.lang.arithmetic.overflow' }));
});
