// JSON text as programs see it (builtins.md 13 `stringify`): Reals keep their fraction, Integers all their digits.
import { fail } from '../errors.ts';
import { failDeep, MAX_DEPTH } from './depth.ts';
import { Currency, DateTime, Decimal, LocalValue, Real, type Value } from './kinds.ts';
import { isObject } from './objects.ts';
import { formatReal } from './real-text.ts';

/** The most characters of a String (language.md 10). */
export const MAX_STRING = 16 * 1024 * 1024;

/** `value` with the check of its length. */
export function checkedString(value: string): string {
  return value.length > MAX_STRING ? fail('cascade.lang.string.size', MAX_STRING) : value;
}

/** Compact, or with 4 blanks a level. Lambdas are a type error, cycles and what is too deep a range error. */
export function stringify(value: Value, pretty = false): string {
  const plain = scalar(value);
  if (plain !== undefined) return checkedString(plain);
  const out: Out = { text: '', pretty, whole: value };
  write(value, '', 0, out);
  return checkedString(out.text);
}

interface Out {
  text: string;
  readonly pretty: boolean;
  readonly whole: Value;
}

/** The JSON of what is neither List nor Object; undefined for those. */
function scalar(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isInteger(value) ? String(value) : formatReal(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'function':
      return fail('cascade.procedure.parameter.type', 'stringify', 'target', 'data', 'Function');
    case 'undefined':
      return 'null';
    default:
      return scalarObject(value);
  }
}

function scalarObject(value: object | null): string | undefined {
  if (value === null) return 'null';
  if (value instanceof Real) return Number.isFinite(value.value) ? formatReal(value.value) : 'null';
  if (value instanceof DateTime || value instanceof Decimal || value instanceof Currency) return `"${value.toString()}"`;
  return undefined;
}

function write(value: Value, indent: string, depth: number, out: Out): void {
  const plain = scalar(value);
  if (plain !== undefined) {
    out.text += plain;
    if (out.text.length > MAX_STRING) fail('cascade.lang.string.size', MAX_STRING);
    return;
  }
  if (depth > MAX_DEPTH) failDeep('target', out.whole);
  if (value instanceof LocalValue) {
    const data = value.data();
    if (data === undefined) fail('cascade.procedure.parameter.type', 'stringify', 'target', 'data', value.typeName);
    write(data, indent, depth + 1, out);
  } else if (Array.isArray(value)) {
    if (value.length === 0) {
      out.text += '[]';
      return;
    }
    const inner = out.pretty ? `${indent}    ` : '';
    for (let i = 0; i < value.length; i++) {
      out.text += i === 0 ? '[' : ',';
      if (out.pretty) out.text += `\n${inner}`;
      write(value[i] as Value, inner, depth + 1, out);
    }
    out.text += out.pretty ? `\n${indent}]` : ']';
  } else if (isObject(value)) {
    const inner = out.pretty ? `${indent}    ` : '';
    let opened = false;
    for (const key of Object.keys(value)) {
      out.text += opened ? ',' : '{';
      if (out.pretty) out.text += `\n${inner}`;
      out.text += out.pretty ? `${JSON.stringify(key)}: ` : `${JSON.stringify(key)}:`;
      write(value[key] as Value, inner, depth + 1, out);
      opened = true;
    }
    out.text += !opened ? '{}' : out.pretty ? `\n${indent}}` : '}';
  }
}
