// One WebSocket to a node: login, concurrent requests, answers matched by request id, and pings (resources-and-api.md 2.15).
import type { ConnectionOptions } from 'node:tls';
import { isObject, type Value } from '../../stdlib/values/index.ts';
import { type CascadeError, apiError } from '../../model/errors/index.ts';
import { type AnswerRoom, NoWebSocket, openWebSocket, type Outlet, type OutgoingSocket } from '../../platform/egress/index.ts';
import type { NodeCredentials } from '../nodes/index.ts';
import { HttpFailure } from '../sources/index.ts';
import {
  type Carriage,
  handOver,
  isLoginOver,
  isRepeatable,
  isWithoutRoom,
  leftMs,
  memberOf,
  type NodeAnswer,
  type NodeRequest,
  readAnswer,
  tokenIn,
  typedValue,
} from './node-client.ts';

const PATH = '/api/v1/wsock/websocket';
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;
/** A longer message makes the node close the socket (resources-and-api.md 1.8), and fails all requests in progress on it. */
const MOST_MESSAGE_BYTES = 10 * 1024 * 1024;
/** A silent node gets a ping, and counts as gone without a reply. */
const PING_AFTER_MS = 10_000;
const GONE_AFTER_MS = 25_000;
const LOOK_EVERY_MS = 5_000;
/** Close code: the token of the socket was ended (resources-and-api.md 2.15). */
const TOKEN_ENDED = 4401;

export interface LinkTarget {
  readonly node: string;
  /** `ws:` or `wss:`; path, query and fragment are ignored. */
  readonly uri: URL;
  readonly outlet: Outlet;
  readonly tls: () => Promise<ConnectionOptions>;
  /** Null where no stored credentials can be opened. */
  readonly credentials: () => Promise<NodeCredentials | null>;
  readonly refusal: (status: number, body: Value) => CascadeError;
  readonly noProtocol: (detail: string) => CascadeError;
}

