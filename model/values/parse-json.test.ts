import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Real, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../errors/api-errors.ts';
import { parseExactly, toNumber } from './exact-json.ts';
import { parseJson, type ParseJsonOptions } from './parse-json.ts';
import { suitsJsonParse } from './plain-json.ts';

const problemOf = (source: string | Uint8Array, options: ParseJsonOptions = {}): Value[] => {
  try {
    parseJson(source, options);
  } catch (error) {
    if (error instanceof CascadeError && error.code === 'cascade.request.body.invalid') return error.params;
    throw error;
  }
  throw new Error('no error');
};

const numbers: [string, Value][] = [
  ['42', 42],
  ['-0', 0],
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', 9007199254740993n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9223372036854775807', 9223372036854775807n],
  ['9223372036854775808', new Real(9223372036854775808, '9223372036854775808')],
  ['5.0', new Real(5)],
  ['-0.0', new Real(-0)],
  ['-0e5', new Real(-0)],
  ['1e3', new Real(1000)],
  ['1.5', 1.5],
  ['0.1', 0.1],
  ['0.10000000000000000000', 0.1],
  ['12345.67890123456e-1', 1234.567890123456],
  ['12.345678901234567890', new Real(12.345678901234567, '12.345678901234567890')],
  ['5e-324', 5e-324],
  ['1e-400', new Real(0, '1e-400')],
  ['1e400', new Real(Number.POSITIVE_INFINITY, '1e400')],
];
for (const [text, value] of numbers) {
  test(`${text} is read exactly`, () => {
    expect(parseJson(text)).toStrictEqual(value);
    expect(parseJson(`[ ${text} ]`)).toStrictEqual([value]);
  });
}

test('the last of equal member names wins and keeps the place of the first', () => {
  expect(Object.entries(parseJson('{"a":1,"b":2,"a":5.0}') as object)).toEqual([
    ['a', new Real(5)],
    ['b', 2],
  ]);
});

test('__proto__ and constructor are plain data on either way', () => {
  for (const number of ['1', '1.0']) {
    const value = parseJson(`{"__proto__":{"polluted":${number}},"constructor":${number}}`) as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in value).toBe(false);
  }
});

test('100 levels are read, 101 are refused at the bracket that is too deep', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(() => parseJson(nested(100))).not.toThrow();
  expect(problemOf(nested(101))).toEqual(['nesting deeper than 100', 100]);
  expect(problemOf(`{"a":${nested(100)}}`)).toEqual(['nesting deeper than 100', 104]);
});

test('as many values as allowed are read on either way, one more is refused where it begins', () => {
  for (const number of ['1', '1.0']) {
    const source = `{"a":[${number},2],"b":{},"c":[]}`;
    expect(() => parseJson(source, { maxValues: 6 })).not.toThrow();
    expect(problemOf(source, { maxValues: 5 })).toEqual(['more than 5 values', source.indexOf('[]')]);
  }
});

test('millions of zeros inside a number are read once, not once from each of them', () => {
  const text = `1.${'0'.repeat(3_000_000)}1`;
  expect(Number(parseJson(text))).toBe(1);
});

test('brackets inside strings are no nesting', () => {
  expect(parseJson(`["${'['.repeat(300)}"]`)).toEqual(['['.repeat(300)]);
});

const problems: [string | Uint8Array, string, number][] = [
  ['', 'unexpected end', 0],
  ['{"a":', 'unexpected end', 5],
  ['{"a":1,}', 'a member name was expected', 7],
  ['[1,]', 'unexpected character', 3],
  ['[1 2]', 'unexpected character', 3],
  ['{"ä":x}', 'unexpected character', 6],
  ['{"😀":01}', 'unexpected character', 9],
  ['NaN', 'unexpected character', 0],
  ['[1]]', 'unexpected character', 3],
  ['"a\nb"', 'control character in a string', 2],
  ['"\\x"', 'invalid escape', 1],
  ['["\\ud800"]', 'lone surrogate', 1],
  ['["\ud800"]', 'lone surrogate', 1],
  ['"\\udc00\\ud800"', 'lone surrogate', 0],
  [Buffer.from([0x22, 0xff, 0x22]), 'invalid UTF-8', 1],
  [Buffer.from([0x22, 0x61, 0xc3]), 'invalid UTF-8', 2],
  [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'invalid UTF-8', 1],
];
for (const [source, reason, offset] of problems) {
  test(`${JSON.stringify(source.toString())} is refused: ${reason} at byte ${offset}`, () => {
    expect(problemOf(source)).toEqual([reason, offset]);
  });
}

