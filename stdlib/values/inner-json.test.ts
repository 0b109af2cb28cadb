import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Binary, decodeInner, encodeInner, isPlainInner, LocalValue, Real, type Value } from './index.ts';
import { values } from './testing/arbitrary.ts';
import { c, d, t } from './testing/outcome.ts';

test('every value comes back as it was', () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(isDeepStrictEqual(decodeInner(encodeInner(value)), value)).toBe(true); // toStrictEqual trips over a key `constructor`
    }),
    { numRuns: 500 },
  );
});

test.each([
  '12345678901234567890.12',
  '0.12345678901234567890',
  '9007199254740993.0',
  '123456789012345678901234567890',
  '1e400',
  '-1e-400',
])('a Real that JSON wrote as %s comes back with its digits, and versions that know none read its double', (digits) => {
  const value = [new Real(Number(digits), digits)];
  expect(encodeInner(value)).toBe(`["\\u0001r${digits}"]`);
  expect(decodeInner(encodeInner(value))).toStrictEqual(value);
});

test('keys keep their order', () => {
  expect(encodeInner(decodeInner('{"b":1,"a":"\\u0001r5"}'))).toBe('{"b":1,"a":"\\u0001r5"}');
});

test.each([
  [new Real(5), '"\\u0001r5"'],
  [new Real(-0), '"\\u0001r-0"'],
  [new Real(1e300), '"\\u0001r1e+300"'],
  [9_223_372_036_854_775_807n, '"\\u0001i9223372036854775807"'],
  [d('12.50'), '"\\u0001d12.50"'],
  [c('USD:12.5000'), '"\\u0001cUSD:12.5000"'],
  [t('2030-01-01'), '"\\u0001t1893456000000"'],
  ['\u0001x', '"\\u0001s\\u0001x"'],
  [[1, 1.5, 'a', null, true], '[1,1.5,"a",null,true]'],
  [{ '\u0001r5': 1 }, '{"\\u0001r5":1}'],
] as [Value, string][])('%s is written as %s', (value, json) => {
  expect(encodeInner(value)).toBe(json);
});

test('text without a mark is plain JSON', () => {
  expect([isPlainInner('{"a":1}'), isPlainInner('"\\u0001r5"')]).toEqual([true, false]);
});

test('bytes leave as base64, other local values do not leave', () => {
  class Local extends LocalValue {
    readonly typeName = 'Lock';
  }
  expect(encodeInner([new Binary(Uint8Array.of(0, 255)), 2n ** 60n])).toBe('["AP8=","\\u0001i1152921504606846976"]');
  for (const value of [new Local(), [new Local()], () => null])
    expect(() => encodeInner(value)).toThrow(expect.objectContaining({ code: 'cascade.procedure.parameter.type' }));
});

test('a value that holds itself is refused', () => {
  const list: Value[] = [];
  list.push(list);
  expect(() => encodeInner(list)).toThrow(expect.objectContaining({ code: 'cascade.lang.range' }));
});

test('text that is no inner JSON of ours is a fault', () => {
  expect(() => decodeInner('"\\u0001?"')).toThrow('not inner JSON');
});
