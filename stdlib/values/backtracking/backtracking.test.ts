import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Backtracking } from './index.ts';

const found = (pattern: string, text: string): (string | null)[][] => {
  const match = new Backtracking(pattern).matcher(text, { left: 200_000, of: 'test' });
  const all: (string | null)[][] = [];
  while (match.find()) all.push(Array.from({ length: match.groupCount() + 1 }, (_, i) => match.group(i)));
  return all;
};

// Without groups inside repetitions, of which JavaScript forgets the last turn, and without references to groups that took no part.
const PIECES = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '(?=a)',
  '(?!b)',
  '(?<=a)',
  '(?<!b)',
  '(?<=ab?)',
  '\\b',
  '(?:ab|a)',
  '(?:b|)',
  '^',
  '$',
];
const quantified = fc
  .tuple(fc.constantFrom(...PIECES.slice(0, 6), '(?:ab|a)', '(?:b|)'), fc.constantFrom('', '*', '+', '?', '*?', '+?', '{1,2}', '{2}?'))
  .map((parts) => parts.join(''));
const pattern = fc
  .tuple(fc.array(fc.oneof(fc.constantFrom(...PIECES), quantified), { minLength: 1, maxLength: 5 }), fc.boolean())
  .map(([parts, refers]) => (refers ? `(${parts.join('')})\\1` : parts.join('')));

test('it finds what the engine of JavaScript finds', () => {
  fc.assert(
    fc.property(pattern, fc.array(fc.constantFrom('a', 'b', 'c', 'é')), (source, parts) => {
      const text = parts.join('');
      expect(found(source, text)).toEqual([...text.matchAll(new RegExp(source, 'gu'))].map((match) => [...match]));
    }),
    { numRuns: 400 },
  );
});

test('what JavaScript does not read alike: quotes, flags, references', () => {
  const table: [pattern: string, text: string, found: string[]][] = [
    ['(?=[a\\]])[\\Qa]\\E]+', 'a]b]', ['a]', ']']],
    ['(?=.)[^\\Qa]\\E]', 'a]b', ['b']],
    ['(?=.)[\\Qab', 'a', []],
    ['(?=x)x\\Q.*', 'x.*', ['x.*']],
    ['(?=.)[]a]+', ']a', [']a']],
    ['(?=.)[^]a]+', ']ab', ['b']],
    ['(?=.)[[:alpha:]]+', 'ab1', ['ab']],
    ['(?=.)[\\]a]+', ']a', [']a']],
    ['(?m)^(?=b)b$', 'a\nb\nb', ['b', 'b']],
    ['^(?=b)b', 'a\nb', []],
    ['(?=b)b$', 'b\nb', ['b']],
    ['(?s)(?=a)a.b', 'a\nb', ['a\nb']],
    ['(?=a)a.b', 'a\nb', []],
    ['(?i)(?=a)äA', 'Äa äa', []],
    ['(?i)(?=ä)äA', 'Äa äa', ['Äa', 'äa']],
    ['(?x)(?=a) a b # to the end\n c', 'abc', ['abc']],
    ['(?x)(?=a) a [ b] #', 'ab', ['ab']],
    ['(?i)(?=A)[a-b]+', 'aB', ['aB']],
    ['(?i:(?=A)a)b', 'Ab AB', ['Ab']],
    ['(?i)a(?-i)b(?=c)', 'Abc ABc', ['Ab']],
    ['(?=a)a{2,}', 'aaaa a', ['aaaa']],
    ['(?=a)a{2,3}?', 'aaaa', ['aa', 'aa']],
    ['(?<=(?:a|bc))d', 'ad bcd cd', ['d', 'd']],
    ['(?<=(?>ab?))d', 'ad abd d', ['d', 'd']],
    ['(?<=(a)\\1)d', 'aad ad', ['d']],
    ['(a)?(?:b\\1|c)(?=d)', 'abad cd', ['aba', 'c']],
    ['(?=[^a])\\B.', 'ab ', ['b']],
    ['\\A(?=a)a|b\\z(?<=b)', 'aab b', ['a', 'b']],
    ['(a)\\12', 'aa2', ['aa2']],
    ['(a)\\1', 'aa2', ['aa']],
    ['(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)(l)\\12', 'abcdefghijkll2', ['abcdefghijkll']],
  ];
  const read = (source: string, text: string): unknown => {
    try {
      return found(source, text).map(([whole]) => whole);
    } catch (error) {
      return (error as { code: string }).code === 'cascade.builtin.pattern' ? [] : error;
    }
  };
  expect(table.map(([source, text]) => [source, text, read(source, text)])).toEqual(table);
});

test('its steps are bounded, not its time', () => {
  const patience = { left: 1000, of: 'matches' };
  expect(() => new Backtracking('(?:a|a)*(?=b)c').matches('a'.repeat(30), patience)).toThrow(
    expect.objectContaining({ code: 'cascade.builtin.timeout', params: ['matches', 1000] }) as Error,
  );
});

test('repetitions of nothing are not written out, however deep they are nested', () => {
  expect(found(`(?=a)${'(?:'.repeat(9)}${'){1000}'.repeat(9)}a`, 'ba')).toEqual([['a']]);
});

test('groups that come to nothing count where they are repeated beside something', () => {
  const repeated = `(?=a)(?:(?:${'(?:)'.repeat(1_000)}a){300}){300}`;
  expect(() => new Backtracking(repeated)).toThrow(expect.objectContaining({ params: [repeated, repeated.length] }) as Error);
});

test('where a match is tried costs for its groups, too', () => {
  const patience = { left: 200_000, of: 'search' };
  expect(new Backtracking(`b(?=c)${'()'.repeat(800)}`).matcher('a'.repeat(1_000), patience).find()).toBe(false);
  expect(patience.left).toBeLessThan(100_000);
});

test('an error has the offset of what is wrong', () => {
  const wrong = [
    'a(?=b',
    '(a)\\2',
    'ab\\k<x>',
    'a(?=b)[c',
    'a(?=b)**',
    '(?=a)(?%b)',
    '(?<n>a)(?<n>b)(?=c)',
    'a{3,2}(?=c)',
    '(?=a)\\y',
    'x(?=a))',
  ];
  const offsets = wrong.map((source) => {
    try {
      new Backtracking(source);
      return null;
    } catch (error) {
      return (error as { params: unknown[] }).params[1];
    }
  });
  expect(offsets).toEqual([1, 3, 2, 6, 7, 5, 7, 1, 5, 6]);
});
