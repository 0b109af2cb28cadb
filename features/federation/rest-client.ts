// The HTTP client of a node (integrations.md 11.3): login, session token, and requests in the form of REST.
import type { Value } from '../../stdlib/values/index.ts';
import { apiError, CascadeError } from '../../model/errors/index.ts';
import type { AnswerRoom } from '../../platform/egress/index.ts';
import type { NodeCredentials } from '../nodes/index.ts';
import { basic, type HttpAnswer, type HttpAsk, type HttpClient } from '../sources/index.ts';
import {
  type Carriage,
  handOver,
  isLoginOver,
  isWithoutRoom,
  leftMs,
  memberOf,
  type NodeAnswer,
  NodeClient,
  type NodeRequest,
  readAnswer,
  tokenIn,
  typedValue,
  wanted,
} from './node-client.ts';

const RENEWED_BEFORE_MS = 300_000;
const LOGIN_MS = 60_000;
const RESOURCES = '/api/v1/resources/';
/** A condition that is longer in an address is sent in the body. */
const LONGEST_WHERE = 8_000;

interface Token {
  readonly text: string;
  readonly until: number;
}

export class RestNodeClient extends NodeClient {
  readonly #origin: string;
  readonly #open: () => Promise<HttpClient>;
  readonly #answerRoom: () => AnswerRoom;
  #http: Promise<HttpClient> | null = null;
  readonly #credentials: () => Promise<NodeCredentials | null>;
  #login: Promise<Token> | null = null;

  /**
   * @param ways `open` opens the connections when they are needed
   * @param credentials credentials for the login; null where none can be opened
   */
  constructor(
    node: string,
    uri: string,
    ways: { open: () => Promise<HttpClient>; answerRoom: () => AnswerRoom },
    credentials: () => Promise<NodeCredentials | null>,
  ) {
    super(node);
    this.#origin = new URL(uri).origin;
    this.#open = ways.open;
    this.#answerRoom = ways.answerRoom;
    this.#credentials = credentials;
  }

  async close(): Promise<void> {
    const http = await this.#http?.catch(() => null);
    await http?.[Symbol.asyncDispose]();
  }

