import { expect, test } from 'vitest';
import { Binary, Pattern, Real, text, type Value } from '../values/index.ts';
import { c, d, outcome, t } from '../values/testing/outcome.ts';
import { eq, ge, geo as geoWithin, gt, inArray, le, lt, ne, regexSearch as regexSearchWithin, truth } from './index.ts';

const r = (n: number) => new Real(n);
const day = t('2026-01-01');
const dayMs = 1_767_225_600_000;
const CAST = 'class.cast';

/** `==` and `<` of two values; the other four follow from them. */
const ROWS: [left: Value, right: Value, equal: boolean | string, less: boolean | string][] = [
  // Integer, Real
  [2, r(2), true, false],
  [2, 2.5, false, true],
  [9_007_199_254_740_993n, r(9_007_199_254_740_992), false, false],
  [2n ** 62n, 2n ** 62n, true, false],
  [dayMs, day, true, false],
  [1, day, false, true],
  [1.5, day, false, CAST],
  [2, d('2'), CAST, CAST],
  [2.5, c('USD:2.5'), CAST, CAST],
  [50.5, '22.25', false, CAST],
  [2, '2', false, CAST],
  [1, true, false, CAST],
  [1, [1], false, CAST],
  [1, { a: 1 }, false, CAST],
  [1, null, false, false],
  [r(Number.NaN), r(Number.NaN), false, false],
  // String
  ['2', '11', false, false],
  ['a', 'B', false, false],
  ['5.0', r(5), true, false],
  ['5', r(5), false, true],
  ['5', 5, true, false],
  ['true', true, true, false],
  ['2026-01-01T00:00:00.000Z', day, true, false],
  ['2', d('2'), CAST, CAST],
  ['USD:2', c('USD:2'), CAST, CAST],
  ['a', ['a'], false, CAST],
  ['a', { a: 1 }, false, CAST],
  ['a', null, false, false],
  // Decimal
  [d('2.0'), 2, true, false],
  [d('0.1'), 0.1, true, false],
  [d('2.0'), '2.00', true, false],
  [d('2.0'), ' 3 ', false, true],
  [d('2.0'), 'two', false, CAST],
  [d('2.0'), d('2.00'), true, false],
  [d('2.0'), c('USD:2'), true, false],
  [d('2.0'), r(Number.POSITIVE_INFINITY), false, true],
  [d('2.0'), r(Number.NaN), false, false],
  [d('2.0'), true, false, CAST],
  [d('2.0'), day, false, CAST],
  [d('2.0'), null, false, false],
  // Currency
  [c('USD:2'), c('USD:2.00'), true, false],
  [c('USD:2'), 'USD:3', false, true],
  [c('USD:2'), c('EUR:2'), false, 'currency.mismatch'],
  [c('USD:2'), 'EUR:2', false, 'currency.mismatch'],
  [c('USD:2'), 3, false, true],
  [c('USD:2'), 2.5, false, true],
  [c('USD:2'), d('2'), true, false],
  [c('USD:2'), '2.0', true, false],
  [c('USD:2'), 'two', false, CAST],
  [c('USD:2'), [1], false, CAST],
  [c('USD:2'), null, false, false],
  // DateTime
  [day, '2026-01-01', true, false],
  [day, '2026-01-02T00:00', false, true],
  [day, dayMs, true, false],
  [day, day, true, false],
  [day, d('1'), CAST, CAST],
  [day, c('USD:1'), CAST, CAST],
  [day, 'soon', false, CAST],
  [day, true, false, CAST],
  [day, null, false, false],
  // Boolean
  [true, true, true, CAST],
  [true, 'true', true, CAST],
  [true, 'TRUE', false, CAST],
  [false, 0, false, CAST],
  [true, d('1'), false, CAST],
  [true, null, false, false],
  // Object, Array
  [{ a: 1, b: [r(2)] }, { b: [2], a: 1 }, true, CAST],
  [{ a: 1 }, { a: 1, b: null }, false, CAST],
  [{ a: 1 }, 'x', false, CAST],
  [{ resource: 'users', resourceId: 'ann' }, '/users/ann', true, CAST],
  ['/users/ann', { resource: 'users', resourceId: 'ann' }, true, CAST],
  [{ a: d('1') }, { a: 1 }, false, CAST],
  [[1, null], [r(1), null], true, CAST],
  [[1], [1, 2], false, CAST],
  [[day, d('1.0'), c('USD:1')], [day, d('1'), c('USD:1.00')], true, CAST],
  [[day], [t('2026-01-02')], false, CAST],
  [[d('1')], [d('2')], false, CAST],
  [[c('USD:1')], [c('EUR:1')], false, CAST],
  [['a'], ['a'], true, CAST],
  [[1], 1, false, CAST],
  [[1], d('1'), false, CAST],
  [{}, null, false, false],
  // null
  [null, null, true, false],
  [null, 0, false, false],
  [null, d('0'), false, false],
  // of a running program only
  [new Binary(Uint8Array.of(1)), new Binary(Uint8Array.of(1)), true, CAST],
  [new Pattern('a'), new Pattern('a'), true, CAST],
];

