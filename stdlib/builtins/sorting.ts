// The order of `sort` (builtins.md 7): one kind of value at a time, null first.
import { fail } from '../errors.ts';
import {
  compareCodeUnits,
  compareDecimals,
  Currency,
  DateTime,
  Decimal,
  decimalOfNumber,
  getOwn,
  isNumber,
  isObject,
  numberOf,
  Real,
  typeOf,
  type Value,
} from '../values/index.ts';

/** In place, ascending and stable; by the property where one is given. Values of two kinds are a type error. */
export function sort(arr: Value[], property: string | null): Value[] {
  const key = (element: Value): Value => (property === null ? element : keyOf(element, property));
  let first: Value = null;
  for (const element of arr) {
    const each = key(element);
    if (each === null) continue;
    if (first === null) first = each;
    else if (comparator(each) !== comparator(first)) mixed(first, each);
  }
  const compare = comparator(first);
  return arr.sort((a, b) => {
    const left = key(a);
    const right = key(b);
    return left === null || right === null ? Number(left !== null) - Number(right !== null) : compare(left, right);
  });
}

function keyOf(element: Value, property: string): Value {
  if (element === null) return null;
  return isObject(element)
    ? getOwn(element, property)
    : fail('cascade.procedure.parameter.type', 'sort', 'arr', 'Objects', typeOf(element));
}

function mixed(a: Value, b: Value): never {
  return fail('cascade.procedure.parameter.type', 'sort', 'arr', 'values of one kind', `${typeOf(a)} and ${typeOf(b)}`);
}

type Comparator = (a: Value, b: Value) => number;

/** The order of the value's kind: the same function for every value of that kind. */
function comparator(v: Value): Comparator {
  if (v === null || isNumber(v) || v instanceof Decimal) return byNumber;
  if (typeof v === 'string') return byText;
  if (v instanceof DateTime) return byInstant;
  if (typeof v === 'boolean') return byTruth;
  if (v instanceof Currency) return byAmount;
  return fail('cascade.procedure.parameter.type', 'sort', 'arr', 'values with an order', typeOf(v));
}

const byText: Comparator = (a, b) => compareCodeUnits(a as string, b as string);
const byInstant: Comparator = (a, b) => (a as DateTime).ms - (b as DateTime).ms;
const byTruth: Comparator = (a, b) => Number(a) - Number(b);

/** By mathematical value; NaN comes last. */
const byNumber: Comparator = (a, b) => {
  if (a instanceof Decimal || b instanceof Decimal) {
    const left = a instanceof Decimal ? a : decimalOfNumber(a as number | bigint | Real);
    const right = b instanceof Decimal ? b : decimalOfNumber(b as number | bigint | Real);
    if (left && right) return compareDecimals(left, right);
  }
  const left = a instanceof Real ? a.value : a instanceof Decimal ? numberOf(a) : (a as number | bigint);
  const right = b instanceof Real ? b.value : b instanceof Decimal ? numberOf(b) : (b as number | bigint);
  if (left < right) return -1;
  if (left > right) return 1;
  return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
};

const byAmount: Comparator = (a, b) => {
  const left = a as Currency;
  const right = b as Currency;
  if (left.code !== right.code) fail('cascade.lang.currency.mismatch', left.code, right.code);
  return compareDecimals(left.amount, right.amount);
};
