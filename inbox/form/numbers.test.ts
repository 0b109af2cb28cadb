import { expect, test } from 'vitest';
import { numberIn } from './numbers.ts';

test.each<[string, string, number | bigint | null]>([
  ['42', 'en-GB', 42],
  ['-1,5', 'en-GB', -1.5],
  ['-1,5', 'de-DE', -1.5],
  ['1.5', 'de-DE', 1.5],
  ['٤٢', 'ar-EG', 42],
  ['٤٫٥', 'ar-EG', 4.5],
  ['۱۲٫۵', 'fa-IR', 12.5],
  ['\u061c\u2212٣', 'ar-EG', -3],
  ['\u221210', 'sv-SE', -10],
  ['1e3', 'en-GB', 1_000],
  ['.5', 'en-GB', 0.5],
  ['100.000', 'en-GB', 100],
  ['9007199254740991', 'en-GB', 9_007_199_254_740_991],
  ['9007199254740993', 'en-GB', 9_007_199_254_740_993n],
  ['+9223372036854775807', 'en-GB', 9_223_372_036_854_775_807n],
  ['-٩٠٠٧١٩٩٢٥٤٧٤٠٩٩٣', 'ar-EG', -9_007_199_254_740_993n],
  // A thousand times as much to one reader as to another.
  ['1,234', 'en-GB', null],
  ['1,234,567', 'en-GB', null],
  ['1,234', 'de-DE', 1.234],
  ['0,125', 'en-GB', 0.125],
  ['1.234,5', 'de-DE', null],
  ['-', 'en-GB', null],
  ['0x10', 'en-GB', null],
  ['1 2', 'en-GB', null],
  ['', 'en-GB', null],
  ['Infinity', 'en-GB', null],
])('%s in %s is %s', (text, language, number) => {
  expect(numberIn(text, language)).toBe(number);
});
