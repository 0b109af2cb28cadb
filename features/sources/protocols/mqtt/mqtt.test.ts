// MQTT connections against a broker in this process (aedes). The nightly run tests real brokers that are killed and restarted.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Aedes } from 'aedes';
import mqtt, { type MqttClient } from 'mqtt';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { contextOf, NOBODY } from '../testing/context.ts';
import type { Outcome } from '../protocol.ts';
import { openMqtt } from './connection.ts';

let aedes: Aedes;
let server: Server;
let uri: string;
let other: MqttClient;
const sockets = new Set<Socket>();
const received: { topic: string; text: string; retain: boolean; qos: number }[] = [];

beforeEach(async () => {
  aedes = await Aedes.createBroker();
  server = createServer((socket) => {
    sockets.add(socket);
    aedes.handle(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  uri = `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`;
  other = await mqtt.connectAsync(uri);
  received.length = 0;
  other.on('message', (topic, payload, { retain, qos }) => received.push({ topic, text: payload.toString(), retain, qos }));
});
afterEach(async () => {
  other.end(true);
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server.close();
  aedes.close();
});

test('a message is delivered with its topic and properties, and acknowledged only when it is stored', async () => {
  const stored = Promise.withResolvers<Outcome>();
  const context = contextOf({ serverURI: uri, topics: ['mill/+/speed'] }, { take: () => stored.promise });
  const source = await openMqtt(context);
  let isAcknowledged = false;
  [...sockets].at(-1)?.on('data', (bytes: Buffer) => (isAcknowledged ||= (bytes[0] as number) >> 4 === 4)); // PUBACK
  await other.publishAsync('mill/3/speed', '{"rpm":900}', { qos: 1 });
  await expect.poll(() => context.delivered).toHaveLength(1);
  expect(context.delivered[0]).toMatchObject({
    topic: 'mill/3/speed',
    contentType: 'application/json',
    properties: { qos: 1, dup: false },
  });
  expect(isAcknowledged).toBe(false);
  stored.resolve('stored');
  await expect.poll(() => isAcknowledged).toBe(true);
  await source.close();
  expect(context.losses).toEqual([]);
});

// spec: integrations.md 3.2
test.each([false, true])(
  'a message that could not be taken is tried again, reliable %s, as brokers bring it on new connections only',
  async (isReliable) => {
    let tries = 0;
    const take = async (): Promise<Outcome> => {
      if (tries++ === 0) throw new Error('nobody may take it now');
      return 'stored';
    };
    const context = contextOf({ serverURI: uri, topics: ['a'] }, { take, isReliable });
    const source = await openMqtt(context);
    let isAcknowledged = false;
    aedes.once('ack', () => (isAcknowledged = true));
    await other.publishAsync('a', '1', { qos: 1 });
    await expect.poll(() => isAcknowledged).toBe(true);
    expect(context.delivered).toHaveLength(2);
    await source.close();
  },
);

test('a broker whose answer to a ping is not read, or comes behind a flood, is not taken for dead', async () => {
  const full = Promise.withResolvers<void>();
  const context = contextOf({ serverURI: uri, topics: ['a'], keepAliveInterval: 1 }, { room: () => full.promise });
  const source = await openMqtt(context);
  for (const n of [1, 2]) await other.publishAsync('a', String(n), { qos: 1 });
  await sleep(3_500); // two keep-alive times and a half, in which nothing is read
  expect(context.losses).toEqual([]);
  full.resolve();
  await expect.poll(() => context.delivered).toHaveLength(2);
  await source.close();
  expect(context.losses).toEqual([]);
});

test('a broker that says nothing any more is taken for dead', async () => {
  const context = contextOf({ serverURI: uri, topics: ['a'], keepAliveInterval: 1 });
  const source = await openMqtt(context);
  const ours = [...sockets].at(-1) as Socket;
  // It does not even close the connection, as this broker would half a keep-alive time later.
  const { destroy } = ours;
  ours.destroy = () => ours;
  ours.removeAllListeners('readable').pause();
  await expect.poll(() => context.losses, { timeout: 20_000 }).toHaveLength(1);
  expect(String(context.losses[0])).toContain('Keepalive timeout');
  ours.destroy = destroy;
  ours.destroy();
  await source.close();
});

test('an unacknowledged message is delivered again to a kept session', async () => {
  const config = { serverURIs: [uri], topics: ['a/#'], clientId: 'one', cleanSession: false };
  const never = contextOf(config, { take: () => new Promise(() => undefined) });
  await openMqtt(never);
  for (const n of [1, 2, 3]) await other.publishAsync('a/b', String(n), { qos: 1 });
  await expect.poll(() => never.delivered).toHaveLength(3);
  for (const socket of sockets) if (socket !== [...sockets][0]) socket.destroy();
  await expect.poll(() => never.losses).toHaveLength(1);
  const again = contextOf(config);
  const source = await openMqtt(again);
  await expect.poll(() => again.delivered).toHaveLength(3);
  expect(again.delivered.map((one) => ('payload' in one ? Buffer.from(one.payload).toString() : ''))).toEqual(['1', '2', '3']);
  await source.close();
});

test('a publish has level, retain flag and content type, and resolves when the broker accepted it', async () => {
  await other.subscribeAsync('mill/#', { qos: 2 });
  const source = await openMqtt(contextOf({ serverURI: uri }));
  await source.publish!({ topic: 'mill/1', message: { rpm: 900 } }, NOBODY);
  await source.publish!({ topic: 'mill/2', message: 'plain', contentType: 'text/plain', qos: 'AT_LEAST_ONCE', retain: true }, NOBODY);
  await source.publish!({ topic: 'mill/3', message: null, qos: 2 }, NOBODY);
  await expect.poll(() => received).toHaveLength(3);
  expect(received).toEqual([
    { topic: 'mill/1', text: '{"rpm":900}', retain: false, qos: 0 },
    { topic: 'mill/2', text: 'plain', retain: false, qos: 1 },
    { topic: 'mill/3', text: '', retain: false, qos: 2 },
  ]);
  await source.close();
});

test.each([
  [{ message: 1 }, 'cascade.mqtt.topic.missing'],
  [{ topic: 'a/+', message: 1 }, 'cascade.mqtt.topic.invalid'],
  [{ topic: 'a/#', message: 1 }, 'cascade.mqtt.topic.invalid'],
  [{ topic: '', message: 1 }, 'cascade.mqtt.topic.invalid'],
  [{ topic: 'a' }, 'cascade.mqtt.message.missing'],
  [{ topic: 'a', message: { a: 1 }, contentType: 'text/csv' }, 'cascade.request.body.invalid'],
  [{ topic: 'a', message: { a: 1 }, contentType: 'image/png' }, 'cascade.request.body.invalid'],
  [{ topic: 'a', message: 1, qos: 'SOMETIMES' }, 'cascade.mqtt.qos.invalid'],
  [{ topic: 'a', message: 1, qos: 3 }, 'cascade.mqtt.qos.invalid'],
])('the publish %j is refused with %s', async (request, code) => {
  const source = await openMqtt(contextOf({ serverURI: uri }));
  await expect(source.publish!(request, NOBODY)).rejects.toMatchObject({ code, status: 400 });
  await source.close();
});

test('the first address that answers is used; a lost connection is reported, and fails publishes without an acknowledgement', async () => {
  const context = contextOf({ serverURIs: ['mqtt://127.0.0.1:1', uri] });
  const source = await openMqtt(context);
  aedes.authorizePublish = () => undefined; // the broker never answers
  const publishing = source.publish!({ topic: 'a', message: 1, qos: 1 }, NOBODY);
  publishing.catch(() => undefined);
  for (const socket of sockets) socket.destroy();
  await expect(publishing).rejects.toMatchObject({ code: 'cascade.source.publish.failed', status: 500 });
  await expect.poll(() => context.losses).toHaveLength(1);
});

test('refused credentials are an authentication failure', async () => {
  aedes.authenticate = (_client, _username, _password, done) => done(Object.assign(new Error('no'), { returnCode: 5 }), false);
  await expect(openMqtt(contextOf({ serverURI: uri, username: 'ann', password: 'wrong' }))).rejects.toMatchObject({
    isAuthentication: true,
  });
});

test('a connection that only publishes does not subscribe, and has another client id', async () => {
  const config = { serverURI: uri, topics: ['a'], clientId: 'same', cleanSession: false };
  const consumer = contextOf(config);
  const beside = contextOf(config, { consumes: false });
  const [first, second] = [await openMqtt(consumer), await openMqtt(beside)];
  await other.publishAsync('a', '1', { qos: 1 });
  await expect.poll(() => consumer.delivered).toHaveLength(1);
  await second.publish!({ topic: 'a', message: 2, qos: 1 }, NOBODY);
  await expect.poll(() => consumer.delivered).toHaveLength(2);
  expect([beside.delivered.length, consumer.losses, beside.losses]).toEqual([0, [], []]);
  await first.close();
  await second.close();
});
