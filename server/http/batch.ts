// Several requests in one (resources-and-api.md 2.14): each is answered as a single one would be. They run at the same
// time.
import { apiError } from '../../model/errors/index.ts';
import { isLong } from '../../model/types/index.ts';
import { toJson, toJsonInPieces } from '../../model/values/index.ts';
import { finishInSlices, type MaybePromise } from '../../platform/structures/index.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { targetNamespace } from './authentication.ts';
import { readQuery } from './parameters.ts';
import { readBody } from './read-body.ts';
import { RESOURCES } from './routes.ts';
import { replyOf } from './texts.ts';
import type { HttpReply, HttpRequest } from './types.ts';

const MOST_REQUESTS = 100;
/** Bound of the rows of each SELECT. */
const MOST_ROWS = 1_000;
/** Methods whose answers are not kept: a repeated batch reads again. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * @param namespace of the caller
 * @param answer answers one request; never rejects
 * @throws request.body.invalid, request.content.type, request.too.many.instances: for the batch as a whole
 */
export async function batch(http: HttpRequest, namespace: string, answer: (one: HttpRequest) => Promise<HttpReply>): Promise<HttpReply> {
  const type = (http.headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== '' && type !== 'application/json') throw apiError('cascade.request.content.type', http.headers.get('content-type')!);
  const requests = await readBody(await http.body(), namespace);
  if (!Array.isArray(requests)) throw apiError('cascade.request.body.invalid', 'an array of requests is expected', 0);
  if (requests.length > MOST_REQUESTS) throw apiError('cascade.request.too.many.instances', MOST_REQUESTS);
  const target = targetNamespace(http.headers, readQuery(http.query));
  const read = requests.map((one, index) => readRequest(one, index, http, target, namespace));
  const replies = await Promise.all(read.map(answer));
  const texts = replies.map((reply, index) => replyText(reply, read[index]!.method === 'HEAD'));
  return replyOf(['[', ...texts.map((text, index) => (index === 0 ? text : `,${text}`)), ']']);
}

/** @param target the namespace that the batch names, by header or parameter */
function readRequest(value: Value, index: number, outer: HttpRequest, target: string | undefined, namespace: string): HttpRequest {
  const invalid = (reason: string) => apiError('cascade.request.body.invalid', `request ${index}: ${reason}`, 0);
  if (!isObject(value)) throw invalid('an object is expected');
  const method = memberOf(value, 'method') ?? 'GET';
  const uri = memberOf(value, 'uri');
  if (typeof method !== 'string') throw invalid('method is no text');
  if (typeof uri !== 'string' || uri === '') throw invalid('uri is no text');
  const [, path = '', query = ''] = /^\/?([^?]*)\??(.*)$/s.exec(uri) ?? [];
  const headers = readHeaders(memberOf(value, 'headers') ?? {}, invalid);
  const isOwn = headers.has('authorization') || /(?:^|&)token=/.test(query);
  const authorization = outer.headers.get('authorization');
  if (authorization !== undefined && !isOwn) headers.set('authorization', authorization);
  if (target !== undefined && !namesNamespace(headers, query)) headers.set('x-target-namespace', target);
  const token = /(?:^|&)(token=[^&]*)/.exec(outer.query)?.[1];
  const withToken =
    token && !isOwn && outer.headers.get('authorization') === undefined ? `${query}${query === '' ? '' : '&'}${token}` : query;
  const body = memberOf(value, 'body');
  const upper = method.toUpperCase();
  const batchId = READS.has(upper) || headers.has('x-cascade-request-id') ? undefined : outer.headers.get('x-cascade-request-id');
  const read = () => bytesOf(body, headers.get('content-type'), namespace);
  return {
    method: upper,
    path: `${RESOURCES}${path}`,
    query: withToken,
    headers,
    get address() {
      return outer.address;
    },
    get peer() {
      return outer.peer;
    },
    isGone: () => outer.isGone?.() === true,
    mostRows: MOST_ROWS,
    ...(batchId && { partId: `${batchId}\n${index}` }), // no header of a client holds a line break
    body: read,
    sentBody: read,
    stream: () => {
      throw apiError('cascade.request.content.type', headers.get('content-type') ?? '');
    },
  };
}

/** Whether a request names a namespace of its own; one that is malformed is refused when that request is answered, not with the batch. */
const namesNamespace = (headers: ReadonlyMap<string, string>, query: string): boolean =>
  Boolean(headers.get('x-target-namespace')) ||
  readQuery(query)
    .raw.get('targetNamespace')
    ?.some((text) => text !== '') === true;

function readHeaders(value: Value, invalid: (reason: string) => Error): Map<string, string> {
  if (!isObject(value)) throw invalid('headers is no object');
  const headers = new Map<string, string>();
  for (const name of Object.keys(value)) {
    const text = getOwn(value, name);
    if (typeof text !== 'string' && typeof text !== 'number') throw invalid(`header ${name} is no text`);
    headers.set(name.toLowerCase(), String(text));
  }
  headers.delete('content-encoding'); // a request of a batch is not compressed
  return headers;
}

/** The bytes of a body: a text with another content type than JSON is program text; everything else is sent as JSON. */
function bytesOf(body: Value, contentType: string | undefined, namespace: string): MaybePromise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const isJson = contentType === undefined || /^application\/json\b/i.test(contentType.trim());
  if (isLong(body)) return finishInSlices(namespace, toJsonInPieces(body)).then((text) => Buffer.from(text));
  return Buffer.from(typeof body === 'string' && !isJson ? body : toJson(body));
}

function replyText({ status, headers = {}, body, contentType = 'application/json' }: HttpReply, isHead: boolean): string {
  const all = { ...headers, ...(body === undefined ? {} : { 'Content-Type': contentType }) };
  const written = contentType === 'application/json' ? body : JSON.stringify(body);
  return `{"status":${status},"headers":${JSON.stringify(all)}${body === undefined || isHead ? '' : `,"body":${written}`}}`;
}

const memberOf = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);
