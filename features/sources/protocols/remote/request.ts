// Converts a request document to an HTTP request (integrations.md 2.2 to 2.4). Pure.
import { randomUUID } from 'node:crypto';
import { isInteger, isObject, type ObjectValue, type Value } from '../../../../stdlib/values/index.ts';
import { charsetOf, ContentError, encodeContent, encodePairs, encodeText, kindOf, pairsOf } from '../../content/index.ts';
import { headerPairs } from '../../http/index.ts';
import { documentNameOf } from '../documents.ts';
import { own } from '../fields.ts';

/** The request document is invalid; the message says why. */
export class RequestProblem extends Error {}

export interface PlannedRequest {
  readonly method: string;
  /** Path to resolve against a base. */
  readonly path: string | null;
  /** The query without a question mark; it is appended to that of path or base. */
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
  readonly timeoutMs: number;
  /** Forces the parser of the answer. */
  readonly responseType: string | null;
  /** Parses an answer that names no type. */
  readonly contentType: string;
  readonly asFullResponse: boolean;
  readonly asFullExchange: boolean;
  readonly includeRedirect: boolean;
  /** Name of the document that stores the body of the answer. */
  readonly saveAs: string | null;
}

/** The document that the `ref` of a part names. */
export interface LoadedDocument {
  readonly name: string;
  readonly fileType: string;
  readonly bytes: Buffer;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const LONGEST_MS = 120_000;
const JSON_TYPE = 'application/json';
const UNIT_MS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/**
 * Plans the HTTP request.
 * @param document the merged request document
 * @param operation decides the default method
 * @param queryAsBody whether the config's `queryForm` is `body`
 * @param documents the documents that parts name, by the index of the part
 * @throws RequestProblem
 */
export function planRequest(
  document: ObjectValue,
  operation: 'query' | 'publish',
  queryAsBody: boolean,
  documents: ReadonlyMap<number, LoadedDocument> = new Map(),
): PlannedRequest {
  const query = typed(document, 'query', isObject, 'an Object') as ObjectValue | null;
  const parts = typed(document, 'parts', (value) => Array.isArray(value) && value.every(isObject), 'an array of Objects') as
    | ObjectValue[]
    | null;
  const hasBody = Object.hasOwn(document, 'body');
  if (hasBody && parts) throw new RequestProblem('body and parts exclude each other');
  const acceptType = textOf(document, 'acceptType');
  const responseType = textOf(document, 'responseType');
  if (acceptType !== null && responseType !== null) throw new RequestProblem('acceptType and responseType exclude each other');
  const given = textOf(document, 'contentType');
  const asForm = queryAsBody && !hasBody && !parts && query !== null;
  const contentType = given ?? JSON_TYPE;
  const method = methodOf(document, asForm || operation === 'publish' ? 'POST' : 'GET');
  const encoded = asForm
    ? { body: Buffer.from(encodePairs(pairsOf(query))), type: 'application/x-www-form-urlencoded' }
    : parts
      ? multipart(parts, given, documents)
      : bodyOf(document, hasBody && (given !== null || (method !== 'GET' && method !== 'HEAD')), contentType);
  return {
    method,
    path: textOf(document, 'path', true),
    query: query === null || asForm ? '' : encodePairs(pairsOf(query)),
    headers: headersOf(document, encoded.type, acceptType ?? responseType ?? (parts || asForm ? JSON_TYPE : contentType)),
    body: encoded.body,
    timeoutMs: timeoutOf(own(document, 'requestTimeout')),
    responseType,
    contentType: parts || asForm ? JSON_TYPE : contentType,
    asFullResponse: flagOf(document, 'asFullResponse'),
    asFullExchange: flagOf(document, 'asFullExchange'),
    includeRedirect: flagOf(document, 'includeRedirect'),
    saveAs: savedName(document),
  };
}

/** Names of the documents that parts of a request use, by the index of the part. @throws RequestProblem for a `ref` that names none */
export function refsOf(document: ObjectValue): Map<number, string> {
  const parts = own(document, 'parts');
  const names = new Map<number, string>();
  for (const [i, part] of (Array.isArray(parts) ? parts : []).entries()) {
    const ref = isObject(part) ? own(part, 'ref') : null;
    if (ref === null) continue;
    const name = documentNameOf(ref);
    if (name === null) throw new RequestProblem(`parts[${i}].ref refers to no document`);
    names.set(i, name);
  }
  return names;
}

function savedName(document: ObjectValue): string | null {
  const saveAs = own(document, 'saveAs');
  if (saveAs === null) return null;
  const name = documentNameOf(saveAs);
  if (name === null) throw new RequestProblem('saveAs refers to no document');
  return name;
}

function typed(document: ObjectValue, name: string, fits: (value: Value) => boolean, what: string): Value {
  const value = own(document, name);
  if (value !== null && !fits(value)) throw new RequestProblem(`${name} must be ${what}`);
  return value;
}

function textOf(document: ObjectValue, name: string, mayBeEmpty = false): string | null {
  const value = typed(document, name, (one) => typeof one === 'string', 'a String') as string | null;
  if (value !== null && /[\r\n\0]/.test(value)) throw new RequestProblem(`${name} has a line break`);
  return value === '' && !mayBeEmpty ? null : value;
}

const flagOf = (document: ObjectValue, name: string): boolean =>
  typed(document, name, (value) => typeof value === 'boolean', 'a Boolean') === true;

function methodOf(document: ObjectValue, otherwise: string): string {
  const method = (textOf(document, 'method') ?? otherwise).toUpperCase();
  if (!METHODS.has(method)) throw new RequestProblem(`${method.slice(0, 20)} is no method`);
  return method;
}

/** The timeout in milliseconds, of a number, an interval, or a text such as `30 seconds`. */
function timeoutOf(value: Value): number {
  if (value === null) return LONGEST_MS;
  const [, number, unit = ''] = typeof value === 'string' ? (/^\s*(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]+?)s?\s*$/i.exec(value) ?? []) : [];
  const ms = isInteger(value) ? Number(value) : Number(number) * (UNIT_MS[unit.toLowerCase()] ?? Number.NaN);
  if (!(ms > 0)) throw new RequestProblem('requestTimeout must be an interval above zero');
  return Math.min(Math.max(1, Math.round(ms)), LONGEST_MS);
}

