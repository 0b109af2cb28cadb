// Conversions by procedure and the methods of numbers (builtins.md 5). They reach further than the automatic ones of stdlib/convert.
import { unconvertible } from '../convert/index.ts';
import { fail } from '../errors.ts';
import {
  Currency,
  DateTime,
  Decimal,
  dateTimeOf,
  decimalOfNumber,
  getOwn,
  integer,
  isInteger,
  isNumber,
  isObject,
  numberOf,
  parseCurrency,
  parseDateTime,
  parseDecimal,
  parseInteger,
  parseReal,
  type Real,
  real,
  rescale,
  text,
  typeOf,
  type Value,
} from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';

type AnyNumber = number | bigint | Real | Decimal;
const MAX_SCALE = 100;

/** Toward zero; past 64 bits, NaN and infinities are an overflow. */
export function truncated(v: AnyNumber): number | bigint {
  if (isInteger(v)) return v;
  if (v instanceof Decimal) return integer(v.unscaled / 10n ** BigInt(v.scale), 'toInteger');
  const number = numberOf(v);
  return Number.isFinite(number) ? integer(BigInt(Math.trunc(number)), 'toInteger') : fail('cascade.lang.arithmetic.overflow', 'toInteger');
}

function toInteger(_: BuiltinContext, v: string | AnyNumber | DateTime): Value {
  if (v instanceof DateTime) return v.ms;
  if (typeof v !== 'string') return truncated(v);
  const trimmed = v.trim();
  if (!/^[+-]?[0-9]+$/.test(trimmed)) return unconvertible(v, 'Integer');
  return parseInteger(trimmed) ?? fail('cascade.lang.arithmetic.overflow', 'toInteger');
}

function toReal(_: BuiltinContext, v: string | AnyNumber | Currency): Value {
  if (typeof v !== 'string') return real(numberOf(v));
  const number = parseReal(v.trim());
  return number === null || !Number.isFinite(number) ? unconvertible(v, 'Real') : real(number);
}

function checkScale(scale: number): void {
  if (scale < 0 || scale > MAX_SCALE) fail('cascade.lang.range', 'scale', scale);
}

/** The digits of a text or number as they are; null where there are none. */
function exact(v: Value): Decimal | null {
  if (v instanceof Decimal) return v;
  if (v instanceof Currency) return v.amount;
  if (typeof v === 'string') return parseDecimal(v.trim());
  return isNumber(v) ? decimalOfNumber(v) : null;
}

function toDecimal(_: BuiltinContext, v: Value, scale: number): Decimal {
  checkScale(scale);
  const digits = exact(isObject(v) ? getOwn(v, 'value') : v);
  return digits ? rescale(digits, scale) : unconvertible(v, 'Decimal');
}

function toCurrency(_: BuiltinContext, v: Value, scale: number): Currency {
  checkScale(scale);
  const source = isObject(v) ? `${text(getOwn(v, 'code'))}:${text(getOwn(v, 'value'))}` : v;
  const read = source instanceof Currency ? source : typeof source === 'string' ? parseCurrency(source.trim()) : null;
  return read ? new Currency(read.code, rescale(read.amount, scale)) : unconvertible(v, 'Currency');
}

function toBoolean(_: BuiltinContext, v: string | boolean | AnyNumber): boolean {
  if (typeof v === 'boolean') return v;
  if (typeof v === 'string') return v.toLowerCase() === 'true';
  const number = v instanceof Decimal ? Number.NaN : numberOf(v);
  return number === 0 || number === 1 ? number === 1 : unconvertible(v, 'Boolean');
}

function toDate(_: BuiltinContext, v: string | number | DateTime): DateTime {
  if (v instanceof DateTime) return v;
  return (typeof v === 'string' ? parseDateTime(v.trim()) : dateTimeOf(v)) ?? unconvertible(v, 'DateTime');
}

