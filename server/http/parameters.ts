// Query parameters: the known ones of an operation, each parsed as JSON and checked against its type (resources-and-api.md 1.5). Pure.
import { apiError } from '../../model/errors/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';

type Check = (value: Value) => boolean;

export const isInteger: Check = (value) => Number.isSafeInteger(value) || typeof value === 'bigint';
export const isBoolean: Check = (value) => typeof value === 'boolean';
export const isArray: Check = Array.isArray;
export const isStrings: Check = (value) => Array.isArray(value) && value.every((item) => typeof item === 'string');

/** The check of each parameter; the description of the API uses the same names. */
export const CHECKS = {
  where: isObject,
  props: isStrings,
  sort: isObject,
  page: isInteger,
  limit: isInteger,
  count: isBoolean,
  pipeline: isArray,
  upsert: isBoolean,
  active: isBoolean,
  stream: isBoolean,
  maxBufferSize: isInteger,
  maxFlushInterval: isInteger,
} as const satisfies Record<string, Check>;

export type ParameterName = keyof typeof CHECKS;

/** The query parameters as text; the two parameters that any request may have are not JSON. */
export interface Query {
  /** The values of every parameter as written in the URL, by its decoded name. */
  readonly raw: ReadonlyMap<string, string[]>;
}

const NO_QUERY: Query = { raw: new Map() };

export function readQuery(query: string): Query {
  if (query === '') return NO_QUERY;
  const raw = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name === null) continue; // a malformed name is ignored like any unknown one
    const values = raw.get(name);
    const value = equals < 0 ? '' : pair.slice(equals + 1);
    if (values) values.push(value);
    else raw.set(name, [value]);
  }
  return { raw };
}

/**
 * The value of a parameter in plain text: `token`, `targetNamespace`.
 * @param secret the error does not repeat the value
 * @throws request.parameter.invalid
 */
export function textParameter({ raw }: Query, name: string, secret = false): string | undefined {
  const text = single(raw, name, secret);
  return text === undefined ? undefined : decoded(name, text, secret);
}

/** @throws request.parameter.invalid, params `[name, value]` */
export function parameters({ raw }: Query, names: readonly ParameterName[]): Record<string, Value> {
  const found: Record<string, Value> = {};
  if (raw.size === 0) return found;
  for (const name of names) {
    const given = single(raw, name, false);
    if (given === undefined) continue;
    const text = decoded(name, given, false);
    const value = parse(name, text);
    if (!CHECKS[name](value)) throw invalid(name, text);
    found[name] = value;
  }
  return found;
}

/** Parameters that are values already (WebSocket). @throws request.parameter.invalid */
export function parameterValues(given: ObjectValue, names: readonly ParameterName[]): Record<string, Value> {
  const found: Record<string, Value> = {};
  for (const name of names) {
    const value = Object.hasOwn(given, name) ? spelledOut(name, getOwn(given, name)) : null;
    if (value === null) continue;
    if (!CHECKS[name](value)) throw apiError('cascade.request.parameter.invalid', name, value);
    found[name] = value;
  }
  return found;
}

/** The value of a Boolean that is written as text (2.2). */
function spelledOut(name: ParameterName, value: Value): Value {
  return CHECKS[name] === isBoolean && (value === 'true' || value === 'false') ? value === 'true' : value;
}

function single(raw: Query['raw'], name: string, secret: boolean): string | undefined {
  const values = raw.get(name);
  if (values && values.length > 1) throw invalid(name, secret ? '***' : (decode(values[1]!) ?? values[1]!));
  return values?.[0];
}

function decoded(name: string, text: string, secret: boolean): string {
  const value = decode(text);
  if (value === null) throw invalid(name, secret ? '***' : text);
  return value;
}

function parse(name: string, text: string): Value {
  try {
    return parseJson(text);
  } catch {
    throw invalid(name, text); // only errors of bodies give the reason for invalid JSON
  }
}

const invalid = (name: string, value: string): Error => apiError('cascade.request.parameter.invalid', name, value);

/** Decodes a text as HTML forms encode it: plus signs are blanks. Null when an escape is malformed. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
