// Reads a JetStream stream by a durable consumer: a message is acknowledged when its event is stored, and its sequence number is its
// deduplication key.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  type Consumer,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/nats-core/internal';
import { DateTime, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';
import { Intake } from '../intake.ts';
import { ConnectionFailure, type Inbound, type SourceContext } from '../protocol.ts';

const FETCH_WAITS_MS = 5_000;
const DEFAULT_PREFETCH = 100;
const DEFAULT_ACK_WAIT_S = 30;
const PAUSE_MS = 1_000;
/** Error code for a missing consumer or stream. */
const NOT_FOUND = 404;

export type InboundOf = (message: JsMsg) => Inbound;

export class StreamReader {
  readonly #context: SourceContext;
  readonly #consumer: Consumer;
  readonly #stream: string;
  /** Time of the stream's creation: a new stream of the same name has sequence numbers of its own. */
  readonly #made: string;
  readonly #inbound: InboundOf;
  readonly #intake: Intake;
  readonly #lost: (why: string) => void;
  #isClosing = false;
  #stopFetch: (() => void) | null = null;
  #reading: Promise<void> = Promise.resolve();

  /** @throws ConnectionFailure: the stream does not exist */
  static async open(
    context: SourceContext,
    wire: NatsConnection,
    stream: string,
    subject: string | null,
    inbound: InboundOf,
    lost: (why: string) => void,
  ): Promise<StreamReader> {
    try {
      const manager = await jetstreamManager(wire);
      const { created } = await manager.streams.info(stream);
      const name = await consumerOf(context, manager, stream, subject);
      const reader = new StreamReader(context, await jetstream(wire).consumers.get(stream, name), stream, created, inbound, lost);
      reader.#reading = reader.#read();
      return reader;
    } catch (error) {
      throw new ConnectionFailure(`stream ${stream}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private constructor(
    context: SourceContext,
    consumer: Consumer,
    stream: string,
    made: string,
    inbound: InboundOf,
    lost: (why: string) => void,
  ) {
    this.#context = context;
    this.#consumer = consumer;
    this.#stream = stream;
    this.#made = made;
    this.#inbound = inbound;
    this.#lost = lost;
    this.#intake = new Intake(context);
  }

  /** Requests no more messages than there is room for: the stream keeps the rest. */
  async #read(): Promise<void> {
    const most = Number(own(this.#context.config, 'prefetch') ?? DEFAULT_PREFETCH);
    while (!this.#isClosing)
      try {
        await this.#context.room();
        if (this.#isClosing) return;
        const messages = await this.#consumer.fetch({ max_messages: most, expires: FETCH_WAITS_MS });
        this.#stopFetch = () => messages.stop();
        for await (const message of messages) void this.#take(message);
      } catch (error) {
        if (this.#isClosing) return;
        if (error instanceof JetStreamApiError && error.status === NOT_FOUND) return this.#lost(`stream ${this.#stream}: ${error.message}`);
        await sleep(PAUSE_MS); // the loss of the connection is reported elsewhere
      }
  }

  #take(message: JsMsg): Promise<void> {
    return this.#intake.take(() => this.#readFrom(message), {
      accept: () => message.ack(),
      reject: () => message.term(),
      requeue: () => message.nak(),
    });
  }

  #readFrom(message: JsMsg): Inbound {
    const { seq, redelivered } = message;
    const inbound = this.#inbound(message);
    const at = new DateTime(Math.floor(message.info.timestampNanos / 1_000_000));
    const properties: ObjectValue = { ...inbound.properties, stream: this.#stream, sequence: seq, redelivered, timestamp: at };
    delete properties['replyTo']; // the subject for acknowledgements
    return { ...inbound, properties, onceKey: `${this.#made} ${seq}` };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopFetch?.();
    await this.#intake.drained();
    await this.#reading;
  }
}

/** Creates the durable consumer, or updates it to the config. @returns its name */
async function consumerOf(
  { config, namespace, source }: SourceContext,
  manager: JetStreamManager,
  stream: string,
  subject: string | null,
): Promise<string> {
  const named = own(config, 'consumer');
  const name = named === null ? `cascade-${namespace}-${source}`.replaceAll('.', '-') : String(named);
  const changeable = {
    ack_wait: nanos(Number(own(config, 'ackWait') ?? DEFAULT_ACK_WAIT_S) * 1_000),
    ...(subject !== null && { filter_subject: subject }),
  };
  const isThere = await manager.consumers.info(stream, name).then(
    () => true,
    (error: unknown) => {
      if (error instanceof JetStreamApiError && error.status === NOT_FOUND) return false;
      throw error;
    },
  );
  if (isThere) await manager.consumers.update(stream, name, changeable);
  else
    await manager.consumers.add(stream, {
      ...changeable,
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: own(config, 'deliver') === 'new' ? DeliverPolicy.New : DeliverPolicy.All,
      max_ack_pending: -1,
    });
  return name;
}
