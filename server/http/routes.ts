// Finds the route of a raw path and its methods (resources-and-api.md 1.1). Pure; `resources.ts` knows what the methods mean. Paths are not
// normalised: `//` and dots stay, and a final slash is part of the id.
import { boundedCache } from '../../platform/structures/index.ts';
import { type CascadeError, apiError } from '../../model/errors/index.ts';
import type { Method } from './types.ts';

/** The way to read a resource's method, and its operation. */
export type Action =
  | 'select'
  | 'selectByBody'
  | 'selectOne'
  | 'insert'
  | 'update'
  /** PUT on a collection, for federation only: changes the instances of a condition. */
  | 'updateWhere'
  | 'delete'
  | 'patch'
  | 'aggregate'
  | 'publish'
  | 'execute'
  | 'query'
  | 'schema'
  | 'status'
  | 'channels'
  | 'getAuthorizedUsers'
  | 'replaceMembers'
  | 'retry'
  | 'redeem'
  | 'submit'
  | 'read'
  | 'dismiss'
  | 'preview'
  | 'command';

export interface ResourceRoute {
  kind: 'resource';
  /** The name without a leading `system.`. */
  resourceName: string;
  custom: boolean;
  resourceId?: string;
  methods: Partial<Record<Method, Action>>;
  /** The namespace whose public instances anybody may read (`ars_public`); absent: callers need a login. */
  publicIn?: string;
  /** The error of an invalid path; only authenticated callers get it, after the 401. */
  invalid?: CascadeError;
}

export type PlainKind =
  | 'root'
  | 'manual'
  | 'authenticate'
  | 'refresh'
  | 'revoke'
  | 'session'
  | 'batch'
  | 'openapi'
  | 'asyncapi'
  | 'socketInfo'
  | 'healthz'
  | 'readyz'
  | 'metrics'
  | 'document'
  | 'publicDocument'
  | 'inbox';

export interface PlainRoute {
  kind: PlainKind;
  methods: Partial<Record<Method, PlainKind>>;
}

/** The address where third parties post to a source; the checks of its protocol replace the login. */
export interface PrivateRoute {
  kind: 'private';
  protocol: string;
  namespace: string;
  source: string;
  methods: Partial<Record<Method, 'accept'>>;
}

export type Route = ResourceRoute | PlainRoute | PrivateRoute;

const plain = (kind: PlainKind, method: 'GET' | 'POST'): PlainRoute => ({ kind, methods: { [method]: kind } });

/** The path of the manual, with the documents below it. */
export const MANUAL = '/manual/';
const MANUAL_ROUTE = plain('manual', 'GET');

/** The path below which contents of documents are. */
export const DOCUMENTS = '/docs/';
export const PUBLIC_DOCUMENTS = '/ui/docs/NS/';
const DOCUMENT_ROUTE = plain('document', 'GET');
const PUBLIC_DOCUMENT_ROUTE = plain('publicDocument', 'GET');

/** The path of the inbox, with its files below it. */
export const INBOX = '/ui/inbox';
const INBOX_ROUTE = plain('inbox', 'GET');

export const PLAIN: ReadonlyMap<string, PlainRoute> = new Map([
  ['/', plain('root', 'GET')],
  [MANUAL, MANUAL_ROUTE],
  [INBOX, INBOX_ROUTE],
  ['/authenticate', plain('authenticate', 'GET')],
  ['/authenticate/refresh', plain('refresh', 'POST')],
  ['/authenticate/revoke', plain('revoke', 'POST')],
  ['/api/v1/_status', plain('session', 'GET')],
  ['/api/v1/batch', plain('batch', 'POST')],
  ['/api/v1/openapi.json', plain('openapi', 'GET')],
  ['/api/v1/asyncapi.json', plain('asyncapi', 'GET')],
  ['/api/v1/wsock/info', plain('socketInfo', 'GET')],
  ['/healthz', plain('healthz', 'GET')],
  ['/readyz', plain('readyz', 'GET')],
  ['/metrics', plain('metrics', 'GET')],
]);

/** The path of all resources; the addresses of a batch are relative to it. */
export const RESOURCES = '/api/v1/resources/';
const PUBLIC = 'public/';
const PRIVATE = '/private/';

