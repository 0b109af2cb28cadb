// The connection of an MQTT source (integrations.md 3), to the first broker that answers. The framework opens a new one when it is lost.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IClientOptions, IPublishPacket, ISubscriptionMap } from 'mqtt';
import { createWebSocketStream, WebSocket } from 'ws';
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { confirmed, CONFIRMED_WITHIN_MS, Unconfirmed } from '../confirmation.ts';
import { own } from '../fields.ts';
import { type Connection, ConnectionFailure, type SourceContext } from '../protocol.ts';
import { AckingClient } from './acking-client.ts';
import { addressesOf, type BrokerAddress } from './addresses.ts';
import { encoded, InFlight, publicationOf, qosOf, usualType } from './publishing.ts';

/** Reason codes for refused credentials: 4 and 5 of MQTT 3.1.1, the others of MQTT 5. */
const UNAUTHORIZED: ReadonlySet<number> = new Set([4, 5, 0x86, 0x87, 0x8a, 0x8c]);
/** Return code of a refused subscription. */
const REFUSED = 0x80;
const MOST_UNACKNOWLEDGED = 1_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_LAST_MS = 30_000;

/**
 * @param withinMs the longest wait for the acknowledgement of a publish
 * @throws ConnectionFailure, EgressError of the last address, when none answers
 */
export async function openMqtt(context: SourceContext, withinMs = CONFIRMED_WITHIN_MS): Promise<Connection> {
  let failure: unknown;
  for (const address of addressesOf(context.config))
    try {
      return await MqttConnection.open(context, address, withinMs);
    } catch (error) {
      failure = error;
      if (context.signal.aborted || (error instanceof ConnectionFailure && error.isAuthentication)) break;
    }
  throw failure;
}

class MqttConnection implements Connection {
  readonly #context: SourceContext;
  readonly #client: AckingClient;
  readonly #isFive: boolean;
  readonly #contentType: string;
  readonly #inFlight: InFlight;
  readonly #withinMs: number;
  /** Grows with each acknowledgement of a publish. */
  #acknowledged = 0;
  /** Rejects when the connection is lost, for callers that wait for an acknowledgement. */
  readonly #gone = Promise.withResolvers<never>();
  #isClosing = false;
  /** Aborted when it closes: messages that are to be tried again are left to the broker. */
  readonly #closing = new AbortController();
  /** Received messages without an outcome. */
  #underWay = 0;
  #idle: (() => void) | null = null;

  static async open(context: SourceContext, address: BrokerAddress, withinMs: number): Promise<MqttConnection> {
    const timeoutMs = Number(own(context.config, 'connectionTimeout') ?? 15) * 1_000;
    const socket = await context.outlet.connect({
      host: address.host,
      port: address.port,
      tls: address.isSecure ? context.tls : null,
      timeoutMs,
      signal: context.signal,
    });
    let connection: MqttConnection | undefined;
    try {
      const stream = address.path === null ? socket : webSocketOn(socket, address);
      connection = new MqttConnection(context, stream, timeoutMs, withinMs);
      await connection.#established();
      await connection.#subscribe();
      return connection;
    } catch (error) {
      connection?.abandon();
      socket.destroy();
      throw error;
    }
  }

