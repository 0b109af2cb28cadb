import { expect, test } from 'vitest';
import { Currency, DateTime, Decimal, Real, type Value } from '../../stdlib/values/index.ts';
import { parseJson } from './parse-json.ts';
import { finished } from '../types/testing/finished.ts';
import { fromTyped, fromTypedInPieces, toTypedJson, toTypedJsonInPieces, Untransferable } from './typed-json.ts';

test.each<[Value, string]>([
  [new DateTime(0), '{"$dt":"1970-01-01T00:00:00.000Z"}'],
  [new Decimal(120n, 2), '{"$dec":"1.20"}'],
  [new Currency('EUR', new Decimal(30_000n, 4)), '{"$cur":"EUR:3.0000"}'],
  [9_007_199_254_740_993n, '{"$long":"9007199254740993"}'],
  [new Real(5), '5.0'],
  [new Real(12345678901234567890.12, '12345678901234567890.12'), '12345678901234567890.12'],
  [[null, true, 'a', 1.5], '[null,true,"a",1.5]'],
  [{ $dt: 'no time' }, '{"$obj":{"$dt":"no time"}}'],
  [{ a: { $obj: 1 } }, '{"a":{"$obj":{"$obj":1}}}'],
])('%o is written so that it comes back', (value, json) => {
  expect(toTypedJson(value)).toBe(json);
  expect(fromTyped(parseJson(json))).toEqual(value);
});

test('operators of a condition stay as they are', () => {
  expect(toTypedJson({ at: { $gt: new DateTime(0) } }, true)).toBe('{"at":{"$gt":{"$dt":"1970-01-01T00:00:00.000Z"}}}');
});

test('what is no value of the form stays an Object', () => {
  expect(fromTyped({ $dt: 'x' })).toEqual({ $dt: 'x' });
  expect(fromTyped({ $gt: '1' })).toEqual({ $gt: '1' });
});

test('a function is not sent', () => {
  expect(() => toTypedJson(() => null)).toThrow(Untransferable);
});

test('a long tree gives the same in pieces', () => {
  const rows = Array.from({ length: 500 }, (_, i): Value => ({ at: { $dt: '1970-01-01T00:00:00.000Z' }, n: [i, { $long: '1' }], $obj: i }));
  const tree: Value = { $obj: { $dt: rows, deep: [rows, { $obj: { $dec: '1' } }, { $dec: '1.20' }] } };
  const value = fromTyped(tree);
  expect(finished(fromTypedInPieces(tree))).toEqual([value, expect.toSatisfy((pauses: number) => pauses > 10)]);
  for (const one of [tree, value])
    expect(finished(toTypedJsonInPieces(one))).toEqual([toTypedJson(one), expect.toSatisfy((pauses: number) => pauses > 10)]);
});
