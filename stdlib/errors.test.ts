// Errors and their messages: params stand in their places, short, and making a message never fails.
import { expect, test } from 'vitest';
import { CascadeError, fail, fillTemplate, langError } from './errors.ts';
import { Currency, DateTime, Decimal, Real, type Value } from './values/index.ts';

const thrown = (run: () => never): CascadeError => {
  try {
    return run();
  } catch (error) {
    if (error instanceof CascadeError) return error;
    throw error;
  }
};

test('an error of the catalogue has its status, its params and its message', () => {
  const error = thrown(() => fail('cascade.procedure.private', 'a.b'));
  expect(error).toMatchObject({ name: 'CascadeError', code: 'cascade.procedure.private', params: ['a.b'], status: 403, errors: null });
  expect(error.message).toBe(langError('cascade.procedure.private', 'a.b').message);
  expect(error.message).toContain('a.b');
});

test('an error of a program has no params and is the fault of the request, unless it is told', () => {
  expect(new CascadeError('my.code', 'text')).toMatchObject({ message: 'text', params: [], status: 400, errors: null });
});

test('params stand wherever they are named; one that is not there leaves its place', () => {
  expect(fillTemplate('{1} {0} {1}', ['a', 'b'])).toBe('b a b');
  expect(fillTemplate('{0} {1} {x}', ['a'])).toBe('a {1} {x}');
  const many = Array.from({ length: 12 }, (_, index) => `p${index}`);
  expect(fillTemplate('{1} {10} {11}', many)).toBe('p1 p10 p11');
});

test.each<[Value, string]>([
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(200)}…`],
  [`${'x'.repeat(199)}😀`, `${'x'.repeat(199)}…`],
  [5, '5'],
  [1.5, '1.5'],
  [1.5e-9, '1.5E-9'],
  [7n, '7'],
  [true, 'true'],
  [null, 'null'],
  [new Real(5), '5.0'],
  [new Decimal(150n, 2), '1.50'],
  [new Currency('EUR', new Decimal(1n, 0)), 'EUR:1'],
  [new DateTime(0), '1970-01-01T00:00:00.000Z'],
  [['secret'], 'List'],
  [{ secret: 1 }, 'Object'],
])('%o in a message is %s', (value, expected) => {
  expect(fillTemplate('<{0}>', [value])).toBe(`<${expected}>`);
});
