// Signatures of built-ins as data, read from the line that declares them: `slice(str: String, start: Integer, end?: Integer) => String`.
import type { Value } from '../values/index.ts';

export interface ParameterSpec {
  readonly name: string;
  /** Names of types.ts, at least one. `null` among them: an explicit null is a value like others. */
  readonly types: readonly string[];
  /** May be left out; then, and for null where that is none of its types, the built-in gets `fallback`. */
  readonly optional: boolean;
  readonly fallback: Value;
  /** The last parameter may take any number of arguments. */
  readonly rest: boolean;
}

export interface Signature {
  readonly name: string;
  readonly params: readonly ParameterSpec[];
  readonly result: string;
}

/**
 * `name(a: T, b?: T|U, c: T = 0, …d: T) => R`: `?` optional, `=` optional with a JSON default, `…` any number.
 * A line that does not read so is a mistake in our own source, so it throws.
 */
export function parseSignature(line: string): Signature {
  const [, name, list, result] = /^([\w.]+)\((.*)\) => (.+)$/.exec(line) ?? [];
  if (name === undefined || list === undefined || result === undefined) throw new Error(`not a signature: ${line}`);
  return { name, result, params: list === '' ? [] : list.split(/, (?=\u2026?\w+\??:)/).map(parseParameter) };
}

function parseParameter(text: string): ParameterSpec {
  const [, rest, name, optional, types, fallback] = /^(\u2026?)(\w+)(\??): ([\w|]+)(?: = (.+))?$/.exec(text) ?? [];
  if (name === undefined || types === undefined) throw new Error(`not a parameter: ${text}`);
  return {
    name,
    types: types.split('|'),
    optional: optional === '?' || fallback !== undefined,
    fallback: fallback === undefined ? null : (JSON.parse(fallback) as Value),
    rest: rest === '…',
  };
}
