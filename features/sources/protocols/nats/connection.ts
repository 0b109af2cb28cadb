// The connection of a NATS source, to the first server that answers. The framework opens a new one when it is lost.
import type { Socket } from 'node:net';
import {
  type Authenticator,
  type ConnectionOptions,
  headers as newHeaders,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  setTransportFactory,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/nats-core/internal';
import { jetstream } from '@nats-io/jetstream';
import { type ObjectValue, setOwn } from '../../../../stdlib/values/index.ts';
import { asError } from '../../../../platform/structures/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { own } from '../fields.ts';
import { type Caller, type Connection, ConnectionFailure, type Inbound, type SourceContext } from '../protocol.ts';
import { type ServerAddress, serversOf, socketTo } from './addresses.ts';
import { StreamReader } from './jetstream.ts';
import { publicationOf } from './publishing.ts';
import { connect } from './strict-reader.ts';
import { type DialOptions, EgressTransport } from './transport.ts';

const CONNECT_MS = 15_000;
const PING_MS = 20_000;

/** @throws ConnectionFailure, EgressError of the last server, when none answers */
export async function openNats(context: SourceContext): Promise<Connection> {
  let failure: unknown;
  for (const address of serversOf(context.config))
    try {
      return await Nats.open(context, address);
    } catch (error) {
      failure = error;
      if (context.signal.aborted || (error instanceof ConnectionFailure && error.isAuthentication)) break;
    }
  throw failure;
}

class Nats implements Connection {
  readonly #context: SourceContext;
  readonly #wire: NatsConnection;
  readonly #contentType: string;
  readonly #stream: string | null;
  #reader: StreamReader | null = null;
  #isClosing = false;
  /** Why the connection was lost; null: it was not. */
  #lostBecause: string | null = null;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #refusals: PublishRefusals;

  static async open(context: SourceContext, address: ServerAddress): Promise<Nats> {
    const refusals = new PublishRefusals();
    const wire = await wireTo(context, address, (subject) => refusals.note(subject));
    const connection = new Nats(context, wire, refusals);
    try {
      await connection.#start();
      return connection;
    } catch (error) {
      connection.#isClosing = true;
      await wire.close();
      throw error;
    }
  }

  private constructor(context: SourceContext, wire: NatsConnection, refusals: PublishRefusals) {
    this.#context = context;
    this.#wire = wire;
    this.#refusals = refusals;
    this.#contentType = String(own(context.config, 'contentType') ?? 'application/json');
    const stream = own(context.config, 'stream');
    this.#stream = stream === null ? null : String(stream);
    void wire.closed().then((error) => this.#lost(error instanceof Error ? error.message : 'the server closed the connection'));
  }

  async #start(): Promise<void> {
    const { config, consumes, namespace, source } = this.#context;
    const topics = own(config, 'topics');
    const subjects = Array.isArray(topics) ? topics.map(String) : [];
    if (!consumes || this.#context.direction === 'SINK') return;
    if (this.#stream !== null) {
      const inbound = (message: MessageLike): Inbound => this.#inbound(message);
      this.#reader = await StreamReader.open(this.#context, this.#wire, this.#stream, subjects[0] ?? null, inbound, (why) =>
        this.#lost(why),
      );
      return;
    }
    const queue = own(config, 'shared') === true ? `${namespace}.${source}` : null;
    for (const subject of subjects)
      this.#wire.subscribe(subject, {
        ...(queue !== null && { queue }),
        callback: (error, message) => (error ? this.#lost(error.message) : this.#take(message)),
      });
    await this.#wire.flush();
    // The server has answered each subscription by now; one that it refuses would leave the source connected and deaf.
    if (this.#lostBecause !== null) throw new ConnectionFailure(this.#lostBecause);
  }

  /** Handles a message. Core NATS has no acknowledgements: a message that cannot be stored is lost. */
  #take(message: Msg): void {
    const taken = this.#context.deliver(this.#inbound(message)).catch(() => undefined); // the log has the error
    this.#underWay.add(taken);
    void taken.finally(() => this.#underWay.delete(taken));
  }

  #inbound({ subject, data, headers, reply }: MessageLike): Inbound {
    const properties: ObjectValue = {};
    if (headers) properties['headers'] = shown(headers);
    if (reply) properties['replyTo'] = reply;
    const named = headers?.get('Content-Type') ?? '';
    const contentType = /^[\w.+-]+\/[\w.+-]+/.test(named) ? named : this.#contentType;
    return { payload: data, contentType, topic: subject, properties };
  }

  async publish(request: ObjectValue, _caller: Caller): Promise<void> {
    const { source } = this.#context;
    const { subject, payload, headers: pairs, messageId, replyTo } = publicationOf(source, request, this.#contentType);
    const headers = newHeaders();
    for (const [name, value] of pairs) headers.append(name, value);
    try {
      if (this.#stream !== null) {
        const expect = { streamName: this.#stream };
        await jetstream(this.#wire).publish(subject, payload, { headers, expect, ...(messageId !== null && { msgID: messageId }) });
        return;
      }
      await this.#refusals.during(subject, async () => {
        this.#wire.publish(subject, payload, { headers, ...(replyTo !== null && { reply: replyTo }) });
        await this.#wire.flush(); // resolves when the server has received the publish
      });
    } catch (error) {
      throw apiError('cascade.source.publish.failed', source, error instanceof Error ? error.message : String(error), null, null);
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#reader?.close();
    await Promise.all(this.#underWay);
    await this.#wire.close();
  }

  #lost(message: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#lostBecause = message;
    this.#context.lost(new ConnectionFailure(message));
  }
}

/** Which of the publishes under way the server has refused: it says so by the subject, in the order in which they were sent. */
class PublishRefusals {
  readonly #underWay = new Map<string, { isRefused: boolean }[]>();

  note(subject: string): void {
    const first = this.#underWay.get(subject)?.find(({ isRefused }) => !isRefused);
    if (first) first.isRefused = true;
  }

  /** @throws Error where the server refuses what is sent meanwhile */
  async during(subject: string, send: () => Promise<void>): Promise<void> {
    const sent = { isRefused: false };
    const all = this.#underWay.get(subject) ?? [];
    this.#underWay.set(subject, all);
    all.push(sent);
    try {
      await send();
    } finally {
      all.splice(all.indexOf(sent), 1);
      if (all.length === 0) this.#underWay.delete(subject);
    }
    if (sent.isRefused) throw new Error(`the server does not allow to publish to ${subject}`);
  }
}

type MessageLike = Pick<Msg, 'subject' | 'data' | 'headers' | 'reply'>;

function shown(headers: MsgHdrs): ObjectValue {
  const object: ObjectValue = {};
  for (const name of headers.keys()) {
    const values = headers.values(name);
    setOwn(object, name, values.length === 1 ? (values[0] as string) : [...values]);
  }
  return object;
}

/** Opens a connection of the library on a given socket. */
export function natsConnection(dial: () => Promise<Socket>): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new EgressTransport() });
  const options: DialOptions = {
    reconnect: false,
    timeout: CONNECT_MS,
    room: async () => undefined,
    dial: async () => ({ socket: await dial(), greeting: Buffer.alloc(0), isSecure: false }),
  };
  return connect(options);
}

