import { expect, test } from 'vitest';
import { Currency, deepCopy, parseDecimal, real, type Value } from '../values/index.ts';
import { lookup } from './index.ts';
import { date, decimal, expectCases, testContext } from './testing/cases.ts';

const INDEX = { error: 'cascade.lang.index' };
const TYPE = { error: 'cascade.procedure.parameter.type' };

const usd = (amount: string): Currency => new Currency('USD', parseDecimal(amount) as never);

expectCases('builtins.md 7', [
  ['push', [[1], 2], true],
  ['push', [[1], null], true],
  ['add', [[1], 2], true],
  ['addAll', [[], []], false],
  ['addAll', [[], [1]], true],
  ['concat', [[1], [2, 3]], [1, 2, 3]],
  ['concat', [[1], 2], [1, 2]],
  ['concat', [[1], null], { error: 'cascade.lang.null' }],
  ['includes', [[{ a: 1 }], { a: 1 }], true],
  ['includes', [[1], real(1)], true],
  ['includes', [[null], null], true],
  ['includes', [[0], null], false],
  ['contains', [[1], 2], false],
  ['fill', [[1, 2, 3], 0, 1, 3], [1, 0, 0]],
  ['fill', [[1, 2, 3], 0, -1], [1, 2, 0]],
  ['fill', [[1, 2], 0, 0, 9], [0, 0]],
  ['flatten', [[1, [2, [3]], 4]], [1, 2, 3, 4]],
  ['get', [[5], 0], 5],
  ['get', [[5], 1], INDEX],
  ['indexOf', [[1, 2, 1], 3], -1],
  ['lastIndexOf', [[1, 2, 1], 1], 2],
  ['isEmpty', [[]], true],
  ['join', [[1, null, 'x'], '-'], '1--x'],
  ['join', [[], ','], ''],
  ['join', [[real(1), 2]], '1.0,2'],
  ['length', [[1, 2]], 2],
  ['size', [[1, 2]], 2],
  ['pop', [[1, 2]], 2],
  ['pop', [[]], null],
  ['shift', [[1, 2]], 1],
  ['shift', [[]], null],
  ['unshift', [[1], 2], null],
  ['remove', [[1, 2, 1], 1], true],
  ['removeElement', [[1, 2, 1], 3], false],
  ['removeAt', [['a', 'b'], 0], 'a'],
  ['removeAt', [['a', 'b'], 2], INDEX],
  ['reverse', [[1, 2, 3]], [3, 2, 1]],
  ['slice', [[1, 2, 3, 4], 1, 3], [2, 3]],
  ['slice', [[1, 2], 5], []],
  ['slice', [[1, 2, 3], -2], [2, 3]],
  ['sort', [[10, 9, 1]], [1, 9, 10]],
  ['sort', [[{ a: 7 }, { a: 3 }], 'a'], [{ a: 3 }, { a: 7 }]],
  ['sort', [[decimal('1.5'), 2, decimal('-1'), 1.25]], [decimal('-1'), 1.25, decimal('1.5'), 2]],
  [
    'sort',
    [[real(Number.NaN), decimal('1'), real(Number.NEGATIVE_INFINITY), 5, real(Number.POSITIVE_INFINITY)]],
    [real(Number.NEGATIVE_INFINITY), decimal('1'), 5, real(Number.POSITIVE_INFINITY), real(Number.NaN)],
  ],
  ['sort', [[usd('2'), null, usd('1.5')]], [null, usd('1.5'), usd('2')]],
  ['sort', [[usd('2'), new Currency('EUR', parseDecimal('1') as never)]], { error: 'cascade.lang.currency.mismatch' }],
  ['sort', [[{ a: 1 }, null, { a: 0 }], 'a'], [null, { a: 0 }, { a: 1 }]],
  ['sort', [[5], 'a'], { ...TYPE, params: ['sort', 'arr', 'Objects', 'Integer'] }],
  ['sort', [[date('2026-01-01'), 1]], { ...TYPE, params: ['sort', 'arr', 'values of one kind', 'DateTime and Integer'] }],
  ['sort', [[[1]]], { ...TYPE, params: ['sort', 'arr', 'values with an order', 'List'] }],
  ['sort', [[]], []],
  ['sort', [[null, null]], [null, null]],
  ['sort', [[1, 'a']], TYPE],
  ['sort', [[{ a: 1 }]], TYPE],
  ['sort', [[3, null, real(1), 0.5, decimal('2.0')]], [null, 0.5, real(1), decimal('2.0'), 3]],
  ['sort', [[2n ** 62n, 1, -5]], [-5, 1, 2n ** 62n]],
  ['sort', [[true, false]], [false, true]],
  ['sort', [[date('2026-01-02'), date('2026-01-01')]], [date('2026-01-01'), date('2026-01-02')]],
  ['sort', [['b', 'B', 'a']], ['B', 'a', 'b']],
  ['sort', [[{ b: 1 }, { a: 2 }, { a: 1 }], 'a'], [{ b: 1 }, { a: 1 }, { a: 2 }]],
  [
    'sort',
    [[new Currency('USD', parseDecimal('2')!), new Currency('EUR', parseDecimal('1')!)]],
    { error: 'cascade.lang.currency.mismatch' },
  ],
]);

