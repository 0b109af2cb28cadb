// Translates a request on a resource to the engine's form: operation, parameters and body (1.4, 1.5, 2).
import { type ApiRequest, type Identity, OPERATIONS } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { fromTyped } from '../../model/values/index.ts';
import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import { type ParameterName, parameters, type Query } from './parameters.ts';
import type { FederationHeader } from './header-names.ts';
import { readBody } from './read-body.ts';
import type { Action, ResourceRoute } from './routes.ts';
import type { HttpRequest } from './types.ts';

export interface Reading {
  /** The query parameters that the operation knows; others are ignored. */
  parameters: readonly ParameterName[];
  /** none: ignored. required: an empty body is refused here. */
  body: 'none' | 'optional' | 'required';
}

export const READINGS: Record<Action, Reading> = {
  select: { parameters: ['where', 'props', 'sort', 'page', 'limit', 'count'], body: 'none' },
  selectByBody: { parameters: ['props', 'sort', 'page', 'limit', 'count'], body: 'optional' },
  selectOne: { parameters: ['props'], body: 'none' },
  insert: { parameters: ['count', 'upsert'], body: 'required' },
  update: { parameters: [], body: 'required' },
  updateWhere: { parameters: ['where'], body: 'required' },
  delete: { parameters: ['where', 'count'], body: 'none' },
  patch: { parameters: [], body: 'required' },
  aggregate: { parameters: [], body: 'required' },
  publish: { parameters: [], body: 'optional' },
  execute: { parameters: ['stream', 'maxBufferSize', 'maxFlushInterval'], body: 'optional' },
  query: { parameters: [], body: 'optional' },
  schema: { parameters: [], body: 'none' },
  status: { parameters: [], body: 'none' },
  channels: { parameters: [], body: 'none' },
  getAuthorizedUsers: { parameters: [], body: 'none' },
  retry: { parameters: [], body: 'none' },
  redeem: { parameters: [], body: 'none' },
  submit: { parameters: [], body: 'optional' },
  read: { parameters: [], body: 'optional' },
  dismiss: { parameters: [], body: 'optional' },
  preview: { parameters: [], body: 'none' },
  replaceMembers: { parameters: [], body: 'required' },
  command: { parameters: [], body: 'required' },
};
export const AGGREGATE_BY_GET: Reading = { parameters: ['pipeline'], body: 'none' };

const PROGRAMS = new Set(['rules', 'procedures']);

/** @throws the 400s of 1.4 and 1.5, operation.unknown */
export function apiRequest(
  http: HttpRequest,
  place: ResourceRoute,
  action: Action,
  query: Query,
  identity: Identity,
): MaybePromise<ApiRequest> {
  const { resourceName, custom, resourceId, publicIn } = place;
  const isProgram = !custom && PROGRAMS.has(resourceName) && (action === 'insert' || action === 'update');
  const reading = action === 'aggregate' && http.method !== 'POST' ? AGGREGATE_BY_GET : READINGS[action];
  const known = isProgram && action === 'insert' ? [...reading.parameters, 'active' as const] : reading.parameters;
  const given = parameters(query, known);
  if (http.mostRows !== undefined) given['mostRows'] = http.mostRows;
  const { headers } = http;
  const request: ApiRequest = {
    identity,
    op: operationOf(action),
    resourceName,
    custom,
    resourceId,
    parameters: given,
    ifMatch: headers.get('if-match'),
    ifNoneMatch: headers.get('if-none-match'),
    get address() {
      return http.address;
    },
  };
  if (publicIn !== undefined) request.publicOnly = true;
  // without identity it would answer all
  const requestId = publicIn === undefined ? (http.partId ?? headers.get('x-cascade-request-id')) : undefined;
  const federation = publicIn === undefined ? federationIn((name) => headers.get(name.toLowerCase() as FederationHeader)) : undefined;
  if (federation) request.federation = federation;
  if (http.isGone) request.isGone = () => http.isGone?.() === true;
  const isRepeated = http.method === 'POST' || http.partId !== undefined || (federation !== undefined && http.method !== 'GET');
  if (requestId && isRepeated) request.requestId = requestId;
  if (http.onGone && endsWithCaller(request)) {
    const ending = new AbortController();
    http.onGone(() => ending.abort());
    request.signal = ending.signal;
  }
  if (action === 'execute') request.headers = forPrograms(headers);
  if (reading.body === 'none') return shaped(action, request);
  const { body: need } = reading;
  const bytes = http.body(publicIn === undefined ? undefined : PUBLIC_BYTES);
  const finish = (all: Uint8Array): MaybePromise<ApiRequest> => {
    const read = withBody(request, all, headers.get('content-type'), need, isProgram);
    return read instanceof Promise ? read.then((whole) => shaped(action, whole)) : shaped(action, read);
  };
  return bytes instanceof Promise ? bytes.then(finish) : finish(bytes);
}

/** Bound of a public request's body, which takes a few milliseconds to parse. */
const PUBLIC_BYTES = 256 * 1024;
const PUBLIC_VALUES = 20_000;

const shaped = (action: Action, request: ApiRequest): ApiRequest => shapes[action]?.(typedRequest(request)) ?? typedRequest(request);

/**
 * Whether the runs of a request end when who asks is gone: of another installation's statements, and of changes only where these are not
 * repeated until they are answered.
 */
export const endsWithCaller = ({ federation, op, requestId }: ApiRequest): boolean =>
  federation !== undefined && (op === 'execute' || requestId === undefined);

const MOST_HOPS = 8;

/**
 * The headers of another installation's statement (integrations.md 11.3).
 * @param valueOf gives a header by its name
 * @throws cascade.federation.hops
 */
