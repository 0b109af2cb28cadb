import { expect, test } from 'vitest';
import { DateTime, MAX_INTEGER, MIN_INTEGER, parseCurrency, Real, real } from '../values/index.ts';
import { lookup } from './index.ts';
import { decimal, expectCases, testContext } from './testing/cases.ts';

const CONVERSION = { error: 'cascade.lang.conversion' };
const OVERFLOW = { error: 'cascade.lang.arithmetic.overflow' };
const TYPE = { error: 'cascade.procedure.parameter.type' };
const NULL = { error: 'cascade.lang.null' };
const RANGE = { error: 'cascade.lang.range' };

expectCases('builtins.md 5.1', [
  ['toInteger', ['42'], 42],
  ['toInteger', ['-7'], -7],
  ['toInteger', ['+7'], 7],
  ['toInteger', ['4.2'], CONVERSION],
  ['toInteger', [''], CONVERSION],
  ['toInteger', ['12ab'], CONVERSION],
  ['toInteger', [' 4 '], 4],
  ['toInteger', ['9223372036854775807'], MAX_INTEGER],
  ['toInteger', ['9223372036854775808'], OVERFLOW],
  ['toInteger', [-3.9], -3],
  ['toInteger', [-0.5], 0],
  ['toInteger', [real(Number.NaN)], OVERFLOW],
  ['toInteger', [real(1e300)], OVERFLOW],
  ['toInteger', [decimal('-3.99')], -3],
  ['toInteger', [new DateTime(1500)], 1500],
  ['toInteger', [true], TYPE],
  ['toInteger', [null], NULL],
  ['parseInt', ['42'], 42],
  ['toInteger', [decimal('9223372036854775808')], OVERFLOW],
  ['toReal', ['1e999'], CONVERSION],
  ['toReal', ['1e3'], real(1000)],
  ['toReal', ['.5'], 0.5],
  ['toReal', [3], real(3)],
  ['toReal', [decimal('2.50')], 2.5],
  ['toReal', [parseCurrency('USD:2.5')], 2.5],
  ['toReal', ['x'], CONVERSION],
  ['toReal', ['NaN'], CONVERSION],
  ['toReal', ['Infinity'], CONVERSION],
  ['toReal', ['0x10'], CONVERSION],
  ['parseFloat', ['1.5'], 1.5],
  ['toDecimal', ['12.345', 2], decimal('12.35')],
  ['toDecimal', ['12.5'], decimal('13')],
  ['toDecimal', ['-12.5'], decimal('-13')],
  ['toDecimal', [2.675, 2], decimal('2.68')],
  ['toDecimal', ['1e3', 2], decimal('1000.00')],
  ['toDecimal', [{ value: '1.5' }, 1], decimal('1.5')],
  ['toDecimal', [decimal('1.005'), 2], decimal('1.01')],
  ['toDecimal', [parseCurrency('USD:1.5'), 1], decimal('1.5')],
  ['toDecimal', [{ value: decimal('2.25') }, 1], decimal('2.3')],
  ['toCurrency', [parseCurrency('USD:2.25'), 1], parseCurrency('USD:2.3')],
  ['toBoolean', [decimal('1')], CONVERSION],
  ['toBoolean', [1], true],
  ['toBoolean', [real(0)], false],
  ['toBoolean', [2], CONVERSION],
  ['equals', [decimal('1.0'), decimal('1.0')], true],
  ['equals', [decimal('1.0'), decimal('1.00')], false],
  ['equals', [real(1), 1], false],
  ['equals', [real(1), real(1)], true],
  ['equals', [1.5, 1.5], true],
  ['equals', [1.5, 2.5], false],
  ['equals', [5, 5], true],
  ['equals', [5, '5'], false],
  ['toDecimal', [{ x: 1 }], CONVERSION],
  ['toDecimal', ['a'], CONVERSION],
  ['toDecimal', ['1', -1], RANGE],
  ['toDecimal', ['1', 101], RANGE],
  ['toDecimal', ['1e1000'], OVERFLOW],
  ['toDecimal', ['1e99999999'], OVERFLOW],
  ['toDecimal', [real(Number.NaN)], CONVERSION],
  ['toCurrency', ['USD:12.5'], parseCurrency('USD:12.5000')],
  ['toCurrency', ['EUR:1.005', 2], parseCurrency('EUR:1.01')],
  ['toCurrency', [{ code: 'EUR', value: 2 }, 1], parseCurrency('EUR:2.0')],
  ['toCurrency', ['12.5'], CONVERSION],
  ['toCurrency', [12], CONVERSION],
  ['toCurrency', ['usd:1'], CONVERSION],
  ['toBoolean', ['TRUE'], true],
  ['toBoolean', ['yes'], false],
  ['toBoolean', [0], false],
  ['toBoolean', [real(1)], true],
  ['toBoolean', [2], CONVERSION],
  ['toBoolean', [false], false],
  ['toString', [decimal('3.00')], '3.00'],
  ['toObject', [{ a: 1 }], { a: 1 }],
  ['toObject', ['a'], CONVERSION],
]);

