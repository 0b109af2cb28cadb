// AMQP 0-9-1 (integrations.md 4) by amqplib, for RabbitMQ and compatible brokers. The source declares nothing but private queues for
// `exchange/key`.
import { randomUUID } from 'node:crypto';
import type { Channel, ChannelModel as Model, ConfirmChannel, ConsumeMessage, GetMessage, Options } from 'amqplib';
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { confirmed, CONFIRMED_WITHIN_MS } from '../confirmation.ts';
import { own } from '../fields.ts';
import { type Connection, ConnectionFailure, type Inbound, type SourceContext } from '../protocol.ts';
import {
  type BrokerAddress,
  credentialsOf,
  exchangeAndKey,
  firstOf,
  Interval,
  mechanismsOf,
  type Publication,
  publicationOf,
  sentProperties,
  socketTo,
  topicsOf,
  typeOf,
} from './common.ts';
import { Intake } from '../intake.ts';
import { ChannelModel, credentials, UNREADABLE, Wire } from './library-0-9-1.ts';
import { type Link, Links } from './links.ts';
import { headersOf } from './values-0-9-1.ts';

const HEARTBEAT_SECONDS = 15;
const FRAME_BYTES = 131_072;
const NOT_FOUND = 404;

/** @param withinMs the longest wait for the confirmation of a publish */
export const openAmqp091 = (context: SourceContext, withinMs = CONFIRMED_WITHIN_MS): Promise<Connection> =>
  firstOf(context, (address) => Amqp091.open(context, address, withinMs));

class Amqp091 implements Connection {
  readonly #context: SourceContext;
  readonly #model: Model;
  readonly #intake: Intake;
  #consumer: Channel | null = null;
  #tags: string[] = [];
  /** By exchange: publishing to an unknown one closes the channel. */
  readonly #publishers: Links<Publisher>;
  #polling: Interval | null = null;
  #isClosing = false;
  /** Why the broker closed the connection or the consuming channel. */
  #reason: Error | null = null;
  #loss: ConnectionFailure | null = null;