export function federationIn(valueOf: (name: string) => string | undefined): ApiRequest['federation'] {
  if (valueOf('X-Cascade-Federation') !== '1') return undefined;
  const hop = Number(valueOf('X-Cascade-Hop') ?? 1);
  if (!Number.isSafeInteger(hop) || hop < 1 || hop > MOST_HOPS)
    throw apiError('cascade.federation.hops', `the hop is none from 1 to ${MOST_HOPS}`);
  const deadline = Number(valueOf('X-Cascade-Deadline-Ms') ?? Number.NaN);
  const isTyped = valueOf('X-Cascade-Values') === 'typed';
  return { hop, isTyped, ...(deadline > 0 && { deadlineMs: Math.min(Math.ceil(deadline), 2 ** 31 - 1) }) };
}

/** Decodes the typed values of a request. */
export function typedRequest(request: ApiRequest): ApiRequest {
  if (!request.federation?.isTyped) return request;
  const { object, parameters: given } = request;
  return {
    ...request,
    ...(object !== undefined && { object: fromTyped(object) }),
    parameters: given['where'] === undefined ? given : { ...given, where: fromTyped(given['where']) },
  };
}

/** The headers that a called procedure may see (builtins.md 20), without those that authenticate it. */
const forPrograms = (headers: HttpRequest['headers']): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !WITHHELD.test(name)));

/** Headers that would allow a login as the client, and those of proxies about it. */
const WITHHELD = /^(?:authorization|proxy-authorization|cookie2?|forwarded|x-forwarded-.*|x-real-ip)$/;

export const operationOf = (action: Action): ApiRequest['op'] =>
  action === 'selectByBody' ? 'select' : action === 'replaceMembers' ? 'upsert' : action === 'updateWhere' ? 'update' : action;

/** Actions whose operation is not in the URL alone. */
const shapes: Partial<Record<Action, (request: ApiRequest) => ApiRequest>> = {
  selectByBody: ({ object, ...request }) => {
    if (object === undefined) return request;
    if (!isObject(object)) throw apiError('cascade.request.body.invalid', 'a condition must be an object', 0);
    return { ...request, parameters: { ...request.parameters, where: object } };
  },
  aggregate: (request) => {
    if (request.object !== undefined) return request;
    const { pipeline, ...others } = request.parameters;
    if (pipeline === undefined) throw apiError('cascade.request.parameter.invalid', 'pipeline', null);
    return { ...request, object: pipeline, parameters: others };
  },
  insert: (request) => (request.parameters.upsert === true ? { ...request, op: 'upsert' } : request),
  execute: serviceProcedure,
  replaceMembers: (request) => {
    if (!isObject(request.object)) throw apiError('cascade.request.body.invalid', 'members must be given in an object', 0);
    return typeof getOwn(request.object, 'op') === 'string' ? command(request) : request;
  },
  command,
};

/** `PUT services/<service>/<procedure>` executes the procedure `<service>.<procedure>`. */
function serviceProcedure(request: ApiRequest): ApiRequest {
  if (request.object === null) throw apiError('cascade.request.body.invalid', 'arguments are an array or an object', 0);
  if (request.resourceName !== 'services') return request;
  return { ...request, resourceName: 'procedures', resourceId: request.resourceId!.replace('/', '.') };
}

/** A body `{op, data}` names its operation (2.13). The generic operations have their methods and cannot be reached this way. */
function command(request: ApiRequest): ApiRequest {
  const { object } = request;
  if (!isObject(object)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const op = getOwn(object, 'op');
  if (typeof op !== 'string' || (OPERATIONS as readonly string[]).includes(op)) throw apiError('cascade.operation.unknown', op);
  return { ...request, op, object: getOwn(object, 'data') ?? undefined };
}

/** @throws request.body.invalid, request.content.type */
function withBody(
  request: ApiRequest,
  bytes: Uint8Array,
  contentType: string | undefined,
  need: 'optional' | 'required',
  isProgram: boolean,
): MaybePromise<ApiRequest> {
  const type = mediaType(contentType);
  if (isProgram && bytes.length > 0 && isText(type, bytes)) {
    request.text = decodeText(bytes);
    return request;
  }
  if (bytes.length === 0) {
    if (need === 'required') throw apiError('cascade.request.body.invalid', 'it is empty', 0);
    return request;
  }
  if (type !== '' && type !== JSON_TYPE) throw apiError('cascade.request.content.type', contentType!);
  const object = readBody(bytes, request.identity.namespace, {
    ...(request.publicOnly && { maxValues: PUBLIC_VALUES }),
    onLoneSurrogate: (offset) => (request.illFormedAt ??= offset),
    onBeyondDoubles: (offset) => (request.beyondDoublesAt ??= offset),
  });
  const withObject = (value: Value): ApiRequest => {
    if (isProgram && typeof value === 'string') request.text = value;
    else request.object = value;
    return request;
  };
  return object instanceof Promise ? object.then(withObject) : withObject(object);
}

const JSON_TYPE = 'application/json';

/** Whether a body is program text. Without a content type the first letter decides: no program begins with a quote or a brace (1.4). */
function isText(type: string, bytes: Uint8Array): boolean {
  if (type !== '') return type !== 'application/json';
  const first = bytes.find((byte) => byte > 0x20);
  return first !== 0x22 && first !== 0x7b;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw apiError('cascade.request.body.invalid', 'it is not UTF-8', 0);
  }
}

const mediaType = (header = ''): string => (header === JSON_TYPE ? header : header.split(';', 1)[0]!.trim().toLowerCase());
