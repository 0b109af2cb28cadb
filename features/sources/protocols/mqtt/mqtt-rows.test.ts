// The specification's tables of MQTT sources, one row per test, against a broker in this process (integrations.md 3.1, 3.3).
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { newAuthority } from '../../testing/certificates.ts';
import { type MqttBroker, openMqttBroker } from './testing/mqtt-broker.ts';
import { contextOf, NOBODY } from '../testing/context.ts';
import { tlsOptions } from '../../../../platform/egress/index.ts';
import { openMqtt } from './connection.ts';

let broker: MqttBroker;
let uri: string;
beforeAll(async () => {
  broker = await openMqttBroker();
  uri = `tcp://127.0.0.1:${broker.port}`;
});
afterAll(() => broker[Symbol.asyncDispose]());

// spec: integrations.md 3.1/1 3.1/3 3.1/5 3.1/8-9 3.1/14
test.each<[string, object, object]>([
  ['defaults', {}, { keepalive: 15, clean: true, protocolVersion: 4, clientId: expect.stringMatching(/^cascade-[0-9a-f-]{36}$/) }],
  ['credentials', { username: 'ann', password: 'hush' }, { username: 'ann', password: Buffer.from('hush') }],
  ['keepAliveInterval 0 is off', { keepAliveInterval: 0 }, { keepalive: 0 }],
  ['keepAliveInterval', { keepAliveInterval: 120 }, { keepalive: 120 }],
  ['a session that is kept', { cleanSession: false, clientId: 'one' }, { clean: false, clientId: 'one' }],
  ['clientId', { clientId: 'two' }, { clean: true, clientId: 'two' }],
  [
    'will',
    { will: { topic: 'last', message: { gone: true }, qos: 'AT_LEAST_ONCE', retain: true } },
    { will: { topic: 'last', payload: Buffer.from('{"gone":true}'), qos: 1, retain: true } },
  ],
  [
    'will of another content type',
    { contentType: 'text/plain', will: { topic: 'last', message: 'gone' } },
    { will: { payload: Buffer.from('gone'), qos: 0, retain: false } },
  ],
])('the CONNECT packet has %s', async (_name, config, packet) => {
  const source = await openMqtt(contextOf({ serverURIs: [uri], ...config }));
  expect(broker.connects.at(-1)).toMatchObject(packet);
  await source.close();
});

// spec: integrations.md 3.1/1 3.1/16 1.11/1-2
test('a source connects over TLS and over WebSocket', async () => {
  const authority = newAuthority('ours');
  await using secure = await openMqttBroker('tls', authority.issue('broker', '127.0.0.1'));
  for (const scheme of ['mqtts', 'ssl', 'tcps']) {
    const config = { serverURI: `${scheme}://127.0.0.1:${secure.port}`, pemTrustOptions: { certValues: [authority.cert] } };
    await (await openMqtt({ ...contextOf(config), tls: await tlsOptions(config) })).close();
    await expect(openMqtt(contextOf({ serverURI: config.serverURI }))).rejects.toMatchObject({ failure: 'tls' });
  }
  await using web = await openMqttBroker('ws');
  const context = contextOf({ serverURI: `ws://127.0.0.1:${web.port}/mqtt`, topics: ['a'] });
  const source = await openMqtt(context);
  await source.publish!({ topic: 'a', message: 1, qos: 1 }, NOBODY);
  await expect.poll(() => context.delivered).toHaveLength(1);
  await source.close();
});

// spec: integrations.md 3.1/6
test('the connection to a silent broker times out', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  await expect(openMqtt(contextOf({ serverURI: `mqtt://127.0.0.1:${port}`, connectionTimeout: 1 }))).rejects.toThrow();
  silent.close();
});

// spec: integrations.md 3.1/7
test('at most maxInflight publishes are unacknowledged', async () => {
  const source = await openMqtt(contextOf({ serverURI: uri, maxInflight: 3 }));
  const held: (() => void)[] = [];
  broker.aedes.authorizePublish = (_client, _packet, done) => void held.push(() => done(null));
  const publishing = Array.from({ length: 8 }, (_, n) => source.publish!({ topic: 'a', message: n, qos: 1 }, NOBODY));
  await expect.poll(() => held).toHaveLength(3);
  while (held.length > 0 || publishing.length > 0) {
    const most = held.length;
    expect(most).toBeLessThanOrEqual(3);
    held.shift()?.();
    await publishing.shift();
  }
  broker.aedes.authorizePublish = (_client, _packet, done) => done(null);
  await source.close();
});

