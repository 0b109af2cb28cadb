// Keys of equality. For a declared type, two values share a key exactly when they are equal (resources-and-api.md 3.3). For plain data, the
// value of an event has its own keys, and a constant is registered under every key by which language.md 4.7 lets a value equal it: unequal
// values may share a key, so they are tested again; equal ones always share one.
import {
  Currency,
  DateTime,
  Decimal,
  decimalOfNumber,
  isNumber,
  isReference,
  numberOf,
  parseCurrency,
  parseDateTime,
  parseDecimal,
  Real,
  text,
  type Value,
} from '../../stdlib/values/index.ts';
import { exactDecimal, type Kind, withoutSystem } from '../../model/query/index.ts';
import { CascadeError } from '../../model/errors/index.ts';

/** A key. Strings, numbers and booleans are keys themselves; every other kind of key is a string with a character that no text has. */
export type Key = string | number | bigint | boolean | typeof NULL;
export const NULL = Symbol('null');

/** The keys of an event's value; none when it cannot equal any value with a key. */
export function keysOf(kind: Kind, value: Value): Key[] {
  if (kind === 'Json') return dataKeys(value);
  if (kind === 'Currency') return value instanceof Currency ? [`${value.code} ${digits(value.amount)}`, digits(value.amount)] : [];
  const key = typedKey(kind, value);
  return key === undefined ? [] : [key];
}

/** The key of a value that is its own key; undefined for all others. */
export function plainKey(kind: Kind, value: Value): Key | undefined {
  if (typeof value === 'number') return kind === 'Integer' || kind === 'Real' || kind === 'Decimal' || kind === 'Json' ? value : undefined;
  return typeof value === 'string' && (kind === 'String' || kind === 'Id') ? value : undefined;
}

/** The keys of a constant; null when it has none, so that an index cannot be used. */
export function constantKeys(kind: Kind, constant: Value): Key[] | null {
  if (constant === null) return [NULL];
  if (kind === 'Json') return dataConstantKeys(constant);
  if (kind === 'Currency') {
    if (constant instanceof Currency) return [`${constant.code} ${digits(constant.amount)}`];
    return constant instanceof Decimal ? [digits(constant)] : null;
  }
  const key = typedKey(kind, constant);
  return key === undefined ? null : [key];
}

function typedKey(kind: Kind, value: Value): Key | undefined {
  switch (kind) {
    case 'String':
    case 'Id':
      return typeof value === 'string' ? value : undefined;
    case 'ResourceName':
      return typeof value === 'string' ? withoutSystem(value) : undefined;
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'DateTime':
      return value instanceof DateTime ? value.ms : undefined;
    case 'ResourceReference':
      return isReference(value) ? `${withoutSystem(value.resource)}\n${value.resourceId}` : undefined;
    case 'Integer':
    case 'Real':
    case 'Decimal':
      return numberKey(value);
    default:
      return undefined;
  }
}

const TWO_64 = 2n ** 64n;

/** One key for each mathematical value: a number, a bigint where a number would round, digits otherwise. */
export function numberKey(value: Value): Key | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Real) return doubleKey(value.value);
  if (!(value instanceof Decimal)) return undefined;
  const written = digits(value);
  if (!written.includes('e-')) return bigKey(value.unscaled / 10n ** BigInt(value.scale));
  const double = Number(value.toString());
  return digits(exactDecimal(double) as Decimal) === written ? double : `d${written}`;
}

function doubleKey(double: number): Key {
  if (Number.isSafeInteger(double)) return double + 0;
  return Number.isInteger(double) ? bigKey(BigInt(double)) : double;
}

const bigKey = (whole: bigint): Key => (whole >= -TWO_64 && whole <= TWO_64 ? normal(whole) : `d${digits(new Decimal(whole, 0))}`);

const normal = (whole: bigint): Key => (whole >= -9_007_199_254_740_991n && whole <= 9_007_199_254_740_991n ? Number(whole) : whole);

/** The digits without trailing zeros, and the exponent: one text for each value. */
function digits({ unscaled, scale }: Decimal): string {
  if (unscaled === 0n) return '0';
  let exponent = -scale;
  let rest = unscaled;
  while (rest % 10n === 0n) {
    rest /= 10n;
    exponent++;
  }
  return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
}

