// The HTTP binding: turns a received request into a reply. Order of checks: route, identity, syntax; the engine checks the rest
// (resources-and-api.md 2). It knows no sockets; these are in `sockets.ts`.
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import type { ApiDescription, ApiReply, ApiRequest, Engine, Health, Identity } from '../../resources/api.ts';
import { asError } from '../../platform/structures/index.ts';
import { apiError, CascadeError } from '../../model/errors/index.ts';
import { readBuild } from '../../platform/about/index.ts';
import { SYSTEM_RESOURCES } from '../../model/types/index.ts';
import type { Metrics } from '../metrics.ts';
import { isLoopback } from '../transport/index.ts';
import { authenticate, identify, refresh, revoke } from './authentication.ts';
import { batch } from './batch.ts';
import { Deadlines } from './deadlines.ts';
import { documentReply, isUpload, publicDocumentReply, uploadRequest } from './documents.ts';
import { countedRefusal, errorReply } from './errors.ts';
import { frontPage, wantsJson } from './front-page.ts';
import { openInboxPage } from './inbox-page.ts';
import { openManual } from './manual.ts';
import { openApiTexts } from './openapi/index.ts';
import { type Query, readQuery } from './parameters.ts';
import { apiRequest, operationOf } from './resources.ts';
import { RoundRobinQueue } from './round-robin-queue.ts';
import { type Action, allowed, type PlainRoute, rememberingRoute, type PrivateRoute, type ResourceRoute, type Route } from './routes.ts';
import { replyOf } from './texts.ts';
import type { HttpReply, HttpRequest, Method } from './types.ts';

const URL_LIMIT_BYTES = 16 * 1024;
/** How a request is counted whose client has gone: whatever became of it, nobody was answered. */
const GONE = 499;
const METRICS = '/metrics';
/** Headers that a proxy adds. */
const PROXIED = ['x-forwarded-for', 'forwarded', 'via'] as const;

/** The part of the engine that the bindings need. */
export type Served = Pick<
  Engine,
  'execute' | 'count' | 'accept' | 'describe' | 'subscribe' | 'acknowledge' | 'unsubscribe' | 'openSocket' | 'health' | 'identity'
>;

export interface BindingOptions {
  engine: Served;
  log: Logger;
  /** Time limit of a request; default 120 s. */
  timeoutMs?: number;
  metrics: Metrics;
  /** Bound of one document; default 100 MiB. */
  documentLimitBytes?: number | undefined;
  /** The document of the WebSocket API, as JSON. @param host of the request */
  describeSockets: (description: ApiDescription, host: string) => string;
  /** In which the requests of batches are begun, beside all others. */
  turns?: RoundRobinQueue;
  /** The answer of /healthz and /readyz; the engine's own when absent. */
  health?: () => Health;
}

