// What AMQP 1.0 messages hold, as values of the language.
import rhea from 'rhea';
import { expect, test } from 'vitest';
import { valueOf } from './values-1-0.ts';

test("members named type and value are a sender's own, at any depth", () => {
  const reading = { type: 'temperature', value: 21 };
  expect(valueOf(reading)).toEqual(reading);
  expect(valueOf({ list: [reading], inner: { reading } })).toEqual({ list: [reading], inner: { reading } });
});

test('a value wrapped with its encoding is the value', () => {
  expect(valueOf(rhea.types.wrap_symbol('named'))).toBe('named');
  expect(valueOf([rhea.types.wrap_int(7)])).toEqual([7]);
});
