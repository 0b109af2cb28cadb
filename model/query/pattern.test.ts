// One pattern, two engines: RE2 in memory and PCRE in the store say the same of every text.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestCollection, type TestCollection } from './testing/collection.ts';
import { Pattern } from './pattern.ts';
import { typeOf } from './testing.ts';

const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'b\n',
  'a\nb',
  '\n',
  '\na',
  'a b',
  'a\tb',
  'a\u000bb',
  'a\u00a0b',
  'a[b',
  'a]b',
  'a{b',
  'a{,2}',
  'aa',
  'é',
  'É',
  '\u{1f600}',
  'x\u{1f600}y',
  'a\u0000b',
  '10',
  'foo.bar',
  'foo-bar',
  '\u2028',
  'k',
  '#',
];

let store: TestCollection | null = null;
beforeAll(async () => {
  store = await openTestCollection('conditions_pattern');
  await store?.fill(
    typeOf('Text', { s: 'String' }),
    TEXTS.map((s) => ({ s })),
  );
});
afterAll(() => store?.[Symbol.asyncDispose]());

async function expectSame(source: string, options: string): Promise<void> {
  const pattern = Pattern.parse(source, options);
  if (!pattern || !store) return;
  const expected = TEXTS.flatMap((text, place) => (pattern.search(text) ? [place] : []));
  expect(await store.find({ s: { $regex: pattern.pcre } }), `/${source}/${options} as ${pattern.pcre}`).toEqual(expected);
}

const KNOWN = [
  'b$',
  '^b',
  '^$',
  '(?m)^a',
  '(?m)b$',
  '(?m:^b)|^x',
  '(?m)^(?-m)a$',
  '(?im-s)A$',
  'a\\sb',
  'a\\Sb',
  'a[\\s]b',
  'a[^\\S]b',
  '[\\S]',
  'a\\vb',
  '\\x{1f600}',
  '\\x61',
  '\\0',
  'a\u0000',
  '[\u0000-a]',
  'a[[]b',
  'a[]]b',
  '[^]]',
  '[[:space:]]',
  '[[:^alpha:]]',
  'a{,2}',
  'a{b',
  'a{2}',
  'a{1,}',
  '\\Qa{,2}\\E',
  'foo\\.bar',
  'foo.bar',
  '(?i)É',
  '(?i)k',
  '\\pL',
  '\\p{Lu}',
  '\\PL',
  '.',
  '^.$',
  '(?s)^.$',
  '(?P<x>a)(?<y>b)',
  '\\bb\\b',
  '\\Bb',
  '\\z',
  '\\Aa',
  '(a|b)+?$',
  'a#b',
  '[#]',
  '\\u00e9',
];

test.each(KNOWN)('%s', async (source) => {
  expect(Pattern.parse(source, ''), 'is of the common syntax').not.toBeNull();
  for (const options of ['', 'i', 'm', 's', 'x', 'ims']) await expectSame(source, options);
});

test('random patterns of the pieces that differ between the engines', async (context) => {
  if (!store) return context.skip('CASCADE_TEST_MONGO is not set');
  const piece = fc.constantFrom(
    'a',
    'b',
    '^',
    '$',
    '.',
    '\\s',
    '\\n',
    '[^a]',
    '(?m)',
    '(?s)',
    '(?-m)',
    '(?:a|$)',
    '(?m:^b$)',
    '|',
    '{',
    ' ',
    '\\d',
    '[\\S\\n]',
    '(a)?',
  );
  const quantified = fc.tuple(piece, fc.constantFrom('', '', '', '*', '+?', '{1,2}')).map(([text, quantifier]) => text + quantifier);
  await fc.assert(
    fc.asyncProperty(fc.array(quantified, { maxLength: 5 }), fc.constantFrom('', 'm', 's', 'im', 'x'), (pieces, options) =>
      expectSame(pieces.join(''), options),
    ),
    { numRuns: Number(process.env.CASCADE_PATTERN_RUNS ?? 200) },
  );
});

test.each(['(?i)\\p{Lu}', '(?i)[\\p{Ll}]', '(?i)[[:upper:]]', 'a(?m)*', '(?<!a)b', '\\141', 'a*+b', '[a&&b]'])(
  '%s is not of the common syntax',
  (source) => expect(Pattern.parse(source, '')).toBeNull(),
);

test.each([
  ['^abc', 'abc'],
  ['^a\\.b-', 'a.b-'],
  ['^abc*', 'ab'],
  ['^ab{2}', 'a'],
  ['^ab(c|d)', ''],
  ['abc', ''],
  ['^[a]', ''],
  ['^ab$', 'ab'],
])('every match of %s begins with %j', (source, prefix) => expect(Pattern.parse(source, '')?.prefix).toBe(prefix));

test('a pattern that would take for ever in a backtracking engine is quick in memory', () => {
  expect(Pattern.parse('(a+)+$', '')?.search(`${'a'.repeat(5_000)}b`)).toBe(false);
});
