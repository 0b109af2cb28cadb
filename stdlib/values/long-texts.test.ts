// Very long texts that nearly are what is looked for. What reads them in one way only takes milliseconds; tried from each character on it takes
// a minute.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lookup } from '../builtins/index.ts';
import { testContext } from '../builtins/testing/cases.ts';
import { fromBase64, parseReal, withoutTrailing } from './index.ts';

const N = 500_000;
/** Of a processor, whoever else it works for meanwhile. */
const MOST_MS = 5_000;

let begun: NodeJS.CpuUsage;
beforeEach(() => {
  begun = process.cpuUsage();
});
afterEach(() => {
  if (process.cpuUsage(begun).user / 1_000 > MOST_MS) throw new Error('it took longer than what reads a text once');
});

const ones = '1'.repeat(N);

const called = (name: string, ...args: string[]): unknown => {
  try {
    return lookup(name)?.call(testContext(), args);
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

test('a number that ends in something else', () => {
  expect(parseReal(`${ones}!`)).toBeNull();
  expect(parseReal(`.${ones}!`)).toBeNull();
  expect(parseReal(`1.${ones}e1!`)).toBeNull();
  expect(called('isReal', `${ones}!`)).toBe(false);
  expect(called('toReal', `${ones}!`)).toBe('cascade.lang.conversion');
});

test.each([
  ['12', 12],
  ['12.', 12],
  ['12.5', 12.5],
  ['.5', 0.5],
  ['-.5e2', -50],
  ['.', null],
  ['1..2', null],
  ['', null],
])('a number: %s', (text, number) => expect(parseReal(text)).toBe(number));

test('zeros, blanks and padding that do not stand at the end', () => {
  expect(withoutTrailing(`${'0'.repeat(N)}1`, '0')).toHaveLength(N + 1);
  expect(withoutTrailing(`1${'0'.repeat(N)}`, '0')).toBe('1');
  expect(fromBase64(`${' '.repeat(N)}!`)).toBe(0);
  expect(fromBase64(`YQ${'=\n'.repeat(N / 2)}`)).toEqual(new Uint8Array([97]));
});

test('a form with the same name again and again', () => {
  const values = (called('Decode.formUrl', 'a=1&'.repeat(300_000)) as { a: string[] }).a;
  expect(values).toHaveLength(300_000);
});
