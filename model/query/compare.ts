// Equality and order between a value of an instance and a constant, by the kind of the path (resources-and-api.md 3.3).
// Numbers compare by mathematical value, whatever their types; values of another kind are unequal and have no order.
import {
  compareDecimals,
  Currency,
  DateTime,
  Decimal,
  isNumber,
  isObject,
  isReference,
  type ObjectValue,
  Real,
  type Value,
} from '../../stdlib/values/index.ts';
import type { Constant, Kind } from './types.ts';

export function equalsConstant(kind: Kind, value: Value, constant: Constant): boolean {
  if (value === constant) return true;
  if (value === null || constant === null) return false;
  if (Array.isArray(constant)) return isArrayEqual(kind, value, constant);
  switch (kind) {
    case 'String':
    case 'Id':
    case 'Boolean':
      return false; // `===` has decided
    case 'ResourceName':
      return typeof value === 'string' && withoutSystem(value) === constant;
    case 'ResourceReference':
      return isReferenceEqual(value, constant);
    case 'Currency':
      return orderCurrency(value, constant) === 0;
    case 'Integer':
    case 'Real':
    case 'Decimal':
    case 'DateTime':
      return order(kind, value, constant) === 0;
    default:
      return sameData(value, constant);
  }
}

function isArrayEqual(kind: Kind, value: Value, constant: readonly Value[]): boolean {
  if (!Array.isArray(value) || value.length !== constant.length) return false;
  return value.every((element, i) => equalsConstant(kind, element, constant[i] as Value));
}

function isReferenceEqual(value: Value, constant: Constant): boolean {
  if (!isReference(value) || !isReference(constant)) return false;
  return value.resourceId === constant.resourceId && withoutSystem(value.resource) === constant.resource;
}

/** `system.sources` and `sources` name the same resource (resources-and-api.md 5.8). */
export const withoutSystem = (resource: string): string => (resource.startsWith('system.') ? resource.slice('system.'.length) : resource);

/** Negative, 0 or positive; undefined where the two have no common order. */
export function order(kind: Kind, value: Value, constant: Constant): number | undefined {
  if (typeof value === 'number' && typeof constant === 'number') return value < constant ? -1 : value > constant ? 1 : 0;
  if (typeof value === 'string') return typeof constant === 'string' ? compareUtf8(value, constant) : undefined;
  if (typeof value === 'boolean') return typeof constant === 'boolean' ? Number(value) - Number(constant) : undefined;
  if (value instanceof DateTime) return constant instanceof DateTime ? value.ms - constant.ms : undefined;
  if (value instanceof Currency) return kind === 'Currency' ? orderCurrency(value, constant) : undefined;
  return compareNumbers(value, constant);
}

/** A Currency against one of the same code, or against an amount in any currency. */
function orderCurrency(value: Value, constant: Constant): number | undefined {
  if (!(value instanceof Currency)) return undefined;
  if (constant instanceof Decimal) return compareDecimals(value.amount, constant);
  return constant instanceof Currency && constant.code === value.code ? compareDecimals(value.amount, constant.amount) : undefined;
}

/** By mathematical value; undefined unless both are Integer, Real or Decimal. */
export function compareNumbers(a: Value, b: Value): number | undefined {
  if (a instanceof Decimal || b instanceof Decimal) {
    const left = exactDecimal(a);
    const right = exactDecimal(b);
    return left && right ? compareDecimals(left, right) : undefined;
  }
  if (!isNumber(a) || !isNumber(b)) return undefined;
  const left = a instanceof Real ? a.value : a;
  const right = b instanceof Real ? b.value : b;
  return left < right ? -1 : left > right ? 1 : 0; // JavaScript compares a bigint with a double exactly
}

/** Every double has a finite decimal expansion; this is it, not the shortest text. */
export function exactDecimal(value: Value): Decimal | undefined {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint') return new Decimal(value, 0);
  const double = value instanceof Real ? value.value : value;
  if (typeof double !== 'number' || !Number.isFinite(double)) return undefined;
  let scale = 0;
  let scaled = double;
  while (!Number.isInteger(scaled)) {
    scaled *= 2; // exact: only the exponent changes
    scale++;
  }
  return new Decimal(BigInt(scaled) * 5n ** BigInt(scale), scale);
}

/** The order of the UTF-8 bytes, which is that of the code points: surrogates come after everything else of 16 bits. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return surrogatesLast(left) - surrogatesLast(right);
  }
  return a.length - b.length;
}
const surrogatesLast = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** Deep equality of data without a declared type: the order of members does not count, and a Currency is its text, as it is stored. */
export function sameData(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof Currency) return sameData(a.toString(), b);
  if (b instanceof Currency) return sameData(a, b.toString());
  if (typeof a !== 'object' && typeof b !== 'object') return compareNumbers(a, b) === 0;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((element, i) => sameData(element, b[i] as Value));
  if (isObject(a)) return isObject(b) && sameMembers(a, b);
  if (a instanceof DateTime) return b instanceof DateTime && a.ms === b.ms;
  return compareNumbers(a, b) === 0;
}

function sameMembers(a: ObjectValue, b: ObjectValue): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && sameData(a[name] as Value, b[name] as Value));
}
