import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonNumber, parseJson, toJsonText } from './exact-json.ts';

test('a number keeps its text', () => {
  expect(toJsonText(parseJson('[5, 5.0, -0.0, 9223372036854775807, 1e300]'))).toBe('[5,5.0,-0.0,9223372036854775807,1e300]');
});

test('5 and 5.0 differ, 1.5 and 1.50 do not, zero keeps its sign', () => {
  const same = (a: string, b: string) => new JsonNumber(a).equals(new JsonNumber(b));
  expect([same('5', '5.0'), same('1.5', '1.50'), same('0.0', '-0.0'), same('9007199254740993', '9007199254740992')]).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

test('__proto__ is a member like any other', () => {
  expect(Object.keys(parseJson('{"__proto__": {"a": 1}}') as object)).toEqual(['__proto__']);
});

test('it agrees with JSON.parse, and text that is no JSON is refused', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(toJsonText(parseJson(text)))).toEqual(JSON.parse(text));
    }),
  );
  for (const text of ['', '{', '[1', '[1 2]', '{"a" 1}', '{a:1}', '1 2', "'a'", '[,]', '{"a":}'])
    expect(() => parseJson(text), text).toThrow(SyntaxError);
});