expectCases('builtins.md 5.2', [
  ['range', [1, 2, 0], RANGE],
  ['range', [1, 2.5], TYPE],
  ['intValue', [2.9], 2],
  ['longValue', [-2.9], -2],
  ['doubleValue', [2], real(2)],
  ['equals', [1, 1], true],
  ['equals', [1, '1'], false],
  ['equals', [1, real(1)], false],
]);

test('builtins.md 5.2: range counts up, down, and not at all', () => {
  const elements = (...args: number[]) => [
    ...(lookup('range')?.call(testContext(), args) as unknown as { elements: Iterable<number> }).elements,
  ];
  expect([elements(1, 10, 3), elements(3, 0, -1), elements(5, 5, 1), elements(0, 2)]).toEqual([[1, 4, 7], [3, 2, 1], [], [0, 1]]);
});

expectCases('builtins.md 15', [
  ['Math.abs', [-5], 5],
  ['Math.abs', [-1.5], 1.5],
  ['Math.abs', [decimal('-1.50')], decimal('1.50')],
  ['Math.abs', [parseCurrency('USD:-1')], parseCurrency('USD:1')],
  ['Math.abs', [MIN_INTEGER], OVERFLOW],
  ['Math.abs', ['1'], TYPE],
  ['Math.abs', [null], NULL],
  ['Math.ceil', [1.2], real(2)],
  ['Math.floor', [-2.5], real(-3)],
  ['Math.floor', [7], 7],
  ['Math.round', [2.5], real(3)],
  ['Math.round', [-2.5], real(-2)],
  ['Math.round', [1.4999], real(1)],
  ['Math.round', [3], real(3)],
  ['Math.max', [2, 7], 7],
  ['Math.max', [2, real(7)], TYPE],
  ['Math.max', [2n ** 62n, 1], 2n ** 62n],
  ['Math.min', [new DateTime(5), new DateTime(4)], new DateTime(4)],
  ['Math.min', [parseCurrency('USD:1'), parseCurrency('EUR:1')], { error: 'cascade.procedure.parameter.type' }],
  ['Math.sqrt', [2], 1.4142135623730951],
  ['Math.sqrt', [-1], new Real(Number.NaN)],
  ['Math.sqrt', [decimal('2.25')], 1.5],
  ['Math.pow', [2, 10], real(1024)],
  ['Math.exp', [1], 2.718281828459045],
  ['Math.log', [10], 2.302585092994046],
  ['Math.log', [0], real(Number.NEGATIVE_INFINITY)],
  ['Math.log2', [8], real(3)],
  ['Math.log10', [1000], real(3)],
  ['Math.sin', [Math.PI / 2], real(1)],
  ['Math.cos', [Math.PI / 2], 6.123233995736766e-17],
  ['Math.tan', [0], real(0)],
  ['Math.acos', [1], real(0)],
  ['Math.asin', [1], 1.5707963267948966],
  ['Math.atan', [1], 0.7853981633974483],
  ['Math.atan2', [1, -1], 2.356194490192345],
  ['Math.random', [3, 3], 3],
  ['Math.random', [4, 3], RANGE],
  ['Math.random', [1.5, 3], TYPE],
  ['Math.randomReal', [], 0.5],
  ['Math.PI', [], 3.141592653589793],
  ['Math.LN10', [], 2.302585092994046],
]);

test('Math.random gives both ends', () => {
  const roll = (dice: number) => lookup('Math.random')?.call(testContext(dice), [1, 6]);
  expect([roll(0), roll(0.9999999)]).toEqual([1, 6]);
});
