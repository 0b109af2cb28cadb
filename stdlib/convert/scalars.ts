// From any value to one of the seven scalars: the table of language.md 4.3, a function a column.
import {
  Currency,
  DateTime,
  Decimal,
  dateTimeOf,
  decimalOfNumber,
  integer,
  isInteger,
  isNumber,
  isReal,
  LocalValue,
  MAX_INTEGER,
  MIN_INTEGER,
  numberOf,
  parseCurrency,
  parseDateTime,
  parseDecimal,
  parseInteger,
  parseReal,
  Real,
  real,
  rescale,
  significantDigits,
  text,
  type Value,
} from '../values/index.ts';
import { unconvertible } from './conversion-error.ts';

/** Where a value is bound for: a Real's fraction, an unqualified amount and the sizes are judged by it. */
export type Destination = 'parameter' | 'property' | 'operand' | 'return';

/** What the store can hold (resources-and-api.md 5.5). */
const STORED_DIGITS = 34;

export function toText(value: Value, where: Destination): string {
  const stands = value instanceof LocalValue ? value.asString() : undefined;
  if (stands !== undefined) return stands;
  const plain = typeof value === 'string' || typeof value === 'boolean' || isNumber(value);
  if (!plain && !(value instanceof Decimal || value instanceof Currency || value instanceof DateTime))
    return unconvertible(value, 'String');
  // A number of JSON beyond every double (1e400), of whose digits none would be left; what a program has calculated has its text.
  if (value instanceof Real && value.text !== undefined && !Number.isFinite(value.value)) return unconvertible(value, 'String', 'range');
  const result = text(value);
  return where === 'property' && /\p{Surrogate}/u.test(result) ? unconvertible(value, 'String', 'surrogate') : result;
}

export function toInteger(value: Value, where: Destination): number | bigint {
  if (isInteger(value)) return value;
  if (value instanceof DateTime) return value.ms;
  if (typeof value === 'string') {
    const trimmed = value.trim();
    return parseInteger(trimmed) ?? unconvertible(value, 'Integer', /^[+-]?[0-9]+$/.test(trimmed) ? 'range' : 'format');
  }
  if (!isReal(value)) return unconvertible(value, 'Integer');
  if (value instanceof Real && value.text !== undefined) return exactInteger(value, where);
  const number = numberOf(value);
  if (!Number.isInteger(number) && where !== 'return')
    return unconvertible(value, 'Integer', Number.isFinite(number) ? 'fraction' : 'range');
  if (!Number.isFinite(number)) return unconvertible(value, 'Integer', 'range');
  const whole = BigInt(Math.trunc(number));
  return whole < MIN_INTEGER || whole > MAX_INTEGER ? unconvertible(value, 'Integer', 'range') : integer(whole);
}

/** From digits that a double does not hold: `9007199254740993.0`, `9223372036854775808`. */
function exactInteger(value: Real, where: Destination): number | bigint {
  const exact = Number.isFinite(value.value) ? decimalOfNumber(value) : null;
  if (exact === null) return unconvertible(value, 'Integer', 'range');
  const unit = 10n ** BigInt(exact.scale);
  const whole = exact.unscaled / unit;
  if (whole * unit !== exact.unscaled && where !== 'return') return unconvertible(value, 'Integer', 'fraction');
  return whole < MIN_INTEGER || whole > MAX_INTEGER ? unconvertible(value, 'Integer', 'range') : integer(whole);
}

export function toReal(value: Value, where: Destination): Value {
  if (typeof value === 'string') {
    const number = parseReal(value.trim()) ?? unconvertible(value, 'Real');
    return Number.isFinite(number) ? real(number) : unconvertible(value, 'Real', 'range');
  }
  if (!(isNumber(value) || value instanceof Decimal || value instanceof Currency)) return unconvertible(value, 'Real');
  const number = numberOf(value);
  if (where === 'property' && !Number.isFinite(number)) return unconvertible(value, 'Real', 'range');
  return isReal(value) ? value : real(number); // a Real keeps the digits of its JSON
}

/** `scale` undefined: an operand keeps the digits it has, anything else gets 0. */
export function toDecimal(value: Value, scale: number | undefined, where: Destination): Decimal {
  const exact = exactDecimal(value);
  if (exact === null) return unconvertible(value, 'Decimal', isNumber(value) ? 'range' : 'format');
  return scaled(exact, scale ?? (where === 'operand' ? exact.scale : 0), value, 'Decimal', where);
}

/** `scale` undefined: an operand keeps the digits it has, anything else gets 4. Operands without a code come back as Decimal. */
export function toCurrency(value: Value, scale: number | undefined, where: Destination): Currency | Decimal {
  const amount = value instanceof Currency ? value : typeof value === 'string' ? parseCurrency(value.trim()) : null;
  if (amount) {
    const digits = scale ?? (where === 'operand' ? amount.amount.scale : 4);
    return new Currency(amount.code, scaled(amount.amount, digits, value, 'Currency', where));
  }
  const number = exactDecimal(value);
  if (number === null) return unconvertible(value, 'Currency');
  return where === 'operand'
    ? scaled(number, scale ?? number.scale, value, 'Currency', where)
    : unconvertible(value, 'Currency', 'currency.code');
}

export function toBoolean(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.toLowerCase() === 'true';
  const number = isNumber(value) ? numberOf(value) : Number.NaN;
  return number === 0 || number === 1 ? number === 1 : unconvertible(value, 'Boolean', isNumber(value) ? 'range' : 'format');
}

export function toDateTime(value: Value): DateTime {
  if (value instanceof DateTime) return value;
  if (typeof value === 'string') return parseDateTime(value.trim()) ?? unconvertible(value, 'DateTime');
  if (!isNumber(value)) return unconvertible(value, 'DateTime');
  const ms = numberOf(value);
  return dateTimeOf(ms) ?? unconvertible(value, 'DateTime', Number.isFinite(ms) && !Number.isInteger(ms) ? 'fraction' : 'range');
}

/** The digits as they are; null where there are none. Numbers go by their text (or that of the JSON they came from). */
function exactDecimal(value: Value): Decimal | null {
  if (value instanceof Decimal) return value;
  if (value instanceof Currency) return value.amount;
  if (typeof value === 'string') return parseDecimal(value.trim());
  return isNumber(value) ? decimalOfNumber(value) : null;
}

function scaled(exact: Decimal, scale: number, value: Value, type: string, where: Destination): Decimal {
  const result = rescale(exact, scale);
  return where === 'property' && significantDigits(result) > STORED_DIGITS ? unconvertible(value, type, 'range') : result;
}
