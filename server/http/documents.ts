// Documents over HTTP (resources-and-api.md 4.8): uploads as multipart, and downloads with ranges and conditions (RFC 9110). A browser is
// told not to guess the type, and content that could run as a program of our origin is sandboxed.
import type { ApiRequest, DownloadedContent, Engine, Identity } from '../../resources/api.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { boundaryOf, isMultipart, partsOf } from './multipart.ts';
import { parameters, type Query } from './parameters.ts';
import { namesTag, rangeIn } from './ranges.ts';
import { READINGS } from './resources.ts';
import { type Action, decode, DOCUMENTS, PUBLIC_DOCUMENTS, type ResourceRoute } from './routes.ts';
import type { HttpReply, HttpRequest } from './types.ts';

type Executing = Pick<Engine, 'execute'>;

export const isUpload = (http: HttpRequest, { resourceName, custom }: ResourceRoute, action: Action): boolean =>
  action === 'insert' &&
  (resourceName === 'ArsDocument' || (resourceName === 'documents' && !custom)) &&
  isMultipart(http.headers.get('content-type'));

/** @throws request.body.invalid: the boundary is missing; request.parameter.invalid */
export function uploadRequest(http: HttpRequest, query: Query, identity: Identity, limitBytes: number): ApiRequest {
  const boundary = boundaryOf(http.headers.get('content-type'));
  if (boundary === null) throw apiError('cascade.request.body.invalid', 'the content type has no boundary', 0);
  const parts = partsOf(http.stream(), boundary, http.headers.get('content-encoding'));
  const requestId = http.headers.get('x-cascade-request-id');
  return {
    ...(requestId && { requestId }),
    identity,
    op: 'insert',
    resourceName: 'documents',
    custom: false,
    parameters: parameters(query, READINGS.insert.parameters),
    get address() {
      return http.address;
    },
    transfer: { kind: 'upload', parts, limitBytes },
  };
}

/** Answers `GET /docs/<name>`. */
export async function documentReply(http: HttpRequest, engine: Executing, identity: Identity): Promise<HttpReply> {
  const name = decode(http.path.slice(DOCUMENTS.length));
  if (name === null) throw apiError('cascade.request.parameter.invalid', 'path', http.path);
  const { content } = await engine.execute(downloadRequest(http, identity, name));
  return contentReply(http, content!, 'private, no-cache');
}

/** Answers `GET /ui/docs/NS/<namespace>/<path>`: the document `public/<path>`, for everybody. Strangers learn nothing but 404. */
export async function publicDocumentReply(http: HttpRequest, engine: Executing): Promise<HttpReply> {
  const [, rawNamespace = '', rawPath = ''] = /^([^/]+)\/(.+)$/s.exec(http.path.slice(PUBLIC_DOCUMENTS.length)) ?? [];
  const [namespace, path] = [decode(rawNamespace), decode(rawPath)];
  const gone = () => apiError('cascade.resource.not.found', http.path);
  if (!namespace || !path) throw gone();
  const anybody: Identity = { username: 'publicExecutor', namespace, profiles: [] };
  try {
    const { content } = await engine.execute({ ...downloadRequest(http, anybody, `public/${path}`), publicOnly: true });
    return contentReply(http, content!, 'public, no-cache');
  } catch (error) {
    throw error instanceof CascadeError && error.status < 500 && error.status !== 429 ? gone() : error;
  }
}

const downloadRequest = (http: HttpRequest, identity: Identity, name: string): ApiRequest => ({
  identity,
  op: 'select',
  resourceName: 'documents',
  custom: false,
  resourceId: name,
  parameters: {},
  get address() {
    return http.address;
  },
  transfer: { kind: 'download' },
});

/** Types that a browser shows without running anything as a program of our origin; all others are sandboxed. */
const INERT = /^(?:text\/plain|text\/csv|application\/(?:json|pdf|octet-stream)|image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

function contentReply(http: HttpRequest, { fileType, sizeBytes, digest, open }: DownloadedContent, caching: string): HttpReply {
  const tag = `"${digest}"`;
  const headers: HttpReply['headers'] = {
    ETag: tag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': caching,
    'Content-Disposition': 'inline',
    ...(!INERT.test(fileType.split(';', 1)[0]!.trim().toLowerCase()) && { 'Content-Security-Policy': 'sandbox' }),
  };
  const ifNoneMatch = http.headers.get('if-none-match');
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag)) return { status: 304, headers };
  const ifRange = http.headers.get('if-range');
  const asked = http.method === 'GET' && (ifRange === undefined || ifRange.trim() === tag) ? http.headers.get('range') : undefined;
  const range = asked === undefined ? null : rangeIn(asked, sizeBytes);
  if (range === 'unsatisfiable') return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${sizeBytes}` }, body: '' };
  const [from, to] = range ?? [0, sizeBytes];
  const bytes = { ...open(from, to), lengthBytes: to - from };
  if (!range) return { status: 200, headers, bytes, contentType: fileType };
  const partHeaders = { ...headers, 'Content-Range': `bytes ${from}-${to - 1}/${sizeBytes}` };
  return { status: 206, headers: partHeaders, bytes, contentType: fileType };
}