/** The token of the socket ended before the request had an effect. */
export class LoginEnded extends Error {
  /** The error for the case that a new login does not help. */
  readonly refusal: CascadeError;
  constructor(refusal: CascadeError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

interface Waiting {
  /** Whether the request may be sent again when the token ends during it. */
  readonly isRepeatable: boolean;
  /** @param room what the answer holds, to be disposed of */
  readonly answered: (answer: Value, room: AnswerRoom) => void;
  readonly failed: (error: Error) => void;
}

export class NodeLink {
  readonly #target: LinkTarget;
  readonly #socket: OutgoingSocket;
  readonly #waiting = new Map<string, Waiting>();
  /** Answers to logins have no request id. */
  #login: Waiting | null = null;
  #next = 1;
  #receivedAt = performance.now();
  readonly #look: NodeJS.Timeout;
  #reading: Promise<void> = Promise.resolve();
  /** Answers that came and are not read yet: nothing may be received meanwhile, not even a pong. */
  #unread = 0;

  private constructor(target: LinkTarget, socket: OutgoingSocket) {
    this.#target = target;
    this.#socket = socket;
    socket.listen({
      message: (data, room) => this.#received(data, room),
      alive: () => {
        this.#receivedAt = performance.now();
      },
      closed: (code, refused) => this.#closed(code, refused),
    });
    this.#look = setInterval(() => this.#checkLife(), LOOK_EVERY_MS).unref();
  }

  /** @throws EgressError; CascadeError of a refused login, or for an answer that does not follow the protocol */
  static async open(target: LinkTarget, timeoutMs: number, signal: AbortSignal): Promise<NodeLink> {
    const until = performance.now() + timeoutMs;
    const { uri, outlet, tls, noProtocol } = target;
    const url = new URL(PATH, uri);
    let socket: OutgoingSocket;
    try {
      socket = await openWebSocket(outlet, { url, tls: await tls(), timeoutMs, mostBytes: MOST_ANSWER_BYTES, signal });
    } catch (error) {
      throw error instanceof NoWebSocket ? noProtocol(error.message) : error;
    }
    const link = new NodeLink(target, socket);
    // A node that answers pings but no login must not hold up all that ask it from then on.
    const silent = new HttpFailure('unconnected', `its login was not answered within ${timeoutMs} ms`);
    const timer = setTimeout(() => link.#ended(silent), leftMs(until));
    const leave = (): void => link.close();
    signal.addEventListener('abort', leave, { once: true });
    try {
      await link.#enter();
      return link;
    } catch (error) {
      link.close();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  get isGone(): boolean {
    return !this.#socket.isOpen;
  }

  close(): void {
    clearInterval(this.#look);
    this.#socket.terminate();
    this.#ended(new HttpFailure('cut', 'the connection was closed'));
  }

  /** @throws CascadeError of the node; HttpFailure; LoginEnded */
  async ask(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer> {
    const { hop, signal, deadline } = carriage;
    const id = String(this.#next++);
    const left = leftMs(deadline);
    const text = messageOf(request, { id, hop, left });
    if (Buffer.byteLength(text) > MOST_MESSAGE_BYTES) throw apiError('cascade.request.body.too.large', MOST_MESSAGE_BYTES);
    const [answer, held] = await new Promise<[Value, AnswerRoom]>((resolve, reject) => {
      if (signal.aborted) return reject(new HttpFailure('cut', 'it is not wanted any more'));
      const cancel = (error: Error) => (): void => {
        this.#settle(id);
        this.#send(`{"op":"cancel","resourceName":"requests","resourceId":"${id}","parameters":{"X-Cascade-Federation":1}}`);
        leave();
        reject(error);
      };
      const aborted = cancel(new HttpFailure('cut', 'it is not wanted any more'));
      const timer = setTimeout(cancel(new HttpFailure('timeout', `no answer within ${left} ms`)), left);
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
      };
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.set(id, {
        isRepeatable: isRepeatable(request),
        answered: (value, room) => (leave(), resolve([value, room])),
        failed: (error) => (leave(), reject(error)),
      });
      this.#send(text);
    });
    using room = held;
    const found = await this.#read(answer, request);
    handOver(room, carriage);
    return found;
  }

  async #enter(): Promise<void> {
    const credentials = await this.#target.credentials();
    if (credentials === null) throw apiError('io.service.security.authentication.failed');
    const object = 'token' in credentials ? credentials.token : { username: credentials.username, password: credentials.password };
    const op = 'token' in credentials ? 'validate' : 'authenticate';
    const answer = await new Promise<Value>((resolve, failed) => {
      const answered = (value: Value, room: AnswerRoom): void => (room.clear(), resolve(value));
      this.#login = { isRepeatable: false, answered, failed };
      this.#send(JSON.stringify({ op, resourceName: 'credentials', object }));
    });
    const status = Number(memberOf(answer, 'status'));
    const body = memberOf(answer, 'body');
    if (status === 401 || status === 403) throw apiError('io.service.security.authentication.failed');
    if (status !== 200) throw this.#target.refusal(status, body);
    if (tokenIn(body) === null) throw this.#target.noProtocol('its login gave no token');
  }

  #send(text: string): void {
    if (this.#socket.isOpen) this.#socket.send(text);
    else this.#ended(new HttpFailure('cut', 'the connection is closed'));
  }

  /** Handles answers one after the other; long ones are parsed in slices. Resolves when it has been handled. */
  #received(data: Buffer, room: AnswerRoom): Promise<void> {
    this.#receivedAt = performance.now();
    this.#unread++;
    this.#reading = this.#reading.then(() => this.#take(data, room));
    return this.#reading;
  }

  /** Never rejects. */
  async #take(data: Buffer, room: AnswerRoom): Promise<void> {
    let answer: Value = null;
    let refused: CascadeError | null = null;
    try {
      answer = await readAnswer(data, this.#target.node, room);
    } catch (error) {
      if (isWithoutRoom(error)) refused = error;
    }
    this.#unread--;
    this.#receivedAt = performance.now();
    if (!isObject(answer)) {
      room.clear();
      this.#ended(refused ?? this.#target.noProtocol('its answer is no JSON object'));
      this.#socket.terminate();
      return;
    }
    const id = memberOf(memberOf(answer, 'headers'), 'X-Request-Id');
    const waiting = id === null ? this.#loginOf() : this.#settle(String(id));
    if (waiting) waiting.answered(answer, room);
    else room.clear();
  }

  #loginOf(): Waiting | null {
    const login = this.#login;
    this.#login = null;
    return login;
  }

  #settle(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  async #read(answer: Value, request: NodeRequest): Promise<NodeAnswer> {
    const status = Number(memberOf(answer, 'status'));
    const body = memberOf(answer, 'body');
    if (status !== 200 && status !== 204) {
      const refusal = this.#target.refusal(status, body);
      throw status === 401 && isLoginOver(request, refusal) ? new LoginEnded(refusal) : refusal;
    }
    const headers = memberOf(answer, 'headers');
    const value = memberOf(headers, 'X-Cascade-Values') === 'typed' ? await typedValue(body, this.#target.node) : body;
    const isPartial = memberOf(headers, 'X-Partial-Result') === 'true';
    if (request.parameters?.['count'] !== 'true' || !Array.isArray(value)) return { value, count: null, isPartial };
    const [head, ...rest] = value; // the count is the first element
    return { value: rest, count: Number(memberOf(head ?? null, 'count')), isPartial };
  }

  #closed(code: number, refused: Error | null): void {
    clearInterval(this.#look);
    if (code === TOKEN_ENDED)
      for (const [id, { isRepeatable, failed }] of this.#waiting)
        if (isRepeatable) {
          this.#waiting.delete(id);
          failed(new LoginEnded(apiError('io.service.security.authentication.failed')));
        }
    this.#ended(refused ?? new HttpFailure('cut', `the connection was closed (${code})`));
  }

  /** Fails all requests in progress. */
  #ended(error: Error): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    if (this.#login) all.push(this.#login);
    this.#login = null;
    for (const { failed } of all) failed(error);
  }

  #checkLife(): void {
    if (this.#unread > 0 || this.#socket.isHeldUp) return;
    const silentMs = performance.now() - this.#receivedAt;
    if (silentMs > GONE_AFTER_MS) this.#socket.terminate();
    else if (silentMs > PING_AFTER_MS) this.#socket.ping();
  }
}

/** Builds the text of a message; members of the request are JSON already. */
function messageOf(
  { op, resource, id: resourceId, parameters = {}, object, requestId }: NodeRequest,
  { id, hop, left }: { id: string; hop: number; left: number },
): string {
  const given = Object.entries(parameters).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  const headers: Record<string, string | number> = {
    requestId: id,
    'X-Cascade-Federation': 1,
    'X-Cascade-Hop': hop,
    'X-Cascade-Deadline-Ms': left,
    'X-Cascade-Values': 'typed',
    ...(requestId !== undefined && { 'X-Cascade-Request-Id': requestId }),
  };
  const members = [
    `"op":${JSON.stringify(op)}`,
    `"resourceName":${JSON.stringify(resource)}`,
    ...(resourceId === undefined ? [] : [`"resourceId":${JSON.stringify(resourceId)}`]),
    ...(object === undefined ? [] : [`"object":${object}`]),
    `"parameters":{${[...given, JSON.stringify(headers).slice(1, -1)].join(',')}}`,
  ];
  return `{${members.join(',')}}`;
}