function dataKeys(value: Value): Key[] {
  if (value === null) return [];
  if (typeof value === 'string') return [`s${value}`];
  if (typeof value === 'boolean') return [value];
  if (value instanceof Decimal) return [`d${digits(value)}`];
  if (value instanceof Currency) return [`c${value.code} ${digits(value.amount)}`, `m${digits(value.amount)}`];
  if (value instanceof DateTime) return [`t${value.ms}`];
  if (isReference(value)) return [`r${text(value)}`];
  const key = numberKey(value);
  return key === undefined ? [] : [key];
}

function dataConstantKeys(constant: Value): Key[] | null {
  if (typeof constant === 'string') return textKeys(constant);
  if (typeof constant === 'boolean') return [constant, `s${constant}`];
  if (constant instanceof DateTime) return [`t${constant.ms}`, `s${text(constant)}`, constant.ms];
  if (constant instanceof Decimal) return [`d${digits(constant)}`, `m${digits(constant)}`];
  if (constant instanceof Currency) return [`c${constant.code} ${digits(constant.amount)}`, `d${digits(constant.amount)}`];
  if (isReference(constant)) return [`r${text(constant)}`, `s${text(constant)}`];
  const key = numberKey(constant);
  if (key === undefined || !isNumber(constant)) return null;
  const amount = decimalOfNumber(constant);
  const amounts = amount ? [`d${digits(amount)}`, `m${digits(amount)}`] : [];
  return [key, `s${text(constant)}`, `t${String(key)}`, ...amounts];
}

function textKeys(constant: string): Key[] {
  const keys: Key[] = [`s${constant}`, `r${constant}`];
  if (constant === 'true' || constant === 'false') keys.push(constant === 'true');
  const trimmed = constant.trim();
  const instant = parseDateTime(trimmed);
  if (instant) keys.push(`t${instant.ms}`);
  const { amount, currency } = numbersIn(trimmed);
  if (amount) keys.push(`d${digits(amount)}`, `m${digits(amount)}`);
  if (currency) keys.push(`c${currency.code} ${digits(currency.amount)}`);
  return keys;
}

/** The numeric values of a text; none for a text with too many digits, which equals no value without an error. */
export function numbersIn(trimmed: string): { amount: Decimal | null; currency: Currency | null } {
  try {
    return { amount: parseDecimal(trimmed), currency: parseCurrency(trimmed) };
  } catch (error) {
    if (error instanceof CascadeError) return { amount: null, currency: null };
    throw error;
  }
}

/** The key of a value that may equal values with other keys, too: arrays, Objects, and values that could not be computed. */
export const ANY = Symbol('any');
export type JoinKey = Key | typeof ANY;

/** One key for all values that any row of language.md 4.7, or a conversion to a declared type, may find equal. */
export function keyOfValue(value: Value): JoinKey {
  if (value === null) return NULL;
  if (typeof value === 'string') return keyOfText(value);
  if (typeof value === 'boolean') return String(value);
  if (isNumber(value)) return joinDouble(numberOf(value));
  if (value instanceof DateTime) return value.ms;
  if (value instanceof Decimal) return decimalKey(value);
  if (value instanceof Currency) return decimalKey(value.amount);
  return isReference(value) ? keyOfText(text(value)) : ANY;
}

/** Beginnings of a text that is a word, and neither a number, an instant nor an amount of money. */
const WORD = /^(?:[A-Za-z_/](?![A-Z]{2}:)|[^\s\d+\-.A-Za-z_/])/;

function keyOfText(written: string): JoinKey {
  if (WORD.test(written) || written === '') return written;
  const trimmed = written.trim();
  const instant = parseDateTime(trimmed);
  if (instant) return instant.ms;
  const { amount, currency } = numbersIn(trimmed);
  const number = amount ?? currency?.amount;
  return number ? decimalKey(number) : written;
}

/** The key of the nearest double: the condition distinguishes unequal numbers with one key. */
const decimalKey = (value: Decimal): JoinKey => joinDouble(Number(value.toString()));
const joinDouble = (double: number): JoinKey => (Number.isFinite(double) ? double : String(double));