// spec: integrations.md 3.3
test('a publish fails when the broker has it and does not acknowledge it, and those with it that wait for a place', async () => {
  const source = await openMqtt(contextOf({ serverURI: uri, maxInflight: 1 }), 50);
  const held: (() => void)[] = [];
  broker.aedes.authorizePublish = (_client, _packet, done) => void held.push(() => done(null));
  const publish = (n: number): Promise<unknown> => source.publish!({ topic: 'a', message: n, qos: 1 }, NOBODY);
  const codes = (await Promise.allSettled([1, 2, 3].map(publish))).map((one) => (one.status === 'rejected' ? one.reason : one));
  const failed = (text: string) => ({ code: 'cascade.source.publish.failed', message: expect.stringContaining(text) as string });
  expect(codes).toMatchObject([failed('has not confirmed it'), failed('confirms nothing'), failed('confirms nothing')]);
  expect(held).toHaveLength(1);
  held[0]?.(); // it counts for nobody any more
  broker.aedes.authorizePublish = (_client, _packet, done) => done(null);
  await expect.poll(() => publish(4).catch(() => 'late')).toBeUndefined();
  await source.close();
});

// spec: integrations.md 3.1/2 3.1/11
test.each([
  ['AT_MOST_ONCE', 0],
  ['AT_LEAST_ONCE', 1],
  ['EXACTLY_ONCE', 2],
  [0, 0],
  [2, 2],
  [null, 1],
])('topics are subscribed at %j', async (qos, level) => {
  const subscribed: unknown[] = [];
  const note = (subscriptions: unknown): number => subscribed.push(subscriptions);
  broker.aedes.on('subscribe', note);
  const source = await openMqtt(contextOf({ serverURI: uri, topics: ['a/+/b', 'c/#'], qos }));
  expect(subscribed.flat()).toMatchObject([
    { topic: 'a/+/b', qos: level },
    { topic: 'c/#', qos: level },
  ]);
  broker.aedes.off('subscribe', note);
  await source.close();
});

// spec: integrations.md 3.1/4 3.3/1-6
test.each<[object, object, object]>([
  [{}, { message: { a: 1 } }, { payload: '{"a":1}', qos: 0, retain: false }],
  [{}, { message: null, qos: 1 }, { payload: '', qos: 1 }],
  [{}, { message: 'x', retain: true, qos: 'EXACTLY_ONCE' }, { payload: '"x"', retain: true, qos: 2 }],
  [{ contentType: 'text/plain' }, { message: 'x' }, { payload: 'x' }],
  [{ contentType: 'text/plain' }, { message: 'x', contentType: 'application/json' }, { payload: '"x"' }],
  [{ contentType: 'text/csv' }, { message: [{ a: 1, b: 'x,y' }] }, { payload: 'a,b\r\n1,"x,y"\r\n' }],
  [{ contentType: 'application/octet-stream' }, { message: 'AQI=' }, { payload: '\u0001\u0002' }],
])('with the config %j the publish %j arrives as %j', async (config, request, packet) => {
  const seen: { payload: string; qos: number; retain: boolean }[] = [];
  const note = ({ topic, payload, qos, retain }: { topic: string; payload: Buffer | string; qos: number; retain: boolean }): void =>
    void (topic === 'out/1' && seen.push({ payload: payload.toString(), qos, retain }));
  broker.aedes.on('publish', note);
  const source = await openMqtt(contextOf({ serverURI: uri, ...config }));
  await source.publish!({ topic: 'out/1', ...request }, NOBODY);
  await expect.poll(() => seen).toHaveLength(1);
  expect(seen[0]).toMatchObject(packet);
  broker.aedes.off('publish', note);
  await source.close();
});

// spec: integrations.md 3.3/3-6
test.each([{ retain: 'yes' }, { contentType: 5 }, { userProperties: 'x' }])('the publish with %j is refused', async (wrong) => {
  const source = await openMqtt(contextOf({ serverURI: uri }));
  await expect(source.publish!({ topic: 'a', message: 1, ...wrong } as never, NOBODY)).rejects.toMatchObject({ status: 400 });
  await source.close();
});

// A definition whose fields exceed a packet's limits is refused; only a named secret can make a field longer later.
test.each<ObjectValue>([
  { topics: ['a'.repeat(70_000)] },
  { clientId: 'a'.repeat(70_000) },
  { topics: ['a'], username: 'a'.repeat(70_000), password: 'x' },
])('a connection whose CONNECT packet exceeds its limits fails', async (config) => {
  await expect(openMqtt(contextOf({ serverURI: uri, ...config }))).rejects.toThrow();
});

test.each([{ topic: 'a'.repeat(70_000) }, { contentType: `a/${'b'.repeat(70_000)}` }, { userProperties: { a: 'b'.repeat(70_000) } }])(
  'a publish that exceeds a packet’s limits is refused, and the connection stays',
  async (wrong) => {
    const context = contextOf({ serverURI: uri });
    const source = await openMqtt(context);
    await expect(source.publish!({ topic: 'a', message: 1, qos: 1, ...wrong } as never, NOBODY)).rejects.toMatchObject({ status: 400 });
    await source.publish!({ topic: 'a', message: 1, qos: 1 }, NOBODY);
    expect(context.losses).toEqual([]);
    await source.close();
  },
);
