// MQTT against a real mosquitto that is killed and restarted.
import mqtt from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Broker, startMosquitto } from '../../../../scripts/brokers/index.ts';
import { contextOf, NOBODY, type TestContext } from '../testing/context.ts';
import { openMqtt } from './connection.ts';

let broker: Broker;
let uri: string;

beforeAll(async () => {
  const started = await startMosquitto();
  if (!started) throw new Error('this needs mosquitto (apt-get install mosquitto)');
  broker = started;
  uri = `mqtt://127.0.0.1:${broker.port}`;
});
afterAll(() => broker?.[Symbol.asyncDispose]());

const textsOf = ({ delivered }: TestContext): string[] =>
  delivered.map((one) => ('payload' in one ? Buffer.from(one.payload).toString() : ''));

test.each([
  [4, 1],
  [4, 2],
  [5, 1],
  [5, 2],
])('version %i, level %i: messages are delivered in order, and again while unacknowledged', async (protocolVersion, qos) => {
  const topic = `t/${protocolVersion}/${qos}`;
  const config = { serverURI: uri, topics: [topic], clientId: `c${protocolVersion}${qos}`, cleanSession: false, protocolVersion, qos };
  const never = contextOf(config, { take: () => new Promise(() => undefined) });
  await openMqtt(never);
  const client = await mqtt.connectAsync(uri);
  const sent = Array.from({ length: 10 }, (_, n) => String(n));
  for (const text of sent) await client.publishAsync(topic, text, { qos: qos as 1 | 2 });
  await expect.poll(() => textsOf(never)).toEqual(sent);
  await client.endAsync(true);
  broker.process.kill('SIGUSR1'); // it persists its state now, and otherwise only from time to time
  await new Promise((resolve) => setTimeout(resolve, 500));
  await broker.kill();
  await expect.poll(() => never.losses.length).toBeGreaterThan(0);
  await broker.restart();
  const again = contextOf(config);
  const source = await openMqtt(again);
  await expect.poll(() => [...new Set(textsOf(again))]).toEqual(sent);
  await source.close();
});

// spec: integrations.md 1.2
test.each([1, 2])('level %i: a source with a kept session that is closed and opened while messages come stores each once', async (qos) => {
  const topic = `again/${qos}`;
  const config = { serverURI: uri, topics: [topic], clientId: `again${qos}`, cleanSession: false, qos };
  const take = async (): Promise<'stored'> => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return 'stored';
  };
  const client = await mqtt.connectAsync(uri);
  const sent = Array.from({ length: 900 }, (_, n) => String(n));
  const contexts: TestContext[] = [];
  const sending: Promise<unknown>[] = [];
  // A few at a time: of more than its window at level 2 mosquitto itself loses some, for all who listen.
  const sendAll = async (texts: readonly string[]): Promise<void> => {
    for (let at = 0; at < texts.length; at += 5)
      await Promise.all(texts.slice(at, at + 5).map((text) => client.publishAsync(topic, text, { qos: qos as 1 | 2 })));
  };
  for (let from = 0; from < sent.length; from += 300) {
    const context = contextOf(config, { take });
    contexts.push(context);
    const source = await openMqtt(context);
    sending.push(sendAll(sent.slice(from, from + 300)));
    await expect.poll(() => context.delivered.length, { interval: 1 }).toBeGreaterThan(20);
    await source.close();
  }
  await Promise.all(sending);
  const last = contextOf(config);
  const source = await openMqtt(last);
  const stored = (): string[] => [...contexts, last].flatMap(textsOf);
  await expect.poll(() => new Set(stored()).size, { timeout: 5_000 }).toBe(sent.length);
  await source.close();
  await client.endAsync();
  expect(stored()).toHaveLength(sent.length);
});

test('the will is published when the connection ends without DISCONNECT; a retained message is marked', async () => {
  const will = { topic: 'last/words', message: { gone: true }, qos: 1, retain: true };
  const dying = contextOf({ serverURI: uri, will });
  await openMqtt(dying);
  const reader = contextOf({ serverURI: uri, topics: ['last/#'] });
  const source = await openMqtt(reader);
  await broker.kill();
  await expect.poll(() => reader.losses.length).toBeGreaterThan(0);
  await source.close();
  await broker.restart();
  const publisher = await openMqtt(contextOf({ serverURI: uri }));
  await publisher.publish!({ topic: 'last/words', message: 'kept', retain: true, qos: 1 }, NOBODY);
  const late = contextOf({ serverURI: uri, topics: ['last/#'], contentType: 'text/plain' });
  const reading = await openMqtt(late);
  await expect.poll(() => late.delivered[0]).toMatchObject({ topic: 'last/words', properties: { retain: true } });
  await reading.close();
  await publisher.close();
});

// spec: integrations.md 3.1/12 3.3/5-6
test('version 5 carries user properties, a response topic and a content type of the message', async () => {
  const context = contextOf({ serverURI: uri, topics: ['five'], protocolVersion: 5 });
  const source = await openMqtt(context);
  await source.publish!({ topic: 'five', message: 'plain', contentType: 'text/plain', userProperties: { line: '3' }, qos: 1 }, NOBODY);
  await expect.poll(() => context.delivered).toHaveLength(1);
  expect(context.delivered[0]).toMatchObject({
    contentType: 'text/plain',
    properties: { userProperties: { line: '3' }, contentType: 'text/plain' },
  });
  await source.close();
});

// spec: integrations.md 3.1/13
test('of two sources with a shared subscription one gets each message', async () => {
  const config = { serverURI: uri, topics: ['work'], protocolVersion: 5, shared: true };
  const both = [contextOf(config), contextOf(config)];
  const sources = await Promise.all(both.map((context) => openMqtt(context)));
  const client = await mqtt.connectAsync(uri);
  for (let n = 0; n < 20; n++) await client.publishAsync('work', String(n), { qos: 1 });
  await expect.poll(() => both.flatMap(textsOf)).toHaveLength(20);
  expect(new Set(both.flatMap(textsOf)).size).toBe(20);
  await client.endAsync();
  for (const source of sources) await source.close();
});