test('an escaped pair of surrogates is one character', () => {
  expect(parseJson('"\\ud83d\\ude00"')).toBe('😀');
});

test('bytes and text are read alike', () => {
  expect(parseJson(Buffer.from('{"ä":"😀","n":5.0}'))).toStrictEqual(parseJson('{"ä":"😀","n":5.0}'));
});

test('the caller chooses the error', () => {
  const refuse = (reason: string, offset: number) => new CascadeError('cascade.request.parameter.invalid', reason, [offset]);
  expect(() => parseJson('{', { refuse })).toThrow(expect.objectContaining({ code: 'cascade.request.parameter.invalid' }));
});

/** Spellings of numbers, the plain and the odd. */
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/),
);
const jsonText = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numberText,
    fc.constantFrom('true', 'false', 'null', '"\\ud83d\\ude00"', '"\\u0041"', '"-0"', '"1.0"', '"\\\\"', '"\\""'),
    fc.string().map((s) => JSON.stringify(s)),
    tie('array'),
    tie('object'),
  ),
  array: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' ,')}]`),
  object: fc
    .array(fc.tuple(fc.constantFrom('a', 'b', '__proto__', '', '1'), tie('value')), { maxLength: 4 })
    .map((members) => `{${members.map(([key, value]) => `"${key}" : ${value}`).join(',')}}`),
}));

test('the fast way and the exact parser agree on every text, right or wrong', () => {
  const damaged = fc
    .tuple(jsonText.value, fc.nat(), fc.constantFrom('', ' ', '"', '\\', '[', '}', ',', '0', '-', '.', 'e', '\t', '\ud800'))
    .map(([text, at, insert]) => text.slice(0, at % (text.length + 1)) + insert + text.slice((at % (text.length + 1)) + (at % 2)));
  const outcome = (parse: () => unknown): unknown => {
    try {
      return { value: parse() };
    } catch {
      return 'refused';
    }
  };
  let fast = 0;
  fc.assert(
    fc.property(fc.oneof(jsonText.value, damaged), (text) => {
      const exact = outcome(() => parseExactly(text, { maxDepth: 100, maxValues: 1e9 }));
      if (suitsJsonParse(text, 100, 1e9) && text.isWellFormed()) {
        fast++;
        expect(outcome(() => JSON.parse(text))).toStrictEqual(exact);
      }
      expect(outcome(() => parseJson(text))).toStrictEqual(exact);
    }),
    { numRuns: 3000 },
  );
  expect(fast).toBeGreaterThan(300);
});

test('numbers that are read digit by digit are those that their texts are', () => {
  const digits = fc.stringMatching(/^[0-9]{1,17}$/);
  const whole = fc.oneof(
    digits.map((text) => text.replace(/^0+(?=.)/, '')),
    fc.constant('0'),
  );
  const fraction = fc.oneof(
    fc.constant(''),
    digits.map((text) => `.${text}`),
  );
  const exponent = fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom('e0', 'E-3', 'e+2'));
  const token = fc.tuple(fc.constantFrom('', '-'), whole, fraction, exponent).map((parts) => parts.join(''));
  fc.assert(
    fc.property(token, (text) => {
      const bounds = { maxDepth: 2, maxValues: 10 };
      const [read, after] = parseExactly(`[${text} ,7]`, bounds) as Value[];
      expect([read, Object.is(read, -0), after]).toEqual([toNumber(text), false, 7]);
      expect(parseExactly(text, bounds)).toEqual(toNumber(text));
    }),
    { numRuns: 3_000 },
  );
});

test('where the first number stands that is beyond every double is told in bytes; the number keeps its digits', () => {
  const places: number[] = [];
  const read = parseJson('{"ü":[1e308,-1e999,1e400]}', { onBeyondDoubles: (offset) => places.push(offset) });
  expect(places).toEqual([13, 20]);
  expect((read as { ü: Value[] }).ü[2]).toMatchObject({ text: '1e400' });
  parseJson(`[${'9'.repeat(400)},1e-400]`, { onBeyondDoubles: (offset) => places.push(offset) });
  expect(places).toEqual([13, 20, 1]);
});
