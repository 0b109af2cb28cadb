// Currencies inside Objects, which are stored as their text `USD:9.0000`: their tests as regular expressions of the store, which go through
// arrays as any other operator does. They compare by mathematical value, however many zeros the text has (a scale may have grown since).
import { BSONRegExp } from 'mongodb';
import { Currency, CURRENCY_CODES, type Decimal, type Value } from '../../stdlib/values/index.ts';
import { passesValue } from './matches.ts';
import type { ConditionPath, Constant, RangeOperator, Test } from './types.ts';

/** Whether the values at the path are such texts, or parts of them. */
export const isMoneyText = ({ asData, kind, part }: ConditionPath): boolean => asData && (kind === 'Currency' || part !== null);

/** Not before a line break at the end, where a `$` alone would match, too. */
const END = '$(?!\\n)';

/** The expressions, one of which a text must match to pass a test of its own value; none: no text does. */
export function moneyPatterns(test: Test, { part }: ConditionPath): string[] {
  if (part === 'code') return codesOf(test);
  switch (test.op) {
    case 'eq':
      return scalars([test.value]).map(equal);
    case 'in':
      return scalars(test.values).map(equal);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return [moneyPattern(test.value, beyond(test.op, amountOf(test.value)))];
    default:
      return [];
  }
}

/** The same as operands of the store's `$in` and `$nin`. */
export const moneyOperands = (test: Test, path: ConditionPath): BSONRegExp[] =>
  moneyPatterns(test, path).map((pattern) => new BSONRegExp(pattern));

/** The expression for the texts that equal a Currency, or an amount in any currency. */
const equal = (value: Constant): string => moneyPattern(value, equalTo(amountOf(value)));

const scalars = (values: readonly Constant[]): Constant[] => values.filter((value) => value !== null && !Array.isArray(value));
const amountOf = (value: Constant): Decimal => (value instanceof Currency ? value.amount : (value as Decimal));
const moneyPattern = (value: Value, amount: string): string =>
  `^${value instanceof Currency ? value.code : '[A-Z]{3}'}:(?:${amount})${END}`;

/** The codes are few: they are asked one by one. */
function codesOf(test: Test): string[] {
  const codes = CURRENCY_CODES.filter((code) => passesValue(test, 'String', code));
  return codes.length === 0 ? [] : [`^(?:${codes.join('|')}):`];
}

/** The digits of an amount without its sign: before the point without zeros in front (none for 0), after it without zeros at the end. */
interface Magnitude {
  readonly whole: string;
  readonly fraction: string;
}

function magnitudeOf(amount: Decimal): Magnitude {
  const [whole = '', fraction = ''] = amount.toString().replace('-', '').split('.');
  return { whole: whole.replace(/^0+/, ''), fraction: fraction.replace(/0+$/, '') };
}

function equalTo(amount: Decimal): string {
  const sign = amount.unscaled < 0n ? '-' : amount.unscaled === 0n ? '-?' : '';
  return sign + same(magnitudeOf(amount));
}

const NEGATIVE = '-\\d[\\d.]*';
const NOT_NEGATIVE = '\\d[\\d.]*';

/** What stands after the code of texts beyond an amount, or, with `gte` and `lte`, at it. */
function beyond(op: RangeOperator, amount: Decimal): string {
  const magnitude = magnitudeOf(amount);
  const isUp = op === 'gt' || op === 'gte';
  const isNegative = isUp ? amount.unscaled < 0n : amount.unscaled <= 0n; // those beyond it with its sign
  const ways = isNegative === isUp ? lower(magnitude) : higher(magnitude);
  if (isNegative) for (const [at, way] of ways.entries()) ways[at] = `-${way}`;
  if (amount.unscaled < 0n && isUp) ways.push(NOT_NEGATIVE);
  if (amount.unscaled > 0n && !isUp) ways.push(NEGATIVE);
  if (op === 'gte' || op === 'lte') ways.push(equalTo(amount));
  return ways.join('|');
}

const same = ({ whole, fraction }: Magnitude): string => `0*${whole}${fraction === '' ? '(?:\\.0*)?' : `\\.${fraction}0*`}`;

/** Digits that are equal up to a place and larger (or smaller) there; what follows the place is left to `rest`. */
function differing(digits: string, larger: boolean, rest: (digitsLeft: number) => string): string[] {
  const ways: string[] = [];
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[at]);
    if (digit === (larger ? 9 : 0)) continue;
    const others = larger ? `[${digit + 1}-9]` : `[0-${digit - 1}]`;
    ways.push(digits.slice(0, at) + others + rest(digits.length - at - 1));
  }
  return ways;
}

const ANY_FRACTION = '(?:\\.\\d*)?';
const anyWhole = (digitsLeft: number): string => `\\d{${digitsLeft}}${ANY_FRACTION}`;
const anyDigits = (): string => '\\d*';

function higher({ whole, fraction }: Magnitude): string[] {
  return [
    `0*[1-9]\\d{${whole.length},}${ANY_FRACTION}`,
    ...differing(whole, true, anyWhole).map((way) => `0*${way}`),
    ...[...differing(fraction, true, anyDigits), `${fraction}0*[1-9]\\d*`].map((way) => `0*${whole}\\.${way}`),
  ];
}

function lower({ whole, fraction }: Magnitude): string[] {
  const fewer = whole === '' ? [] : [`0*\\d{0,${whole.length - 1}}${ANY_FRACTION}`];
  const prefixes = Array.from(fraction, (_, length) => fraction.slice(0, length)); // a fraction that ends early is lower
  return [
    ...fewer,
    ...differing(whole, false, anyWhole).map((way) => `0*${way}`),
    ...differing(fraction, false, anyDigits).map((way) => `0*${whole}\\.${way}`),
    ...prefixes.map((prefix) => (prefix === '' ? `0*${whole}\\.?` : `0*${whole}\\.${prefix}`)),
  ];
}
