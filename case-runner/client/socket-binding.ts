// The REST client's requests as messages of the WebSocket binding, so that one and the same case runs over both. What the WebSocket binding
// has no message for (headers, addresses outside the resources, logins) still goes by REST.
import { isNumber, type Json, type JsonObject, parseJson, toJsonText } from './exact-json.ts';
import type { Reply, RequestOptions } from './rest-client.ts';
import type { SocketClient } from './socket-client.ts';

/** Whatever carries out requests in REST's words. */
export interface Sender {
  send(method: string, path: string, options?: RequestOptions): Promise<Reply>;
}

export class SocketBinding implements Sender {
  readonly #rest: Sender;
  readonly #socket: SocketClient;
  #next = 0;

  /** @param socket logged in already */
  constructor(rest: Sender, socket: SocketClient) {
    this.#rest = rest;
    this.#socket = socket;
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const message = options.headers || options.authenticated === false ? undefined : toMessage(method, path, options);
    if (!message) return this.#rest.send(method, path, options);
    const requestId = `b${this.#next++}`;
    const parameters = { ...(message.parameters as JsonObject), requestId };
    this.#socket.send(toJsonText({ ...message, parameters }));
    const { text } = await this.#socket.take((one) => requestIdOf(one.text) === requestId, `the answer to ${method} ${path}`);
    return toReply(parseJson(text) as JsonObject, message.op === 'delete', parameters);
  }
}

/** The request id of a message of the server; undefined when it has none. */
export function requestIdOf(text: string): Json | undefined {
  const { headers } = parseJson(text) as JsonObject;
  return headers === undefined || headers === null ? undefined : (headers as JsonObject)['X-Request-Id'];
}

const ON_COLLECTION: Readonly<Record<string, string>> = { GET: 'select', POST: 'insert', DELETE: 'delete' };
const ON_INSTANCE: Readonly<Record<string, string>> = { GET: 'select', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
const POST_ON_INSTANCE: Readonly<Record<string, string>> = { topics: 'publish', procedures: 'execute' };

/** Undefined: this is REST's alone. */
function toMessage(method: string, path: string, { query = {}, body, text }: RequestOptions): JsonObject | undefined {
  const [, rest] = /^\/((?:custom\/)?[^?]+)$/.exec(path) ?? [];
  if (rest === undefined || /^(?:api|authenticate|healthz|readyz|docs|ui|metrics|private)(?:\/|$)/.test(rest)) return undefined;
  const address = rest.replace(/^custom\//, '');
  const slash = address.indexOf('/');
  const resourceName = slash < 0 ? address : address.slice(0, slash);
  const rawId = slash < 0 ? undefined : address.slice(slash + 1);
  const { upsert, ...parameters } = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, toValue(value)]));
  const object = body ?? text;
  const message = { resourceName, parameters, ...(object === undefined ? {} : { object }) };
  if (rawId === undefined) {
    const op = method === 'POST' && upsert === true ? 'upsert' : ON_COLLECTION[method];
    return op === undefined ? undefined : { ...message, op };
  }
  if (rawId === 'aggregate') return { ...message, op: 'aggregate' };
  const op = method === 'POST' ? POST_ON_INSTANCE[resourceName] : ON_INSTANCE[method];
  if (op === undefined || /(?:^|\/)(?:select|_schema|_status|authorizedUsers|query)$/.test(rawId)) return undefined;
  return { ...message, op, resourceId: decodeURIComponent(rawId) };
}

/** Parameters are JSON values in a message; in an address they are texts. */
function toValue(value: Json): Json {
  if (typeof value !== 'string') return value;
  try {
    return parseJson(value);
  } catch {
    return value; // what is no JSON there is a wrong text here
  }
}

/** With a count, the first element of the body is what REST says in a header. */
function toReply(message: JsonObject, isDelete: boolean, { count }: JsonObject): Reply {
  let { body } = message;
  let status = isNumber(message.status ?? null) ? Number((message.status as { text: string }).text) : 0;
  const headers: Record<string, string> = { 'content-type': String(message.contentType ?? '') };
  if (count === true && status === 200 && Array.isArray(body)) {
    const [counted, ...others] = body as [JsonObject, ...Json[]];
    headers['x-total-count'] = toJsonText(counted.count ?? null);
    body = others;
    if (isDelete) status = 204;
  }
  const text = body === undefined ? '' : toJsonText(body);
  return { status, headers, text, json: () => parseJson(text) };
}
