// Random values of the language, for properties.
import fc from 'fast-check';
import { Currency, DateTime, Decimal, integer, MAX_INTEGER, MIN_INTEGER, real, setOwn, type ObjectValue, type Value } from '../index.ts';

const decimals = fc.tuple(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.nat(20)).map(([unscaled, scale]) => new Decimal(unscaled, scale));
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string().map((rest) => `\u0001${rest}`),
  fc.constantFrom('\u0001', '\u0001r5', '"\u0001', '__proto__', 'a\u0001'),
);

export const scalars: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  texts,
  fc.bigInt(MIN_INTEGER, MAX_INTEGER).map((n) => integer(n)),
  fc.integer(),
  fc.double().map(real),
  fc.integer().map(real),
  decimals,
  fc.tuple(fc.constantFrom('USD', 'EUR', 'XTS'), decimals).map(([code, amount]) => new Currency(code, amount)),
  fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }).map((ms) => new DateTime(ms)),
);

export const { value: values } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalars, fc.array(tie('value')), objectOf(tie('value'))),
}));

function objectOf(members: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  const keys = fc.oneof(fc.string(), texts, fc.constantFrom('toJSON', 'constructor', '__proto__', '$set', 'a.b'));
  return fc.array(fc.tuple(keys, members)).map((entries) => {
    const object: ObjectValue = {};
    for (const [key, value] of entries) setOwn(object, key, value);
    return object;
  });
}
