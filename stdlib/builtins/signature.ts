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

/** Where the argument of a name stands; -1: there is no such parameter. What a rest parameter `…p0` takes is p0, p1 and so on. */
export function positionOf(params: readonly ParameterSpec[], name: string): number {
  const at = params.findIndex((parameter) => parameter.name === name);
  const last = params.at(-1);
  if (at >= 0 || !last?.rest) return at;
  const [, stem = '', first = ''] = NUMBERED.exec(last.name) ?? [];
  const [, own, number = ''] = NUMBERED.exec(name) ?? [];
  const further = own === stem ? Number(number) - Number(first) : 0;
  return further > 0 ? params.length - 1 + further : -1;
}
/** The name of the argument at a position, the other way round. */
export function nameAt(params: readonly ParameterSpec[], position: number): string {
  const further = position - params.length + 1;
  const name = params[Math.min(position, params.length - 1)]?.name ?? '';
  return further > 0 ? name.replace(NUMBERED, (_, stem: string, first: string) => `${stem}${Number(first) + further}`) : name;
}
const NUMBERED = /^(.*?)(0|[1-9]\d{0,8})$/;

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
