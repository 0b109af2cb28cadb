// The service Math (builtins.md 15).
import { fail } from '../errors.ts';
import { neg } from '../operators/index.ts';
import {
  compareDecimals,
  Currency,
  DateTime,
  Decimal,
  integer,
  isInteger,
  numberOf,
  type Real,
  real,
  typeOf,
  type Value,
} from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { exactInteger } from './numbers.ts';

type AnyNumber = number | bigint | Real | Decimal;

/** A function of doubles; Decimals are taken as Real. */
function ofDoubles(name: string, about: string, f: (x: number) => number): Declaration {
  return { call: `Math.${name}(val: Number) => Real`, forms: 'S', about, run: (_, val: AnyNumber) => real(f(numberOf(val))) };
}

function constant(name: string, about: string, value: number): Declaration {
  return { call: `Math.${name}() => Real`, forms: 'S', about, run: () => real(value) };
}

/** Negative, 0 or positive for two values of one type; other pairs are a type error of the procedure. */
function order(procedure: string, x: Value, y: Value): number {
  if (typeOf(x) === typeOf(y)) {
    if (isInteger(x) && isInteger(y)) return x < y ? -1 : x > y ? 1 : 0;
    if (x instanceof Decimal && y instanceof Decimal) return compareDecimals(x, y);
    if (x instanceof DateTime && y instanceof DateTime) return x.ms - y.ms;
    if (x instanceof Currency && y instanceof Currency) {
      if (x.code !== y.code)
        return fail('cascade.procedure.parameter.type', procedure, 'y', `Currency in ${x.code}`, `Currency in ${y.code}`);
      return compareDecimals(x.amount, y.amount);
    }
    if (typeOf(x) === 'Real') return numberOf(x) - numberOf(y);
  }
  return fail('cascade.procedure.parameter.type', procedure, 'y', typeOf(x), typeOf(y));
}

function abs(_: BuiltinContext, val: AnyNumber | Currency): Value {
  const negative =
    val instanceof Currency
      ? val.amount.unscaled < 0n
      : val instanceof Decimal
        ? val.unscaled < 0n
        : numberOf(val) < 0 || Object.is(numberOf(val), -0);
  return negative ? neg(val) : val;
}

const rounding =
  (f: (x: number) => number) =>
  (_: BuiltinContext, val: AnyNumber): Value =>
    isInteger(val) ? val : real(f(numberOf(val)));

function random(context: BuiltinContext, min: Value, max: Value): Value {
  const [least, most] = [exactInteger('Math.random', 'min', min), exactInteger('Math.random', 'max', max)];
  if (least > most) return fail('cascade.lang.range', 'max', max);
  const size = BigInt(most) - BigInt(least) + 1n;
  const word = (): bigint => BigInt(Math.floor(context.random() * 2 ** 32));
  const drawn = size <= 2n ** 32n ? BigInt(Math.floor(context.random() * Number(size))) : (((word() << 32n) | word()) * size) >> 64n;
  return integer(BigInt(least) + drawn);
}

export const math: readonly Declaration[] = [
  {
    call: 'Math.abs(val: Number|Currency) => Number|Currency',
    forms: 'S',
    about: 'Without the sign.',
    errors: ['cascade.lang.arithmetic.overflow'],
    run: abs,
  },
  { call: 'Math.ceil(val: Number) => Number', forms: 'S', about: 'The next whole number above.', run: rounding(Math.ceil) },
  { call: 'Math.floor(val: Number) => Number', forms: 'S', about: 'The next whole number below.', run: rounding(Math.floor) },
  ofDoubles('round', 'The nearest whole number, a tie upwards.', (x) => Math.round(x) + 0),
  {
    call: 'Math.max(x: any, y: any) => any',
    forms: 'S',
    about: 'The larger of two values of one type.',
    run: (_, x: Value, y: Value) => (order('Math.max', x, y) >= 0 ? x : y),
  },
  {
    call: 'Math.min(x: any, y: any) => any',
    forms: 'S',
    about: 'The smaller of two values of one type.',
    run: (_, x: Value, y: Value) => (order('Math.min', x, y) <= 0 ? x : y),
  },
  ofDoubles('sqrt', 'The square root; NaN for a negative number.', Math.sqrt),
  {
    call: 'Math.pow(base: Number, exponent: Number) => Real',
    forms: 'S',
    about: 'base to the power of exponent.',
    run: (_, base: AnyNumber, exponent: AnyNumber) => real(numberOf(base) ** numberOf(exponent)),
  },
  ofDoubles('exp', 'e to the power of val.', Math.exp),
  ofDoubles('log', 'The natural logarithm.', Math.log),
  ofDoubles('log2', 'The logarithm to base 2.', Math.log2),
  ofDoubles('log10', 'The logarithm to base 10.', Math.log10),
  ofDoubles('sin', 'The sine of an angle in radians.', Math.sin),
  ofDoubles('cos', 'The cosine of an angle in radians.', Math.cos),
  ofDoubles('tan', 'The tangent of an angle in radians.', Math.tan),
  ofDoubles('acos', 'The arc cosine; NaN outside -1 to 1.', Math.acos),
  ofDoubles('asin', 'The arc sine; NaN outside -1 to 1.', Math.asin),
  ofDoubles('atan', 'The arc tangent.', Math.atan),
  {
    call: 'Math.atan2(y: Number, x: Number) => Real',
    forms: 'S',
    about: 'The angle of the point (x, y).',
    run: (_, y: AnyNumber, x: AnyNumber) => real(Math.atan2(numberOf(y), numberOf(x))),
  },
  {
    call: 'Math.random(min: Number, max: Number) => Integer',
    ofRun: true,
    forms: 'S',
    about: 'A random Integer, both ends included.',
    errors: ['cascade.lang.range'],
    run: random,
  },
  {
    call: 'Math.randomReal() => Real',
    forms: 'S',
    about: 'A random Real from 0, below 1.',
    ofRun: true,
    run: (context) => real(context.random()),
  },
  constant('E', "Euler's number.", Math.E),
  constant('LN2', 'The natural logarithm of 2.', Math.LN2),
  constant('LN10', 'The natural logarithm of 10.', Math.LN10),
  constant('LOG2E', 'The logarithm of e to base 2.', Math.LOG2E),
  constant('LOG10E', 'The logarithm of e to base 10.', Math.LOG10E),
  constant('PI', 'The ratio of circumference to diameter.', Math.PI),
  constant('SQRT2', 'The square root of 2.', Math.SQRT2),
  constant('SQRT1_2', 'The square root of 1/2.', Math.SQRT1_2),
];