test.each(ROWS.map((row) => [text(row[0]), text(row[1]), row] as const))('language.md 4.7: %s and %s', (_, __, row) => {
  const [a, b, equal, less] = row;
  expect([outcome(() => eq(a, b)), outcome(() => lt(a, b))]).toEqual([equal, less]);
  expect(outcome(() => ne(a, b))).toBe(typeof equal === 'string' ? equal : !equal);
  expect(outcome(() => gt(a, b))).toBe(typeof less === 'string' ? less : isOrdered(a, b) && !equal && !less);
  expect(outcome(() => le(a, b))).toBe(typeof less === 'string' ? less : less || (isOrdered(a, b) && equal));
  expect(outcome(() => ge(a, b))).toBe(typeof less === 'string' ? less : isOrdered(a, b) && !less);
});

/** With null, and with NaN, nothing is less, greater or as great. */
function isOrdered(a: Value, b: Value): boolean {
  const isNaN = (v: Value): boolean => v instanceof Real && Number.isNaN(v.value);
  return a !== null && b !== null && !isNaN(a) && !isNaN(b);
}

test('an element that was never given is null', () => {
  expect(eq([undefined as unknown as Value, 1], [null, 1])).toBe(true);
  expect(eq([undefined as unknown as Value], [0])).toBe(false);
});

test('amounts of two currencies are told by their codes, however the right one is written', () => {
  for (const right of [c('EUR:2'), 'EUR:2', ' EUR:2'])
    expect(() => lt(c('USD:2'), right)).toThrow(
      expect.objectContaining({ code: 'cascade.lang.currency.mismatch', params: ['USD', 'EUR'] }),
    );
});

test('language.md 4.7: in compares the left value with each element', () => {
  expect([inArray(1, [2, r(1)]), inArray('1', [1]), inArray(1, ['1']), inArray({ a: 1 }, [{ a: 1 }]), inArray(1, [])]).toEqual([
    true,
    true,
    false,
    true,
    false,
  ]);
  expect(outcome(() => inArray(1, 1))).toBe(CAST);
});

const geo = (operator: string, a: Value, b: Value): boolean => geoWithin(operator, a, b, { spend: () => undefined });
const regexSearch = (s: Value, pattern: Value): boolean =>
  regexSearchWithin(s, pattern, { patternSteps: () => 10_000, spend: () => undefined });

test('language.md 4.7: regex is a search, and null never matches', () => {
  expect([regexSearch('xay', 'a'), regexSearch('xay', '^a'), regexSearch(null, 'a')]).toEqual([true, false, false]);
  expect(outcome(() => regexSearch('a', '('))).toBe('cascade.builtin.pattern');
  expect(outcome(() => regexSearch(1, 'a'))).toBe(CAST);
});

test.each([false, null, 0, r(0), r(-0), d('0.00'), c('USD:0'), '', [], {}] as Value[])('language.md 4.4: %j is false', (v) => {
  expect(truth(v)).toBe(false);
});
test.each([true, 1, -0.5, 2n ** 60n, r(1), d('0.01'), ' ', [null], { a: null }, day] as Value[])(
  'language.md 4.4: value %# is true',
  (v) => {
    expect(truth(v)).toBe(true);
  },
);

test.each([
  ['geonear', [0.5, 0], { geometry: { type: 'Point', coordinates: [0, 0] }, maxDistance: 60_000 }, true],
  ['geonear', [0.5, 0], { $geometry: { type: 'Point', coordinates: [0, 0] }, $maxDistance: 50_000 }, false],
  [
    'geowithin',
    [0.5, 0.5],
    {
      $geometry: {
        type: 'Polygon',
        coordinates: [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
          [0, 0],
        ],
      },
    },
    true,
  ],
  [
    'geowithin',
    [2, 2],
    {
      $geometry: {
        type: 'Polygon',
        coordinates: [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
          [0, 0],
        ],
      },
    },
    false,
  ],
  [
    'geointersects',
    [0, 0],
    {
      $geometry: {
        type: 'LineString',
        coordinates: [
          [-1, 0],
          [1, 0],
        ],
      },
    },
    true,
  ],
])('%s of a point at %j', (operator, coordinates, operand, expected) => {
  expect(geo(operator, { type: 'Point', coordinates }, operand as Value)).toBe(expected);
});

test('a line that leaves an area meets it and is not within it', () => {
  const line = {
    type: 'LineString',
    coordinates: [
      [5, 5],
      [15, 5],
    ],
  } as Value;
  const coordinates = [
    [0, 0],
    [10, 0],
    [10, 10],
    [0, 10],
    [0, 0],
  ];
  const area = { $geometry: { type: 'Polygon', coordinates } } as Value;
  expect([geo('geointersects', line, area), geo('geowithin', line, area)]).toEqual([true, false]);
  expect(() => geo('geowithin', line, { $geometry: line })).toThrow(expect.objectContaining({ code: 'cascade.lang.class.cast' }));
});

test('a geo operator takes shapes only, and null is none', () => {
  expect(geo('geonear', null, {})).toBe(false);
  expect(() => geo('geowithin', 'here', {})).toThrow(
    expect.objectContaining({ code: 'cascade.lang.class.cast', params: ['geowithin', 'String', 'Object'] }),
  );
});
