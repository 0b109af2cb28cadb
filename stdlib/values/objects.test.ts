// What an Object is, which one is a ResourceReference (builtins.md 0.3), and what a leap year is.
import { expect, test } from 'vitest';
import { DateTime, daysInMonth, formatDateTime, isLeapYear, isReference, type Value } from './index.ts';
import { sharedOf } from './shared.ts';

test('a ResourceReference has resource and resourceId, both text, and nothing else', () => {
  const references: Value[] = [{ resource: 'a', resourceId: 'b' }];
  const others: Value[] = [
    ...[null, 5, 'a/b', true, ['a', 'b'], new DateTime(0), {}],
    ...[{ resource: 'a' }, { resourceId: 'b' }, { resource: 1, resourceId: 'b' }, { resource: 'a', resourceId: 1 }],
    { resource: 'a', resourceId: 'b', more: 1 },
    Object.assign(Object.create({ resource: 'a' }) as Record<string, Value>, { resourceId: 'b', other: 1 }),
  ];
  expect(references.map(isReference)).toEqual([true]);
  expect(others.filter(isReference)).toEqual([]);
});

test('every fourth year is a leap year, of the hundredths every fourth', () => {
  const years = [1600, 1896, 1900, 1970, 1996, 2000, 2023, 2024, 2100, 2400];
  expect(years.filter(isLeapYear)).toEqual([1600, 1896, 1996, 2000, 2024, 2400]);
  expect(years.map((year) => daysInMonth(year, 2))).toEqual(years.map((year) => new Date(Date.UTC(year, 2, 0)).getUTCDate()));
  expect(Array.from({ length: 12 }, (_, i) => daysInMonth(2023, i + 1))).toEqual([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);
});

test('a handle of a shared object is its kind and number', () => {
  expect(['Map:7', 'Cache:0', 'Value:12', 'Lock:1'].map((handle) => sharedOf(handle)?.handle)).toEqual([
    'Map:7',
    'Cache:0',
    'Value:12',
    'Lock:1',
  ]);
  expect(['Map:', 'Map:x', 'map:1', 'xMap:1', 'Map:1x', ''].map(sharedOf)).toEqual(Array(6).fill(null));
});

test('dates beyond those of the language are written as JavaScript does', () => {
  const [first, end] = [Date.UTC(2000, 0, 1) - 1999 * 31_556_952_000, 253_402_300_800_000];
  expect(formatDateTime(end - 1)).toBe('9999-12-31T23:59:59.999Z');
  expect([end, end + 86_400_000, first - 400 * 86_400_000].map(formatDateTime)).toEqual(
    [end, end + 86_400_000, first - 400 * 86_400_000].map((ms) => new Date(ms).toISOString()),
  );
});
