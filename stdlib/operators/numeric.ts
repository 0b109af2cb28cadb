// The table of arithmetic between Integer, Real, Decimal and Currency (language.md 4.6), and who is refused.
import { fail } from '../errors.ts';
import {
  addDecimals,
  Currency,
  Decimal,
  decimalOfNumber,
  divideDecimals,
  integer,
  isInteger,
  isNumber,
  multiplyDecimals,
  negateDecimal,
  numberOf,
  parseCurrency,
  parseDecimal,
  type Real,
  real,
  rescale,
  typeOf,
  type Value,
} from '../values/index.ts';
import { decimalPower } from './power.ts';

export type Operator = '+' | '-' | '*' | '/' | '%' | '**';
type PlainNumber = number | bigint | Real;

/** Any two values: the result of the table, or the error of its cell. Concatenation and DateTime are the caller's. */
export function numeric(operator: Operator, a: Value, b: Value): Value {
  if (isNumber(a) && isNumber(b)) {
    return isInteger(a) && isInteger(b) ? integers(operator, a, b) : reals(operator, numberOf(a), numberOf(b));
  }
  if (a === null || b === null || a === undefined || b === undefined) fail('cascade.lang.operand.null', operator, typeOf(a), typeOf(b));
  const left = typeof a === 'string' && isFixed(b) ? readNumber(a) : a;
  const right = typeof b === 'string' && isFixed(a) ? readNumber(b) : b;
  const fixed = isFixed(left) || isFixed(right);
  if (!fixed || operator === '%' || !(isFixed(left) || isNumber(left)) || !(isFixed(right) || isNumber(right)))
    return fail('cascade.lang.operand', operator, typeOf(a), typeOf(b));
  if (left instanceof Currency || right instanceof Currency) return currencies(operator, left, right);
  return decimals(operator, left, right);
}

/** The Decimal or Currency that a String stands for beside one (note 3); null for other text. */
export function readNumber(text: string): Decimal | Currency | null {
  return parseDecimal(text) ?? parseCurrency(text);
}

function isFixed(v: Value): v is Decimal | Currency {
  return v instanceof Decimal || v instanceof Currency;
}

function integers(operator: Operator, a: number | bigint, b: number | bigint): Value {
  const x = BigInt(a);
  const y = BigInt(b);
  switch (operator) {
    case '+':
      return integer(x + y, operator);
    case '-':
      return integer(x - y, operator);
    case '*':
      return integer(x * y, operator);
    case '/':
      if (y === 0n) fail('cascade.lang.arithmetic.zero.divide', operator);
      return x % y === 0n ? integer(x / y, operator) : real(Number(a) / Number(b));
    case '%':
      if (y === 0n) fail('cascade.lang.arithmetic.zero.divide', operator);
      return integer(x % y, operator);
    case '**':
      if (y < 0n) return reals(operator, Number(a), Number(b));
      if (y > 63n && x !== 0n && x !== 1n && x !== -1n) fail('cascade.lang.arithmetic.overflow', operator);
      return integer(y > 63n ? x ** (2n + (y % 2n)) : x ** y, operator);
  }
}

function reals(operator: Operator, x: number, y: number): Value {
  const result = realResult(operator, x, y);
  if (Number.isNaN(result) && !Number.isNaN(x) && !Number.isNaN(y)) fail('cascade.lang.arithmetic.overflow', operator);
  return real(result);
}

function realResult(operator: Operator, x: number, y: number): number {
  switch (operator) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return y === 0 ? fail('cascade.lang.arithmetic.zero.divide', operator) : x / y;
    case '%':
      return y === 0 ? fail('cascade.lang.arithmetic.zero.divide', operator) : x % y;
    case '**':
      return x === 0 && y < 0 ? fail('cascade.lang.arithmetic.zero.divide', operator) : x ** y;
  }
}

/** Two Decimals by note 2; beside an Integer or Real the Decimal's own scale stays. */
function decimals(operator: Operator, a: Decimal | PlainNumber, b: Decimal | PlainNumber): Decimal {
  const left = a instanceof Decimal ? a : decimalOfNumber(a);
  const right = b instanceof Decimal ? b : decimalOfNumber(b);
  if (left === null || right === null) return fail('cascade.lang.arithmetic.overflow', operator);
  const kept = a instanceof Decimal ? (b instanceof Decimal ? null : a.scale) : right === b ? right.scale : null;
  switch (operator) {
    case '+':
    case '-': {
      const sum = addDecimals(left, operator === '+' ? right : negateDecimal(right));
      return kept === null ? sum : rescale(sum, kept);
    }
    case '*':
      return multiplyDecimals(left, right, kept ?? left.scale * right.scale);
    case '/':
      return divideDecimals(left, right, kept ?? Math.max(0, left.scale - right.scale));
    default:
      return decimalPower(left, right, kept ?? left.scale);
  }
}

/** The amounts as Decimals; the code stays, and two codes never meet. */
function currencies(operator: Operator, a: Currency | Decimal | PlainNumber, b: Currency | Decimal | PlainNumber): Currency {
  const code = a instanceof Currency ? a.code : (b as Currency).code;
  if (b instanceof Currency && b.code !== code) fail('cascade.lang.currency.mismatch', code, b.code);
  const left = a instanceof Currency ? a.amount : a;
  const right = b instanceof Currency ? b.amount : b;
  return new Currency(code, decimals(operator, left, right));
}
