// The brokers of the test: how each is started, what a source on it is, and who publishes. A publisher never sends a message twice: what it was not told of
// may have come or not.
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type amqplib from 'amqplib';
import mqtt from 'mqtt';
import { type Broker, startMosquitto, startNats, startRabbit } from '../brokers/index.ts';
import { natsConnection } from '../../features/sources/index.ts';

export interface Publisher {
  /** Resolves when the broker has taken it for good. */
  publish(n: number): Promise<void>;
  close(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  readonly start: () => Promise<Broker | null>;
  readonly type: string;
  config(port: number): Record<string, unknown>;
  /** What must be there before the source is. */
  prepare(port: number): Promise<void>;
  connect(port: number): Promise<Publisher>;
  /** Rules see of a message whether the broker has brought it before. */
  readonly marksRepeats: boolean;
  /** Before the broker is killed: what it has taken is on disk then. */
  persist(broker: Broker): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;
const body = (n: number): string => JSON.stringify({ n });

const MQTT: Peer = {
  name: 'mqtt',
  marksRepeats: true,
  start: startMosquitto,
  type: 'MQTT',
  config: (port) => ({ serverURI: `mqtt://127.0.0.1:${port}`, topics: ['chaos'], clientId: 'chaos', cleanSession: false }),
  prepare: nothing,
  async connect(port) {
    const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 0, connectTimeout: 2_000 });
    client.on('error', () => undefined); // it closes, too
    const gone = new Promise<never>((_resolve, reject) => client.once('close', () => reject(new Error('the connection is gone'))));
    gone.catch(() => undefined);
    await Promise.race([gone, new Promise((resolve) => client.once('connect', resolve))]);
    return {
      publish: async (n) => void (await Promise.race([client.publishAsync('chaos', body(n), { qos: 1 }), gone])),
      close: async () => void client.end(true),
    };
  },
  /** It writes its store now and then, and when it is asked to. */
  async persist(broker) {
    broker.process.kill('SIGUSR1');
    await sleep(1_000);
  },
};

const QUEUE = 'chaos';

async function rabbit(port: number): Promise<amqplib.ChannelModel> {
  const { connect } = createRequire(import.meta.url)('amqplib') as typeof amqplib;
  const model = await connect(`amqp://guest:guest@127.0.0.1:${port}`, { timeout: 5_000 });
  model.on('error', () => undefined);
  return model;
}

const amqp = (protocol: '0-9-1' | '1.0'): Peer => ({
  name: `amqp-${protocol}`,
  // The header of 1.0 that tells it is no part of what a source gives.
  marksRepeats: protocol === '0-9-1',
  start: startRabbit,
  type: 'AMQP',
  config: (port) => ({
    serverURIs: `amqp://127.0.0.1:${port}`,
    protocol,
    topics: [protocol === '1.0' ? `/amq/queue/${QUEUE}` : QUEUE],
    username: 'guest',
    password: 'guest',
  }),
  async prepare(port) {
    const model = await rabbit(port);
    await (await model.createChannel()).assertQueue(QUEUE, { durable: true });
    await model.close();
  },
  async connect(port) {
    const model = await rabbit(port);
    const channel = await model.createConfirmChannel();
    channel.on('error', () => undefined);
    const gone = new Promise<never>((_resolve, reject) => model.once('close', () => reject(new Error('the connection is gone'))));
    gone.catch(() => undefined);
    return {
      publish: (n) =>
        Promise.race([
          gone,
          new Promise<void>((resolve, reject) => {
            const confirmed = (error: unknown): void => (error ? reject(new Error('it was not confirmed')) : resolve());
            channel.sendToQueue(QUEUE, Buffer.from(body(n)), { persistent: true }, confirmed);
          }),
        ]),
      close: () => model.close().catch(() => undefined),
    };
  },
  persist: nothing,
});

const STREAM = 'CHAOS';

async function socketTo(port: number): Promise<Socket> {
  const socket = connectTcp(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const NATS: Peer = {
  name: 'nats',
  marksRepeats: true,
  start: startNats,
  type: 'NATS',
  config: (port) => ({ serverURIs: `nats://127.0.0.1:${port}`, stream: STREAM, ackWait: 5 }),
  async prepare(port) {
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const wire = await natsConnection(() => socketTo(port));
    await (await jetstreamManager(wire)).streams.add({ name: STREAM, subjects: ['chaos'] });
    await wire.close();
  },
  async connect(port) {
    const { jetstream } = await import('@nats-io/jetstream');
    const wire = await natsConnection(() => socketTo(port));
    const stream = jetstream(wire);
    return {
      publish: async (n) => void (await stream.publish('chaos', body(n), { msgID: String(n), retries: 1 })),
      close: () => wire.close(),
    };
  },
  persist: nothing,
};

export const PEERS: readonly Peer[] = [MQTT, amqp('0-9-1'), amqp('1.0'), NATS];