/** @throws ConnectionFailure, EgressError */
export async function wireTo(
  context: SourceContext,
  address: ServerAddress,
  publishRefused: (subject: string) => void = () => undefined,
): Promise<NatsConnection> {
  // the library has one global factory, so each transport finds its socket in its options
  setTransportFactory({ factory: () => new EgressTransport() });
  let refused: Error | null = null;
  const options: DialOptions = {
    publishRefused,
    servers: [`${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`],
    reconnect: false,
    maxReconnectAttempts: 0,
    ignoreClusterUpdates: true,
    noAsyncTraces: true,
    pingInterval: PING_MS,
    timeout: CONNECT_MS,
    name: `${context.namespace}.${context.source}`,
    ...(credentialsOf(context) as Pick<ConnectionOptions, 'authenticator'>),
    room: () => context.room(),
    dial: () =>
      socketTo(context, address, CONNECT_MS).catch((error: unknown) => {
        refused = asError(error);
        throw refused;
      }),
  };
  try {
    return await connect(options);
  } catch (error) {
    if (refused) throw refused as Error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ConnectionFailure(message, { isAuthentication: /authorization|authentication/i.test(`${message} ${String(error)}`) });
  }
}

function credentialsOf({ config }: SourceContext): { authenticator?: Authenticator } {
  const [username, password, token] = ['username', 'password', 'accessToken'].map((name) => own(config, name));
  if (typeof token === 'string') return { authenticator: tokenAuthenticator(token) };
  return typeof username === 'string' ? { authenticator: usernamePasswordAuthenticator(username, String(password ?? '')) } : {};
}
