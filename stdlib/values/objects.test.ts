// What an Object is, which one is a ResourceReference (builtins.md 0.3), and what a leap year is.
import { expect, test } from 'vitest';
import { DateTime, daysInMonth, isLeapYear, isReference, type Value } from './index.ts';

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
