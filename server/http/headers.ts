// Headers that every reply has, whatever it answers, and its compression (resources-and-api.md 1.7).
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import type { Soon } from '../../runtime/soon.ts';
import { compressed, type WirePieces } from './compressed.ts';
import type { HttpReply, HttpRequest } from './types.ts';

const gzip = promisify<string, Buffer>(gzipCallback);

/** Origins that browsers may call from. */
export type CorsOrigins = '*' | readonly string[];

const COMPRESSED_FROM_BYTES = 1024;
const EXPOSED = 'X-Total-Count, X-Partial-Result, X-Result-Truncated, X-Request-Id, ETag, Retry-After';
const PREFLIGHT: [string, string][] = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  ['Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Target-Namespace, X-Request-Id, If-Match, If-None-Match'],
  ['Access-Control-Max-Age', '86400'],
];

/** Without a charset: the client SDK compares the whole value. */
const JSON_TYPE = 'application/json';

/** The headers that nearly all replies have in common, as one: the lines of the others stand in the value of the first. */
const usual = (...more: string[]): [string, string] => [
  'Access-Control-Allow-Origin',
  ['*', `Access-Control-Expose-Headers: ${EXPOSED}`, `Content-Type: ${JSON_TYPE}`, ...more].join('\r\n'),
];
const USUAL = usual();
const USUAL_NOT_STORED = usual('Cache-Control: no-store');

/** A reply as its bytes: nothing is left to decide but how to send them. */
export interface WireReply {
  status: number;
  /** Of the service's own making, or checked: none has a line end, but for those between the lines of `usual`. */
  headers: [name: string, value: string][];
  body: string | Buffer | undefined;
  /** A long body in place of `body`. */
  pieces?: WirePieces | undefined;
}

export function wireReply(
  http: HttpRequest,
  { status, headers, body, pieces, contentType }: HttpReply,
  origins: CorsOrigins,
): Soon<WireReply> {
  const hasBody = body !== undefined || pieces !== undefined;
  const all: [string, string][] = [['X-Request-Id', requestId(http)]];
  if (headers) for (const name of Object.keys(headers)) all.push([name, headers[name]!]);
  const isUsual = origins === '*' && hasBody && contentType === undefined && http.method !== 'OPTIONS';
  if (isUsual) all.push(isKept(http.path) ? USUAL : USUAL_NOT_STORED);
  else {
    all.push(...corsHeaders(http, origins));
    if (!isKept(http.path)) all.push(['Cache-Control', 'no-store']);
    if (hasBody) all.push(['Content-Type', contentType ?? JSON_TYPE]);
  }
  // A text of so few characters cannot be longer; most are not counted byte by byte.
  const isLong =
    pieces !== undefined ||
    (body !== undefined && body.length * 3 > COMPRESSED_FROM_BYTES && Buffer.byteLength(body) > COMPRESSED_FROM_BYTES);
  if (!isLong) return { status, headers: all, body };
  const vary = all.find(([name]) => name === 'Vary');
  if (vary) vary[1] += ', Accept-Encoding';
  else all.push(['Vary', 'Accept-Encoding']);
  if (http.method === 'HEAD' || !acceptsGzip(http.headers.get('accept-encoding'))) return { status, headers: all, body, pieces };
  all.push(['Content-Encoding', 'gzip']);
  if (pieces) return { status, headers: all, body: undefined, pieces: compressed(pieces) };
  return gzip(body!).then((bytes) => ({ status, headers: all, body: bytes }));
}

/** What is not the API may be kept by caches. */
const isKept = (path: string): boolean => !path.startsWith('/api/') && !path.startsWith('/authenticate');

/** The caller's, when it can stand in a header and a log line; else one of ours. */
function requestId(http: HttpRequest): string {
  const given = http.headers.get('x-request-id');
  return given && /^[\x20-\x7e]{1,200}$/.test(given) ? given : randomUUID();
}

function corsHeaders(http: HttpRequest, origins: CorsOrigins): [string, string][] {
  const preflight: [string, string][] = http.method === 'OPTIONS' ? PREFLIGHT : [['Access-Control-Expose-Headers', EXPOSED]];
  if (origins === '*') return [['Access-Control-Allow-Origin', '*'], ...preflight];
  const origin = http.headers.get('origin');
  return origin && origins.includes(origin)
    ? [['Access-Control-Allow-Origin', origin], ['Vary', 'Origin'], ...preflight]
    : [['Vary', 'Origin']];
}

/** RFC 9110 12.5.3: gzip is named, or `*` without gzip; not with a weight of 0. */
export function acceptsGzip(header = ''): boolean {
  const weights = new Map(
    header.split(',').map((entry) => {
      const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name!, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
