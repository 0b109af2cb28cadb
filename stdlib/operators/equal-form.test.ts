// Two ways to say that values are equal are held to be one: by comparison, and by the text that equal ones share.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Currency, Decimal, isObject, type ObjectValue, Real, setOwn, type Value } from '../values/index.ts';
import { values } from '../values/testing/arbitrary.ts';
import { c, d, outcome, t } from '../values/testing/outcome.ts';
import { deepEquals, equalText } from './index.ts';

/** An equal value, spelled differently wherever there are two ways. */
function respelled(value: Value): Value {
  if (typeof value === 'number' && Number.isInteger(value)) return new Real(value);
  if (value instanceof Decimal) return new Decimal(value.unscaled * 100n, value.scale + 2);
  if (value instanceof Currency) return new Currency(value.code, respelled(value.amount) as Decimal);
  if (Array.isArray(value)) return value.map(respelled);
  if (!isObject(value)) return value;
  const members: ObjectValue = {};
  for (const key of Object.keys(value).reverse()) setOwn(members, key, respelled(value[key] as Value));
  return members;
}

test('however a value is spelled, its text is one', () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(equalText(respelled(value))).toBe(equalText(value));
    }),
    { numRuns: 500 },
  );
});

const samples: readonly Value[] = [
  ...[null, true, false, '', 'a', '1', '\u0001r1', 0, 1, 1.5, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n],
  ...[new Real(0), new Real(-0), new Real(1), new Real(2 ** 53), new Real(2 ** 63), new Real(-(2 ** 63)), new Real(1e300)],
  ...[new Real(1, '1.00000000000000000001'), new Real(Number.POSITIVE_INFINITY), new Real(Number.NEGATIVE_INFINITY)],
  ...[d('0'), d('0.00'), d('1'), d('1.0'), d('1.5'), d('1.50'), d('10'), d('100'), d('-1.50')],
  ...[c('USD:1'), c('USD:1.0000'), c('EUR:1'), t('2030-01-01'), t('2030-01-01T00:00:00.001')],
  ...[[], {}, [1], [new Real(1)], [1, 2], [2, 1], [[1, 2]], [null]],
  ...[
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: 1 },
    { a: new Real(1) },
    { a: null },
    { b: [{ d: 1, c: d('2.0') }] },
    { b: [{ c: d('2'), d: 1 }] },
  ],
];

test('two values have one text where they are equal, and only there', () => {
  for (const a of samples) for (const b of samples) expect([a, b, equalText(a) === equalText(b)]).toEqual([a, b, deepEquals(a, b)]);
});

test('what is no number is like itself here, so that it is one group', () => {
  expect(equalText(new Real(Number.NaN))).toBe(equalText([new Real(Number.NaN)]).slice(1, -1));
});

test('a value that holds itself is refused', () => {
  const list: Value[] = [];
  list.push(list);
  expect(outcome(() => equalText(list))).toBe('range');
});
