// AMQP 1.0 (integrations.md 4) by rhea. Credit is restored as messages are settled, so that a broker sends no more than the service stores.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import rhea, { type ConnectionOptions, type Delivery, type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { own } from '../fields.ts';
import { type Connection, ConnectionFailure, type Inbound, type InboundValue, type SourceContext } from '../protocol.ts';
import {
  type BrokerAddress,
  credentialsOf,
  firstOf,
  Interval,
  mechanismsOf,
  type Publication,
  publicationOf,
  socketTo,
  topicsOf,
  typeOf,
} from './common.ts';
import { Intake } from '../intake.ts';
import { dataIn, messageOf, valueOf } from './values-1-0.ts';

const CONNECT_WITHIN_MS = 15_000;
const IDLE_MS = 30_000;
/** A link whose drain the broker does not confirm within this time counts as empty. */
const DRAIN_MS = 5_000;
/** An address from which nothing arrives for so long counts as empty. */
const QUIET_MS = 250;

export const openAmqp10 = (context: SourceContext): Promise<Connection> => firstOf(context, (address) => Amqp10.open(context, address));

class Amqp10 implements Connection {
  readonly #context: SourceContext;
  readonly #connection: rhea.Connection;
  readonly #intake: Intake;
  readonly #receivers: Receiver[] = [];
  readonly #senders = new Map<string, Promise<SenderLink>>();
  #polling: Interval | null = null;
  readonly #polled = new Map<string, Receiver>();
  readonly #prefetch: number;
  #received = 0;
  #isClosing = false;
  /** Whether the socket has ended. */
  #isGone = false;

