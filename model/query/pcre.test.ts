// What a pattern of RE2 is for PCRE. That both find the same is held where there is a store (pattern.test.ts).
import { expect, test } from 'vitest';
import { toPcre } from './pcre.ts';

test.each([
  ['^a$', '\\Aa\\z'],
  ['(?m)^a$', '(?<![^\\n])a(?![^\\n])'],
  ['(?m:^b)|^x', '(?:(?<![^\\n])b)|\\Ax'],
  ['(?m)^(?-m)a$', '(?<![^\\n])a\\z'],
  ['(?m)((?-m)a$)b$', '(a\\z)b(?![^\\n])'],
  ['(?m:a)$', '(?:a)\\z'],
  ['(?ms-i:a)', '(?s-i:a)'],
  ['(?im-s)A$', '(?i-s)A(?![^\\n])'],
])('the ends of lines: %s', (source, pcre) => {
  expect(toPcre(source)).toBe(pcre);
});

test.each([
  ['^*', '(?:\\A)*'],
  ['$+', '(?:\\z)+'],
  ['\\A?', '(?:\\A)?'],
  ['\\z{2}', '(?:\\z){2}'],
  ['\\b*', '(?:\\b)*'],
  ['\\B+', '(?:\\B)+'],
  ['\\d*', '\\d*'],
  ['\\ba', '\\ba'],
])('an anchor is not repeated, a group around one is: %s', (source, pcre) => {
  expect(toPcre(source)).toBe(pcre);
});

test.each([
  ['a\\sb\\S', 'a[\\t\\n\\f\\r ]b[^\\t\\n\\f\\r ]'],
  ['[\\s]', '[\\t\\n\\f\\r ]'],
  ['[^\\S]', '[^\\x00-\\x08\\x0b\\x0e-\\x1f!-\\x{10ffff}]'],
  ['\\v', '\\x0b'],
  ['\\0', '\\x{0}'],
  ['\\101x', '\\x{41}x'],
  ['\\x{1f600}\\x61', '\\x{1f600}\\x61'],
  ['\\p{Lu}\\pL', '\\p{Lu}\\pL'],
  ['a\u0000', 'a\\x00'],
  ['[\u0000-a]', '[\\x00-a]'],
])('letters in other words: %s', (source, pcre) => {
  expect(toPcre(source)).toBe(pcre);
});

test.each([
  ['a[[]b', 'a[\\[]b'],
  ['a[]x]b', 'a[\\]x]b'],
  ['[^]]', '[^\\]]'],
  ['[a\\]b]', '[a\\]b]'],
  ['[x[:space:][:^alpha:]]', '[x[:space:][:^alpha:]]'],
  ['a{,2}', 'a\\{,2}'],
  ['a{b', 'a\\{b'],
  ['a{2}{1,}{1,3}', 'a{2}{1,}{1,3}'],
  ['(?P<x>a)(?<y>b)', '(a)(b)'],
])('brackets and names: %s', (source, pcre) => {
  expect(toPcre(source)).toBe(pcre);
});

test.each(['(?i)\\p{Lu}', '(?i:a\\p{Ll})', '(?i)[[:upper:]]', '(?i)[\\p{Lt}]', 'a(?m)*', 'a(?s){2}', '(?<!a)b', '(?=a)'])(
  'the engines differ: %s',
  (source) => {
    expect(toPcre(source)).toBeNull();
  },
);

test('case counts again behind the group that turned it off', () => {
  for (const source of ['(?i:a)\\p{Lu}', '(?i)(?-i)\\p{Lu}', '((?i)a)[[:upper:]]']) expect(toPcre(source)).toBe(source);
});

test('flags with a quantifier elsewhere are kept', () => {
  expect(toPcre('a*(?i)b')).toBe('a*(?i)b');
});
