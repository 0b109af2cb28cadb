import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInteger, MAX_INTEGER, MIN_INTEGER, numberOf, Real, real, text, type Value } from '../values/index.ts';
import { c, d, outcome, t } from '../values/testing/outcome.ts';
import { add, dec, div, inc, mod, mul, neg, pos, pow, sub } from './index.ts';

const OPERATORS = { '+': add, '-': sub, '*': mul, '/': div, '%': mod, '**': pow };
type Operator = keyof typeof OPERATORS;
const r = (n: number) => new Real(n);

const CASES: [left: Value, operator: Operator, right: Value, expected: Value][] = [
  // Integer and Integer
  [1, '+', 2, 3],
  [2, '-', 5, -3],
  [-2, '*', 0, 0],
  [12, '/', 3, 4],
  [7, '/', 2, 3.5],
  [0, '/', -5, 0],
  [-4, '%', 2, 0],
  [-7, '%', 3, -1],
  [7, '%', -3, 1],
  [2, '**', 10, 1024],
  [2, '**', -1, 0.5],
  [2, '**', -2, 0.25],
  [0, '**', 0, 1],
  [-1, '**', 9_999_999_999, -1],
  [9_007_199_254_740_991, '+', 1, 9_007_199_254_740_992n],
  [9_007_199_254_740_993n, '-', 2, 9_007_199_254_740_991],
  [3_037_000_500, '*', 3_037_000_499, 9_223_372_033_963_249_500n],
  [MIN_INTEGER, '/', 3, r(-3.0744573456182585e18)],
  [2, '**', 62, 4_611_686_018_427_387_904n],
  [-2, '**', 63, MIN_INTEGER],
  [2, '**', 63, 'arithmetic.overflow'],
  [MAX_INTEGER, '+', 1, 'arithmetic.overflow'],
  [MIN_INTEGER, '-', 1, 'arithmetic.overflow'],
  [MIN_INTEGER, '*', -1, 'arithmetic.overflow'],
  [MIN_INTEGER, '/', -1, 'arithmetic.overflow'],
  [1, '/', 0, 'arithmetic.zero.divide'],
  [1, '%', 0, 'arithmetic.zero.divide'],
  [0, '**', -1, 'arithmetic.zero.divide'],
  // Reals stay Reals
  [1, '+', 0.5, 1.5],
  [0.5, '+', 0.5, r(1)],
  [r(4), '/', 2, r(2)],
  [0.5, '*', 2, r(1)],
  [0.5, '*', 0, r(0)],
  [-0.5, '*', 0, r(-0)],
  [1.5, '-', 1.5, r(0)],
  [4_503_599_627_370_497, '-', 0.5, r(4_503_599_627_370_496)], // no double lies between
  [4_503_599_627_370_497, '+', 0.5, r(4_503_599_627_370_498)],
  [0.5, '+', 4_503_599_627_370_497, r(4_503_599_627_370_498)],
  [7.5, '%', 2, 1.5],
  [-7.5, '%', 2.5, r(-0)],
  [r(2), '**', 3, r(8)],
  [1e308, '*', r(10), r(Number.POSITIVE_INFINITY)],
  [1.5, '/', r(0), 'arithmetic.zero.divide'],
  [1.5, '%', 0, 'arithmetic.zero.divide'],
  [-1.5, '**', 0.5, 'arithmetic.overflow'],
  [r(Number.POSITIVE_INFINITY), '-', r(Number.POSITIVE_INFINITY), 'arithmetic.overflow'],
  [r(Number.NaN), '+', 1, r(Number.NaN)],
  // Decimals: note 2
  [d('1.50'), '+', d('2.5'), d('4.00')],
  [d('1.5'), '-', d('2.25'), d('-0.75')],
  [d('1.5'), '*', d('1.5'), d('2.3')],
  [d('1.25'), '*', d('1.25'), d('1.5625')],
  [d('1.5'), '*', d('2'), d('3')],
  [d('10.000'), '/', d('4.0'), d('2.50')],
  [d('10'), '/', d('4.00'), d('3')],
  [d('-10'), '/', d('4'), d('-3')],
  [d('1.5'), '+', 1, d('2.5')],
  [1, '+', d('1.5'), d('2.5')],
  [d('1.5'), '*', 0.25, d('0.4')],
  [1, '/', d('3.00'), d('0.33')],
  [d('1.50'), '**', 2, d('2.25')],
  [d('1.5'), '**', 2, d('2.3')],
  [d('2.00'), '**', -1, d('0.50')],
  [2, '**', d('3.0'), d('8.0')],
  [d('4.00'), '**', 0.5, d('2.00')],
  [d('1.00001'), '**', 100_000, d('2.71827')],
  [d('1.5'), '%', 1, 'operand'],
  [1, '%', d('1.5'), 'operand'],
  [d('1'), '/', d('0.00'), 'arithmetic.zero.divide'],
  [d('0'), '**', -1, 'arithmetic.zero.divide'],
  [d('9'.repeat(1000)), '+', 1, 'arithmetic.overflow'],
  [d('10'), '**', 1000, 'arithmetic.overflow'],
  [d('10'), '**', 999, d(`1${'0'.repeat(999)}`)],
  [d('1.1'), '+', r(Number.NaN), 'arithmetic.overflow'],
  // Currencies: note 4
  [c('USD:1.50'), '+', c('USD:2.5'), c('USD:4.00')],
  [c('USD:1.5'), '*', 2, c('USD:3.0')],
  [2, '*', c('USD:1.5'), c('USD:3.0')],
  [c('USD:1.50'), '*', c('USD:2.00'), c('USD:3.0000')],
  [c('USD:9.00'), '/', c('USD:2'), c('USD:4.50')],
  [c('USD:9.00'), '-', d('0.5'), c('USD:8.50')],
  [d('0.5'), '+', c('USD:9.00'), c('USD:9.50')],
  [c('USD:1'), '+', c('EUR:1'), 'currency.mismatch'],
  [c('USD:1'), '%', 1, 'operand'],
  // Strings: note 3 and concatenation
  ['20.0', '*', d('2.0'), d('40.0')],
  [d('2.0'), '+', '1.5', d('3.5')],
  ['USD:12.0', '+', c('USD:1.0'), c('USD:13.0')],
  ['USD:12.0', '+', d('1.0'), c('USD:13.0')],
  ['x', '+', d('1.50'), 'x1.50'],
  [c('USD:1.50'), '+', 'x', 'USD:1.50x'],
  ['x', '*', d('1.50'), 'operand'],
  ['n=', '+', 1, 'n=1'],
  ['n=', '+', r(5), 'n=5.0'],
  [1, '+', '1', '11'],
  ['a', '+', null, 'anull'],
  [null, '+', 'a', 'nulla'],
  ['a', '+', true, 'atrue'],
  ['a', '+', [1, { b: null }], 'a[1,{"b":null}]'],
  ['a', '+', { resource: 'users', resourceId: 'ann' }, 'a/users/ann'],
  ['a', '-', 'b', 'operand'],
  ['3', '*', 2, 'operand'],
  // DateTimes
  [t('2026-01-01'), '+', 1000, t('2026-01-01T00:00:01Z')],
  [1000, '+', t('2026-01-01'), t('2026-01-01T00:00:01Z')],
  [t('2026-01-01'), '-', 1000, t('2025-12-31T23:59:59Z')],
  [t('2026-01-02'), '-', t('2026-01-01'), 86_400_000],
  [t('2026-01-01'), '+', 'x', '2026-01-01T00:00:00.000Zx'],
  ['x', '+', t('2026-01-01'), 'x2026-01-01T00:00:00.000Z'],
  [1000, '-', t('2026-01-01'), 'operand'],
  [t('2026-01-01'), '+', t('2026-01-01'), 'operand'],
  [t('2026-01-01'), '+', 1.5, 'operand'],
  [1.5, '+', t('2026-01-01'), 'operand'],
  [t('2026-01-01'), '+', d('1'), 'operand'],
  [d('1'), '+', t('2026-01-01'), 'operand'],
  [t('2026-01-01'), '*', 2, 'operand'],
  [t('2026-01-01'), '+', null, 'operand.null'],
  [t('9999-12-31'), '+', 86_400_000, 'arithmetic.overflow'],
  [t('2026-01-01'), '+', 9_007_199_254_740_993n, 'arithmetic.overflow'],
  [t('2026-01-01'), '-', 9_007_199_254_740_993n, 'arithmetic.overflow'],
  // the others
  [[1], '+', [2, 3], [1, 2, 3]],
  [[1], '+', 2, 'operand'],
  [[1], '-', [1], 'operand'],
  [true, '+', 1, 'operand'],
  [{ a: 1 }, '+', { a: 1 }, 'operand'],
  [null, '+', 1, 'operand.null'],
  [1, '*', null, 'operand.null'],
  [null, '+', null, 'operand.null'],
  [[1], '+', null, 'operand.null'],
];

