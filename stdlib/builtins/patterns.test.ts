import { expect, test } from 'vitest';
import { eq } from '../operators/index.ts';
import { Pattern, real } from '../values/index.ts';
import { lookup, type Matcher } from './index.ts';
import { expectCases, testContext } from './testing/cases.ts';

const PATTERN = { error: 'cascade.builtin.pattern' };

expectCases('builtins.md 2', [
  ['match', ['a1b22c', new Pattern('\\d+')], ['1', '22']],
  ['match', ['ab', '\\d'], null],
  ['matches', ['abc', '[a-c]+'], true],
  ['matches', ['abcd', '[a-c]+'], false],
  ['search', ['a1b', '\\d'], 1],
  ['search', ['x', 'q'], -1],
  ['search', ['😀x', 'x'], 2],
  ['replace', ['a.b.c', '\\.', '-'], 'a-b-c'],
  ['replace', ['k=1', '(\\w)=(\\d)', '$2=$1'], '1=k'],
  ['replace', ['a', 'a', '\\$'], '$'],
  ['replace', ['a', 'a', '<$0>'], '<a>'],
  ['replace', ['a', 'a', '$x'], PATTERN],
  ['replace', ['a', 'a', 'x\\'], PATTERN],
  ['replace', ['a', 'a', '$1'], PATTERN],
  ['replace', ['a1a', 'a', real(5)], '5.015.0'],
  ['replace', ['a', 'a', true], { error: 'cascade.procedure.parameter.type' }],
  ['split', ['a,b,,c,,', ','], ['a', 'b', '', 'c', '', '']],
  ['split', ['a,b,c', ',', 2], ['a', 'b']],
  ['split', ['a,b,c', ',', 0], []],
  ['split', ['a,b,c', ',', -1], ['a', 'b', 'c']],
  ['split', ['', ','], ['']],
  ['split', ['1.2', '\\.'], ['1', '2']],
  ['split', ['abc', ''], ['a', 'b', 'c']],
  ['split', ['a1b', '(\\d)'], ['a', 'b']],
]);

expectCases('builtins.md 4', [
  ['regExp', ['('], PATTERN],
  ['matches', ['ABC', '(?i)abc'], true],
  ['matches', ['a\nb', '(?s)a.b'], true],
  ['search', ['a\nb', '(?m)^b'], 2],
  ['matches', ['ab', '(?x) a  b # both'], true],
  ['matches', ['AB', '(?ix) a b'], true],
  ['matches', ['A', '\\u0041'], true],
  ['matches', ['😀', '\\uD83D\\uDE00'], true],
  ['matches', ['é', '\\p{L}'], true],
  ['matches', ['é', '\\p{Alpha}'], false],
  ['matches', ['e', '[\\p{Alpha}\\p{Digit}]'], true],
  ['matches', ['e1', '\\P{Digit}\\p{XDigit}'], true],
  ['matches', ['a.b', '\\Qa.b\\E'], true],
  ['matches', ['axb', '\\Qa.b\\E'], false],
  ['matches', ['a]', '[\\Qa]\\E]+'], true],
  ['matches', ['aaa', 'a*+'], true],
  ['matches', ['aab', 'a{2}+b'], true],
  ['match', ['ab cb', '(?<=a)b'], ['b']],
  ['match', ['ab cb', '(?<n>c)b'], ['cb']],
  ['matches', ['b&', '[a&&b]+'], PATTERN],
  ['matches', ['abab', '(ab)\\1'], true],
  ['matches', ['abac', '(ab)\\1'], false],
  ['match', ['foobar foobaz', 'foo(?=bar)'], ['foo']],
  ['search', ['foobar foobaz', 'foo(?!bar)'], 7],
  ['match', ['xbar ybar', '(?<!x)bar'], ['bar']],
  ['replace', ['1234567', '(?<=\\d)(?=(?:\\d{3})+$)', ','], '1,234,567'],
  ['match', ['aa bb cd', '(?<c>\\w)\\k<c>'], ['aa', 'bb']],
  ['matches', ['aXA', '(?i)(a)x\\1'], true],
  ['matches', ['aaa', 'a*+a'], false],
  ['matches', ['aaab', '(?>a+)b'], true],
  ['matches', ['😀😀', '(.)\\1'], true],
  ['matches', ['xé', '(?=x)[\\p{L}&]{2}'], true],
  ['matches', ['x.', '(?=x)x\\Q.\\E'], true],
  ['split', ['aXbXc', '(?<=X)'], ['aX', 'bX', 'c']],
  ['split', ['fooBarBaz', '(?=[A-Z])'], ['foo', 'Bar', 'Baz']],
  ['matches', ['b', '(a)?\\1b'], false],
  ['matches', ['', '(?:a*)*(?=)'], true],
  ['matches', [`${'a'.repeat(40)}!`, '(a+)+(?=b)'], { error: 'cascade.builtin.timeout' }],
  ['matches', ['a', '(a)\\2'], PATTERN],
  ['matches', ['a', '\\k<n>'], PATTERN],
  ['matches', ['a', '(?=a'], PATTERN],
  ['matches', ['a', '(?=a))'], PATTERN],
  ['matches', ['a', '(?=a)[z'], PATTERN],
  ['matches', ['a', '(?=a)\\y'], PATTERN],
  ['matches', ['a', '(?=a)[b-a]'], PATTERN],
  ['matches', ['a', 'a{2,1}(?=b)'], PATTERN],
  ['matches', ['a', '\\u00zz'], PATTERN],
  ['matches', ['a', '\\'], PATTERN],
  ['matches', [']', '[]]'], true],
]);

const STOPPED = [`${'a'.repeat(40)}!`, '(a+)+(?=b)'] as const;
const stopped = (name: string) => ({ error: 'cascade.builtin.timeout', params: [name, 1000] });

expectCases('builtins.md 4, without an answer in time', [
  ['match', STOPPED, stopped('match')],
  ['matches', STOPPED, stopped('matches')],
  ['search', STOPPED, stopped('search')],
  ['replace', [...STOPPED, 'x'], stopped('replace')],
  ['split', STOPPED, stopped('split')],
  ['matcher', [new Pattern(STOPPED[1]), STOPPED[0]], stopped('matcher')],
]);

test('builtins.md 4: a matcher is indexed by match and group', () => {
  const matcher = lookup('matcher')?.callMethod(testContext(), [new Pattern('(\\w)=(\\d)?'), 'a=1,b=']) as Matcher;
  expect([matcher.size, matcher.at(0), matcher.at(1), matcher.at(2)]).toEqual([2, ['a=1', 'a', '1'], ['b=', 'b', null], null]);
});

test('builtins.md 4: find moves on with each call', () => {
  const context = testContext();
  const matcher = lookup('matcher')?.callMethod(context, [new Pattern('a'), 'aba']) as Matcher;
  const find = () => lookup('find')?.callMethod(context, [matcher]);
  expect([find(), find(), find()]).toEqual([true, true, false]);
  expect(lookup('matches')?.callMethod(context, [matcher])).toBe(false);
});

test('language.md 4.7: a matcher is equal to itself, a pattern to those of the same text', () => {
  const matcher = () => lookup('matcher')?.callMethod(testContext(), [new Pattern('a'), 'a']) as Matcher;
  const one = matcher();
  expect([eq(one, one), eq(one, matcher()), eq(new Pattern('a'), new Pattern('a')), eq(new Pattern('a'), new Pattern('b'))]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test('a pattern that backtracking engines die of takes linear time', () => {
  const text = 'a'.repeat(5000);
  expect(lookup('matches')?.call(testContext(), [`${text}!`, '(a+)+'])).toBe(false);
});
