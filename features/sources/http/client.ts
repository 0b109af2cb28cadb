// The HTTP client of sources: undici over the controlled egress, with limits on time, bytes and redirects. It knows nothing of sources.
import { STATUS_CODES } from 'node:http';
import type { ConnectionOptions } from 'node:tls';
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Agent, errors } from 'undici';
import { CascadeError } from '../../../model/errors/index.ts';
import { type AnswerRoom, EgressError, reasonOf } from '../../../platform/egress/index.ts';
import { type HttpAnswer, type HttpAsk, type HttpClientOptions, HttpFailure } from './types.ts';

const MOST_BYTES = 64 * 1024 * 1024;
const CONNECT_MS = 60_000;
/** Bounds a whole request, however slowly data arrives. */
const WHOLE_MS = 600_000;
const COARSE_FROM_MS = 1_000;
const COARSE_BY_MS = 500;
const MOST_HEADER_BYTES = 64 * 1024;
/** Of what is unpacked at a time. */
const UNPACKED_BYTES = 256 * 1024;
const CONNECTIONS_PER_ORIGIN = 32;
/**
 * Of the headers of a request, those that go along with a redirect to another origin. Any other may hold a secret, whatever it is called: a source's
 * configuration names it.
 */
const HARMLESS = new Set(['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);

export class HttpClient implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  /** Presents the client's own certificate: for the origin of the request. */
  readonly #agent: Agent;
  /** Presents no certificate: for the targets of redirects. */
  readonly #stranger: Agent;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#agent = agentOf(options, options.tls ?? {});
    const { cert: _, key: __, pfx: ___, ...strange } = options.tls ?? {};
    this.#stranger = agentOf(options, strange);
  }

  /** @throws HttpFailure; EgressError `refused` and `limit`; cascade.quota.exceeded: no room for the answer */
  async ask(ask: HttpAsk): Promise<HttpAnswer> {
    // The request has a controller and a timer of its own: AbortSignal.timeout would keep each signal until its timeout, long after the
    // request ended.
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), WHOLE_MS);
    const leave = (): void => ending.abort();
    if (ask.signal?.aborted) ending.abort();
    else ask.signal?.addEventListener('abort', leave, { once: true });
    const room = ask.room ?? this.#options.outlet.answerRoom();
    try {
      return await this.#followed({ ...ask, room }, ending.signal);
    } finally {
      if (!ask.room) room[Symbol.dispose]();
      clearTimeout(timer);
      ask.signal?.removeEventListener('abort', leave);
    }
  }

  async #followed(ask: RoomedAsk, until: AbortSignal): Promise<HttpAnswer> {
    let { url, headers, body } = ask;
    let left = ask.redirects ?? 0;
    for (;;) {
      const isHome = url.origin === ask.url.origin;
      const answer = await this.#once({ ...ask, url, headers, body }, isHome ? this.#agent : this.#stranger, until);
      const location = answer.headers['location'];
      const isRedirect = [301, 302, 303, 307, 308].includes(answer.status) && typeof location === 'string';
      if (!isRedirect || left <= 0 || (ask.method !== 'GET' && ask.method !== 'HEAD')) return answer;
      left--;
      const next = URL.parse(location, url.href);
      if (!next || !/^https?:$/.test(next.protocol)) return answer;
      if (next.origin !== url.origin) {
        headers = headers.filter(([name]) => HARMLESS.has(name.toLowerCase()));
        body = null;
      }
      next.username = '';
      next.password = '';
      url = next;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#stranger.destroy()]);
  }

  async #once(
    { url, method, headers, body, timeoutMs, signal: wanted, room }: RoomedAsk,
    agent: Agent,
    until: AbortSignal,
  ): Promise<HttpAnswer> {
    const { proxy, unpacks, mostBytes = MOST_BYTES } = this.#options;
    const bounds = { most: mostBytes, room, until };
    room.clear(); // of an answer before it, which led to this one
    const sent: string[] = headers.flat();
    if (unpacks) sent.push('Accept-Encoding', 'gzip, deflate');
    const absolute = proxy && url.protocol === 'http:';
    if (absolute && proxy.authorization !== undefined) sent.push('Proxy-Authorization', proxy.authorization);
    try {
      const {
        statusCode,
        headers: received,
        body: stream,
      } = await agent.request({
        origin: url.origin,
        method: method,
        path: absolute ? `${url.origin}${url.pathname}${url.search}` : `${url.pathname}${url.search}`,
        headers: sent,
        body,
        headersTimeout: notBefore(timeoutMs),
        bodyTimeout: notBefore(timeoutMs),
        signal: until,
      });
      const declared = Number(received['content-length'] ?? 0);
      const bytes = declared > mostBytes && method !== 'HEAD' ? tooLarge(stream, mostBytes) : await collected(stream, bounds);
      const answer = { status: statusCode, statusText: STATUS_CODES[statusCode] ?? String(statusCode), headers: clean(received) };
      return { ...answer, body: unpacks ? await unpacked(bytes, received['content-encoding'], bounds) : bytes };
    } catch (error) {
      throw failureOf(error, timeoutMs, until.aborted && !wanted?.aborted);
    }
  }
}

