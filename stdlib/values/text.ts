// `typeOf` and `text` of any value (builtins.md 0.3).
import { stringify } from './json.ts';
import { Currency, DateTime, Decimal, type Lambda, LocalValue, Real, type Value } from './kinds.ts';
import { isReference } from './objects.ts';
import { formatReal } from './real-text.ts';

/** The name of the type; `null` for null (the built-in `typeOf` gives null itself). */
export function typeOf(v: Value | undefined): string {
  switch (typeof v) {
    case 'string':
      return 'String';
    case 'number':
      return Number.isInteger(v) ? 'Integer' : 'Real';
    case 'bigint':
      return 'Integer';
    case 'boolean':
      return 'Boolean';
    case 'function':
      return 'Function';
    case 'undefined':
      return 'null';
    default:
      return typeOfObject(v);
  }
}

function typeOfObject(v: object | null): string {
  if (v === null) return 'null';
  if (Array.isArray(v)) return 'List';
  if (v instanceof Real) return 'Real';
  if (v instanceof DateTime) return 'DateTime';
  if (v instanceof Decimal) return 'Decimal';
  if (v instanceof Currency) return 'Currency';
  return v instanceof LocalValue ? v.typeName : 'Object';
}

/** What `toString`, string `+`, `join`, log and format write. */
export function text(v: Value | undefined): string {
  switch (typeof v) {
    case 'string':
      return v;
    case 'number':
      return Number.isInteger(v) ? String(v) : formatReal(v);
    case 'bigint':
    case 'boolean':
      return String(v);
    case 'function':
      return 'Function';
    case 'undefined':
      return 'null';
    default:
      return textOfObject(v);
  }
}

function textOfObject(v: Exclude<Value, string | number | bigint | boolean | Lambda>): string {
  if (v === null) return 'null';
  if (v instanceof Real || v instanceof DateTime || v instanceof Decimal || v instanceof Currency) return v.toString();
  if (v instanceof LocalValue) return v.text();
  return isReference(v) ? `/${v.resource}/${v.resourceId}` : stringify(v);
}

/** Whether a text keeps to a greatest length, which counts Unicode code points wherever one is declared (resources-and-api.md 4.1). */
export function codePointsWithin(value: string, limit: number): boolean {
  if (value.length <= limit) return true;
  return value.length <= 2 * limit && [...value].length <= limit;
}

/** Negative, 0 or positive: the order of UTF-16 code units. */
export function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
