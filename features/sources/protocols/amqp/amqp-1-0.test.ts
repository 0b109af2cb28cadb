// AMQP 1.0 against a broker of this test, for what real brokers hardly show: the chosen SASL mechanism, the attributes of a link, TLS.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import rhea, { type EventContext, type Receiver, type Sender } from 'rhea';
import { afterEach, expect, test } from 'vitest';
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { newAuthority } from '../../testing/certificates.ts';
import { contextOf, NOBODY } from '../testing/context.ts';
import { tlsOptions } from '../../../../platform/egress/index.ts';
import { openAmqp10 } from './amqp-1-0.ts';
import { AMQP } from './index.ts';

interface Received {
  /** The mechanisms and credentials of the SASL exchange. */
  readonly mechanisms: string[];
  readonly links: { address: string | undefined; dynamic: boolean; durable: unknown; filter: unknown; name: string }[];
  readonly messages: string[];
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A broker that offers the named mechanisms, sends each consumer one message, and records what is sent. */
async function broker(mechanisms: readonly string[], tls: object = {}): Promise<Received & { readonly port: number }> {
  const received: Received = { mechanisms: [], links: [], messages: [] };
  const container = rhea.create_container({ id: 'broker' });
  const server = container.sasl_server_mechanisms as Record<string, () => unknown> & {
    enable_plain(check: object): void;
    enable_anonymous(): void;
  };
  if (mechanisms.includes('PLAIN')) server.enable_plain((_name: string, password: string) => password === 'right');
  if (mechanisms.includes('ANONYMOUS')) server.enable_anonymous();
  if (mechanisms.includes('EXTERNAL')) container.sasl.server_add_external(server);
  for (const name of mechanisms) {
    const make = server[name]!;
    server[name] = () => {
      received.mechanisms.push(name);
      return make.call(server);
    };
  }
  container.on('sender_open', ({ sender }: EventContext) => {
    const { address, dynamic, durable, filter } = (sender as Sender).source as unknown as Record<string, unknown>;
    received.links.push({ address: address as string, dynamic: dynamic === true, durable, filter, name: (sender as Sender).name });
    (sender as Sender).set_source({ address: dynamic === true ? 'made-up' : (address as string) });
  });
  container.once('sendable', ({ sender }: EventContext) => void sender?.send({ body: 'first' }));
  container.on('receiver_open', ({ receiver }: EventContext) =>
    (receiver as Receiver).set_target({ address: (receiver as Receiver).target.address }),
  );
  container.on('message', ({ message }: EventContext) =>
    received.messages.push(Buffer.from((message?.body as { content: Buffer }).content).toString()),
  );
  for (const event of ['disconnected', 'error', 'connection_error']) container.on(event, () => undefined);
  const listener = container.listen({ port: 0, host: '127.0.0.1', ...tls } as never);
  ends.push(() => listener.close());
  await once(listener, 'listening');
  return { ...received, port: (listener.address() as AddressInfo).port };
}

const open = (port: number, config: ObjectValue, more: object = {}, scheme = 'amqp') => {
  const context = { ...contextOf({ serverURIs: `${scheme}://127.0.0.1:${port}`, topics: [], ...config }), ...more };
  return openAmqp10(context).then((source) => ({ source, context }));
};

// spec: integrations.md 4.1/4 4.1/5
test.each<[readonly string[], ObjectValue, string]>([
  [['ANONYMOUS', 'PLAIN'], { username: 'ann', password: 'right' }, 'PLAIN'],
  [['ANONYMOUS', 'PLAIN'], {}, 'ANONYMOUS'],
  [['ANONYMOUS', 'PLAIN'], { username: 'ann', password: 'right', enabledSaslMechanisms: ['ANONYMOUS'] }, 'ANONYMOUS'],
  [['ANONYMOUS', 'PLAIN'], { username: 'ann', password: 'right', enabledSaslMechanisms: ['SCRAM-SHA-1', 'PLAIN'] }, 'PLAIN'],
])('a broker with %j and a config %j agree on %s', async (offered, config, taken) => {
  const received = await broker(offered);
  const { source } = await open(received.port, config);
  await source.close();
  expect(received.mechanisms).toEqual([taken]);
});

test('an unsupported mechanism and a wrong password have errors of their own', async () => {
  const { port } = await broker(['PLAIN']);
  const anonymous = { enabledSaslMechanisms: ['ANONYMOUS'] };
  await expect(open(port, anonymous)).rejects.toMatchObject({ isAuthentication: true });
  await expect(open(port, { username: 'ann', password: 'wrong' })).rejects.toMatchObject({ isAuthentication: true });
});

test('a definition with unusable mechanisms is refused', () => {
  const problem = (config: ObjectValue) => AMQP.crossCheck!(config)?.[0] ?? null;
  expect(problem({ enabledSaslMechanisms: ['SCRAM-SHA-256'] })).toBe('enabledSaslMechanisms');
  expect(problem({ enabledSaslMechanisms: ['PLAIN'] })).toBe('enabledSaslMechanisms');
  expect(problem({ enabledSaslMechanisms: ['PLAIN'], username: 'ann' })).toBeNull();
  expect(problem({ enabledSaslMechanisms: ['EXTERNAL'] })).toBeNull();
  expect(problem({})).toBeNull();
});

// spec: integrations.md 4.3
test.each<[string, ObjectValue, string]>([
  ['1.0', { topic: 'q', ttl: 2 ** 32 }, 'cascade.request.body.invalid'],
  ['1.0', { topic: 'q', properties: { a: [2n ** 63n] } }, 'cascade.request.body.invalid'],
  ['0-9-1', { topic: 'q', properties: { a: { b: 2n ** 63n } } }, 'cascade.request.body.invalid'],
  ['0-9-1', { topic: 'q', subject: 'é'.repeat(128) }, 'cascade.request.body.invalid'],
  ['0-9-1', { topic: 'q'.repeat(256) }, 'cascade.amqp.topic.missing'],
])('%s: what a frame cannot hold is refused before it is sent', (protocol, request, code) => {
  const check = (protocol: string, request: ObjectValue) => () => AMQP.checkPublish!('jobs', { protocol }, { message: 1, ...request });
  expect(check(protocol, request)).toThrow(expect.objectContaining({ code, status: 400 }));
  expect(check('0-9-1', { topic: 'plant/mill', ttl: 2 ** 32, properties: { a: 2n ** 63n - 1n } })).not.toThrow();
  expect(check('1.0', { topic: 'q'.repeat(256), ttl: 2 ** 32 - 1, properties: { a: -(2n ** 63n) } })).not.toThrow();
});

// spec: integrations.md 4.1/10
test('consumers of one queue share its messages, with or without the option for shared subscriptions', async () => {
  expect(AMQP.fields['shared']!('yes')).not.toBeNull();
  const received = await broker(['ANONYMOUS']); // the broker has one message
  const both = await Promise.all([true, false].map((shared) => open(received.port, { topics: ['work'], shared })));
  await expect.poll(() => both.flatMap(({ context }) => context.delivered)).toHaveLength(1);
  expect(received.links.map(({ address, durable }) => [address, durable ?? 0])).toEqual([
    ['work', 0],
    ['work', 0],
  ]);
  for (const { source } of both) await source.close();
});

// spec: integrations.md 4.1/11
test('a link is attached with its selector, as durable, or with a dynamic address', async () => {
  const received = await broker(['ANONYMOUS']);
  const options = { picked: { selector: "colour = 'red'" }, kept: { durable: true }, own: { dynamic: true }, plain: {} };
  const { source, context } = await open(received.port, { topics: Object.keys(options), options });
  await expect.poll(() => context.delivered).toHaveLength(1);
  expect(context.delivered[0]).toMatchObject({ value: 'first' });
  await source.close();
  const [picked, kept, made, plain] = received.links;
  expect(JSON.stringify(picked?.filter)).toContain("colour = 'red'");
  expect(kept).toMatchObject({ address: 'kept', durable: 2, name: 'main.feed.kept' });
  expect(made).toMatchObject({ dynamic: true });
  expect(plain).toMatchObject({ address: 'plain', dynamic: false });
  expect(plain?.filter ?? null).toBeNull();
});

// spec: integrations.md 4.1/12 4.1/1
test('over TLS the broker’s certificate is verified, and a client certificate authenticates the client', async () => {
  const authority = newAuthority('Plant');
  const { cert, key } = authority.issue('broker', '127.0.0.1');
  const tls = { transport: 'tls', cert, key, ca: [authority.cert], requestCert: true, rejectUnauthorized: false };
  const received = await broker(['EXTERNAL', 'ANONYMOUS'], tls);
  await expect(open(received.port, {}, {}, 'amqps')).rejects.toThrow(/certificate|issuer|signed/i);
  const client = authority.issue('cascade');
  const config = {
    pemTrustOptions: { certValues: [authority.cert] },
    pemKeyCertOptions: { certValues: [client.cert], keyValues: [client.key] },
  };
  const sasl = { enabledSaslMechanisms: ['EXTERNAL'] };
  const { source } = await open(received.port, { ...config, ...sasl }, { tls: await tlsOptions(config) }, 'amqps');
  await source.publish!({ topic: 'out', message: 'sealed' }, NOBODY);
  expect(received.messages).toEqual(['"sealed"']);
  await source.close();
  expect(received.mechanisms).toEqual(['EXTERNAL']);
});
