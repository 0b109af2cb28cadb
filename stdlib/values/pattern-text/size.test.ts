import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { instructionsIn } from './size.ts';

/** Instructions of every program: where it fails, where it matches, and nothing. */
const FRAME = 3;

const PIECES = ['a', '.', '[ab]', '[^]a]', '[\\]{2}]', '[[:alpha:]x]', '\\d', '\\p{Lu}', '\\x{41}', '^', '$', '\\b', '\\{9}', '|', ''];
const REPEATED = ['', '*', '+?', '?', '{3}', '{0}', '{2,}', '{1,4}', '{0,7}?'];
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc
    .array(
      fc.oneof(
        { depthSize: 'small' },
        fc.tuple(fc.constantFrom('a', '.', '[ab]', '[\\]{2}]', '\\p{Lu}'), fc.constantFrom(...REPEATED)).map((parts) => parts.join('')),
        fc.constantFrom(...PIECES),
        fc
          .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?P<n>'), tie('pattern'), fc.constantFrom(...REPEATED))
          .map(([open, inner, times]) => `${open}${inner})${times}`),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join('')),
}));

test('it is not below the size of the program', () => {
  fc.assert(
    fc.property(pattern, (source) => {
      let size: number;
      try {
        size = RE2JS.compile(source).programSize();
      } catch {
        return; // no pattern of this engine
      }
      expect(instructionsIn(source) + FRAME).toBeGreaterThanOrEqual(size);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['abc', 3],
  ['(?:a{10}){10}', 2_000],
  ['[a{9}]{2}', 10],
  ['\\p{Lu}', 1],
  ['(((((((a+)+)+)+)+)+)+)+', 50],
])('%s comes to %d at most', (source, most) => {
  expect(instructionsIn(source)).toBeLessThanOrEqual(most);
});

test('counts in counts are as much as they look', () => {
  expect(instructionsIn(`${'(?:'.repeat(200)}a${'){1000}'.repeat(200)}`)).toBeGreaterThan(1e9);
});
