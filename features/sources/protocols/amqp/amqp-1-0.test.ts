// AMQP 1.0 against a broker of this test, for what real brokers hardly show: the chosen SASL mechanism, the attributes of a link, TLS.
import { type EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import rhea, { type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import { afterEach, expect, test, vi } from 'vitest';
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { newAuthority } from '../../testing/certificates.ts';
import { contextOf, NOBODY } from '../testing/context.ts';
import { tlsOptions } from '../../../../platform/egress/index.ts';
import { openAmqp10 } from './amqp-1-0.ts';
import { publicationOf } from './common.ts';
import { AMQP } from './index.ts';
import { SenderLink } from './sender-link.ts';

interface Received {
  /** The mechanisms and credentials of the SASL exchange. */
  readonly mechanisms: string[];
  readonly links: { address: string | undefined; dynamic: boolean; durable: unknown; filter: unknown; name: string }[];
  readonly messages: string[];
  /** The links and sessions by which it sends, and those that publish. */
  readonly senders: Sender[];
  readonly publishing: Receiver[];
  /** What became of the messages that it sent. */
  readonly outcomes: string[];
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/**
 * A broker that offers the named mechanisms, sends each consumer one message, and records what is sent. A target `none` does not exist, `full`
 * takes nothing, and `scarce` one message.
 * @param sent its message: bytes are sent as they are
 * @param opens called with the address of each link that consumes, before it is open
 */
async function broker(
  mechanisms: readonly string[],
  tls: object = {},
  sent: Message | Buffer = { body: 'first' },
  opens: (address: unknown) => void = () => undefined,
): Promise<Received & { readonly port: number }> {
  const received: Received = { mechanisms: [], links: [], messages: [], senders: [], publishing: [], outcomes: [] };
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
    received.senders.push(sender as Sender);
    opens(address);
  });
  container.once(
    'sendable',
    ({ sender }: EventContext) => void (Buffer.isBuffer(sent) ? sender?.send(sent, 'tag', 0) : sender?.send(sent)),
  );
  for (const outcome of ['accepted', 'rejected', 'released']) container.on(outcome, () => received.outcomes.push(outcome));
  container.on('receiver_open', ({ receiver }: EventContext) => {
    const { address } = (receiver as Receiver).target;
    (receiver as Receiver).set_target({ address });
    if (address === 'none') return (receiver as Receiver).close({ condition: 'amqp:not-found', description: 'no such address' });
    received.publishing.push(receiver as Receiver);
    if (address !== 'full') (receiver as Receiver).add_credit(address === 'scarce' ? 1 : 1_000);
  });
  container.on('message', ({ message }: EventContext) =>
    received.messages.push(Buffer.from((message?.body as { content: Buffer }).content).toString()),
  );
  for (const event of ['disconnected', 'error', 'connection_error']) container.on(event, () => undefined);
  const listener = container.listen({ port: 0, host: '127.0.0.1', receiver_options: { credit_window: 0 }, ...tls } as never);
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

// spec: integrations.md 1.2
test.each<[string, (sender: Sender) => void, string]>([
  ['link', (sender) => sender.close(), 'the broker closed the link'],
  ['session', (sender) => sender.session.close(), 'the broker ended the session'],
])('a %s that the broker ends without an error is a lost connection', async (_what, end, reason) => {
  const received = await broker(['ANONYMOUS']);
  const { source, context } = await open(received.port, { topics: ['work'] });
  end(received.senders[0]!);
  await expect.poll(() => context.losses).toHaveLength(1);
  expect(String(context.losses[0])).toContain(reason);
  await source.close();
});

test('a source does not open whose first link ends while its second opens', async () => {
  const received = await broker(['ANONYMOUS'], {}, { body: 'first' }, (address) => {
    if (address === 'second') received.senders[0]!.close();
  });
  await expect(open(received.port, { topics: ['first', 'second'] })).rejects.toThrow('first: the broker closed the link');
});

/** A message of one amqp-value section that holds these bytes. */
const messageOf = (...value: number[]): Buffer => Buffer.from([0x00, 0x53, 0x77, ...value]);
const nested = (levels: number): number[] => {
  const inner: number[] = levels === 0 ? [0x40] : nested(levels - 1);
  const size = Buffer.alloc(8);
  size.writeUInt32BE(inner.length + 4);
  size.writeUInt32BE(1, 4);
  return [0xd0, ...size, ...inner];
};

// spec: integrations.md 4.2
test.each<[string, Buffer | Message, string]>([
  ['of an unknown type', messageOf(0x3f), 'typecode'],
  ['of four billion elements without bytes', messageOf(0xf0, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0x40), 'more than 1000000 elements'],
  ['nested too deep', messageOf(...nested(101)), 'nesting deeper than 100'],
  [
    'with properties nested too deep',
    { body: 1, application_properties: { deep: JSON.parse('['.repeat(101) + ']'.repeat(101)) } },
    'nesting',
  ],
])('a message %s is rejected, and the connection lasts', async (_what, message, reason) => {
  const received = await broker(['ANONYMOUS'], {}, message);
  const { source, context } = await open(received.port, { topics: ['work'] });
  await expect.poll(() => received.outcomes).toEqual(['rejected']);
  received.senders[0]!.send({ body: 'second' });
  await expect.poll(() => context.delivered).toMatchObject([{ value: 'second' }]);
  expect(context.refused).toEqual([expect.stringContaining(reason)]);
  expect(context.losses).toEqual([]);
  await source.close();
});

// spec: integrations.md 4.3
test('a target that is refused leaves no session behind', async () => {
  const received = await broker(['ANONYMOUS']);
  const { source, context } = await open(received.port, {});
  const failed = { code: 'cascade.source.publish.failed', message: expect.stringContaining('no such address') };
  for (const _ of [1, 2, 3]) await expect(source.publish!({ topic: 'none', message: 1 }, NOBODY)).rejects.toMatchObject(failed);
  await source.publish!({ topic: 'out', message: 2 }, NOBODY);
  const [{ connection }] = received.publishing as [Receiver];
  const sessions = () => Object.values((connection as unknown as { local_channel_map: object }).local_channel_map).length;
  await expect.poll(sessions).toBe(1);
  expect(received.messages).toEqual(['2']);
  expect(context.losses).toEqual([]);
  await source.close();
});

// spec: integrations.md 4.3
test('a publish fails when the broker gives no credit for it, and the link sends again when it does', async () => {
  const received = await broker(['ANONYMOUS']);
  const connection = rhea.create_container().connect({ host: '127.0.0.1', port: received.port, username: 'anonymous', reconnect: false });
  await once(connection, 'connection_open');
  const failed = { code: 'cascade.source.publish.failed', message: expect.stringContaining('takes no messages') };
  let gone = 0;
  const link = (address: string): Promise<SenderLink> =>
    SenderLink.open(connection, 'jobs', address, () => gone++, { creditMs: 50, outcomeMs: 60_000 });
  await expect(link('full')).rejects.toMatchObject(failed);
  expect(gone).toBe(1);
  const scarce = await link('scarce');
  const send = (message: number): Promise<void> => scarce.send(publicationOf({ source: 'jobs', config: {} }, { topic: 'scarce', message }));
  await send(1);
  await Promise.all([2, 3].map((message) => expect(send(message)).rejects.toMatchObject(failed)));
  received.publishing.at(-1)!.add_credit(1);
  await send(4);
  expect(received.messages).toEqual(['1', '4']);
  expect(gone).toBe(1);
  connection.close();
});

// spec: integrations.md 4.3
test('a publish fails when the broker has it and tells no outcome; the link goes on with others', async () => {
  const received = await broker(['ANONYMOUS']);
  const connection = rhea.create_container().connect({ host: '127.0.0.1', port: received.port, username: 'anonymous', reconnect: false });
  await once(connection, 'connection_open');
  const link = await SenderLink.open(connection, 'jobs', 'out', () => undefined, { creditMs: 15_000, outcomeMs: 200 });
  const send = (message: number): Promise<void> => link.send(publicationOf({ source: 'jobs', config: {} }, { topic: 'out', message }));
  const { observers } = received.publishing[0] as unknown as { observers: EventEmitter };
  const [accept] = observers.listeners('message') as [() => void];
  observers.off('message', accept);
  const message = expect.stringContaining('out: the broker has not confirmed it') as string;
  await expect(send(1)).rejects.toMatchObject({ code: 'cascade.source.publish.failed', message });
  observers.on('message', accept);
  await expect.poll(() => send(2).catch(() => 'late')).toBeUndefined();
  connection.close();
});

test('what a broker sends is not told to the console of the service', async () => {
  const spies = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')];
  const unknown = [0x00, 0x53, 0x7f, 0x40, 0x40];
  const received = await broker(['ANONYMOUS'], {}, Buffer.from([...unknown, ...messageOf(0x41)]));
  const { source, context } = await open(received.port, { topics: ['work'] });
  await expect.poll(() => context.delivered).toMatchObject([{ value: true }]);
  await source.close();
  for (const spy of spies) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});
