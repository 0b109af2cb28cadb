import { expect, test } from 'vitest';
import { CascadeError, langError } from '../errors.ts';
import { Binary, MAX_INTEGER, parseCurrency, real, type Value } from '../values/index.ts';
import { lookup, toExceptionObject } from './index.ts';
import { type Case, date, decimal, expectCases, TestSequence, testContext } from './testing/cases.ts';

const PARSE = { error: 'cascade.builtin.parse' };
const AGGREGATE = { error: 'cascade.query.aggregate.value' };
const sequence = new TestSequence([]);

expectCases('builtins.md 8', [
  ['toArray', ['a'], ['a']],
  ['toArray', [null], []],
  ['toArray', [[1]], [1]],
  ['size', [sequence], { error: 'cascade.lang.sequence.operation' }],
  ['sort', [sequence], { error: 'cascade.lang.sequence.operation' }],
]);

test('builtins.md 8: toSequence gives the entries of an Object', () => {
  const elements = (v: Value) => [...(lookup('toSequence')?.call(testContext(), [v]) as TestSequence).elements];
  expect([elements({ a: 1 }), elements([1, 2]), elements(null), elements(5)]).toEqual([[{ key: 'a', value: 1 }], [1, 2], [], [5]]);
});

expectCases('builtins.md 13', [
  ['stringify', [{ b: 1, a: [1, null] }], '{"b":1,"a":[1,null]}'],
  ['stringify', [real(5)], '5.0'],
  ['stringify', [1e-7], '1.0E-7'],
  ['stringify', ['a\n'], '"a\\n"'],
  ['stringify', [null], 'null'],
  ['stringify', [MAX_INTEGER], '9223372036854775807'],
  ['stringify', [[real(Number.NaN), real(Number.POSITIVE_INFINITY)]], '[null,null]'],
  ['stringify', [[decimal('1.50'), parseCurrency('USD:1.0'), date('2026-03-07')]], '["1.50","USD:1.0","2026-03-07T00:00:00.000Z"]'],
  ['stringify', [new Binary(new Uint8Array([0, 255]))], '"AP8="'],
  ['stringify', [() => null], { error: 'cascade.procedure.parameter.type' }],
  ['stringify', [{ a: [1, {}], b: [] }, true], '{\n    "a": [\n        1,\n        {}\n    ],\n    "b": []\n}'],
  ['parse', ['[1,2.0,"x"]'], [1, real(2), 'x']],
  ['parse', ['5'], 5],
  ['parse', ['{a:1}'], PARSE],
  ['parse', [''], PARSE],
  ['parse', ['[1,]'], PARSE],
  ['parse', ['9223372036854775807'], MAX_INTEGER],
  ['parse', ['9223372036854775808'], real(9223372036854775808)],
  ['parse', ['{"a":1,"a":2}'], { a: 2 }],
  ['parse', ['"2026-03-07"'], '2026-03-07'],
  ['parse', ['-0'], 0],
  ['parse', ['1e3'], real(1000)],
  ['encodeUri', ['http://x.org/a b?q=é&r=1#f'], 'http://x.org/a%20b?q=%C3%A9&r=1#f'],
  ['encodeUriComponent', ['a b/c?d=é&e'], 'a%20b%2Fc%3Fd%3D%C3%A9%26e'],
  ['decodeUri', ['a%20b%2Fc'], 'a b%2Fc'],
  ['decodeUriComponent', ['a%20b%2Fc'], 'a b/c'],
  ['decodeUri', ['%zz'], PARSE],
  ['escape', ['<a b="c">&\''], '&lt;a b=&quot;c&quot;&gt;&amp;&#39;'],
]);

test('a parse error tells where', () => {
  expect(() => lookup('parse')?.call(testContext(), ['[1, x]'])).toThrow(expect.objectContaining({ params: ['unexpected character', 4] }));
});

test('stringify refuses a cycle', () => {
  const cycle: Value[] = [];
  cycle.push({ cycle });
  expect(() => lookup('stringify')?.call(testContext(), [cycle])).toThrow(expect.objectContaining({ code: 'cascade.lang.range' }));
});

