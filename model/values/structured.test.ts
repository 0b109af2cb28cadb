// Objects with another type's properties, between the store, programs and clients.
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { Currency, Decimal, decodeInner, DateTime, type ObjectValue, real } from '../../stdlib/values/index.ts';
import { parseType, type TypeDefinition } from '../types/index.ts';
import { instanceFromBson, instanceToBson, instanceToJson, transcode } from './index.ts';

const types = new Map<string, TypeDefinition>();
const typeOf = (name: string, properties: Record<string, object | string>): TypeDefinition => {
  const declared = Object.entries(properties).map(([property, type]) => [property, typeof type === 'string' ? { type } : type]);
  const type = parseType({ name, properties: Object.fromEntries(declared) }, { types, scalars: new Map() });
  types.set(name, type);
  return type;
};
typeOf('Line', {
  price: 'Currency',
  ref: 'ResourceReference',
  refs: { type: 'ResourceReference', multi: true },
  amt: { type: 'Decimal', scale: 2 },
  at: 'DateTime',
  r: 'Real',
  inner: 'Line',
});
const order = typeOf('Ordr', { l: 'Line', ll: { type: 'Line', multi: true } });

const usd = (unscaled: bigint, scale: number): Currency => new Currency('USD', new Decimal(unscaled, scale));
const bin = { resource: 'types', resourceId: 'Bin' };
const instance: ObjectValue = {
  l: {
    price: usd(90000n, 4),
    ref: bin,
    refs: [bin],
    amt: new Decimal(100n, 2),
    at: new DateTime(0),
    r: real(5),
    inner: { price: usd(1n, 4) },
  },
  ll: [{ ref: bin }, { amt: null }],
};
const rest =
  '{"l":{"price":"USD:9.0000","ref":"/types/Bin","refs":["/types/Bin"],"amt":"1.00","at":"1970-01-01T00:00:00.000Z","r":5.0,' +
  '"inner":{"price":"USD:0.0001"}},"ll":[{"ref":"/types/Bin"},{"amt":null}]}';

test('they are the same after the store and in the isolate, and read outside as at the top level', () => {
  const stored = BSON.serialize(instanceToBson(order, instance));
  expect(instanceFromBson(order, stored)).toStrictEqual(instance);
  expect(decodeInner(transcode(stored, order, 'inner'))).toStrictEqual(instance);
  expect(transcode(stored, order, 'rest')).toBe(rest);
  expect(instanceToJson(order, instance)).toBe(rest);
});

test('what former versions and other types have stored is read: other orders, smaller scales, other texts', () => {
  const raw = BSON.serialize({
    l: { price: 'USD:9.5', ref: { resourceId: 'Bin', resource: 'types' }, amt: BSON.Decimal128.fromString('1'), gone: 'x' },
    ll: [
      { price: 'much', ref: { a: 1 } },
      { price: 'USD:1e3', inner: 'text' },
    ],
  });
  const shown =
    '{"l":{"price":"USD:9.5000","ref":"/types/Bin","amt":"1.00","gone":"x"},"ll":[{"price":"much","ref":{"a":1}},{"price":"USD:1e3","inner":"text"}]}';
  expect(transcode(raw, order, 'rest')).toBe(shown);
  const read = instanceFromBson(order, raw);
  expect(instanceToJson(order, read)).toBe(shown);
  expect(read).toMatchObject({ l: { price: usd(95000n, 4) }, ll: [{ price: 'much' }, { price: 'USD:1e3' }] });
});

test('a reference at the top level whose members stand in another order reads as one', () => {
  const bolt = typeOf('Bolt', { ref: 'ResourceReference' });
  const raw = BSON.serialize({ ref: { resourceId: 'Bin', resource: 'types' } });
  expect(transcode(raw, bolt, 'rest')).toBe('{"ref":"/types/Bin"}');
});
