// Order and exact values of what has no table in resources-and-api.md 3.3.
import { expect, test } from 'vitest';
import { DateTime, Decimal, Real } from '../../stdlib/values/index.ts';
import { exactDecimal, order } from './compare.ts';

test('a double is the decimal that it is, not its shortest text', () => {
  expect(exactDecimal(0.5)).toEqual(new Decimal(5n, 1));
  expect(exactDecimal(new Real(-0.75))).toEqual(new Decimal(-75n, 2));
  expect(exactDecimal(3)).toEqual(new Decimal(3n, 0));
  expect(exactDecimal(2n ** 63n)).toEqual(new Decimal(2n ** 63n, 0));
  expect(exactDecimal(0.1)).toEqual(new Decimal(1000000000000000055511151231257827021181583404541015625n, 55));
  expect([Number.POSITIVE_INFINITY, Number.NaN, '1', null].map(exactDecimal)).toEqual([undefined, undefined, undefined, undefined]);
});

test('values of other kinds have no order', () => {
  expect(order('String', 'a', 'b')).toBeLessThan(0);
  expect(order('Id', 'a'.repeat(24), 'b'.repeat(24))).toBeLessThan(0);
  expect(order('Id', 'a'.repeat(24), 'b')).toBeLessThan(0);
  expect(order('Json', 'a', 5)).toBeUndefined();
  expect(order('Json', true, 'a')).toBeUndefined();
  expect(order('Json', true, false)).toBe(1);
  expect(order('Json', new DateTime(5), 5)).toBeUndefined();
  expect(order('Json', 5, 'a')).toBeUndefined();
  expect(order('Json', new Decimal(15n, 1), 1.5)).toBe(0);
  expect(order('Json', new Decimal(1n, 1), 0.1)).toBeLessThan(0);
});
