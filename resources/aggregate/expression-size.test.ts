// Bounds of the result of an expression with small input; ordinary expressions stay below them.
import { expect, test } from 'vitest';
import type { Value } from '../../stdlib/values/index.ts';
import { checkSize } from './expression-size.ts';

function outcome(operator: string, operand: unknown): string {
  try {
    checkSize(operator, operand as Value);
    return 'kept';
  } catch (error) {
    return String((error as { params?: unknown[] }).params?.[0]);
  }
}
const range = (end: unknown): object => ({ $range: [0, end] });
const reduce = (input: unknown, body: unknown): object => ({ input, initialValue: [1], in: body });

test.each([
  ['$range', [0, 100_000], 'kept'],
  ['$range', [10, 0, -1], 'kept'],
  ['$range', [0, { $size: '$items' }], 'kept'],
  ['$range', [0, 2_000_000_000], 'range'],
  ['$range', [0, '$count'], 'range'],
  ['$range', ['$from', 5], 'range'],
  ['$range', [0, 5, 0], 'range'],
  ['$range', [0, 5, 0.00001], 'range'],
  ['$map', { input: '$items', in: { $multiply: ['$$this', 2] } }, 'kept'],
  ['$map', { input: range(1000), in: { $map: { input: range(1000), in: 1 } } }, 'kept'],
  ['$map', { input: range(10_000), in: { $map: { input: range(1000), in: 1 } } }, 'iterations'],
  ['$map', { input: { $filter: { input: range(100_000), cond: true } }, in: { $map: { input: range(100), in: 1 } } }, 'iterations'],
  ['$filter', { input: range(100_000), cond: { $in: [1, { $map: { input: range(100), in: 1 } }] } }, 'iterations'],
  ['$reduce', reduce('$items', { $add: ['$$value', '$$this'] }), 'kept'],
  ['$reduce', reduce('$items', { $concatArrays: ['$$value', ['$$this']] }), 'kept'],
  ['$reduce', reduce('$items', { $cond: [{ $in: ['$$this', '$$value'] }, '$$value', { $concatArrays: ['$$value', ['$$this']] }] }), 'kept'],
  ['$reduce', reduce('$items', { sum: { $add: ['$$value.sum', 1] }, last: '$$value.last', first: '$$value.first' }), 'kept'],
  ['$reduce', reduce(range(40), { $concatArrays: ['$$value', '$$value'] }), 'growth'],
  ['$reduce', reduce(range(40), { $concat: ['$$value', { $toLower: 'x' }, '$$value'] }), 'growth'],
  ['$reduce', reduce(range(40), { a: '$$value', b: '$$value' }), 'growth'],
  ['$reduce', reduce(range(40), { a: { x: '$$value.a', y: '$$value.a' } }), 'growth'],
  ['$reduce', reduce(range(40), { $let: { vars: { a: '$$value' }, in: { $concatArrays: ['$$a', '$$a'] } } }), 'growth'],
  ['$reduce', reduce(range(40), { $reduce: { input: { $map: { input: [1, 2], in: '$$value' } }, initialValue: [], in: 1 } }), 'growth'],
  ['$reduce', reduce(range(40), { $let: { vars: { a: { $add: ['$$value.n', 1] } }, in: { n: '$$a' } } }), 'kept'],
  [
    '$reduce',
    reduce('$lists', { $concatArrays: ['$$value', { $reduce: reduce('$$this', { $concatArrays: ['$$value', ['$$this']] }) }] }),
    'kept',
  ],
  ['$reduce', reduce(range(40), { $cond: [true, { $concatArrays: ['$$value', '$$value'] }, 1] }), 'growth'],
  ['$reduce', reduce(range(50_000), { $concatArrays: ['$$value', [1]] }), 'growth'],
])('%s of %j is %s', (operator, operand, expected) => {
  expect(outcome(operator, operand)).toBe(expected);
});
