// Both versions of AMQP against a real RabbitMQ.
import amqp, { type Channel, type ChannelModel } from 'amqplib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DateTime, Decimal, Real } from '../../../../stdlib/values/index.ts';
import type { Outcome, SourceContext } from '../protocol.ts';
import { type Broker, startRabbit } from '../../../../scripts/brokers/index.ts';
import { contextOf, NOBODY, type TestContext } from '../testing/context.ts';
import { openAmqp091 } from './amqp-0-9-1.ts';
import { openAmqp10 } from './amqp-1-0.ts';

let rabbit: Broker;
let uri: string;
let other: ChannelModel;
let channel: Channel;

beforeAll(async () => {
  const started = await startRabbit();
  if (!started) throw new Error('this needs rabbitmq-server (apt-get install rabbitmq-server)');
  rabbit = started;
  uri = `amqp://127.0.0.1:${rabbit.port}`;
  await reconnect();
  await channel.assertExchange('plant', 'topic', { durable: true });
});
afterAll(async () => {
  await other?.close().catch(() => undefined);
  await rabbit?.[Symbol.asyncDispose]();
});

async function reconnect(): Promise<void> {
  await vi.waitFor(async () => (other = await amqp.connect(uri)), 60_000); // the port answers before the broker is ready
  other.on('error', () => undefined);
  channel = await other.createChannel();
}

let queues = 0;
async function newQueue(): Promise<string> {
  const { queue } = await channel.assertQueue(`q${queues++}`, { durable: true });
  return queue;
}

const GUEST = { username: 'guest', password: 'guest' };
const versions = [
  ['0-9-1', openAmqp091, (queue: string) => queue],
  ['1.0', openAmqp10, (queue: string) => `/amq/queue/${queue}`],
] as const;
const configOf = (protocol: string, topics: string[], more = {}) => ({ serverURIs: uri, protocol, topics, ...GUEST, ...more });
const textsOf = ({ delivered }: TestContext): string[] =>
  delivered.map((one) => ('payload' in one ? Buffer.from(one.payload).toString() : JSON.stringify(one.value)));

// spec: integrations.md 4.1/1-4 4.1/6-7 4.1/9
test.each(versions)('%s: a message is sent and received with its properties; then the queue is empty', async (protocol, open, at) => {
  const queue = await newQueue();
  const context = contextOf(configOf(protocol, [at(queue)]));
  const source = await open(context);
  await source.publish!({ topic: at(queue), message: { n: 1 }, properties: { k: 'v' }, correlationId: 'c', subject: 's' }, NOBODY);
  await expect.poll(() => textsOf(context)).toEqual(['{"n":1}']);
  expect(context.delivered[0]).toMatchObject({
    topic: at(queue),
    contentType: 'application/json',
    properties: { k: 'v', correlationId: 'c', subject: 's', messageId: expect.any(String) },
  });
  await source.close();
  expect((await channel.checkQueue(queue)).messageCount).toBe(0);
  expect(context.losses).toEqual([]);
});

test.each(versions)('%s: an unsettled message is delivered again after the broker was killed', async (protocol, open, at) => {
  const queue = await newQueue();
  const never = contextOf(configOf(protocol, [at(queue)], { prefetch: 2 }), { take: () => new Promise(() => undefined) });
  await open(never);
  for (const n of [1, 2, 3]) channel.sendToQueue(queue, Buffer.from(String(n)), { persistent: true });
  await expect.poll(() => textsOf(never)).toEqual(['1', '2']); // no more than the prefetch
  await new Promise((resolve) => setTimeout(resolve, 4_000)); // RabbitMQ persists the state of queues every two seconds
  await rabbit.kill();
  await expect.poll(() => never.losses.length).toBeGreaterThan(0);
  await rabbit.restart();
  await reconnect();
  const again = contextOf(configOf(protocol, [at(queue)]));
  const source = await vi.waitFor(() => open(again), 60_000);
  await expect.poll(() => textsOf(again).sort()).toEqual(['1', '2', '3']);
  await source.close();
});

test.each(versions)('%s: malformed messages are rejected, those of a failed pipeline are requeued', async (protocol, open, at) => {
  const queue = await newQueue();
  let tries = 0;
  const take: SourceContext['deliver'] = async (message): Promise<Outcome> => {
    if ('payload' in message && Buffer.from(message.payload).toString() === 'bad') return 'refused';
    if (tries++ === 0) throw new Error('the pipeline failed');
    return 'stored';
  };
  const context = contextOf(configOf(protocol, [at(queue)]), { take, isReliable: true });
  const source = await open(context);
  for (const text of ['bad', '1']) channel.sendToQueue(queue, Buffer.from(text));
  await expect.poll(() => textsOf(context)).toEqual(['bad', '1', '1']);
  await source.close();
  expect((await channel.checkQueue(queue)).messageCount).toBe(0);
});

test.each(versions)('%s: an unknown address, wrong credentials and a publish without a topic are refused', async (protocol, open, at) => {
  await expect(open(contextOf(configOf(protocol, [at('missing')])))).rejects.toMatchObject({ code: 'cascade.amqp.address.unknown' });
  await expect(open(contextOf(configOf(protocol, [], { password: 'wrong' })))).rejects.toMatchObject({ isAuthentication: true });
  const source = await open(contextOf(configOf(protocol, [])));
  await expect(source.publish!({ message: 1 }, NOBODY)).rejects.toMatchObject({ code: 'cascade.amqp.topic.missing', status: 400 });
  await source.close();
});

