// What AMQP 1.0 messages hold, as values of the language.
import { expect, test } from 'vitest';
import { DateTime } from '../../../../stdlib/values/index.ts';
import rhea from './library-1-0.ts';
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

/** A value as it is read from eight bytes of this type. */
const readFrom = (type: number, value: bigint): unknown => {
  const bytes = Buffer.from([0x00, 0x53, 0x77, type, ...Array<number>(8).fill(0)]);
  bytes.writeBigInt64BE(BigInt.asIntN(64, value), 4);
  return valueOf(rhea.message.decode(bytes).body);
};

test.each<[number, bigint, unknown]>([
  [0x81, 2n ** 53n - 1n, 2 ** 53 - 1],
  [0x81, 2n ** 53n + 1n, 2n ** 53n + 1n],
  [0x81, -(2n ** 63n), -(2n ** 63n)],
  [0x81, -2n, -2],
  [0x80, 2n ** 64n - 1n, 2n ** 64n - 1n],
  [0x80, 7n, 7],
  [0x83, 5n, new DateTime(5)],
  [0x83, -8_640_000_000_000_000n, new DateTime(-8_640_000_000_000_000)],
  [0x83, 8_640_000_000_000_001n, 8_640_000_000_000_001],
  [0x83, 2n ** 63n - 1n, 2n ** 63n - 1n],
])('a number of type %i with the value %s is exact; an instant that no DateTime can hold is its number', (type, value, expected) => {
  expect(readFrom(type, value)).toEqual(expected);
});
