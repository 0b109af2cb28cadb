import { expect, test } from 'vitest';
import { generator } from './generate.ts';

const made = (properties: Record<string, object>, texts: string[] = [], naturalKey: string[] = []): Record<string, unknown>[] => {
  const event = generator('T', [{ name: 'T', properties, naturalKey }], texts, 7);
  return Array.from({ length: 200 }, (_, n) => event(n).value as Record<string, unknown>);
};
const valuesOf = (rows: Record<string, unknown>[], name: string): unknown[] => [...new Set(rows.map((row) => row[name]))];

test('values keep to what a property declares: enumeration, range, length, number of elements', () => {
  const rows = made({
    state: { type: 'String', enum: ['on', 'off'] },
    level: { type: 'Integer', minimum: 3, maximum: 5 },
    share: { type: 'Real', minimum: -1, maximum: 1 },
    code: { type: 'String', maxLength: 2 },
    tags: { type: 'Integer', multi: true },
  });
  expect(valuesOf(rows, 'state').sort()).toEqual(['off', 'on']);
  expect(valuesOf(rows, 'level').sort()).toEqual([3, 4, 5]);
  expect(rows.every(({ share }) => (share as number) >= -1 && (share as number) <= 1)).toBe(true);
  expect(rows.every(({ code }) => (code as string).length <= 2)).toBe(true);
  expect(rows[0]?.['tags']).toHaveLength(1);
});

test('half of the undeclared values are near constants of rules; keys differ; the same seed gives the same values', () => {
  const texts = ['RULE r WHEN INSERT OCCURS ON T AS t WHERE t.rate > 4711 AND t.site == "harbour"'];
  const properties = {
    rate: { type: 'Integer' },
    site: { type: 'String' },
    key: { type: 'String' },
    id: { type: 'Integer', unique: true },
  };
  const rows = made(properties, texts, ['key']);
  expect(valuesOf(rows, 'rate')).toEqual(expect.arrayContaining([4710, 4711, 4712]));
  expect(valuesOf(rows, 'site')).toContain('harbour');
  expect([valuesOf(rows, 'key').length, valuesOf(rows, 'id').length]).toEqual([200, 200]);
  expect(made(properties, texts, ['key'])).toEqual(rows);
});

test.each([
  [{ x: { type: 'Percent' } }, [], 'Values of T.x cannot be made up: its type is Percent'],
  [{ x: { type: 'Boolean' } }, ['x'], 'they have to differ'],
  [{ x: { type: 'Integer', minimum: 5, maximum: 1 } }, [], 'its minimum is above its maximum'],
])('%j cannot be made up', (properties, key, message) => expect(() => made(properties, [], key)).toThrow(message));