test.each(CASES.map((row) => [text(row[0]), row[1], text(row[2]), row] as const))('language.md 4.6: %s %s %s', (_, __, ___, row) => {
  const [left, operator, right, expected] = row;
  expect(outcome(() => OPERATORS[operator](left, right))).toStrictEqual(expected);
});

test('language.md 4.6: signs and steps', () => {
  expect([neg(0), neg(5), neg(r(0)), neg(1.5), neg(MIN_INTEGER + 1n), neg(d('1.5')), neg(c('USD:1'))]).toStrictEqual([
    0,
    -5,
    r(-0),
    -1.5,
    MAX_INTEGER,
    d('-1.5'),
    c('USD:-1'),
  ]);
  expect([pos(5), inc(1), dec(0.5), inc(d('1.5')), inc(9_007_199_254_740_991)]).toStrictEqual([
    5,
    2,
    -0.5,
    d('2.5'),
    9_007_199_254_740_992n,
  ]);
});

test.each([
  ['-', () => neg(MIN_INTEGER), 'arithmetic.overflow'],
  ['-', () => neg('1'), 'operand'],
  ['-', () => neg(null), 'operand.null'],
  ['++', () => inc('a'), 'operand'],
  ['++', () => inc(MAX_INTEGER), 'arithmetic.overflow'],
  ['--', () => dec(MIN_INTEGER), 'arithmetic.overflow'],
  ['+', () => pos(true), 'operand'],
])('language.md 4.6: %s is refused (%#)', (_, run, expected) => {
  expect(outcome(run)).toBe(expected);
});