/** @throws resource.not.found, api.version.unsupported */
export function route(path: string): Route {
  const known = PLAIN.get(path);
  if (known) return known;
  if (path.startsWith(RESOURCES)) {
    const rest = path.slice(RESOURCES.length);
    return rest.startsWith(PUBLIC) ? publicRoute(rest.slice(PUBLIC.length), path) : resourceRoute(rest, path);
  }
  if (path.startsWith(MANUAL)) return MANUAL_ROUTE;
  if (path.startsWith(DOCUMENTS)) return DOCUMENT_ROUTE;
  if (path.startsWith(PUBLIC_DOCUMENTS)) return PUBLIC_DOCUMENT_ROUTE;
  if (path.startsWith(`${INBOX}/`)) return INBOX_ROUTE;
  if (path.startsWith(PRIVATE)) return privateRoute(path);
  const version = /^\/api\/v(\d+)(?:\/|$)/.exec(path)?.[1];
  if (version !== undefined && version !== '1') throw apiError('cascade.api.version.unsupported', version);
  throw apiError('cascade.resource.not.found', path);
}

const MOST_REMEMBERED = 1_000;

/** The function `route` with a cache for collections, of which the same few are requested again and again. */
export function rememberingRoute(): typeof route {
  const remembered = boundedCache<string, Route>(MOST_REMEMBERED);
  return (path) => {
    const known = remembered.get(path);
    if (known) return known;
    const found = route(path);
    if (found.kind === 'resource' && found.resourceId === undefined && !found.invalid) remembered.set(path, found);
    return found;
  };
}

/** The methods of a route as an Allow header lists them. */
export function allowed(methods: Partial<Record<Method, unknown>>): string {
  const names = Object.keys(methods).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
  return [...names, 'OPTIONS'].join(', ');
}