expectCases('builtins.md 14', [
  ['typeOf', [[]], 'List'],
  ['typeOf', [{}], 'Object'],
  ['typeOf', [real(1)], 'Real'],
  ['typeOf', [1.5], 'Real'],
  ['typeOf', [date('2026-03-07')], 'DateTime'],
  ['typeOf', [172_800_000], 'Integer'],
  ['typeOf', [2n ** 60n], 'Integer'],
  ['typeOf', [null], null],
  ['typeOf', [sequence], 'Sequence'],
  ['typeOf', [new Binary(new Uint8Array())], 'Binary'],
  ['typeOf', [() => null], 'Function'],
  ['threshold', [4, 5, 5, 'increasing'], true],
  ['threshold', [5, 6, 5, 'increasing'], false],
  ['threshold', [6, 4, 5, 'either'], true],
  ['threshold', [6, 4, 5], true],
  ['threshold', [6, 5, 5, 'decreasing'], true],
  ['threshold', [null, 5, 5], false],
  ['threshold', [1, 2, 3, 'sideways'], { error: 'cascade.lang.range' }],
  ['uuid', [], '00000000-0000-4000-8000-000000000000'],
]);

/** The error that a call raises. */
function raised(run: () => unknown): CascadeError {
  try {
    run();
  } catch (error) {
    if (error instanceof CascadeError) return error;
  }
  throw new Error('nothing was raised');
}

test('builtins.md 14: exception formats its message and has status 400', () => {
  const error = raised(() => lookup('exception')?.call(testContext(), ['my.code', 'Only {0} of {1}', [3, 'x']]));
  expect([error.code, error.message, error.params, error.status]).toEqual(['my.code', 'Only 3 of x', [3, 'x'], 400]);
  expect(toExceptionObject(error)).toEqual({ code: 'my.code', message: 'Only 3 of x', params: [3, 'x'], isFormatted: true });
});

test('builtins.md 14: rethrow keeps message and status of what was caught', () => {
  const caught = toExceptionObject(langError('cascade.builtin.timeout', 'regex {0}', 5));
  const error = raised(() => lookup('rethrow')?.call(testContext(), [caught]));
  expect([error.code, error.message, error.status]).toEqual(['cascade.builtin.timeout', 'regex {0} was stopped after 5 ms.', 500]);
});

test('builtins.md 14: params are a List, empty where there are none', () => {
  const params = (...args: Value[]): readonly Value[] => raised(() => lookup('exception')?.call(testContext(), args)).params;
  expect([params('c', 'm'), params('c', 'm', null), params('c', 'm', 5), params('c', null, [5])]).toEqual([[], [], [5], [5]]);
  const message = (given: Value): string => raised(() => lookup('exception')?.call(testContext(), ['c', given, [5]])).message;
  expect([message(null), message({ a: 1 }), message('{0}')]).toEqual(['null', '{"a":1}', '5']);
  expect(raised(() => lookup('rethrow')?.call(testContext(), [{ code: '' }])).params).toEqual(['exception', 'an Object without code']);
  expect(raised(() => lookup('exception')?.call(testContext(), ['', 'm'])).params).toEqual(['code', '']);
});

test('builtins.md 14: rethrow formats an unformatted message', () => {
  const error = raised(() => lookup('rethrow')?.call(testContext(), [{ code: 'c', message: 'n is {0}', params: [1] }]));
  expect(error.message).toBe('n is 1');
  expect(raised(() => lookup('rethrow')?.call(testContext(), [{ message: 'x' }])).code).toBe('cascade.lang.range');
});

