// Paths that are not resources: sessions, batches, health. A kind of route without a description does not compile.
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { DOCUMENTS, PLAIN, type PlainKind, PUBLIC_DOCUMENTS } from '../routes.ts';
import { content, errorResponses, json } from './components.ts';
import { REQUEST_ID } from './resource-paths.ts';
import { schemaRef } from './schemas.ts';

interface Words {
  readonly summary: string;
  readonly answer: ObjectValue;
  /** Of the answer; absent where that is bytes. */
  readonly example?: Value;
  readonly body?: ObjectValue;
  readonly parameters?: Value[];
  /** The media type of the answer, where it is not JSON. */
  readonly media?: string;
  /** Security requirements that differ from the document's. */
  readonly security?: Value[];
}

const ANYBODY: Value[] = [];
const STATUS: ObjectValue = { type: 'object', required: ['status'], properties: { status: { type: 'string' } } };
const OK: Value = { status: 'ok' };
const TOKEN = 'css_6rSxwKz0bH2q';
const SESSION: Value = {
  accessToken: TOKEN,
  idToken: TOKEN,
  expiresAt: '2026-11-22T04:03:26.057Z',
  username: 'ann',
  preferredUsername: 'ann',
  namespace: 'main',
  profiles: ['admin', 'user__system'],
};
const TOKEN_TEXT: ObjectValue = { required: true, content: content('text/plain', { type: 'string' }, TOKEN) };
const BATCH_ITEM: ObjectValue = {
  type: 'object',
  required: ['uri'],
  properties: {
    method: { type: 'string', default: 'GET' },
    uri: { type: 'string', description: 'Below /api/v1/resources, with its parameters' },
    headers: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
    body: {},
  },
};
const BATCH_REPLY: ObjectValue = {
  type: 'object',
  required: ['status', 'headers'],
  properties: { status: { type: 'integer' }, headers: { type: 'object' }, body: {} },
};

const BYTES: ObjectValue = { type: 'string', format: 'binary' };

const WORDS: Record<PlainKind, Words> = {
  root: {
    summary: 'Which service this is, and where to go on; a page for browsers',
    answer: { type: 'object', required: ['service', 'version', 'status'] },
    example: { service: 'cascade', version: '0.1.0', status: 'ok', manual: '/manual/', description: '/api/v1/openapi.json' },
    security: ANYBODY,
  },
  manual: {
    summary: 'Addresses of the documents of this version',
    answer: { type: 'string' },
    example: '/manual/api.md',
    media: 'text/plain',
    security: ANYBODY,
  },
  inbox: { summary: 'The web inbox', answer: { type: 'string' }, example: '<!doctype html>…', media: 'text/html', security: ANYBODY },
  authenticate: { summary: 'Log in', answer: schemaRef('-Session'), example: SESSION, security: [{ password: [] }, { token: [] }] },
  refresh: { summary: 'A new session for a token', answer: schemaRef('-Session'), example: SESSION, body: TOKEN_TEXT, security: ANYBODY },
  revoke: { summary: 'End a session', answer: { type: 'object' }, example: {}, body: TOKEN_TEXT, security: ANYBODY },
  session: { summary: 'Whether the token is good', answer: STATUS, example: OK },
  batch: {
    summary: 'Up to 100 requests in one, carried out at the same time',
    parameters: [REQUEST_ID],
    answer: { type: 'array', items: BATCH_REPLY },
    example: [
      { status: 200, headers: { 'X-Total-Count': '1', 'Content-Type': 'application/json' }, body: [{ site: 'north', rate: 91 }] },
      { status: 200, headers: { 'Content-Type': 'application/json' }, body: {} },
    ],
    body: {
      required: true,
      content: json({ type: 'array', maxItems: 100, items: BATCH_ITEM }, [
        { method: 'GET', uri: '/custom/Pump?limit=1&count=true' },
        { method: 'POST', uri: '/topics//plant/door', body: { open: true } },
      ]),
    },
  },
  openapi: {
    summary: 'This document',
    answer: { type: 'object', required: ['openapi', 'info', 'paths'] },
    example: { openapi: '3.1.0', info: {}, paths: {} },
  },
  asyncapi: {
    summary: 'The same of the WebSocket',
    answer: { type: 'object', required: ['asyncapi', 'info', 'channels'] },
    example: { asyncapi: '3.0.0', info: {}, channels: {} },
  },
  socketInfo: {
    summary: 'What a SockJS client asks before it connects',
    answer: { type: 'object' },
    example: { websocket: true, origins: ['*:*'], cookie_needed: false, entropy: 2761716803 },
    security: ANYBODY,
  },
  healthz: { summary: 'Whether requests can be served', answer: STATUS, example: OK, security: ANYBODY },
  readyz: { summary: 'Whether the database answers', answer: STATUS, example: OK, security: ANYBODY },
  document: { summary: 'The content of a document', answer: BYTES, media: '*/*' },
  publicDocument: { summary: 'The content of a public document', answer: BYTES, media: '*/*', security: ANYBODY },
  metrics: {
    summary: 'Figures for Prometheus: for this machine, or the system admin',
    answer: { type: 'string' },
    example: 'cascade_ws_connections 3',
    media: 'text/plain',
    security: [{ token: [] }, {}],
  },
};

export function plainPaths(): ObjectValue {
  const paths: ObjectValue = {};
  for (const [path, { methods }] of PLAIN) {
    const operations: ObjectValue = {};
    for (const [method, kind] of Object.entries(methods)) operations[method.toLowerCase()] = operation(kind);
    paths[path] = operations;
  }
  for (const [path, kind] of CONTENTS) paths[path] = { get: contentOperation(kind, path) };
  return paths;
}

/** Where contents of documents are; the last part may hold slashes. */
const CONTENTS: readonly [path: string, kind: 'document' | 'publicDocument'][] = [
  [`${DOCUMENTS}{name}`, 'document'],
  [`${PUBLIC_DOCUMENTS}{namespace}/{path}`, 'publicDocument'],
];

function contentOperation(kind: 'document' | 'publicDocument', path: string): ObjectValue {
  const described = operation(kind);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name]): Value => ({ name: name!, in: 'path', required: true, schema: { type: 'string' } }),
  );
  const headers = [
    ['Range', 'One range of bytes: 206'],
    ['If-Range', 'The ETag that the range is of'],
    ['If-None-Match', 'An ETag: 304 when the content is still that'],
  ].map(([name, description]): Value => ({ name: name!, in: 'header', description: description!, schema: { type: 'string' } }));
  return {
    ...described,
    parameters: [...inPath, ...headers],
    responses: {
      ...(described['responses'] as ObjectValue),
      '206': { description: 'The range of the content', content: content('*/*', BYTES) },
      '304': { description: 'Still that content' },
      '416': { description: 'The content has no such range' },
    },
  };
}

function operation(kind: PlainKind): ObjectValue {
  const { summary, answer, example, body, parameters, security, media = 'application/json' } = WORDS[kind];
  const health = kind === 'healthz' || kind === 'readyz';
  return {
    operationId: kind,
    summary,
    tags: ['service'],
    ...(security && { security }),
    ...(parameters && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      '200': { description: summary, content: content(media, answer, example) },
      ...(health ? { '500': { description: 'It is not', content: json(STATUS, { status: 'database' }) } } : errorResponses()),
    },
  };
}