  protected async carry(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer> {
    using room = this.#answerRoom();
    const answer = await this.#carried(request, carriage, room);
    handOver(room, carriage);
    return answer;
  }

  async #carried(request: NodeRequest, carriage: Carriage, room: AnswerRoom): Promise<NodeAnswer> {
    const login = await this.#loggedIn(carriage);
    const answer = await this.#send(request, login.text, carriage, room);
    if (answer.status !== 401) return this.#read(answer, room);
    const refusal = await this.#read(answer, room).catch((error: unknown) => error);
    if (!(refusal instanceof CascadeError) || !isLoginOver(request, refusal)) throw refusal;
    if (this.#login === login.made) this.#login = null; // others may have logged in anew meanwhile
    return this.#read(await this.#send(request, (await this.#loggedIn(carriage)).text, carriage, room), room);
  }

  /** The login that all statements share; it goes on when the one that began it is over. */
  async #loggedIn(carriage: Carriage): Promise<{ text: string; made: Promise<Token> }> {
    for (;;) {
      const made = (this.#login ??= this.#authenticate());
      made.catch(() => {
        if (this.#login === made) this.#login = null;
      });
      const { text, until } = await wanted(made, carriage);
      if (until - RENEWED_BEFORE_MS > Date.now() || this.#login !== made) return { text, made };
      this.#login = null;
    }
  }

  async #authenticate(): Promise<Token> {
    const credentials = await this.#credentials();
    if (credentials === null) throw apiError('io.service.security.authentication.failed');
    const authorization = 'token' in credentials ? `Bearer ${credentials.token}` : basic(credentials.username, credentials.password);
    using room = this.#answerRoom();
    const answer = await this.#asked({
      room,
      url: new URL('/authenticate', this.#origin),
      method: 'GET',
      headers: [['Authorization', authorization]],
      body: null,
      timeoutMs: LOGIN_MS,
    });
    if (answer.status === 401 || answer.status === 403) throw apiError('io.service.security.authentication.failed');
    const body = await this.#json(answer, room);
    if (answer.status !== 200) throw this.refusal(answer.status, body);
    const token = tokenIn(body);
    if (token === null) throw this.noProtocol('its login gave no token');
    const until = Date.parse(String(memberOf(body, 'expiresAt')));
    const soonest = Date.now() + 2 * RENEWED_BEFORE_MS;
    return { text: token, until: Number.isNaN(until) ? soonest : Math.max(until, soonest) };
  }

  async #send(request: NodeRequest, token: string, { hop, signal, deadline }: Carriage, room: AnswerRoom): Promise<HttpAnswer> {
    const { method, path, query, body } = spelt(request);
    // An URL would resolve these segments, encoded or not, and name something else; without an id it would name the collection. No later
    // try helps: 400.
    if (/(?:^|\/)\.\.?(?:\/|$)/.test(path) || request.id === '') {
      const { code, message, params } = this.noProtocol(`'${request.id ?? request.resource}' cannot be part of an address`);
      throw new CascadeError(code, message, params, 400);
    }
    const url = new URL(`${this.#origin}${RESOURCES}${path}`);
    url.search = new URLSearchParams(query).toString();
    const left = leftMs(deadline);
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${token}`],
      ['X-Cascade-Federation', '1'],
      ['X-Cascade-Hop', String(hop)],
      ['X-Cascade-Deadline-Ms', String(left)],
      ['X-Cascade-Values', 'typed'],
    ];
    if (request.requestId !== undefined) headers.push(['X-Cascade-Request-Id', request.requestId]);
    if (body !== undefined) headers.push(['Content-Type', 'application/json']);
    const began = performance.now();
    const answer = await this.#asked({
      url,
      method,
      headers,
      body: body === undefined ? null : Buffer.from(body),
      timeoutMs: left,
      signal,
      room,
    });
    this.latencyMs = Math.round(performance.now() - began);
    return answer;
  }

  async #client(): Promise<HttpClient> {
    const opening = (this.#http ??= this.#open());
    try {
      return await opening;
    } catch (error) {
      if (this.#http === opening) this.#http = null;
      throw error;
    }
  }

  async #asked(ask: HttpAsk): Promise<HttpAnswer> {
    try {
      const http = await this.#client();
      const answer = await http.ask(ask);
      this.state = 'reachable';
      return answer;
    } catch (error) {
      if (!ask.signal?.aborted && !isWithoutRoom(error)) this.state = 'unreachable';
      throw error;
    }
  }

  async #read(answer: HttpAnswer, room: AnswerRoom): Promise<NodeAnswer> {
    const { status, headers } = answer;
    const isSuccess = status === 200 || status === 204;
    const body = status === 204 ? null : await this.#json(answer, room);
    if (!isSuccess) throw this.refusal(status, body);
    const count = Number(headers['x-total-count'] ?? Number.NaN);
    return {
      value: headers['x-cascade-values'] === 'typed' ? await typedValue(body, this.node) : body,
      count: Number.isSafeInteger(count) ? count : null,
      isPartial: headers['x-partial-result'] === 'true',
    };
  }

  async #json({ status, body }: HttpAnswer, room: AnswerRoom): Promise<Value> {
    if (body.length === 0) throw this.noProtocol(`its answer ${status} is empty`);
    try {
      return await readAnswer(body, this.node, room);
    } catch (error) {
      if (isWithoutRoom(error)) throw error;
      throw this.noProtocol(`its answer ${status} is no JSON`);
    }
  }
}

interface Spelling {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path below the resources, each segment encoded. */
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body: string | undefined;
}

/** Converts a message to a request of REST (resources-and-api.md 2). */
export function spelt({ op, resource, isType, id, parameters = {}, object }: NodeRequest): Spelling {
  const base = `${isType ? 'custom/' : ''}${encodeURIComponent(resource.toWellFormed())}`;
  const path = id === undefined ? base : `${base}/${id.toWellFormed().split('/').map(encodeURIComponent).join('/')}`;
  const query = { ...parameters };
  switch (op) {
    case 'select': {
      const { where, ...rest } = query;
      if (where !== undefined && encodeURIComponent(where).length > LONGEST_WHERE)
        return { method: 'POST', path: `${path}/select`, query: rest, body: where };
      return { method: 'GET', path, query, body: undefined };
    }
    case 'aggregate':
    case 'query':
      return { method: 'POST', path: `${path}/${op}`, query, body: object };
    case 'upsert':
      return { method: 'POST', path, query: { ...query, upsert: 'true' }, body: object };
    case 'update':
      return { method: 'PUT', path, query, body: object };
    case 'delete':
      return { method: 'DELETE', path, query, body: undefined };
    default: // insert, publish, execute
      return { method: 'POST', path, query, body: object };
  }
}
