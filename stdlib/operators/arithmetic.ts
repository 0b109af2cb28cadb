// `+ - * / % **`, `++ --` and the signs (language.md 4.6). The first lines of each are the ways most taken; the table is in numeric.ts.
import { fail } from '../errors.ts';
import {
  Currency,
  checkedString,
  DateTime,
  Decimal,
  dateTimeOf,
  integer,
  isNumber,
  MAX_INTEGER,
  MIN_INTEGER,
  MAX_ELEMENTS,
  negateDecimal,
  Real,
  real,
  text,
  typeOf,
  type Value,
} from '../values/index.ts';
import { numeric, readNumber } from './numeric.ts';

export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum) ? Number.isInteger(a) && Number.isInteger(b) : !Number.isInteger(sum) && Number.isFinite(sum)) return sum;
    return numeric('+', a, b);
  }
  if (typeof a === 'string' && typeof b === 'string') return checkedString(a + b);
  if (a instanceof DateTime || b instanceof DateTime) return addToDateTime(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return concatenated(a, b);
  if (typeof a !== 'string' && typeof b !== 'string') return numeric('+', a, b);
  const other = typeof a === 'string' ? b : a;
  if (other instanceof Decimal || other instanceof Currency) {
    const left = typeof a === 'string' ? readNumber(a) : a;
    const right = typeof b === 'string' ? readNumber(b) : b;
    if (left !== null && right !== null) return numeric('+', left, right);
  }
  return checkedString(text(a) + text(b));
}

export function sub(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (
      Number.isSafeInteger(difference)
        ? Number.isInteger(a) && Number.isInteger(b)
        : !Number.isInteger(difference) && Number.isFinite(difference)
    )
      return difference;
  } else if (a instanceof DateTime) {
    if (b instanceof DateTime) return integer(a.ms - b.ms);
    if (isMilliseconds(b)) return shifted(a, -Number(b), '-');
  }
  return numeric('-', a, b);
}

export function mul(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) {
      if (Number.isInteger(a) && Number.isInteger(b)) return product + 0; // -0 becomes 0
    } else if (!Number.isInteger(product) && Number.isFinite(product)) return product;
  }
  return numeric('*', a, b);
}

export function div(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number' && b !== 0 && Number.isInteger(a) && Number.isInteger(b)) {
    return a % b === 0 ? a / b + 0 : a / b; // not exact: a Real, and one with a fraction
  }
  return numeric('/', a, b);
}

export function mod(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number' && b !== 0 && Number.isInteger(a) && Number.isInteger(b)) return (a % b) + 0;
  return numeric('%', a, b);
}

export function pow(a: Value, b: Value): Value {
  return numeric('**', a, b);
}

export function inc(v: Value): Value {
  if (v === MAX_INTEGER) fail('cascade.lang.arithmetic.overflow', '++');
  return add(numberOnly('++', v), 1);
}

export function dec(v: Value): Value {
  if (v === MIN_INTEGER) fail('cascade.lang.arithmetic.overflow', '--');
  return sub(numberOnly('--', v), 1);
}

export function pos(v: Value): Value {
  return numberOnly('+', v);
}

export function neg(v: Value): Value {
  if (typeof v === 'number') return v === 0 ? 0 : -v;
  if (typeof v === 'bigint') return integer(-v, '-');
  if (v instanceof Real) return real(-v.value);
  if (v instanceof Decimal) return negateDecimal(v);
  if (v instanceof Currency) return new Currency(v.code, negateDecimal(v.amount));
  return numberOnly('-', v);
}

/** Signs and steps take numbers only. */
function numberOnly(operator: string, v: Value): Value {
  if (isNumber(v) || v instanceof Decimal || v instanceof Currency) return v;
  if (v === null || v === undefined) fail('cascade.lang.operand.null', operator, 'null', 'null');
  return fail('cascade.lang.operand', operator, typeOf(v), typeOf(v));
}

/** `+` with a DateTime on either side: milliseconds move it, a String takes its text. */
function addToDateTime(a: Value, b: Value): Value {
  if (typeof a === 'string' || typeof b === 'string') return checkedString(text(a) + text(b));
  if (a instanceof DateTime && isMilliseconds(b)) return shifted(a, Number(b), '+');
  if (b instanceof DateTime && isMilliseconds(a)) return shifted(b, Number(a), '+');
  return numeric('+', a, b);
}

function isMilliseconds(v: Value): v is number | bigint {
  return typeof v === 'number' ? Number.isInteger(v) : typeof v === 'bigint';
}

function shifted(instant: DateTime, byMs: number, operator: string): DateTime {
  return dateTimeOf(instant.ms + byMs) ?? fail('cascade.lang.arithmetic.overflow', operator);
}

function concatenated(a: Value[], b: Value[]): Value[] {
  if (a.length + b.length > MAX_ELEMENTS) fail('cascade.execution.memory', 'List', MAX_ELEMENTS);
  return a.concat(b);
}
