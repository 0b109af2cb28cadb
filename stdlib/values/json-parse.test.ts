import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getOwn, isObject, parseJsonText, Real, stringify, type Value } from './index.ts';

test('stringify and parse are inverse where JSON has the type', () => {
  const leaf: fc.Arbitrary<Value> = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.maxSafeInteger(),
    fc.bigInt(2n ** 53n, 2n ** 63n - 1n),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Number.isInteger(n) ? new Real(n) : n)),
    fc.boolean(),
    fc.constant(null),
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(leaf, fc.array(leaf), fc.dictionary(fc.string(), leaf, { noNullPrototype: true }))),
      fc.boolean(),
      (value, pretty) => {
        expect(parseJsonText(stringify(value as Value, pretty))).toStrictEqual(value);
      },
    ),
  );
});

test('where JSON.parse takes a text, so do we, with the same value but for the kinds of numbers', () => {
  const plain = (v: Value): unknown =>
    v instanceof Real
      ? v.value
      : typeof v === 'bigint'
        ? Number(v)
        : Array.isArray(v)
          ? v.map(plain)
          : isObject(v)
            ? Object.fromEntries(Object.entries(v).map(([key, member]) => [key, plain(member)]))
            : v;
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\u12"',
    '1',
    '-0',
    '1.0',
    '1e5',
    '01',
    ' ',
    'true',
    'nul',
    '"',
    '\\',
    '12345678901234567890',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const source = parts.join('');
      let expected: unknown = 'refused';
      try {
        expected = JSON.parse(source);
      } catch {
        // stays refused
      }
      let actual: unknown = 'refused';
      try {
        actual = plain(parseJsonText(source));
      } catch (error) {
        expect(error).toMatchObject({ code: 'cascade.builtin.parse' });
      }
      if (expected === 0) actual = Math.abs(actual as number); // an Integer has no -0
      expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['{"a":1', 'unexpected end', 6],
  ['', 'unexpected end', 0],
  ['[1 2]', 'unexpected character', 3],
  ['{"a" 1}', 'unexpected character', 5],
  ['{a:1}', 'a member name was expected', 1],
  ['"abc', 'unexpected end', 4],
  ['"a\\x"', 'invalid escape', 2],
  ['1 2', 'unexpected character', 2],
  ['NaN', 'unexpected character', 0],
])('%s: %s at %i', (source, reason, position) => {
  expect(() => parseJsonText(source)).toThrow(expect.objectContaining({ params: [reason, position] }));
});

test('a key __proto__ is data', () => {
  for (const source of ['{"__proto__":{"x":1}}', '{"__proto__":{"x":1.0}}']) {
    const object = parseJsonText(source);
    expect(isObject(object) && isObject(getOwn(object, '__proto__')) && !('x' in object)).toBe(true);
  }
});

test('nesting has an end', () => {
  expect(() => parseJsonText(`${'['.repeat(5000)}1.0${']'.repeat(5000)}`)).toThrow(
    expect.objectContaining({ code: 'cascade.builtin.parse' }),
  );
});