test('a String may not grow past its limit', () => {
  const half = 'x'.repeat(9_000_000);
  expect(outcome(() => add(half, half))).toBe('string.size');
});

const integers = fc
  .bigInt(MIN_INTEGER, MAX_INTEGER)
  .map((n) => (n >= -9_007_199_254_740_991n && n <= 9_007_199_254_740_991n ? Number(n) : n));
const small = fc.oneof(integers, fc.maxSafeInteger(), fc.integer({ min: -9, max: 9 }));

test('Integers are exact to the last bit, or an overflow', () => {
  const exact: Record<string, (x: bigint, y: bigint) => bigint> = { '+': (x, y) => x + y, '-': (x, y) => x - y, '*': (x, y) => x * y };
  fc.assert(
    fc.property(small, small, fc.constantFrom<Operator>('+', '-', '*'), (a, b, operator) => {
      const result = (exact[operator] as (x: bigint, y: bigint) => bigint)(BigInt(a), BigInt(b));
      const expected = result < MIN_INTEGER || result > MAX_INTEGER ? 'arithmetic.overflow' : result;
      const actual = outcome(() => OPERATORS[operator](a, b));
      if (typeof actual === 'string') expect(actual).toBe(expected);
      else {
        expect(BigInt(actual as number)).toBe(expected);
        expect(typeof actual).toBe(Number.isSafeInteger(Number(result)) ? 'number' : 'bigint');
        expect(Object.is(actual, -0)).toBe(false);
      }
    }),
  );
});

test('a quotient is an Integer exactly when it is whole', () => {
  fc.assert(
    fc.property(small, small, (a, b) => {
      if (Number(b) === 0 || (a === MIN_INTEGER && b === -1)) return;
      expect(isInteger(div(a, b))).toBe(BigInt(a) % BigInt(b) === 0n);
    }),
  );
});

test('Reals compute as doubles do', () => {
  const doubles = fc.double({ noNaN: true });
  fc.assert(
    fc.property(doubles, doubles, (a, b) => {
      if (!Number.isNaN(a + b)) expect(numberOf(add(real(a), real(b)))).toBe(a + b);
      if (!Number.isNaN(a * b)) expect(numberOf(mul(real(a), real(b)))).toBe(a * b);
      if (b !== 0 && !Number.isNaN(a / b)) expect(numberOf(div(real(a), real(b)))).toBe(a / b);
    }),
  );
});
