// A stand-in for the engine, and a listening server around it: requests are recorded, and the test gives the answers.
import { ObjectId } from 'mongodb';
import { connect } from 'node:net';
import { pino } from 'pino';
import type { ApiReply, ApiRequest, Engine, Health, Identity } from '../../resources/api.ts';
import { apiError } from '../../model/errors/api-errors.ts';
import type { IdentityStore, Session } from '../../identity/index.ts';
import type { TransportKind } from '../transport/index.ts';
import { type ListenOptions, type Listener, listen } from '../listen.ts';

export const TOKEN = 'css_0123456789012345678901234567890123456789';
export const ANN: Identity = { username: 'ann', namespace: 'main', profiles: ['admin', 'user__system'] };

/** The tests of the bindings run on both libraries (vitest.config.ts). */
const TRANSPORT = (process.env.CASCADE_HTTP || undefined) as TransportKind | undefined;

export interface FakeServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The requests of the engine, in order. */
  readonly requests: ApiRequest[];
  readonly log: string[];
  /** Gives the engine's next answers. */
  answer: (request: ApiRequest) => Promise<ApiReply> | ApiReply;
  /** Counts a request that could not be read. */
  count: (identity: Identity) => void;
  subscribe: Engine['subscribe'];
  /** Addresses of logins, as the limit counts them. */
  readonly addresses: string[];
  /** The sessions that were ended; those of logins with a password are called own1, own2 and so on. */
  readonly ended: string[];
  /** Resolves when logins with a password go on. */
  logins: Promise<void>;
  /** Whether the token is revoked. */
  revoked: boolean;
  /** Sockets that may still log in. */
  sockets: number;
  health: Health;
  /** Calls fetch with a token, below `/api/v1/resources/`. */
  resource(path: string, init?: RequestInit): Promise<Response>;
  /** Sends one request written byte by byte on a connection of its own. Gives the whole answer. */
  raw(text: string): Promise<string>;
}

export async function openFakeServer(options: Partial<ListenOptions> = {}): Promise<FakeServer> {
  const requests: ApiRequest[] = [];
  const log: string[] = [];
  const addresses: string[] = [];
  const identity = fakeIdentity(() => server, addresses);
  const engine = {
    execute: async (request: ApiRequest) => {
      requests.push(request);
      return server.answer(request);
    },
    count: async (caller: Identity) => server.count(caller),
    /** Answers with what was sent. */
    accept: async (...[, { body }]: Parameters<Engine['accept']>) => ({
      status: 200,
      body: JSON.stringify(Buffer.from(await body()).toString('base64')),
    }),
    describe: async ({ namespace }: Identity) => ({ namespace, resources: [], procedures: [] }),
    subscribe: async (...asked: Parameters<Engine['subscribe']>) => server.subscribe(...asked),
    acknowledge: async () => undefined,
    unsubscribe: async () => undefined,
    openSocket: async () => {
      if (server.sockets-- <= 0) throw apiError('cascade.quota.exceeded', 'webSockets', 0);
      return () => undefined;
    },
    health: () => server.health,
    settled: async () => undefined,
    identity,
  };
  const lines = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });
  const listener: Listener = await listen({ engine, log: lines, port: 0, host: '127.0.0.1', http: TRANSPORT, ...options });
  const server: FakeServer = {
    url: listener.url,
    port: listener.port,
    requests,
    addresses,
    log,
    answer: () => ({ status: 200, body: '[]' }),
    count: () => undefined,
    subscribe: async () => ({ close: () => undefined }),
    ended: [],
    logins: Promise.resolve(),
    revoked: false,
    sockets: Number.POSITIVE_INFINITY,
    health: { ready: true, status: 'ok' },
    resource: (path, init = {}) =>
      fetch(`${listener.url}/api/v1/resources/${path}`, { ...init, headers: { Authorization: `Bearer ${TOKEN}`, ...init.headers } }),
    raw: (text) => exchange(listener.port, text),
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
  return server;
}

/** The user Ann with the password `pass:word`, whose home is `main`, authorized in `plant`. */
function fakeIdentity(state: () => Pick<FakeServer, 'revoked' | 'logins' | 'ended'>, addresses: string[]): IdentityStore {
  const session = (namespace = 'main'): Session => ({
    token: TOKEN,
    expiresAt: new Date('2031-02-02T10:00:00.000Z'),
    identity: { ...ANN, namespace },
    preferredUsername: 'Ann',
    basis: { _id: new ObjectId() } as Session['basis'],
  });
  const entering = (namespace: string | undefined): string | undefined => {
    if (namespace !== undefined && namespace !== 'main' && namespace !== 'plant')
      throw apiError('cascade.namespace.not.authorized', namespace);
    return namespace;
  };
  let logins = 0;
  const store: Partial<IdentityStore> = {
    login: async (username, password, address, target) => {
      addresses.push(address);
      await state().logins;
      if (username === 'locked') throw apiError('cascade.security.rate.limited', 60);
      if (username !== 'ann' || password !== 'pass:wörd') throw apiError('io.service.security.authentication.failed');
      return { ...session(entering(target)), basis: { _id: new ObjectId(), name: `own${++logins}` } as Session['basis'] };
    },
    loginWithToken: async (token, target) => {
      if (token !== TOKEN) throw apiError('io.service.security.authentication.failed');
      return session(entering(target));
    },
    verify: async (token, target) => (token === TOKEN && !state().revoked ? { ...ANN, namespace: entering(target) ?? 'main' } : null),
    refresh: async (token) => {
      if (token !== TOKEN) throw apiError('cascade.security.token.invalid');
      return session();
    },
    revoke: async () => undefined,
    endSession: async ({ basis }) => void state().ended.push(basis.name ?? 'given'),
    outlived: async () => null,
    onChanged: () => () => undefined,
  };
  return store as IdentityStore;
}

function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (data: string) => {
      answer += data;
      if (isWhole(answer)) socket.end();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

/** Whether the answer has its head and as much body as it announces. */
function isWhole(answer: string): boolean {
  const head = answer.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(answer.slice(0, head))?.[1] ?? 0);
  return Buffer.byteLength(answer.slice(head + 4)) >= length;
}