/** The same type and the same value. */
function equals(_: BuiltinContext, n: AnyNumber, other: Value): boolean {
  if (typeOf(n) !== typeOf(other)) return false;
  if (n instanceof Decimal || other instanceof Decimal) return text(n) === text(other);
  return isInteger(n) ? n === other : numberOf(n) === numberOf(other);
}

/** The argument itself: what a signature calls Integer comes rounded past 2^53. */
export function exactInteger(procedure: string, parameter: string, value: Value): number | bigint {
  return isInteger(value) ? value : fail('cascade.procedure.parameter.type', procedure, parameter, 'Integer', typeOf(value));
}

export const numbers: readonly Declaration[] = [
  {
    call: 'toInteger(v: String|Number|DateTime) => Integer',
    forms: 'FM',
    about: 'The Integer in a text, a number cut toward 0, or epoch milliseconds.',
    errors: ['cascade.lang.conversion', 'cascade.lang.arithmetic.overflow'],
    run: toInteger,
  },
  {
    call: 'parseInt(str: String|Number|DateTime) => Integer',
    forms: 'FM',
    about: 'The same as toInteger.',
    errors: ['cascade.lang.conversion', 'cascade.lang.arithmetic.overflow'],
    run: toInteger,
  },
  {
    call: 'toReal(v: String|Number|Currency) => Real',
    forms: 'FM',
    about: 'The Real in a text, or of a number.',
    errors: ['cascade.lang.conversion'],
    run: toReal,
  },
  {
    call: 'parseFloat(str: String|Number|Currency) => Real',
    forms: 'FM',
    about: 'The same as toReal.',
    errors: ['cascade.lang.conversion'],
    run: toReal,
  },
  {
    call: 'toDecimal(v: String|Number|Currency|Object, scale: Integer = 0) => Decimal',
    forms: 'FM',
    about: 'A Decimal of that scale, rounded half up.',
    errors: ['cascade.lang.conversion', 'cascade.lang.range', 'cascade.lang.arithmetic.overflow'],
    run: toDecimal,
  },
  {
    call: 'toCurrency(v: String|Number|Currency|Object, scale: Integer = 4) => Currency',
    forms: 'FM',
    about: 'A Currency from `CCC:number` or {code, value}, rounded half up.',
    errors: ['cascade.lang.conversion', 'cascade.lang.range', 'cascade.lang.arithmetic.overflow'],
    run: toCurrency,
  },
  {
    call: 'toBoolean(v: String|Boolean|Number) => Boolean',
    forms: 'FM',
    about: 'true for the text true, 1 and 1.0.',
    errors: ['cascade.lang.conversion'],
    run: toBoolean,
  },
  {
    call: 'toDate(v: String|Integer|DateTime) => DateTime',
    forms: 'FM',
    about: 'The instant of an ISO text or of epoch milliseconds.',
    errors: ['cascade.lang.conversion'],
    run: toDate,
  },
  {
    call: 'toObject(v: any) => Object',
    forms: 'FM',
    about: 'v itself if it is an Object.',
    errors: ['cascade.lang.conversion'],
    run: (_, v: Value) => (isObject(v) ? v : unconvertible(v, 'Object')),
  },
  {
    call: 'intValue(n: Number) => Integer',
    forms: 'M',
    about: 'Cut toward 0.',
    errors: ['cascade.lang.arithmetic.overflow'],
    run: (_, n: AnyNumber) => truncated(n),
  },
  {
    call: 'longValue(n: Number) => Integer',
    forms: 'M',
    about: 'Cut toward 0.',
    errors: ['cascade.lang.arithmetic.overflow'],
    run: (_, n: AnyNumber) => truncated(n),
  },
  { call: 'doubleValue(n: Number) => Real', forms: 'M', about: 'The nearest Real.', run: (_, n: AnyNumber) => real(numberOf(n)) },
  { call: 'equals(n: Number, other: any|null) => Boolean', forms: 'M', about: 'The same type and value.', run: equals },
];