/** Never throws: every failure becomes a reply. HEAD is answered as GET; the sender leaves the body out. */
// oxlint-disable-next-line max-lines-per-function -- an object of short methods over what all connections share
export function openBinding({
  engine,
  log,
  timeoutMs = 120_000,
  metrics,
  documentLimitBytes = 100 * 1024 * 1024,
  describeSockets,
  turns = new RoundRobinQueue(),
  health = () => engine.health(),
}: BindingOptions): (http: HttpRequest) => Promise<HttpReply> {
  const deadlines = new Deadlines(timeoutMs);
  const routeOf = rememberingRoute();
  const resourceIn = knownNames();
  const manual = openManual();
  const inbox = openInboxPage();
  const { version } = readBuild();
  const plainActions: Record<PlainRoute['kind'], (http: HttpRequest, query: Query) => Promise<HttpReply> | HttpReply> = {
    root: (http) => frontPage(http, version, health()),
    manual: (http) => manual(http.path),
    inbox: (http) => inbox.file(http),
    authenticate: (http, query) => authenticate(http, query, engine.identity),
    refresh: (http) => refresh(http, engine.identity),
    revoke: (http) => revoke(http, engine.identity),
    session: async (http, query) => {
      await identify(http, query, engine.identity);
      return { status: 200, body: '{"status":"ok"}' };
    },
    batch: async (http, query) => {
      const identity = await identify(http, query, engine.identity);
      const { namespace } = identity;
      const replies = batch(http, namespace, (one) => new Promise((resolve) => turns.take(namespace, () => resolve(reply(one)))));
      return replies.catch((error: unknown) => countedRefusal(engine, identity, error));
    },
    openapi: async (http, query) => {
      const identity = await identify(http, query, engine.identity);
      return replyOf(await openApiTexts(await engine.describe(identity)));
    },
    asyncapi: async (http, query) => {
      const identity = await identify(http, query, engine.identity);
      return { status: 200, body: describeSockets(await engine.describe(identity), http.headers.get('host') ?? 'localhost') };
    },
    socketInfo: () => ({ status: 200, body: socketInfo(randomInt(2 ** 32)) }),
    document: async (http, query) => documentReply(http, engine, await identify(http, query, engine.identity)),
    publicDocument: (http) => publicDocumentReply(http, engine),
    metrics: async (http, query) => {
      if (!isOfThisMachine(http) && (await identify(http, query, engine.identity)).system !== true)
        throw apiError('cascade.authorization.denied', 'select', 'metrics');
      return { status: 200, body: await metrics.text(), contentType: metrics.contentType };
    },
    healthz: healthReply,
    readyz: healthReply,
  };

  return reply;

  async function reply(http: HttpRequest): Promise<HttpReply> {
    const begun = performance.now();
    let place: Route | null = null;
    let given: HttpReply;
    try {
      if (http.method === 'OPTIONS') given = { status: 204 };
      else {
        if (http.path.length + http.query.length > URL_LIMIT_BYTES) throw apiError('cascade.request.url.too.long', URL_LIMIT_BYTES);
        place = routeOf(http.path);
        given = await answer(http, place);
      }
    } catch (error) {
      given = errorReply(error, log);
    }
    const counted = http.isGone?.() === true ? { status: GONE } : given;
    metrics.answered(http.method, resourceIn(place, given.status), (performance.now() - begun) / 1_000, counted);
    return http.path === METRICS ? { ...given, sameOriginOnly: true } : given;
  }

  /** @throws errors of the request and of its operation */
  async function answer(http: HttpRequest, place: Route): Promise<HttpReply> {
    const method = http.method === 'HEAD' ? 'GET' : http.method;
    const isNodes = method === 'PUT' && isOfNodes(http, place);
    if (!Object.hasOwn(place.methods, method) && !isNodes) return notAllowed(http, place);
    const query = readQuery(http.query);
    if (place.kind === 'private') return accepted(http, place);
    if (place.kind !== 'resource') return plainActions[place.kind](http, query);
    const known = place.publicIn === undefined ? identify(http, query, engine.identity) : anybody(place.publicIn);
    const identity = known instanceof Promise ? await known : known;
    if (place.invalid) return countedRefusal(engine, identity, place.invalid);
    const action = isNodes ? 'updateWhere' : place.methods[method as Method]!;
    const upload = isUpload(http, place, action);
    let request: ApiRequest;
    try {
      const read = upload ? uploadRequest(http, query, identity, documentLimitBytes) : apiRequest(http, place, action, query, identity);
      request = read instanceof Promise ? await within(deadlines, read, () => undefined) : read;
    } catch (error) {
      return countedRefusal(engine, identity, error);
    }
    if (upload) return resourceReply(await engine.execute(request));
    request.streams = http.mostRows === undefined;
    try {
      const done = await within(action === 'execute' ? null : deadlines, engine.execute(request));
      const isPart = http.mostRows !== undefined; // of a batch, whose answer is JSON
      if (action === 'preview' && !isPart && !wantsJson(http.headers.get('accept'))) return inbox.preview(done.body ?? '{}');
      return resourceReply(done);
    } catch (error) {
      const reply = errorReply(error, log);
      if (reply.status !== 405) return reply;
      return { ...reply, headers: { Allow: allowed(withoutRefused(place.methods, method, error)) } };
    }
  }

  async function accepted(http: HttpRequest, { namespace, protocol, source }: PrivateRoute): Promise<HttpReply> {
    const headers = Object.fromEntries(http.headers);
    const arrival = { protocol, source, headers, address: http.address, body: () => http.sentBody() };
    return resourceReply(await within(deadlines, engine.accept(namespace, arrival)));
  }

  function healthReply(): HttpReply {
    const { ready, status } = health();
    return { status: ready ? 200 : 500, body: JSON.stringify({ status: ready ? 'ok' : status }) };
  }

  function notAllowed({ method, path }: HttpRequest, place: Route): HttpReply {
    const on = place.kind === 'resource' ? place.resourceName : path;
    return { ...errorReply(apiError('cascade.method.not.allowed', method, on), log), headers: { Allow: allowed(place.methods) } };
  }
}

/**
 * Tells the resource's name for the metrics: null for a name that no success has shown to exist, since a refusal may come before anybody
 * has looked, and texts of clients are not recorded.
 * @param most names of types that are known at a time
 */