  static async open(context: SourceContext, address: BrokerAddress): Promise<Amqp10> {
    const socket = await socketTo(context, address);
    let connection: rhea.Connection;
    try {
      connection = await connectionOn(context, address, socket);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    const opened = new Amqp10(context, connection);
    try {
      await opened.#start();
      return opened;
    } catch (error) {
      opened.#isClosing = true;
      connection.close();
      socket.destroySoon();
      throw error;
    }
  }

  private constructor(context: SourceContext, connection: rhea.Connection) {
    this.#context = context;
    this.#connection = connection;
    this.#intake = new Intake(context);
    this.#prefetch = Number(own(context.config, 'prefetch') ?? 100);
    let last: string | undefined;
    connection.on('connection_error', ({ connection: failed }: EventContext) => (last = textOf(failed.error)));
    connection.on('protocol_error', (error: Error) => (last = error.message));
    connection.on('disconnected', () => (this.#isGone = true));
    const gone = (): void => {
      if (!this.#isClosing) context.lost(new ConnectionFailure(last ?? 'the broker closed the connection'));
    };
    connection.on('session_error', ({ session }: EventContext) => {
      last = textOf(session?.error);
      gone();
    });
    connection.on('connection_close', gone);
    connection.on('disconnected', gone);
    connection.on('error', () => undefined); // the events above report it
  }

  async #start(): Promise<void> {
    const { config, consumes } = this.#context;
    const topics = topicsOf(config);
    if (!consumes || topics.length === 0) return;
    const seconds = Number(own(config, 'pollingInterval') ?? 0);
    if (seconds === 0) {
      for (const topic of topics) this.#receivers.push(await this.#receiver(topic, false));
      return;
    }
    this.#polling = new Interval(this.#context, seconds, () => this.#poll(topics));
    this.#polling.begin();
  }

  /**
   * Empties each address: its link gets credit, and unused credit is drained. Links stay attached, since they deliver nothing without
   * credit.
   */
  async #poll(topics: readonly string[]): Promise<void> {
    for (const topic of topics) {
      await this.#context.room();
      let receiver = this.#polled.get(topic);
      if (!receiver) {
        receiver = await this.#receiver(topic, true);
        this.#polled.set(topic, receiver);
      }
      for (let before = -this.#prefetch; this.#received - before >= this.#prefetch; ) {
        before = this.#received;
        await this.#drained(receiver);
        await this.#intake.settled();
      }
    }
  }

  /** The drain is delayed: some brokers return the credit at once, without looking for messages. */
  async #drained(receiver: Receiver): Promise<void> {
    receiver.add_credit(this.#prefetch);
    for (let before = -1; before !== this.#received; ) {
      before = this.#received;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS);
      receiver.once('receiver_drained', () => {
        clearTimeout(timer);
        resolve();
      });
      receiver.drain_credit();
    });
  }

  /** @throws ConnectionFailure */
  #receiver(topic: string, isPolled: boolean): Promise<Receiver> {
    const { config } = this.#context;
    const all = own(config, 'options');
    const mine = isObject(all) ? own(all, topic) : null;
    const options = isObject(mine) ? mine : {};
    const selector = own(options, 'selector');
    const receiver = this.#connection.open_receiver({
      name: own(options, 'durable') === true ? `${this.#context.namespace}.${this.#context.source}.${topic}` : randomUUID(),
      credit_window: 0,
      autoaccept: false,
      autosettle: false,
      source: {
        address: own(options, 'dynamic') === true ? '' : topic,
        dynamic: own(options, 'dynamic') === true,
        ...(own(options, 'durable') === true && { durable: 2, expiry_policy: 'never' }),
        ...(typeof selector === 'string' && { filter: rhea.filter.selector(selector) }),
      },
    });
    receiver.on('message', (event: EventContext) => this.#take(topic, event, isPolled));
    receiver.on('receiver_error', ({ receiver: failed }: EventContext) => {
      if (!this.#isClosing) this.#context.lost(linkFailure(topic, failed?.error));
    });
    return new Promise((resolve, reject) => {
      receiver.once('receiver_open', () => {
        if (!receiver.source?.address && own(options, 'dynamic') !== true) return; // the link was refused: its error follows
        if (!isPolled) receiver.add_credit(this.#prefetch);
        resolve(receiver);
      });
      receiver.once('receiver_error', ({ receiver: failed }: EventContext) => reject(linkFailure(topic, failed?.error)));
      // Some brokers end the session, or the connection, for an unknown address.
      this.#connection.once('session_error', ({ session }: EventContext) => reject(linkFailure(topic, session?.error)));
      this.#connection.once('connection_error', ({ connection }: EventContext) => reject(linkFailure(topic, connection.error)));
      this.#connection.once('disconnected', () => reject(new ConnectionFailure('the broker closed the connection')));
    });
  }

  #take(topic: string, { message, delivery, receiver }: EventContext, isPolled: boolean): void {
    if (!message || !delivery || !receiver || this.#isClosing) return; // what comes while it closes stays with the broker
    this.#received++;
    const settled = (settle: (one: Delivery) => void): void => {
      settle(delivery);
      if (!this.#isClosing && !isPolled) receiver.add_credit(1);
    };
    void this.#intake.take(this.#inbound(topic, message), {
      accept: () => settled((one) => one.accept()),
      reject: () => settled((one) => one.reject()),
      requeue: () => settled((one) => one.release()),
    });
  }

  #inbound(topic: string, message: Message): Inbound | InboundValue {
    const seen: ObjectValue = valueOf(message.application_properties ?? {}) as ObjectValue;
    const named = { messageId: message.message_id, correlationId: message.correlation_id, subject: message.subject };
    for (const [name, value] of Object.entries(named)) if (value !== undefined && value !== null) seen[name] = valueOf(value);
    if (message.message_annotations) seen['annotations'] = valueOf(message.message_annotations);
    const properties = { topic, properties: seen };
    const data = dataIn(message.body as unknown);
    if (data) return { ...properties, payload: data, contentType: typeOf(this.#context.config, message.content_type) };
    return { ...properties, value: valueOf(message.body as unknown) };
  }

  async publish(request: ObjectValue): Promise<void> {
    const publication = publicationOf(this.#context, request);
    const { address } = publication;
    const { source } = this.#context;
    let link = this.#senders.get(address);
    if (!link) {
      link = SenderLink.open(this.#connection, source, address, () => this.#senders.delete(address));
      this.#senders.set(address, link);
    }
    await (await link).send(publication);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#polling?.close();
    for (const receiver of this.#receivers) receiver.drain_credit();
    await this.#intake.drained();
    // The end of the connection would overtake the last settlements on their way to the session.
    const [session] = this.#receivers.map((receiver) => receiver.session);
    if (session?.is_open()) await this.#ended('session_close', () => session.close());
    await this.#ended('connection_close', () => this.#connection.close());
  }

  async #ended(event: 'session_close' | 'connection_close', end: () => void): Promise<void> {
    if (this.#isGone) return;
    await new Promise<void>((resolve) => {
      this.#connection.once(event, () => resolve());
      this.#connection.once('disconnected', () => resolve());
      end();
    });
  }
}

/** The link to one target address; after a failure the next publish opens a new one. */
class SenderLink {
  readonly #sender: Sender;
  readonly #source: string;
  readonly #address: string;
  readonly #open = new Map<Delivery, { resolve(): void; reject(error: Error): void }>();
  readonly #credit: (() => void)[] = [];
  #gone: Error | null = null;

  static open(connection: rhea.Connection, source: string, address: string, gone: () => void): Promise<SenderLink> {
    const session = connection.create_session(); // a session of its own: some brokers end the session for an unknown address
    session.begin();
    const sender = session.open_sender({ target: { address }, autosettle: true });
    const link = new SenderLink(connection, session, sender, source, address, gone);
    return new Promise((resolve, reject) => {
      sender.once('sendable', () => resolve(link));
      sender.once('sender_error', () => reject(link.#failure()));
      session.once('session_error', () => reject(link.#failure()));
      connection.once('disconnected', () => reject(link.#failure()));
    });
  }

  private constructor(
    connection: rhea.Connection,
    session: rhea.Session,
    sender: Sender,
    source: string,
    address: string,
    gone: () => void,
  ) {
    this.#sender = sender;
    this.#source = source;
    this.#address = address;
    const ended = (reason: string): void => {
      this.#gone ??= new Error(reason);
      gone();
      for (const { reject } of this.#open.values()) reject(this.#failure());
      this.#open.clear();
      for (const wake of this.#credit.splice(0)) wake();
    };
    sender.on('sender_error', ({ sender: failed }: EventContext) => ended(textOf(failed?.error) ?? 'the broker refused the link'));
    sender.on('sender_close', () => ended('the broker closed the link'));
    session.on('session_error', ({ session: failed }: EventContext) => ended(textOf(failed?.error) ?? 'the broker ended the session'));
    connection.on('disconnected', () => ended('the broker closed the connection'));
    const settle = (of: EventContext, isTaken: boolean): void => {
      const waiting = of.delivery && this.#open.get(of.delivery);
      if (!waiting || !of.delivery) return;
      this.#open.delete(of.delivery);
      if (isTaken) waiting.resolve();
      else waiting.reject(apiError('cascade.amqp.publish.rejected', source, address));
    };
    sender.on('accepted', (event: EventContext) => settle(event, true));
    for (const outcome of ['rejected', 'released', 'modified']) sender.on(outcome, (event: EventContext) => settle(event, false));
    sender.on('sendable', () => {
      for (const wake of this.#credit.splice(0)) wake();
    });
  }

  async send(publication: Publication): Promise<void> {
    while (!this.#gone && !this.#sender.sendable()) await new Promise<void>((resolve) => this.#credit.push(resolve));
    if (this.#gone) throw this.#failure();
    await new Promise<void>((resolve, reject) => {
      this.#open.set(this.#sender.send(messageOf(publication)), { resolve, reject });
    });
  }

  #failure(): Error {
    return apiError(
      'cascade.source.publish.failed',
      this.#source,
      `${this.#address}: ${this.#gone?.message ?? 'the link is closed'}`,
      null,
      null,
    );
  }
}

/** @throws ConnectionFailure */
function connectionOn({ config, signal }: SourceContext, address: BrokerAddress, socket: Socket): Promise<rhea.Connection> {
  const container = rhea.create_container({ id: `cascade-${randomUUID()}` });
  const connection = container.connect({
    hostname: address.host,
    reconnect: false,
    idle_time_out: IDLE_MS,
    sasl_mechanisms: saslOf(container, config),
    connection_details: () => ({
      host: address.host,
      port: address.port,
      connect: (_port: number, _host: string, _options: unknown, connected: () => void) => {
        setImmediate(connected);
        return socket;
      },
    }),
  } as unknown as ConnectionOptions);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(new ConnectionFailure('the broker does not answer')), CONNECT_WITHIN_MS);
    const abandoned = (): void => fail(new ConnectionFailure('it is not wanted any more'));
    const fail = (error: ConnectionFailure): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abandoned);
      reject(error);
    };
    signal.addEventListener('abort', abandoned, { once: true });
    connection.on('error', () => undefined); // the events below report it
    connection.once('connection_open', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abandoned);
      resolve(connection);
    });
    connection.once('connection_error', ({ error }: EventContext) => {
      const text = textOf(error) ?? textOf(connection.error) ?? 'the broker refused the connection';
      fail(new ConnectionFailure(text, { isAuthentication: /unauthorized|authenticat|sasl|mechanism/i.test(text) }));
    });
    connection.once('protocol_error', (error: Error) => fail(new ConnectionFailure(error.message)));
    connection.once('disconnected', ({ error }: EventContext) =>
      fail(
        new ConnectionFailure(textOf(error) ?? 'the broker closed the connection', {
          isAuthentication: /sasl|auth/i.test(String(textOf(error))),
        }),
      ),
    );
  });
}

/** Configures SASL: of these mechanisms the broker chooses. */
function saslOf(container: rhea.Container, config: ObjectValue): unknown {
  const mechanisms = container.sasl.client_mechanisms();
  for (const name of mechanismsOf(config)) {
    if (name === 'PLAIN') mechanisms.enable_plain(...credentialsOf(config));
    else if (name === 'EXTERNAL') mechanisms.enable_external();
    else mechanisms.enable_anonymous('anonymous');
  }
  return mechanisms;
}

const linkFailure = (topic: string, error: unknown): ConnectionFailure => {
  const text = textOf(error) ?? 'the broker refused the link';
  return /not.found/i.test(text)
    ? new ConnectionFailure(`${topic} does not exist`, { code: 'cascade.amqp.address.unknown' })
    : new ConnectionFailure(`${topic}: ${text}`);
};

function textOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { condition, description, message } = error as { condition?: string; description?: string; message?: string };
  return message ?? ([condition, description].filter(Boolean).join(': ') || undefined);
}