expectCases('builtins.md 16', [
  ['avg', [[3, 4, 8]], real(5)],
  ['avg', [[1, 2.5, 5]], 17 / 6],
  ['avg', [[parseCurrency('USD:1')]], AGGREGATE],
  ['avg', [[1, 'a']], AGGREGATE],
  ['avg', [[1, date('1970-01-01')]], AGGREGATE],
  ['avg', [[]], null],
  ['rise', [[3, 9, 4]], 1],
  ['rise', [[1.5, 4]], 2.5],
  ['rise', [[date('1970-01-02'), date('1970-01-01')]], -86_400_000],
  ['rise', [[1, date('1970-01-01')]], AGGREGATE],
  ['rise', [[date('1970-01-01'), 1]], AGGREGATE],
  ['rise', [[1, 'a', 2]], AGGREGATE],
  ...[
    [1, 2.5, 3],
    [9_223_372_036_854_775_806n, 9_223_372_036_854_775_807n],
    ['B', 'a', 'ab'],
    ...[
      [date('2026-01-01'), date('2026-01-02')],
      [decimal('1.5'), decimal('1.50001')],
      [parseCurrency('USD:1'), parseCurrency('USD:2')],
    ],
  ].flatMap((ascending): Case[] => {
    const [least = null] = ascending;
    const most = ascending.at(-1) ?? null;
    const mixed: Value[] = [null, ...ascending.slice(1), least, null];
    return [
      ['min', [mixed], least],
      ['max', [mixed], most],
      ['min', [ascending], least],
      ['max', [ascending.toReversed()], most],
    ];
  }),
  ['max', [[1, 'a']], AGGREGATE],
  ['max', [[decimal('1'), 2]], AGGREGATE],
  ['min', [[parseCurrency('USD:1'), parseCurrency('EUR:2')]], AGGREGATE],
  ['min', [[date('1970-01-01'), 5]], AGGREGATE],
  ['min', [[true]], AGGREGATE],
  ['min', [[null, null]], null],
  ['sum', [[1, 2.5]], 3.5],
  ['sum', [[{ v: 1 }, { v: 2 }], 'v'], 3],
  ['sum', [[decimal('1.50'), decimal('2.25')]], decimal('3.75')],
  ['sum', [[parseCurrency('USD:1.5'), parseCurrency('USD:2')]], parseCurrency('USD:3.5')],
  ['sum', [[date('1970-01-01'), date('1970-01-02')]], 86_400_000],
  ['sum', [[]], null],
  ['sum', [[1, null]], AGGREGATE],
  ['sum', [['a']], AGGREGATE],
  ['sum', [[parseCurrency('USD:1'), parseCurrency('EUR:1')]], AGGREGATE],
  ['max', [[]], null],
  ['max', [[1, null, 7]], 7],
  ['min', [['b', 'a']], 'a'],
  ['min', [[1, 'a']], AGGREGATE],
  ['max', [[{}]], AGGREGATE],
  ['rise', [[2, 9, 4]], 2],
  ['rise', [[5]], 0],
  ['rise', [[date('2026-01-01'), date('2026-01-03')]], 172_800_000],
  ['avg', [[date('2026-01-01'), date('2026-01-03')]], date('2026-01-02')],
  // The mean lies between two milliseconds: it is the earlier one, before 1970, too.
  ['avg', [[date('1970-01-01T00:00:00.001Z'), date('1970-01-01T00:00:00.002Z')]], date('1970-01-01T00:00:00.001Z')],
  ['avg', [[date('1969-12-31T23:59:59.998Z'), date('1969-12-31T23:59:59.999Z')]], date('1969-12-31T23:59:59.998Z')],
  ['avg', [[date('1969-12-31T23:59:59.997Z'), date('1969-12-31T23:59:59.999Z')]], date('1969-12-31T23:59:59.998Z')],
  ['avg', [[decimal('1.0'), decimal('2.0')]], decimal('1.50000')],
  ['count', [[1, null]], 2],
  ['count', [[{ v: 1 }, { v: null }], 'v'], 1],
  ['first', [[null, 1]], null],
  ['last', [[1, 2]], 2],
  ['last', [[]], null],
]);

test.each([
  ['a {} b {}', [1, 'x'], 'a 1 b x'],
  ['{} {}', [1], '1 {}'],
  ['\\{} {}', [1], '{} 1'],
  ['\\\\{}', [1], '\\1'],
  ['{0}', [1], '{0}'],
  ['{}', [{ a: 1 }], '{"a":1}'],
  ['{}', 5, '5'],
  ['{}', null, '{}'],
  [[1], null, '[1]'],
] as [Value, Value, string][])('builtins.md 17: the message %j with %j is %s', (message, args, expected) => {
  const context = testContext();
  expect(lookup('log.info')?.call(context, [message, args])).toBe(null);
  expect(context.logged).toEqual([[20, expected]]);
});

test('builtins.md 17: a long message is cut', () => {
  const context = testContext();
  lookup('log.error')?.call(context, ['x'.repeat(40_000)]);
  expect([context.logged[0]?.[0], context.logged[0]?.[1].length, context.logged[0]?.[1].at(-1)]).toEqual([40, 32_768, '…']);
});