  private constructor(context: SourceContext, stream: Duplex, timeoutMs: number, withinMs: number) {
    const { config } = context;
    this.#context = context;
    this.#withinMs = withinMs;
    this.#isFive = own(config, 'protocolVersion') === 5;
    this.#contentType = usualType(config);
    this.#inFlight = new InFlight(Number(own(config, 'maxInflight') ?? 10));
    setMaxListeners(0, this.#closing.signal); // each message that is tried again has one
    this.#gone.promise.catch(() => undefined); // callers that wait for it see the error
    this.#client = new AckingClient(
      stream,
      optionsOf(context, this.#isFive, this.#contentType, timeoutMs),
      (packet) => this.#take(packet),
      () => context.room(),
    );
    this.#client.on('error', () => undefined); // `close` follows and is handled
  }

  async publish(request: ObjectValue): Promise<void> {
    const { source } = this.#context;
    const { topic, payload, options } = publicationOf(source, request, this.#contentType, this.#isFive);
    const failed = (error: unknown): Error =>
      apiError('cascade.source.publish.failed', source, error instanceof Error ? error.message : String(error), null, null);
    await this.#inFlight.within(async () => {
      const before = this.#acknowledged;
      const acknowledged = new Promise<void>((resolve, reject) => {
        this.#client.publish(topic, payload, options, (error) => (error ? reject(error) : resolve()));
      });
      acknowledged.catch(() => undefined); // it may come when nobody waits for it any more
      try {
        await confirmed(Promise.race([acknowledged, this.#gone.promise]), this.#withinMs);
        this.#acknowledged++;
      } catch (error) {
        // Each of those that wait would have to wait as long for each place.
        if (error instanceof Unconfirmed && this.#acknowledged === before)
          this.#inFlight.refuse(failed(new Error('the broker confirms nothing now')));
        throw failed(error);
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#closing.abort();
    if (this.#client.connected && this.#context.consumes) {
      const filters = Object.keys(this.#filters());
      const keepsSession = own(this.#context.config, 'cleanSession') === false;
      if (keepsSession) this.#client.takesNoMore();
      // the connection closes anyway
      else if (filters.length > 0) await this.#client.unsubscribeAsync(filters).catch(() => undefined);
    }
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#client.takesNoMore();
    await new Promise(setImmediate); // the last acknowledgement is written
    await this.#client.endAsync(false).catch(() => undefined); // a lost client has ended already
    this.#gone.reject(new Error('the source was closed'));
  }

  /** Drops the connection without waiting. */
  abandon(): void {
    this.#isClosing = true;
    this.#closing.abort();
    this.#client.end(true);
  }

  #established(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const client = this.#client;
    let last: Error | undefined;
    client.once('connect', () => resolve());
    client.on('error', (error) => (last = error));
    client.once('close', () => {
      const code = last && 'code' in last ? Number(last.code) : NaN;
      const message = last?.message ?? 'the broker closed the connection';
      reject(new ConnectionFailure(message, { isAuthentication: UNAUTHORIZED.has(code) }));
      this.#gone.reject(new Error(message));
      if (!this.#isClosing) this.#context.lost(new ConnectionFailure(message));
    });
    if (this.#context.signal.aborted) reject(new ConnectionFailure('it is not wanted any more'));
    this.#context.signal.addEventListener('abort', () => reject(new ConnectionFailure('it is not wanted any more')), { once: true });
    return promise;
  }

  #filters(): ISubscriptionMap {
    const { config, namespace, source } = this.#context;
    const topics = own(config, 'topics');
    const qos = qosOf(own(config, 'qos') ?? 'AT_LEAST_ONCE') ?? 1;
    const prefix = own(config, 'shared') === true ? `$share/${namespace}.${source}/` : '';
    return Object.fromEntries((Array.isArray(topics) ? topics : []).map((topic) => [`${prefix}${String(topic)}`, { qos }]));
  }

  async #subscribe(): Promise<void> {
    const filters = this.#filters();
    if (!this.#context.consumes || Object.keys(filters).length === 0) return;
    let granted;
    try {
      granted = await this.#client.subscribeAsync(filters);
    } catch (error) {
      throw new ConnectionFailure(`the subscription failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    const refused = granted.find(({ qos }) => Number(qos) >= REFUSED);
    if (refused) throw new ConnectionFailure(`the broker refused the subscription of ${refused.topic}`);
  }

  /**
   * Resolves when the message has its outcome. One that could not be taken is tried again here, since brokers deliver a message again on new
   * connections only: left unacknowledged, it and its like would fill the broker's window, and nothing more would come.
   */
  async #take(packet: IPublishPacket): Promise<void> {
    this.#underWay++;
    try {
      for (let pauseMs = RETRY_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, RETRY_LAST_MS))
        try {
          await this.#context.deliver(this.#inbound(packet));
          return;
        } catch (error) {
          if (this.#isClosing || packet.qos === 0) throw error;
          await sleep(pauseMs, undefined, { ref: false, signal: this.#closing.signal }); // rejects when it closes
        }
    } finally {
      if (--this.#underWay === 0) this.#idle?.();
    }
  }

  #inbound({ topic, payload, qos, retain, dup, properties = {} }: IPublishPacket) {
    const { contentType, userProperties, responseTopic, correlationData } = properties;
    const seen: ObjectValue = { qos, retain, dup };
    if (userProperties) seen['userProperties'] = Object.fromEntries(Object.entries(userProperties).map(([name, one]) => [name, one]));
    if (contentType !== undefined) seen['contentType'] = contentType;
    if (responseTopic !== undefined) seen['responseTopic'] = responseTopic;
    if (correlationData !== undefined) seen['correlationData'] = correlationData.toString('base64');
    const isKnown = contentType !== undefined && /^[\w.+-]+\/[\w.+-]+/.test(contentType);
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    return { payload: bytes, contentType: isKnown ? contentType : this.#contentType, topic, properties: seen };
  }
}

function optionsOf({ config, consumes }: SourceContext, isFive: boolean, contentType: string, timeoutMs: number): IClientOptions {
  const clientId = own(config, 'clientId');
  // Two connections with one client id would end each other: the one that only publishes gets another id.
  const named = typeof clientId === 'string' ? `${clientId}${consumes ? '' : `-${randomUUID().slice(0, 8)}`}` : `cascade-${randomUUID()}`;
  const username = own(config, 'username');
  const password = own(config, 'password');
  const clean = own(config, 'cleanSession') !== false || !consumes;
  const will = own(config, 'will');
  return {
    clientId: named,
    clean,
    keepalive: Number(own(config, 'keepAliveInterval') ?? 15),
    connectTimeout: timeoutMs,
    protocolVersion: isFive ? 5 : 4,
    resubscribe: false,
    ...(typeof username === 'string' && { username }),
    ...(typeof password === 'string' && { password }),
    // A kept session outlives its connection by a day: MQTT 5 would end it at once.
    ...(isFive && { properties: { receiveMaximum: MOST_UNACKNOWLEDGED, ...(!clean && { sessionExpiryInterval: 86_400 }) } }),
    ...(isObject(will) && {
      will: {
        topic: String(own(will, 'topic') ?? ''),
        payload: encoded(contentType, own(will, 'message')),
        qos: qosOf(own(will, 'qos') ?? 0) ?? 0,
        retain: own(will, 'retain') === true,
      },
    }),
  };
}

/** MQTT in WebSocket frames, on a connected socket. */
function webSocketOn(socket: Socket, { host, port, isSecure, path }: BrokerAddress): Duplex {
  const shownHost = host.includes(':') ? `[${host}]` : host;
  const webSocket = new WebSocket(`ws${isSecure ? 's' : ''}://${shownHost}:${port}${path}`, ['mqtt'], {
    createConnection: () => socket,
    perMessageDeflate: false,
    followRedirects: false,
  });
  return createWebSocketStream(webSocket);
}
