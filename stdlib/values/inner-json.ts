// Inner JSON: values between host and isolate, exactly. Its only escape is a string that begins with U+0001: a kind letter and text.
// `r` Real, `i` Integer beyond 2^53, `d` Decimal, `c` Currency, `t` DateTime in ms, `s` a user's string that begins so itself, `x` XML
// text of a document on its way into the isolate (elements leave it as plain data), `n` XML elements in a statement on the store (where a
// String is needed they are their text, so they must not become data before), `h` a handle of a shared object (only between an isolate and the
// state of its namespace).
// A Real that keeps the digits of JSON is an `r` with these: versions that know no such Real read its double, so that processes of both serve
// side by side.
import { fail } from '../errors.ts';
import { parseCurrency } from './currencies.ts';
import { parseDecimal } from './decimals.ts';
import { DateTime, LocalValue, type ObjectValue, Real, type Value, written } from './kinds.ts';
import { integer, real } from './numbers.ts';
import { failDeep, MAX_DEPTH } from './depth.ts';
import { isObject, setOwn } from './objects.ts';
import { Shared, sharedOf } from './shared.ts';
import { typeOf } from './text.ts';
import { XmlDocument, XmlNode } from './xml.ts';
import { nodeOf, treeOf } from './xml-tree.ts';
import { parseXml } from './xml-parse.ts';

const MARK = '\u0001';
/** How JSON writes what an escape begins with. */
export const INNER_MARK = '\\u0001';

/** Whether the JSON text holds nothing but plain JSON, so that JSON.parse alone reads it. */
export function isPlainInner(json: string): boolean {
  return !json.includes(INNER_MARK);
}

/**
 * The JSON text of a value. JSON.stringify does the work (the classes have `toJSON`); what it cannot do, big Integers and users' strings
 * that look like an escape, is found afterwards and written by hand.
 */
export function encodeInner(value: Value): string {
  return encode(value, BARE);
}

/** The same for a statement on the store, in which XML stays XML. */
export function encodeStatement(value: Value): string {
  return encode(value, WITH_XML);
}

/** The same for a value on its way to the state or back, in which handles of shared objects may stand. */
export function encodeShared(value: Value): string {
  return encode(value, WITH_HANDLES);
}

/** What may stand in a text beside data. */
interface Extras {
  readonly handles: boolean;
  readonly xml: boolean;
}
const BARE: Extras = { handles: false, xml: false };
const WITH_HANDLES: Extras = { handles: true, xml: false };
const WITH_XML: Extras = { handles: false, xml: true };

function encode(value: Value, extras: Extras): string {
  const before = written.count;
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // a bigint, a local value or a cycle: the careful writer below tells which
  }
  const ours = written.count - before;
  if (json !== undefined && occurrences(json) === ours) return json;
  return JSON.stringify(escaped(value, value, 0, extras));
}

/** How often a mark stands in the text; a user's string that holds one makes it more than we wrote. */
function occurrences(json: string): number {
  let count = 0;
  for (let at = json.indexOf(INNER_MARK); at >= 0; at = json.indexOf(INNER_MARK, at + 6)) count++;
  return count;
}

/** A tree for JSON.stringify in which every mark is ours. */
function escaped(value: Value, whole: Value, depth: number, extras: Extras): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? `${MARK}s${value}` : value;
  if (typeof value === 'bigint') return `${MARK}i${value}`;
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return value ?? null;
  if (depth > MAX_DEPTH) failDeep('the value', whole);
  if (Array.isArray(value)) return value.map((element) => escaped(element, whole, depth + 1, extras));
  if (isObject(value)) {
    const tree: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(value)) setOwn(tree as ObjectValue, key, escaped(value[key] as Value, whole, depth + 1, extras) as Value);
    return tree;
  }
  if (extras.handles && value instanceof Shared) return `${MARK}h${value.handle}`;
  if (value instanceof XmlDocument) return `${MARK}x${value.source}`;
  const data = value instanceof LocalValue ? value.data() : undefined;
  if (extras.xml && value instanceof XmlNode && typeof data !== 'string') return `${MARK}n${JSON.stringify(treeOf(value))}`;
  if (value instanceof LocalValue || typeof value === 'function') {
    if (data === undefined) fail('cascade.procedure.parameter.type', 'the value', 'a part', 'data', typeOf(value));
    return escaped(data, whole, depth + 1, extras);
  }
  return value;
}

export function decodeInner(json: string): Value {
  const parsed: unknown = JSON.parse(json);
  return isPlainInner(json) ? (parsed as Value) : fromInner(parsed);
}

/** Turns the escapes of a freshly parsed tree into values, in place. */
export function fromInner(parsed: unknown): Value {
  if (typeof parsed === 'string') return parsed.charCodeAt(0) === 1 ? unescape(parsed) : parsed;
  if (typeof parsed !== 'object' || parsed === null) return parsed as Value;
  if (Array.isArray(parsed)) {
    for (let i = 0; i < parsed.length; i++) {
      const element: unknown = parsed[i];
      if (typeof element === 'string' ? element.charCodeAt(0) === 1 : typeof element === 'object') parsed[i] = fromInner(element);
    }
    return parsed as Value[];
  }
  const object = parsed as ObjectValue;
  for (const key of Object.keys(object)) {
    const member: unknown = object[key];
    if (typeof member === 'string' ? member.charCodeAt(0) === 1 : typeof member === 'object') setOwn(object, key, fromInner(member));
  }
  return object;
}

function unescape(escape: string): Value {
  const body = escape.slice(2);
  switch (escape.charCodeAt(1)) {
    case 0x74: // t
      return new DateTime(Number(body));
    case 0x72: // r
      return realOf(body);
    case 0x69: // i
      return integer(BigInt(body));
    case 0x64: // d
      return parseDecimal(body) ?? malformed(escape);
    case 0x63: // c
      return parseCurrency(body) ?? malformed(escape);
    case 0x78: // x
      return parseXml(body);
    case 0x6e: // n
      return nodeOf(JSON.parse(body));
    case 0x68: // h
      return sharedOf(body) ?? malformed(escape);
    case 0x73: // s
      return body;
    default:
      return malformed(escape);
  }
}

/** The text of a double is written in one way only, so any other text holds digits that it does not. */
function realOf(body: string): number | Real {
  const value = Number(body);
  return String(value) === body || body === '-0' ? real(value) : new Real(value, body);
}

/** Both ends are ours, so this is a fault of ours. */
function malformed(escape: string): never {
  throw new Error(`not inner JSON: ${JSON.stringify(escape)}`);
}
