// The headers that every reply has, and the compression of bodies (resources-and-api.md 1.7).
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { type AnswerHead, HeaderBlock, type HeaderField } from '../transport/index.ts';
import { compressed, type WirePieces } from './compressed.ts';
import { REPLY_HEADERS, REQUEST_HEADERS } from './header-names.ts';
import type { HttpReply, HttpRequest } from './types.ts';

const gzip = promisify<string, Buffer>(gzipCallback);

/** The origins that browsers may call from. */
export type CorsOrigins = '*' | readonly string[];

const COMPRESSED_FROM_BYTES = 1024;
const EXPOSED: HeaderField = ['Access-Control-Expose-Headers', REPLY_HEADERS.join(', ')];
const PREFLIGHT: readonly HeaderField[] = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  ['Access-Control-Allow-Headers', REQUEST_HEADERS.join(', ')],
  ['Access-Control-Max-Age', '86400'],
];

/** The type of JSON, without a charset: the client SDK compares the whole value. */
const JSON_TYPE = 'application/json';

/** The browser must not guess the type, and must not send the address, which may contain a token, to other sites. */
const GUARDS: [HeaderField, HeaderField] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
];
const GUARDED = new HeaderBlock(...GUARDS);
/** The fields that nearly all replies have. */
const USUAL_FIELDS: readonly HeaderField[] = [['Access-Control-Allow-Origin', '*'], EXPOSED, ['Content-Type', JSON_TYPE]];
const USUAL = new HeaderBlock(...GUARDS, ...USUAL_FIELDS);
const USUAL_NOT_STORED = new HeaderBlock(...GUARDS, ...USUAL_FIELDS, ['Cache-Control', 'no-store']);

/** A reply in bytes, ready to be sent. Header values are made by the service, or checked. */
export interface WireReply extends AnswerHead {
  readonly body: string | Buffer | undefined;
  /** A long body in place of `body`. */
  readonly pieces?: WirePieces | undefined;
  /** The length of all pieces, where it is known. */
  readonly lengthBytes?: number | undefined;
}

export function wireReply(http: HttpRequest, reply: HttpReply, origins: CorsOrigins): MaybePromise<WireReply> {
  const { status, headers, body, pieces, bytes, contentType, sameOriginOnly } = reply;
  const hasBody = body !== undefined || pieces !== undefined || bytes !== undefined;
  const all: (HeaderField | HeaderBlock)[] = [['X-Request-Id', requestId(http)]];
  const varies: string[] = [];
  if (headers)
    for (const [name, value] of Object.entries(headers))
      if (name === 'Vary') varies.push(value);
      else all.push([name, value]);
  const isUsual = origins === '*' && hasBody && contentType === undefined && !sameOriginOnly && http.method !== 'OPTIONS';
  if (isUsual) all.push(isKept(http.path) ? USUAL : USUAL_NOT_STORED);
  else {
    all.push(GUARDED);
    if (!sameOriginOnly) all.push(...corsHeaders(http, origins));
    if (!sameOriginOnly && origins !== '*') varies.push('Origin');
    if (!isKept(http.path)) all.push(['Cache-Control', 'no-store']);
    if (hasBody) all.push(['Content-Type', contentType ?? JSON_TYPE]);
  }
  if (bytes) return { status, headers: withVary(all, varies), body: undefined, pieces: bytes, lengthBytes: bytes.lengthBytes };
  // Whether a body is worth compressing. A text with so few characters cannot be longer in bytes; most are not counted byte by byte.
  const isLong =
    pieces !== undefined ||
    (body !== undefined && body.length * 3 > COMPRESSED_FROM_BYTES && Buffer.byteLength(body) > COMPRESSED_FROM_BYTES);
  if (isLong) varies.push('Accept-Encoding');
  if (varies.length > 0) all.push(['Vary', varies.join(', ')]);
  if (!isLong || http.method === 'HEAD' || !acceptsGzip(http.headers.get('accept-encoding'))) return { status, headers: all, body, pieces };
  all.push(['Content-Encoding', 'gzip']);
  if (pieces) return { status, headers: all, body: undefined, pieces: compressed(pieces) };
  return gzip(body!).then((bytes) => ({ status, headers: all, body: bytes }));
}

const withVary = (all: (HeaderField | HeaderBlock)[], varies: readonly string[]): (HeaderField | HeaderBlock)[] =>
  varies.length === 0 ? all : [...all, ['Vary', varies.join(', ')]];

/** Whether caches may store the reply: those of the API may not be stored. */
const isKept = (path: string): boolean => !path.startsWith('/api/') && !path.startsWith('/authenticate');

/** The client's request id, when it is fit for a header and a log line; otherwise a new one. */
function requestId(http: HttpRequest): string {
  const given = http.headers.get('x-request-id');
  return given && /^[\x20-\x7e]{1,200}$/.test(given) ? given : randomUUID();
}

function corsHeaders(http: HttpRequest, origins: CorsOrigins): readonly HeaderField[] {
  const origin = origins === '*' ? '*' : http.headers.get('origin');
  if (origin === undefined || (origins !== '*' && !origins.includes(origin))) return [];
  return [['Access-Control-Allow-Origin', origin], ...(http.method === 'OPTIONS' ? PREFLIGHT : [EXPOSED])];
}

/** RFC 9110 12.5.3: gzip is named, or `*` without gzip, with a weight other than 0. */
export const acceptsGzip = (header?: string): boolean =>
  (weightIn(header, 'gzip') ?? weightIn(header, 'x-gzip') ?? weightIn(header, '*') ?? 0) > 0;

/** The weight of an entry in a header of preferences, 1 where it names none; undefined when it is not listed. */
export function weightIn(header: string | undefined, wanted: string): number | undefined {
  for (const entry of header?.split(',') ?? []) {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    if (name !== wanted) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return weight === undefined ? 1 : Number(weight);
  }
  return undefined;
}
