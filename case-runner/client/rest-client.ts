// A client of the REST API with as little cleverness as possible: paths go out as given, bodies come back as text.
import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { type Json, type JsonObject, parseJson, toJsonText } from './exact-json.ts';

export interface RequestOptions {
  /** Parameters of the address; values are JSON unless they are strings. */
  query?: Record<string, Json>;
  body?: Json;
  /** Program text, or a body that is no JSON. */
  text?: string;
  headers?: Record<string, string>;
  /** Sent without the token when false. */
  authenticated?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  /** The body read as JSON; throws when it is none. */
  json(): Json;
}

const RESOURCES = '/api/v1/resources';
/** Resources that stand right below RESOURCES; all others are types, below `custom`. */
export const SYSTEM_RESOURCES: ReadonlySet<string> = new Set(
  (
    'audits collaborations configurations deadletters debugconfigs deployconfigs deploystatus documents groups logs namespaces nodes organizations ' +
    'procedures profiles projects rules scalars scheduledevents secrets services sources tokens topics types users'
  ).split(' '),
);
const TIMEOUT_MS = 180_000;
/** A connection that nobody used for so long is not used again: the server ends it after ten seconds, perhaps just when a request is on its way. */
const IDLE_MS = 5_000;

export class RestClient {
  readonly #base: URL;
  readonly #agent: Agent;
  readonly #timeoutMs: number;
  #token: string | undefined;

  /** Where the server is. */
  get base(): string {
    return this.#base.origin;
  }

  /** Of the login; undefined before it. */
  get token(): string | undefined {
    return this.#token;
  }

  /** @param connections how many requests may be under way at once; more of them wait */
  constructor(base: string, connections = 8, timeoutMs = TIMEOUT_MS) {
    this.#base = new URL(base);
    this.#timeoutMs = timeoutMs;
    const options = { keepAlive: true, maxSockets: connections, timeout: IDLE_MS };
    this.#agent = this.#base.protocol === 'https:' ? new TlsAgent(options) : new Agent(options);
  }

  /** Logs in; every later request carries the token. */
  async login(user: string, password: string): Promise<void> {
    const reply = await this.send('GET', '/authenticate', {
      authenticated: false,
      headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
    });
    if (reply.status !== 200) throw new Error(`login as ${user} was refused: ${reply.status} ${reply.text}`);
    this.#token = String((reply.json() as JsonObject).accessToken);
  }

  /** @param path below the resources, for example `/types/Pump`; with a leading `/api` or `/authenticate` the whole path */
  send(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const { query = {}, body, text, headers = {}, authenticated = true } = options;
    const payload = body !== undefined ? toJsonText(body) : text;
    const parameters = Object.entries(query).map(
      ([name, value]) => `${name}=${encodeURIComponent(typeof value === 'string' ? value : toJsonText(value))}`,
    );
    const whole = /^\/($|(api|authenticate|healthz|readyz|docs|manual|ui|metrics|private)(\/|$|\?))/.test(path) ? path : RESOURCES + path;
    const all: Record<string, string> = {
      ...(payload !== undefined
        ? { 'content-type': body !== undefined ? 'application/json' : 'text/plain', 'content-length': String(Buffer.byteLength(payload)) }
        : {}),
      ...(authenticated && this.#token !== undefined ? { authorization: `Bearer ${this.#token}` } : {}),
      ...headers,
    };
    const target = whole + (parameters.length > 0 ? `${whole.includes('?') ? '&' : '?'}${parameters.join('&')}` : '');
    return new Promise((resolve, reject) => {
      const send = this.#base.protocol === 'https:' ? tlsRequest : request;
      const outgoing = send(
        {
          host: this.#base.hostname,
          port: this.#base.port,
          method,
          path: target,
          headers: all,
          agent: this.#agent,
          timeout: this.#timeoutMs,
        },
        (incoming) => {
          const parts: Buffer[] = [];
          incoming.on('data', (part: Buffer) => parts.push(part));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const answer = Buffer.concat(parts).toString('utf8');
            const received = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
            resolve({ status: incoming.statusCode ?? 0, headers: received, text: answer, json: () => parseJson(answer) });
          });
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${target} was not answered within ${this.#timeoutMs} ms`)));
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /** The path of a resource: system resources by their name, all else as custom types. */
  static pathOf(resource: string, id?: string): string {
    const isSystem = SYSTEM_RESOURCES.has(resource) || resource.startsWith('system.');
    return `${isSystem ? '' : '/custom'}/${resource}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
  }

  close(): void {
    this.#agent.destroy();
  }
}