  static async open(context: SourceContext, address: BrokerAddress, withinMs: number): Promise<Amqp091> {
    const model = await modelOn(context, address);
    const connection = new Amqp091(context, model, withinMs);
    try {
      await connection.#start();
      if (connection.#loss) throw connection.#loss; // nobody heeds a loss before the source is open
      return connection;
    } catch (error) {
      connection.#isClosing = true;
      await model.close().catch(() => undefined); // the connection may be closed already
      throw error;
    }
  }

  private constructor(context: SourceContext, model: Model, withinMs: number) {
    this.#context = context;
    this.#model = model;
    this.#intake = new Intake(context);
    this.#publishers = new Links((_exchange, gone) => Publisher.open(model, context.source, gone, withinMs));
    this.#watch(model);
  }

  /** Reports the end of the connection, or of the channel that consumes: a broker may close that alone. */
  #watch(one: Model | Channel): void {
    one.on('error', (error: Error) => (this.#reason ??= error));
    one.on('close', () => this.#lost(new ConnectionFailure(this.#reason?.message ?? 'the broker closed the connection')));
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
    if (seconds > 0) {
      this.#polling = new Interval(this.#context, seconds, () => this.#poll(topics));
      this.#polling.begin();
      return;
    }
    const channel = await this.#channel();
    this.#consumer = channel;
    this.#watch(channel);
    await channel.prefetch(Number(own(config, 'prefetch') ?? 100));
    for (const topic of topics) {
      const queue = await this.#queueOf(channel, topic);
      const { consumerTag } = await channel.consume(queue, (message) => {
        if (this.#isClosing) return; // what comes now stays with the broker
        if (message) void this.#take(channel, topic, message);
        else this.#lost(unknownAddress(topic)); // the queue was deleted
      });
      this.#tags.push(consumerTag);
    }
  }

  /** Empties each queue once. */
  async #poll(topics: readonly string[]): Promise<void> {
    const channel = await this.#channel();
    try {
      for (const topic of topics) {
        const queue = await this.#queueOf(channel, topic);
        for (;;) {
          await this.#context.room();
          const message = this.#isClosing ? false : await channel.get(queue);
          if (!message) break;
          await this.#take(channel, topic, message);
        }
      }
    } finally {
      await channel.close().catch(() => undefined); // an error of the channel has closed it
    }
  }

  async #channel(): Promise<Channel> {
    const channel = await this.#model.createChannel();
    channel.on('error', () => undefined); // the failed call reports the error to its caller
    return channel;
  }

  /** The queue of a topic: `q` must exist; `exchange/key` gets a private queue bound to the exchange. @throws ConnectionFailure */
  async #queueOf(channel: Channel, topic: string): Promise<string> {
    const slash = topic.indexOf('/');
    try {
      if (slash < 0) return (await channel.checkQueue(topic)).queue;
      const exchange = topic.slice(0, slash);
      await channel.checkExchange(exchange);
      const { queue } = await channel.assertQueue(`cascade-${randomUUID()}`, { exclusive: true, autoDelete: true, durable: false });
      await channel.bindQueue(queue, exchange, topic.slice(slash + 1));
      return queue;
    } catch (error) {
      throw (error as { code?: unknown }).code === NOT_FOUND || /NOT_FOUND|404/.test(String(error)) ? unknownAddress(topic) : error;
    }
  }

  #take(channel: Channel, topic: string, message: ConsumeMessage | GetMessage): Promise<void> {
    const settle = (work: () => void): void => {
      try {
        work();
      } catch {
        // The channel is closed: the broker delivers unacknowledged messages again.
      }
    };
    return this.#intake.take(() => this.#inbound(topic, message), {
      accept: () => settle(() => channel.ack(message)),
      reject: () => settle(() => channel.nack(message, false, false)),
      requeue: () => settle(() => channel.nack(message, false, true)),
    });
  }

  /** @throws errors of a message that cannot be read */
  #inbound(topic: string, { content, properties, fields }: ConsumeMessage | GetMessage): Inbound {
    const {
      headers,
      messageId,
      correlationId,
      type,
      contentType,
      [UNREADABLE]: reason,
    } = properties as unknown as Record<string | symbol, unknown>;
    if (reason !== undefined) throw new Error(String(reason));
    const seen: ObjectValue = isObject(headers) ? headersOf(headers) : {};
    for (const [name, value] of Object.entries({ messageId, correlationId, subject: type }))
      if (typeof value === 'string') seen[name] = value;
    seen['annotations'] = { exchange: fields.exchange, routingKey: fields.routingKey, redelivered: fields.redelivered };
    const named = typeof contentType === 'string' ? contentType : undefined;
    return { payload: content, contentType: typeOf(this.#context.config, named), topic, properties: seen };
  }

  async publish(request: ObjectValue): Promise<void> {
    const publication = publicationOf(this.#context, request);
    const [exchange] = exchangeAndKey(publication.address);
    try {
      await this.#publishers.use(exchange, (publisher) => publisher.send(publication));
    } catch (error) {
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('cascade.')) throw error;
      throw apiError(
        'cascade.source.publish.failed',
        this.#context.source,
        error instanceof Error ? error.message : String(error),
        null,
        null,
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#polling?.close();
    for (const tag of this.#tags) await this.#consumer?.cancel(tag).catch(() => undefined); // the connection closes anyway
    await this.#intake.drained();
    await this.#consumer?.close().catch(() => undefined); // the end of the connection would overtake the last acknowledgements
    await this.#model.close().catch(() => undefined);
  }
}

/** A channel with publisher confirms, for one exchange. Publishing to an unknown exchange closes it; the next publish opens a new one. */
class Publisher implements Link {
  readonly #channel: ConfirmChannel;
  readonly #source: string;
  readonly #withinMs: number;
  /** Message ids of publishes that the broker returned as unroutable. */
  readonly #returned = new Set<string>();
  #closed: Error | null = null;
  readonly #failing = new Set<(error: Error) => void>();

  static async open(model: Model, source: string, closed: () => void, withinMs: number): Promise<Publisher> {
    return new Publisher(await model.createConfirmChannel(), source, closed, withinMs);
  }

  private constructor(channel: ConfirmChannel, source: string, closed: () => void, withinMs: number) {
    this.#channel = channel;
    this.#withinMs = withinMs;
    this.#source = source;
    channel.on('return', ({ properties }: { properties: { messageId?: string } }) => this.#returned.add(String(properties.messageId)));
    channel.on('error', (error: Error) => (this.#closed = error));
    channel.on('close', () => {
      closed();
      const error = this.#closed ?? new Error('the connection was closed');
      for (const fail of [...this.#failing]) fail(error);
    });
  }

  close(): void {
    this.#channel.close().catch(() => undefined); // the broker may have closed it meanwhile
  }

  async send({ address, body, ...publication }: Publication): Promise<void> {
    const [exchange, key] = exchangeAndKey(address);
    const messageId = randomUUID();
    const rejected = () => apiError('cascade.amqp.publish.rejected', this.#source, address);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (error: Error): void => reject((error as { code?: unknown }).code === NOT_FOUND ? rejected() : error);
    try {
      this.#failing.add(fail);
      // It throws for headers that it cannot encode, and on a connection that is closing.
      this.#channel.publish(exchange, key, body, optionsOf(publication, messageId), (error: unknown) => {
        if (this.#returned.delete(messageId) || error) fail(rejected());
        else resolve();
      });
      await confirmed(promise, this.#withinMs);
    } finally {
      this.#failing.delete(fail);
    }
  }
}

/** Instants as text: those of 0-9-1 are whole seconds. */
const LIBRARY = {
  long: (value: bigint) => ({ '!': 'long', value }),
  instant: (ms: number) => new Date(ms).toISOString(),
};

function optionsOf(publication: Omit<Publication, 'address' | 'body'>, messageId: string): Options.Publish {
  const { contentType, properties, durable, ttl, correlationId, replyTo, subject } = publication;
  return {
    messageId,
    contentType,
    headers: sentProperties(properties, LIBRARY),
    persistent: durable,
    mandatory: true,
    ...(ttl !== null && { expiration: ttl }),
    ...(correlationId !== null && { correlationId }),
    ...(replyTo !== null && { replyTo }),
    ...(subject !== null && { type: subject }),
  };
}

/** The mechanism must be named before the broker has listed the ones that it supports: the first is taken. */
function saslOf(config: ObjectValue): { mechanism: string; response: () => Buffer } {
  const [first] = mechanismsOf(config);
  if (first === 'PLAIN') return credentials.plain(...credentialsOf(config));
  return first === 'EXTERNAL' ? credentials.external() : { mechanism: 'ANONYMOUS', response: () => Buffer.alloc(0) };
}

/** @throws ConnectionFailure */
async function modelOn(context: SourceContext, address: BrokerAddress): Promise<Model> {
  const socket = await socketTo(context, address);
  const { mechanism, response } = saslOf(context.config);
  const wire = new Wire(socket);
  await new Promise<void>((resolve, reject) => {
    const abandoned = (): void => reject(new ConnectionFailure('it is not wanted any more'));
    context.signal.addEventListener('abort', abandoned, { once: true });
    const fields = {
      clientProperties: {
        product: 'Cascade',
        capabilities: { publisher_confirms: true, 'basic.nack': true, consumer_cancel_notify: true, authentication_failure_close: true },
      },
      mechanism,
      response: response(),
      locale: 'en_US',
      channelMax: 0,
      frameMax: FRAME_BYTES,
      heartbeat: HEARTBEAT_SECONDS,
      virtualHost: address.virtualHost,
      capabilities: '',
      insist: 0,
    };
    wire.open(fields, (error) => {
      context.signal.removeEventListener('abort', abandoned);
      if (!error) return resolve();
      reject(new ConnectionFailure(error.message, { isAuthentication: /ACCESS[_-]REFUSED|403|authentication/i.test(error.message) }));
    });
  }).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
  return new ChannelModel(wire);
}

const unknownAddress = (topic: string): ConnectionFailure =>
  new ConnectionFailure(`${topic} does not exist`, { code: 'cascade.amqp.address.unknown' });
