// One node over HTTP (integrations.md 11.3): login, session token, requests of the generic API with the headers of federation.
import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import { CascadeError, fault } from '../../model/errors/faults.ts';
import { fromTyped, parseJson } from '../../model/values/index.ts';
import type { HttpAnswer, HttpAsk, HttpClient } from '../sources/http/index.ts';

export interface NodeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1/resources/`, each part encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string;
  /** Of writes and publishes: the same where it is sent again. */
  readonly requestId?: string;
}

export interface NodeAnswer {
  readonly value: Value;
  readonly count: number | null;
  readonly isPartial: boolean;
}

/** What goes with all requests of one statement. */
export interface Carriage {
  readonly hop: number;
  readonly signal: AbortSignal;
  /** When the statement is over, in ms since the epoch. */
  readonly deadline: number;
}

const RENEWED_BEFORE_MS = 300_000;
const RESOURCES = '/api/v1/resources/';

interface Token {
  readonly text: string;
  readonly until: number;
}

export class NodeClient {
  readonly #node: string;
  readonly #origin: string;
  readonly #http: HttpClient;
  readonly #authorization: () => Promise<string | null>;
  #login: Promise<Token> | null = null;
  /** Of the last request that was answered. */
  latencyMs: number | null = null;
  /** Whether the last request was answered at all. */
  state: 'unknown' | 'reachable' | 'unreachable' = 'unknown';

  /** @param authorization of the login; null where there are no credentials that can be opened */
  constructor(node: string, uri: string, http: HttpClient, authorization: () => Promise<string | null>) {
    this.#node = node;
    this.#origin = new URL(uri.replace(/^ws/i, 'http')).origin;
    this.#http = http;
    this.#authorization = authorization;
  }

  /** @throws HttpFailure, EgressError; CascadeError that the node answered with, or for what is no answer of the service */
  async ask(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer> {
    const token = await this.#token(carriage);
    const answer = await this.#send(request, token, carriage);
    if (answer.status !== 401) return this.#read(answer);
    this.#login = null;
    return this.#read(await this.#send(request, await this.#token(carriage), carriage));
  }

  async close(): Promise<void> {
    await this.#http[Symbol.asyncDispose]();
  }

  async #token(carriage: Carriage): Promise<string> {
    for (;;) {
      const login = (this.#login ??= this.#authenticate(carriage));
      try {
        const { text, until } = await login;
        if (until - RENEWED_BEFORE_MS > Date.now() || this.#login !== login) return text;
      } catch (error) {
        if (this.#login === login) this.#login = null;
        throw error;
      }
      this.#login = null;
    }
  }

  async #authenticate({ signal, deadline }: Carriage): Promise<Token> {
    const authorization = await this.#authorization();
    if (authorization === null) throw fault('io.service.security.authentication.failed');
    const answer = await this.#asked({
      url: new URL('/authenticate', this.#origin),
      method: 'GET',
      headers: [['Authorization', authorization]],
      body: null,
      timeoutMs: Math.max(1, deadline - Date.now()),
      signal,
    });
    if (answer.status === 401 || answer.status === 403) throw fault('io.service.security.authentication.failed');
    const body = this.#json(answer);
    if (answer.status !== 200) throw this.#refusal(answer.status, body);
    const token = isObject(body) && Object.hasOwn(body, 'accessToken') ? getOwn(body, 'accessToken') : null;
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw this.#noProtocol('its login gave no token');
    const until = isObject(body) && Object.hasOwn(body, 'expiresAt') ? Date.parse(String(getOwn(body, 'expiresAt'))) : Number.NaN;
    return {
      text: token,
      until: Number.isNaN(until) ? Date.now() + 2 * RENEWED_BEFORE_MS : Math.max(until, Date.now() + 2 * RENEWED_BEFORE_MS),
    };
  }

  async #send(
    { method, path, query = {}, body, requestId }: NodeRequest,
    token: string,
    { hop, signal, deadline }: Carriage,
  ): Promise<HttpAnswer> {
    const url = new URL(`${this.#origin}${RESOURCES}${path}`);
    url.search = new URLSearchParams(query).toString();
    const left = Math.max(1, deadline - Date.now());
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${token}`],
      ['X-Cascade-Federation', '1'],
      ['X-Cascade-Hop', String(hop)],
      ['X-Cascade-Deadline-Ms', String(left)],
      ['X-Cascade-Values', 'typed'],
    ];
    if (requestId !== undefined) headers.push(['X-Cascade-Request-Id', requestId]);
    if (body !== undefined) headers.push(['Content-Type', 'application/json']);
    const began = performance.now();
    const bytes = body === undefined ? null : Buffer.from(body);
    const answer = await this.#asked({ url, method, headers, body: bytes, timeoutMs: left, signal });
    this.latencyMs = Math.round(performance.now() - began);
    return answer;
  }

  async #asked(ask: HttpAsk): Promise<HttpAnswer> {
    try {
      const answer = await this.#http.ask(ask);
      this.state = 'reachable';
      return answer;
    } catch (error) {
      this.state = 'unreachable';
      throw error;
    }
  }

  #read(answer: HttpAnswer): NodeAnswer {
    const { status, headers } = answer;
    const isSuccess = status === 200 || status === 204;
    const body = status === 204 ? null : this.#json(answer);
    if (!isSuccess) throw this.#refusal(status, body);
    const count = Number(headers['x-total-count'] ?? Number.NaN);
    return {
      value: headers['x-cascade-values'] === 'typed' ? fromTyped(body) : body,
      count: Number.isSafeInteger(count) ? count : null,
      isPartial: headers['x-partial-result'] === 'true',
    };
  }

  #json({ status, body }: HttpAnswer): Value {
    if (body.length === 0) throw this.#noProtocol(`its answer ${status} is empty`);
    try {
      return parseJson(body);
    } catch {
      throw this.#noProtocol(`its answer ${status} is no JSON`);
    }
  }

  /** Code, message and params of the first error document, unchanged. */
  #refusal(status: number, body: Value): CascadeError {
    return errorIn(body, status) ?? this.#noProtocol(`its answer ${status} has no error document`);
  }

  #noProtocol(detail: string): CascadeError {
    return fault('cascade.federation.protocol', this.#node, detail);
  }
}

/** The first error document of a list; null where there is none. */
export function errorIn(list: Value, status: number): CascadeError | null {
  const first = Array.isArray(list) ? (list[0] ?? null) : null;
  if (!isObject(first) || !Object.hasOwn(first, 'code')) return null;
  const { code, message = '', params = [] } = first as Record<string, Value>;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return new CascadeError(code, message, Array.isArray(params) ? params : [], status);
}