/** What a call gives and what becomes of the List. */
function mutated(name: string, arr: Value[], ...args: Value[]): [result: Value, arr: Value[]] {
  const list = deepCopy(arr) as Value[];
  return [lookup(name)?.call(testContext(), [list, ...args]) ?? null, list];
}

test.each([
  ['push', [1], [2], true, [1, 2]],
  ['addAll', [1], [[2, 3]], true, [1, 2, 3]],
  ['clear', [1], [], null, []],
  ['flatten', [1, [2, [3]]], [], [1, 2, 3], [1, 2, 3]],
  ['unshift', [1], [2], null, [2, 1]],
  ['remove', [1, 2, 1], [1], true, [2]],
  ['removeElement', [1, 2, 1], [1], true, [2, 1]],
  ['sort', [2, 1], [], [1, 2], [1, 2]],
  ['splice', [3, 1, 2], [1, 1, [9, 8]], [1], [3, 9, 8, 2]],
  ['splice', [3, 1, 2], [-1], [2], [3, 1]],
  ['splice', [3, 1, 2], [1, 0], [], [3, 1, 2]],
] as [string, Value[], Value[], Value, Value[]][])('builtins.md 7: %s mutates its List', (name, arr, args, result, after) => {
  expect(mutated(name, arr, ...args)).toEqual([result, after]);
});

test('sort is stable', () => {
  const rows: Value[] = [
    { k: 1, n: 'a' },
    { k: 0, n: 'b' },
    { k: 1, n: 'c' },
    { k: 0, n: 'd' },
  ];
  expect((mutated('sort', rows, 'k')[1] as { n: string }[]).map(({ n }) => n)).toEqual(['b', 'd', 'a', 'c']);
});

test('a List above 10,000 elements warns and works', () => {
  const context = testContext();
  const list: Value[] = Array.from({ length: 10_000 }, () => 0);
  lookup('push')?.call(context, [list, 1]);
  expect([list.length, context.logged.length]).toEqual([10_001, 1]);
});

test('a List that holds itself is refused, not followed for ever', () => {
  const list: Value[] = [1];
  list.push(list);
  expect(() => lookup('flatten')?.call(testContext(), [list])).toThrow(expect.objectContaining({ code: 'cascade.lang.range' }));
});

test('what goes into a List at a place is copied first where it is the List itself, and gaps are null', () => {
  const list: Value[] = [1, 2];
  lookup('splice')?.call(testContext(), [list, 1, 0, list]);
  expect(list).toEqual([1, 1, 2, 2]);
});