// spec: integrations.md 1.2
test.each(versions)(
  '%s: a source that is closed and opened while messages come stores each once',
  async (protocol, open, at) => {
    const queue = await newQueue();
    const config = configOf(protocol, [at(queue)]);
    const take = async (): Promise<Outcome> => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return 'stored';
    };
    const sent = Array.from({ length: 900 }, (_, n) => String(n));
    const contexts: TestContext[] = [];
    for (let from = 0; from < sent.length; from += 300) {
      const context = contextOf(config, { take });
      contexts.push(context);
      const source = await open(context);
      for (const text of sent.slice(from, from + 300)) channel.sendToQueue(queue, Buffer.from(text));
      await expect.poll(() => context.delivered.length, { interval: 1 }).toBeGreaterThan(20);
      await source.close();
    }
    const last = contextOf(config);
    const source = await open(last);
    const stored = (): string[] => [...contexts, last].flatMap(textsOf);
    await expect.poll(() => new Set(stored()).size).toBe(sent.length);
    await source.close();
    expect(stored()).toHaveLength(sent.length);
  },
  30_000,
);

// spec: integrations.md 4.3
test.each(versions)('%s: properties may be of any kind', async (protocol, open, at) => {
  const queue = await newQueue();
  const context = contextOf(configOf(protocol, [at(queue)]));
  const source = await open(context);
  const sent = { long: 2n ** 53n, at: new DateTime(5), price: new Decimal(120n, 2), real: new Real(2), list: [1, 'x'], in: { b: true } };
  await source.publish!({ topic: at(queue), message: 1, properties: sent }, NOBODY);
  await expect.poll(() => context.delivered).toHaveLength(1);
  const { properties } = context.delivered[0]!;
  expect(properties).toMatchObject({ price: '1.20', real: 2, list: [1, 'x'], in: { b: true } });
  expect(properties).toMatchObject(
    protocol === '1.0' ? { at: new DateTime(5), long: 2n ** 53n } : { at: '1970-01-01T00:00:00.005Z', long: 2 ** 53 },
  );
  await source.close();
});

test('1.0: after the broker has ended the connection a source closes at once', async () => {
  const context = contextOf(configOf('1.0', []));
  const source = await openAmqp10(context);
  const queue = await newQueue();
  await channel.assertQueue(`${queue}full`, { arguments: { 'x-max-length': 0, 'x-overflow': 'reject-publish' } });
  // RabbitMQ 3.10 ends the connection instead of the delivery
  await expect(source.publish!({ topic: `/amq/queue/${queue}full`, message: 1 }, NOBODY)).rejects.toMatchObject({ status: 500 });
  await vi.waitFor(() => expect(context.losses).not.toEqual([]), 10_000);
  const before = performance.now();
  await source.close();
  expect(performance.now() - before).toBeLessThan(5_000);
});

// spec: integrations.md 4.1/8
test.each(versions)('%s: a polling source empties its queue at each interval', async (protocol, open, at) => {
  const queue = await newQueue();
  for (const n of [1, 2, 3]) channel.sendToQueue(queue, Buffer.from(String(n)));
  const context = contextOf(configOf(protocol, [at(queue)], { pollingInterval: 1 }));
  const source = await open(context);
  await expect.poll(() => textsOf(context)).toEqual(['1', '2', '3']);
  channel.sendToQueue(queue, Buffer.from('4'));
  await expect.poll(() => textsOf(context)).toEqual(['1', '2', '3', '4']);
  await source.close();
});

// spec: integrations.md 4.1/3
test('0-9-1: `exchange/key` gets a private queue; an unroutable publish fails, and the next one succeeds', async () => {
  const context = contextOf(configOf('0-9-1', ['plant/mill.*']));
  const source = await openAmqp091(context);
  const queue = await newQueue();
  await source.publish!({ topic: 'plant/mill.3', message: 1 }, NOBODY);
  await expect.poll(() => context.delivered).toHaveLength(1);
  expect(context.delivered[0]).toMatchObject({
    topic: 'plant/mill.*',
    properties: { annotations: { exchange: 'plant', routingKey: 'mill.3' } },
  });
  for (const topic of ['nowhere', 'none/key'])
    await expect(source.publish!({ topic, message: 1 }, NOBODY)).rejects.toMatchObject({
      code: 'cascade.amqp.publish.rejected',
      status: 500,
    });
  await source.publish!({ topic: queue, message: 2 }, NOBODY);
  expect((await channel.checkQueue(queue)).messageCount).toBe(1);
  await source.close();
  expect(context.losses).toEqual([]);
});

test('1.0: an unknown target fails that publish alone', async () => {
  const queue = await newQueue();
  const context = contextOf(configOf('1.0', [`/amq/queue/${queue}`]));
  const source = await openAmqp10(context);
  await expect(source.publish!({ topic: '/exchange/none/key', message: 1 }, NOBODY)).rejects.toMatchObject({
    code: 'cascade.source.publish.failed',
    status: 500,
  });
  await source.publish!({ topic: `/amq/queue/${queue}`, message: 2 }, NOBODY);
  await expect.poll(() => textsOf(context)).toEqual(['2']);
  expect(context.losses).toEqual([]);
  await source.close();
});