function headersOf(document: ObjectValue, type: string | null, accept: string): [string, string][] {
  const given = typed(document, 'headers', isObject, 'an Object') as ObjectValue | null;
  const pairs = headerPairs(given ?? {});
  if (typeof pairs === 'string') throw new RequestProblem(pairs);
  const has = (name: string): boolean => pairs.some(([one]) => one.toLowerCase() === name);
  if (!has('accept')) pairs.push(['Accept', accept]);
  if (type !== null && !has('content-type')) pairs.push(['Content-Type', type]);
  return pairs;
}

interface Encoded {
  readonly body: Buffer | null;
  readonly type: string | null;
}

function bodyOf(document: ObjectValue, isSent: boolean, contentType: string): Encoded {
  if (!isSent) return { body: null, type: null };
  return { body: encoded(contentType, own(document, 'body'), 'body'), type: contentType };
}

function encoded(contentType: string, value: Value, what: string, encode = encodeContent): Buffer {
  try {
    return encode(contentType, value);
  } catch (error) {
    throw error instanceof ContentError ? new RequestProblem(`${what}: ${error.message}`) : error;
  }
}

function multipart(parts: readonly ObjectValue[], contentType: string | null, documents: ReadonlyMap<number, LoadedDocument>): Encoded {
  const boundary = `cascade-${randomUUID()}`;
  const chunks = parts.flatMap((part, i) => [...partOf(part, i, boundary, documents.get(i)), Buffer.from('\r\n')]);
  const type = contentType?.toLowerCase().startsWith('multipart/') ? (contentType.split(';', 1)[0] as string) : 'multipart/form-data';
  return { body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]), type: `${type}; boundary=${boundary}` };
}

const quoted = (text: string): string => text.replaceAll('"', '%22');

/** Headers and content of a part. A document gives its own name and type where the part names neither name nor file name. */
function partOf(part: ObjectValue, i: number, boundary: string, loaded: LoadedDocument | undefined): Buffer[] {
  const hasContent = Object.hasOwn(part, 'content');
  if (hasContent === (loaded !== undefined)) throw new RequestProblem(`parts[${i}] needs content or ref, and not both`);
  const last = loaded ? loaded.name.slice(loaded.name.lastIndexOf('/') + 1).replaceAll(/[\0-\x1f\x7f]/g, '_') : null;
  const name = textOf(part, 'name') ?? last;
  const filename = textOf(part, 'filename') ?? last;
  if (name === null) throw new RequestProblem(`parts[${i}] needs a name`);
  const type = textOf(part, 'contentType') ?? loaded?.fileType ?? 'text/plain';
  const file = filename === null ? '' : `; filename="${quoted(filename)}"`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\nContent-Type: ${type}\r\n\r\n`;
  return [Buffer.from(head), loaded?.bytes ?? partContent(part, i, type)];
}

function partContent(part: ObjectValue, i: number, type: string): Buffer {
  return encoded(type, own(part, 'content'), `parts[${i}]`, (_type, content) =>
    typeof content === 'string' && kindOf(type) !== 'binary' ? encodeText(content, charsetOf(type)) : encodeContent(type, content),
  );
}

/**
 * The address of a request (integrations.md 2.3).
 * @throws RequestProblem for a path that leads to another origin: credentials must not be sent there
 */
export function resolveTarget(base: string, { path, query }: Pick<PlannedRequest, 'path' | 'query'>): URL {
  const home = new URL(base);
  const target = path === null || path === '' ? new URL(base) : URL.parse(path, base);
  if (!target) throw new RequestProblem('path is no address');
  if (target.origin !== home.origin || target.username !== '' || target.password !== '')
    throw new RequestProblem('path leads to another origin');
  target.hash = '';
  if (query !== '') target.search = target.search === '' ? `?${query}` : `${target.search}&${query}`;
  return target;
}
