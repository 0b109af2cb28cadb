// AMQP 1.0 (integrations.md 4) by rhea. Credit is restored as messages are settled, so that a broker sends no more than the service stores.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ConnectionOptions, Delivery, EventContext, Message, Receiver } from 'rhea';
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';
import { type Connection, ConnectionFailure, type Inbound, type InboundValue, type SourceContext } from '../protocol.ts';
import { type BrokerAddress, credentialsOf, firstOf, Interval, mechanismsOf, publicationOf, socketTo, topicsOf, typeOf } from './common.ts';
import { Intake } from '../intake.ts';
import rhea, { Unreadable } from './library-1-0.ts';
import { Links } from './links.ts';
import { SenderLink } from './sender-link.ts';
import { dataIn, textOf, valueOf } from './values-1-0.ts';

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
  readonly #senders: Links<SenderLink>;
  #polling: Interval | null = null;
  readonly #polled = new Map<string, Receiver>();
  readonly #prefetch: number;
  #received = 0;
  #isClosing = false;
  #loss: ConnectionFailure | null = null;
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
      if (opened.#loss) throw opened.#loss; // of one link while others opened: nobody heeds a loss before the source is open
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
    this.#senders = new Links((address, gone) => SenderLink.open(connection, context.source, address, gone));
    connection.setMaxListeners(0); // each link has one
    let last: string | undefined;
    connection.on('connection_error', ({ connection: failed }: EventContext) => (last = textOf(failed.error)));
    connection.on('protocol_error', (error: Error) => (last = error.message));
    connection.on('disconnected', () => (this.#isGone = true));
    const gone = (): void => this.#lost(new ConnectionFailure(last ?? 'the broker closed the connection'));
    connection.on('session_error', ({ session }: EventContext) => (last ??= textOf(session?.error)));
    connection.on('session_close', () => {
      last ??= 'the broker ended the session';
      gone();
    });
    connection.on('connection_close', gone);
    connection.on('disconnected', gone);
    connection.on('error', () => undefined); // the events above report it
  }

  #lost(failure: ConnectionFailure): void {
    if (this.#isClosing) return;
    this.#loss ??= failure;
    this.#context.lost(failure);
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
    // It follows an error, and comes without one, too.
    receiver.on('receiver_close', ({ receiver: failed }: EventContext) => this.#lost(linkFailure(topic, failed?.error)));
    return new Promise((resolve, reject) => {
      receiver.once('receiver_open', () => {
        if (!receiver.source?.address && own(options, 'dynamic') !== true) return; // the link was refused: its error follows
        if (!isPolled) receiver.add_credit(this.#prefetch);
        resolve(receiver);
      });
      receiver.once('receiver_close', ({ receiver: failed }: EventContext) => reject(linkFailure(topic, failed?.error)));
      // Some brokers end the session, or the connection, for an unknown address.
      this.#connection.once('session_close', ({ session }: EventContext) => reject(linkFailure(topic, session?.error)));
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
    void this.#intake.take(() => this.#inbound(topic, message), {
      accept: () => settled((one) => one.accept()),
      reject: () => settled((one) => one.reject()),
      requeue: () => settled((one) => one.release()),
    });
  }

  /** @throws errors of a message that cannot be read */
  #inbound(topic: string, message: Message | Unreadable): Inbound | InboundValue {
    if (message instanceof Unreadable) throw new Error(message.reason);
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
    await this.#senders.use(publication.address, (link) => link.send(publication));
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
  const text = textOf(error) ?? 'the broker closed the link';
  return /not.found/i.test(text)
    ? new ConnectionFailure(`${topic} does not exist`, { code: 'cascade.amqp.address.unknown' })
    : new ConnectionFailure(`${topic}: ${text}`);
};
