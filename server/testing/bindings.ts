// Sends one request of a client by each way in: REST, WebSocket, and a program's ResourceAPI, and gives all that the client gets in answer.
import { openTestSocket, type TestSocket } from './web-socket.ts';

export const BINDINGS = ['REST', 'WebSocket', 'program'] as const;
export type Binding = (typeof BINDINGS)[number];

export interface Asked {
  readonly op: 'select' | 'selectOne' | 'insert' | 'update' | 'patch' | 'delete' | 'aggregate' | 'execute' | 'publish' | 'query';
  /** The resource's name; a type's begins with `custom/`. */
  readonly resource: string;
  readonly id?: string;
  readonly body?: unknown;
  /** A program's text, over REST alone. */
  readonly text?: string;
  /** The condition; the request asks for the count of matches, too. */
  readonly where?: object;
}

export interface Outcome {
  readonly status: number;
  readonly body: unknown;
  readonly count: number | null;
  /** The code of the first error. */
  readonly code: string | null;
  readonly message: string | null;
  /** The whole answer as text. */
  readonly text: string;
}

/** The program through which a caller's requests are made; the admin inserts it. */
export const PROGRAM = 'PROCEDURE ask(message)\nreturn ResourceAPI.executeOp(message)';

const METHODS = { select: 'GET', selectOne: 'GET', insert: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;

/** A user with a session, and a socket that is opened on first use. */
export class Caller implements AsyncDisposable {
  readonly username: string;
  readonly #password: string;
  readonly #port: number;
  #token = '';
  #socket: TestSocket | null = null;
  #read = 0;

  constructor(port: number, username: string, password: string) {
    this.#port = port;
    this.username = username;
    this.#password = password;
  }

  /** Begins a new session; the socket of the one before is closed. */
  async login(): Promise<void> {
    await this.#socket?.[Symbol.asyncDispose]();
    this.#socket = null;
    this.#read = 0;
    const basic = Buffer.from(`${this.username}:${this.#password}`).toString('base64');
    const answered = await fetch(`http://127.0.0.1:${this.#port}/authenticate`, { headers: { authorization: `Basic ${basic}` } });
    if (answered.status !== 200) throw new Error(`${this.username} is not let in: ${await answered.text()}`);
    this.#token = ((await answered.json()) as { accessToken: string }).accessToken;
  }

  ask(binding: Binding, asked: Asked): Promise<Outcome> {
    if (binding === 'REST') return this.#overRest(asked);
    return binding === 'WebSocket' ? this.#overSocket(asked) : this.#byProgram(asked);
  }

  /** @returns the status of the answer */
  async subscribe(path: string): Promise<number> {
    return (await (await this.#open()).ask({ op: 'subscribe', resourceName: 'events', resourceId: path })).status;
  }

  /** The events since the last call: parsed, and as text. */
  received(): { body: Record<string, unknown>; text: string }[] {
    const came = this.#socket?.messages() ?? [];
    const events = came.slice(this.#read).filter(({ status }) => status === 100);
    this.#read = came.length;
    return events.map((event) => ({ body: (event['body'] ?? {}) as Record<string, unknown>, text: JSON.stringify(event) }));
  }

  /** Resolves when its socket, if there is one, has been closed by the service. */
  async ended(): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    socket.send(JSON.stringify(messageOf({ op: 'select', resource: 'custom/Item' })));
    await socket.closed();
  }

  async #open(): Promise<TestSocket> {
    if (this.#socket && this.#socket.closeCode === undefined) return this.#socket;
    const socket = await openTestSocket(this.#port);
    const object = { username: this.username, password: this.#password };
    socket.send(JSON.stringify({ op: 'authenticate', resourceName: 'system.credentials', object }));
    const { status } = await socket.message(() => true);
    if (status !== 200) throw new Error(`${this.username} is not let in by its socket: ${status}`);
    this.#read = 0;
    this.#socket = socket;
    return socket;
  }

  async #overRest({ op, resource, id, body, text, where }: Asked): Promise<Outcome> {
    const parts = [resource, ...(id === undefined ? [] : [encodeURIComponent(id)])];
    if (op === 'aggregate' || op === 'query') parts.push(op);
    const parameters = where ? `?${new URLSearchParams({ where: JSON.stringify(where), count: 'true' })}` : '';
    const content = text ?? (body === undefined ? null : JSON.stringify(body));
    const answered = await fetch(`http://127.0.0.1:${this.#port}/api/v1/resources/${parts.join('/')}${parameters}`, {
      method: op in METHODS ? METHODS[op as keyof typeof METHODS] : 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': text === undefined ? 'application/json' : 'text/plain' },
      ...(content !== null && { body: content }),
    });
    const answer = await answered.text();
    const total = answered.headers.get('x-total-count');
    return outcome(answered.status, answer === '' ? null : JSON.parse(answer), total === null ? null : Number(total), answer);
  }

  async #overSocket(asked: Asked): Promise<Outcome> {
    const message = await (await this.#open()).ask(messageOf(asked));
    const { status, body = null } = message;
    const [first, ...rest] = asked.where && Array.isArray(body) ? (body as unknown[]) : [];
    const count = (first as { count?: number } | undefined)?.count ?? null;
    return outcome(status === 200 && asked.op === 'delete' ? 204 : status, count === null ? body : rest, count, JSON.stringify(message));
  }

  /** A program gets a list of results for every request. */
  async #byProgram(asked: Asked): Promise<Outcome> {
    const ran = await this.#overRest({ op: 'execute', resource: 'procedures', id: 'ask', body: [messageOf(asked)] });
    if (ran.status !== 200) return ran;
    const rows = ran.body as Record<string, unknown>[];
    const count = asked.where ? ((rows.shift()?.['count'] as number | undefined) ?? null) : null;
    const isOne = asked.op === 'selectOne' || asked.op === 'update' || asked.op === 'patch';
    return { ...ran, count, status: asked.op === 'delete' ? 204 : 200, body: isOne ? (rows[0] ?? null) : rows };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#socket?.[Symbol.asyncDispose]();
  }
}

const messageOf = ({ op, resource, id, body, where }: Asked): Record<string, unknown> => ({
  op,
  resourceName: resource.replace('custom/', ''),
  ...(id !== undefined && { resourceId: id }),
  ...(body !== undefined && { object: body }),
  ...(where && { parameters: { where, count: true } }),
});

function outcome(status: number, body: unknown, count: number | null, text: string): Outcome {
  const error = status < 400 ? undefined : (body as { code?: string; message?: string }[] | null)?.[0];
  return { status, body, count, code: error?.code ?? null, message: error?.message ?? null, text };
}