/**
 * undici's timers above one second are coarse and fire up to half a second early: the margin keeps a request from timing out before its
 * deadline.
 */
const notBefore = (ms: number): number => (ms > COARSE_FROM_MS ? ms + COARSE_BY_MS : ms);

function agentOf({ outlet, proxy, connectTimeoutMs = CONNECT_MS }: HttpClientOptions, tls: ConnectionOptions): Agent {
  return new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    maxHeaderSize: MOST_HEADER_BYTES,
    connect: (options, done) => {
      const isSecure = options.protocol === 'https:';
      const target = {
        host: options.hostname,
        port: Number(options.port) || (isSecure ? 443 : 80),
        tls: isSecure ? { ...tls, ALPNProtocols: ['http/1.1'] } : null,
        proxy: proxy ? { ...proxy, absoluteForm: !isSecure } : null,
        timeoutMs: connectTimeoutMs,
      };
      outlet.connect(target).then(
        (socket) => done(null, socket),
        (error: unknown) => done(error as Error, null),
      );
    },
  });
}

type RoomedAsk = HttpAsk & { readonly room: AnswerRoom };

interface Bounds {
  readonly most: number;
  readonly room: AnswerRoom;
  /** Nobody wants the answer any more. */
  readonly until: AbortSignal;
}

type Stream = AsyncIterable<Buffer> & { destroy(): unknown };

function tooLarge(stream: Stream & { on(event: 'error', listener: () => void): unknown }, most: number): never {
  stream.on('error', () => undefined);
  stream.destroy();
  throw new HttpFailure('too large', `the answer is larger than ${most} bytes`);
}

/** Reads on when there is room for what has come. */
async function collected(stream: Stream, { most, room, until }: Bounds): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > most) throw new HttpFailure('too large', `the answer is larger than ${most} bytes`); // leaving the loop destroys the stream
    chunks.push(chunk);
    const waits = room.grow(chunk.length, until);
    if (waits) await waits;
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

async function unpacked(bytes: Buffer, encoding: string | string[] | undefined, bounds: Bounds): Promise<Buffer> {
  const names = [encoding ?? []]
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  let result = bytes;
  for (const name of names.filter((one) => one !== '' && one !== 'identity').reverse()) {
    if (result.length === 0) return result;
    if (name !== 'gzip' && name !== 'x-gzip' && name !== 'deflate') return result;
    const packed = result.length;
    try {
      result = await unpackedBy(name === 'deflate' ? inflating(result) : createGunzip(UNPACKING), result, bounds);
    } catch (error) {
      if (error instanceof HttpFailure || error instanceof CascadeError || bounds.until.aborted) throw error;
      throw new HttpFailure('malformed', `it is no ${name}`);
    }
    bounds.room.shrink(packed);
  }
  return result;
}

const UNPACKING = { chunkSize: UNPACKED_BYTES };

/** Some send it without its header (RFC 9110 8.4.1.2), which has 8 in its lower half and is a multiple of 31. */
function inflating(bytes: Buffer): ReturnType<typeof createInflate> {
  const [first = 0, second = 0] = bytes;
  const hasHeader = (first & 15) === 8 && (first * 256 + second) % 31 === 0;
  return hasHeader ? createInflate(UNPACKING) : createInflateRaw(UNPACKING);
}

function unpackedBy(unpacker: ReturnType<typeof createGunzip>, bytes: Buffer, bounds: Bounds): Promise<Buffer> {
  unpacker.end(bytes);
  return collected(unpacker, bounds);
}

const clean = (headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value]])));

function failureOf(error: unknown, timeoutMs: number, isOver: boolean): Error {
  if (error instanceof HttpFailure || error instanceof CascadeError) return error;
  if (error instanceof EgressError)
    return error.failure === 'refused' || error.failure === 'limit' ? error : new HttpFailure('unconnected', error.message);
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
    return new HttpFailure('timeout', `no data within ${timeoutMs} ms`);
  if (isOver) return new HttpFailure('timeout', `no whole answer within ${WHOLE_MS} ms`);
  return new HttpFailure('cut', reasonOf(error));
}
