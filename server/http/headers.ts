// Headers that every reply has, whatever it answers, and its compression (resources-and-api.md 1.7).
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { compressed, type WirePieces } from './compressed.ts';
import type { HttpReply, HttpRequest } from './types.ts';

const gzip = promisify<string, Buffer>(gzipCallback);

/** Origins that browsers may call from. */
export type CorsOrigins = '*' | readonly string[];

const COMPRESSED_FROM_BYTES = 1024;
const EXPOSED = 'X-Total-Count, X-Partial-Result, X-Result-Truncated, X-Request-Id, ETag, Retry-After';
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Target-Namespace, X-Request-Id, If-Match, If-None-Match',
  'Access-Control-Max-Age': '86400',
};

/** A reply as its bytes: nothing is left to decide but how to send them. */
export interface WireReply {
  status: number;
  headers: [name: string, value: string][];
  body: string | Buffer | undefined;
  /** A long body in place of `body`. */
  pieces?: WirePieces | undefined;
}

export async function wireReply(
  http: HttpRequest,
  { status, headers = {}, body, pieces, contentType }: HttpReply,
  origins: CorsOrigins,
): Promise<WireReply> {
  const all: Record<string, string> = { ...headers, 'X-Request-Id': requestId(http), ...corsHeaders(http, origins) };
  if (http.path.startsWith('/api/') || http.path.startsWith('/authenticate')) all['Cache-Control'] = 'no-store';
  let sent: string | Buffer | undefined = body;
  let sentPieces: WirePieces | undefined = pieces;
  if (body !== undefined || pieces) {
    all['Content-Type'] = contentType ?? 'application/json'; // no charset: the client SDK compares the whole value
    if (pieces || Buffer.byteLength(body!) > COMPRESSED_FROM_BYTES) {
      all.Vary = all.Vary ? `${all.Vary}, Accept-Encoding` : 'Accept-Encoding';
      if (http.method !== 'HEAD' && acceptsGzip(http.headers.get('accept-encoding'))) {
        if (pieces) sentPieces = compressed(pieces);
        else sent = await gzip(body!);
        all['Content-Encoding'] = 'gzip';
      }
    }
  }
  return { status, headers: Object.entries(all), body: sent, pieces: sentPieces };
}

/** The caller's, when it can stand in a header and a log line; else one of ours. */
function requestId(http: HttpRequest): string {
  const given = http.headers.get('x-request-id');
  return given && /^[\x20-\x7e]{1,200}$/.test(given) ? given : randomUUID();
}

function corsHeaders(http: HttpRequest, origins: CorsOrigins): Record<string, string> {
  const preflight = http.method === 'OPTIONS' ? PREFLIGHT : { 'Access-Control-Expose-Headers': EXPOSED };
  if (origins === '*') return { 'Access-Control-Allow-Origin': '*', ...preflight };
  const origin = http.headers.get('origin');
  return origin && origins.includes(origin) ? { 'Access-Control-Allow-Origin': origin, Vary: 'Origin', ...preflight } : { Vary: 'Origin' };
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
