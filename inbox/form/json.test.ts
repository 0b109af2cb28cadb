import { expect, test } from 'vitest';
import { readJson, writeJson } from './json.ts';
import type { Json } from './types.ts';

test.each<[string, Json]>([
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['[-9223372036854775808,{"a":9223372036854775807}]', [-9_223_372_036_854_775_808n, { a: 9_223_372_036_854_775_807n }]],
  ['"9007199254740993"', '9007199254740993'],
  ['{"9007199254740993":"a \\"9007199254740993\\" \\\\"}', { '9007199254740993': 'a "9007199254740993" \\' }],
  ['[1.9007199254740993,9007199254740993.5,9007199254740993e2]', [1.900_719_925_474_099_3, 9_007_199_254_740_994, 900_719_925_474_099_300]],
  ['{"__proto__":9007199254740993}', JSON.parse('{"__proto__":1}') as Json],
])('%s is read with the digits of its integers', (text, value) => {
  const read = readJson(text);
  if (text.includes('__proto__')) expect(Object.keys(read as object)).toEqual(['__proto__']);
  else expect(read).toEqual(value);
});

test('what is read is written again, digit by digit', () => {
  const text = '{"a":[9007199254740993,-9223372036854775808,1,1.5,"9007199254740993",null],"9007199254740993":true}';
  expect(writeJson(readJson(text))).toBe(text);
});

test('what is no JSON stays none', () => {
  for (const text of ['', '{"a":9007199254740993', '9007199254740993 "x']) expect(() => readJson(text)).toThrow(SyntaxError);
});