const COLLECTION = { GET: 'select', POST: 'insert', DELETE: 'delete' } as const;
const INSTANCE = { GET: 'selectOne', POST: 'command', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** The meaning of POST on one instance where it is not a custom command. */
const POST_ON_INSTANCE: Record<string, Action> = {
  topics: 'publish',
  sources: 'publish',
  procedures: 'execute',
  groups: 'replaceMembers',
  delegatedrequests: 'redeem',
};

/** The operations that the last segment behind an id may name, by resource. */
const OPERATION_SEGMENTS: Record<string, Record<string, Partial<Record<Method, Action>>>> = {
  types: { _schema: { GET: 'schema' } },
  sources: { _status: { GET: 'status' }, query: { POST: 'query' }, channels: { GET: 'channels' } },
  services: { _status: { GET: 'status' } },
  nodes: { _status: { GET: 'status' } },
  deadletters: { retry: { POST: 'retry' } },
  namespaces: { authorizedUsers: { GET: 'getAuthorizedUsers' } },
};

/** The template of a resource's address: below the resource's name, with its parts in braces. */
export interface Address {
  readonly suffix: string;
  readonly methods: ResourceRoute['methods'];
}

/** Such operations for types of the service, with and without `custom/`. */
const TYPE_SEGMENTS: typeof OPERATION_SEGMENTS = {
  ArsPayloadMessage: { submit: { POST: 'submit' }, read: { POST: 'read' }, dismiss: { POST: 'dismiss' }, preview: { GET: 'preview' } },
};

/** Every form of address that `route` knows for a resource. */
export function addressesOf(resourceName: string, custom: boolean): Address[] {
  const below = `${RESOURCES}${custom ? 'custom/' : ''}${resourceName}`;
  const known = own(TYPE_SEGMENTS, resourceName) ?? (custom ? undefined : own(OPERATION_SEGMENTS, resourceName));
  const segments = Object.keys(known ?? {}).map((segment) => `/{id}/${segment}`);
  const members = !custom && resourceName === 'services' ? ['/{id}/{member}'] : [];
  return ['', '/aggregate', '/select', '/{id}', ...segments, ...members].map((suffix) => ({
    suffix,
    methods: route(`${below}${suffix.replaceAll(/[{}]/g, '')}`).methods as ResourceRoute['methods'],
  }));
}

function resourceRoute(rest: string, path: string): ResourceRoute {
  const custom = rest.startsWith('custom/');
  const address = custom ? rest.slice('custom/'.length) : rest;
  const slash = address.indexOf('/');
  const rawName = slash < 0 ? address : address.slice(0, slash);
  const rawId = slash < 0 ? undefined : address.slice(slash + 1);
  if (rawName === '' || rawId === '' || (!custom && rest === 'custom')) throw apiError('cascade.resource.not.found', path);
  const name = decode(rawName);
  const id = rawId === undefined ? undefined : decode(rawId);
  if (name === null || id === null) return malformed(rawName, custom, rawId === undefined ? COLLECTION : INSTANCE, path);
  const resourceName = custom ? name : name.replace(/^system\./, '');
  const at = { kind: 'resource' as const, resourceName, custom };
  if (id === undefined) return { ...at, methods: COLLECTION };
  if (id === 'aggregate') return { ...at, methods: { GET: 'aggregate', POST: 'aggregate' } };
  if (id === 'select') return { ...at, methods: { POST: 'selectByBody' } };
  return { ...at, ...(custom ? typeInstance(resourceName, id) : systemInstance(resourceName, id)) };
}

function privateRoute(path: string): PrivateRoute {
  const [protocol, namespace, source, ...more] = path.slice(PRIVATE.length).split('/').map(decode);
  if (!protocol || !namespace || !source || more.length > 0) throw apiError('cascade.resource.not.found', path);
  return { kind: 'private', protocol, namespace, source, methods: { POST: 'accept' } };
}

/** `<namespace>/<resource>/<id>`: one instance of a system resource, and no other operation. Strangers learn nothing but 404. */
function publicRoute(rest: string, path: string): ResourceRoute {
  const [, rawNamespace, rawName, rawId] = /^([^/]+)\/([^/]+)\/(.+)$/s.exec(rest) ?? [];
  const [publicIn, name, id] = [rawNamespace, rawName, rawId].map((part) => (part === undefined ? null : decode(part)));
  if (publicIn == null || name == null || id == null) throw apiError('cascade.resource.not.found', path);
  const resourceName = name.replace(/^system\./, '');
  const methods: ResourceRoute['methods'] = resourceName === 'procedures' ? { GET: 'selectOne', POST: 'execute' } : { GET: 'selectOne' };
  return { kind: 'resource', resourceName, custom: false, resourceId: id, methods, publicIn };
}

/** An instance whose type is addressed without `custom/`. */
function typeInstance(name: string, id: string): Pick<ResourceRoute, 'methods' | 'resourceId'> {
  const last = id.lastIndexOf('/');
  const methods = last > 0 ? own(own(TYPE_SEGMENTS, name), id.slice(last + 1)) : undefined;
  return methods ? { resourceId: id.slice(0, last), methods } : { resourceId: id, methods: INSTANCE };
}

function systemInstance(name: string, id: string): Pick<ResourceRoute, 'methods' | 'resourceId'> {
  const last = id.lastIndexOf('/');
  const methods = last > 0 ? own(own(OPERATION_SEGMENTS, name) ?? own(TYPE_SEGMENTS, name), id.slice(last + 1)) : undefined;
  if (methods) return { resourceId: id.slice(0, last), methods };
  if (name === 'services' && last > 0) return { resourceId: id, methods: { PUT: 'execute', POST: 'publish' } };
  return { resourceId: id, methods: { ...INSTANCE, POST: own(POST_ON_INSTANCE, name) ?? 'command' } };
}

function malformed(resourceName: string, custom: boolean, methods: ResourceRoute['methods'], path: string): ResourceRoute {
  return { kind: 'resource', resourceName, custom, methods, invalid: apiError('cascade.request.parameter.invalid', 'path', path) };
}

/** Decodes each escape once; null when one is malformed or the bytes are not UTF-8. */
export function decode(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null; // URIError is the only possible error
  }
}

/** Finds an own member: names are from the URL, and `constructor` must not be found. */
function own<T>(table: Record<string, T> | undefined, name: string): T | undefined {
  return table && Object.hasOwn(table, name) ? table[name] : undefined;
}