function knownNames(most = 10_000): (place: Route | null, status: number) => string | null {
  const known = new Set<string>();
  return (place, status) => {
    if (place?.kind !== 'resource') return null;
    const name = place.resourceName;
    if (SYSTEM_RESOURCES.has(name.replace(/^system\./, ''))) return name;
    if (status < 400 && known.size < most) known.add(name);
    return known.has(name) ? name : null;
  };
}

/**
 * Whether a program of this machine asks: through no proxy, and not by a page of another site whose name resolves to this machine (DNS
 * rebinding).
 */
function isOfThisMachine({ peer, headers }: HttpRequest): boolean {
  if (!isLoopback(peer) || PROXIED.some((name) => headers.get(name) !== undefined)) return false;
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(headers.get('host') ?? '');
}

/** The identity of requests without a login: a public procedure runs with its own profiles (7.6). */
const anybody = (namespace: string): Identity => ({ username: 'publicExecutor', namespace, profiles: [] });

/** The answer to a SockJS client before it connects (2.16). */
const socketInfo = (entropy: number): string => JSON.stringify({ websocket: true, origins: ['*:*'], cookie_needed: false, entropy });

/** The methods of an address whose operation the resource offers, without the one that it has just refused. */
function withoutRefused(methods: ResourceRoute['methods'], refused: string, error: unknown): ResourceRoute['methods'] {
  const offered = error instanceof CascadeError ? error.offered : undefined;
  const isOffered = (action: Action): boolean => {
    const op = operationOf(action === 'selectOne' ? 'select' : action);
    return offered === undefined || !GENERIC.has(op) || offered.has(op) || (op === 'insert' && offered.has('upsert'));
  };
  return Object.fromEntries(Object.entries(methods).filter(([name, action]) => name !== refused && isOffered(action)));
}

/** Operations that a kind of resource offers or not; all others have addresses of their own. */
const GENERIC: ReadonlySet<string> = new Set(['select', 'insert', 'update', 'patch', 'delete', 'aggregate', 'command']);

/** Whether another installation updates instances by a condition: no other client may use PUT on a collection (integrations.md 11.3). */
const isOfNodes = ({ headers }: HttpRequest, place: Route): boolean =>
  place.kind === 'resource' &&
  place.resourceId === undefined &&
  Object.hasOwn(place.methods, 'DELETE') &&
  headers.get('x-cascade-federation') === '1';

function resourceReply({ status, body, pieces, count, truncated, partial, version, retryAfterSeconds, isTyped }: ApiReply): HttpReply {
  if (count === undefined && !truncated && !partial && version === undefined && !retryAfterSeconds && !isTyped)
    return { status, body, pieces };
  const headers: Record<string, string> = {};
  if (count !== undefined) headers['X-Total-Count'] = String(count);
  if (truncated) headers['X-Result-Truncated'] = 'true';
  if (partial) headers['X-Partial-Result'] = 'true';
  if (isTyped) headers['X-Cascade-Values'] = 'typed';
  if (version !== undefined) headers.ETag = `"${version}"`;
  if (retryAfterSeconds) headers['Retry-After'] = String(retryAfterSeconds);
  return { status, headers, body, pieces };
}

/**
 * Bounds the time of a request. The engine finishes late work, and its result is dropped. A reply in pieces is in time when its first piece
 * is.
 * @param deadlines null: no bound
 * @param drop called with a late reply; one in pieces is closed
 * @throws request.timeout
 */
export function within(deadlines: Deadlines | null, work: Promise<ApiReply>): Promise<ApiReply>;
export function within<Result>(deadlines: Deadlines | null, work: Promise<Result>, drop: (late: Result) => void): Promise<Result>;
export function within<Result>(deadlines: Deadlines | null, work: Promise<Result>, drop = closeLate): Promise<Result> {
  if (deadlines === null) return work;
  return new Promise((resolve, reject) => {
    let isLate = false;
    const deadline = deadlines.begin(() => {
      isLate = true;
      reject(apiError('cascade.request.timeout', deadlines.ms));
    });
    work.then(
      (result) => {
        deadlines.end(deadline);
        if (isLate) drop(result);
        else resolve(result);
      },
      (error: unknown) => {
        deadlines.end(deadline);
        reject(asError(error));
      },
    );
  });
}

/** Nobody is left to get an error. */
function closeLate(late: unknown): void {
  (late as ApiReply).pieces?.close().catch(() => undefined);
}
