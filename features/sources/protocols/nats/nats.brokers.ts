// NATS against a real nats-server that is killed and restarted: core subscriptions, and a stream of which no message is lost.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core/internal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Broker, startNats } from '../../../../scripts/brokers/index.ts';
import { newAuthority } from '../../testing/certificates.ts';
import { contextOf, NOBODY, type TestContext } from '../testing/context.ts';
import { openNats, wireTo } from './connection.ts';

let broker: Broker;
let uri: string;

beforeAll(async () => {
  const started = await startNats();
  if (!started) throw new Error('this needs nats-server (apt-get install nats-server)');
  broker = started;
  uri = `nats://127.0.0.1:${broker.port}`;
});
afterAll(() => broker?.[Symbol.asyncDispose]());

const textsOf = ({ delivered }: TestContext): string[] =>
  delivered.map((one) => ('payload' in one ? Buffer.from(one.payload).toString() : ''));
const connected = (): Promise<NatsConnection> => wireTo(contextOf({}), { host: '127.0.0.1', port: broker.port, isSecure: false });

async function streamOf(name: string, ...subjects: string[]): Promise<void> {
  const wire = await connected();
  await (await jetstreamManager(wire)).streams.add({ name, subjects });
  await wire.close();
}

async function published(subject: string, texts: readonly string[]): Promise<void> {
  const wire = await connected();
  for (const text of texts) await jetstream(wire).publish(subject, text);
  await wire.close();
}

const numbers = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => String(from + n));

test('core: messages are received with subject and headers, and publishes arrive', async () => {
  const context = contextOf({ serverURIs: uri, topics: ['mill.*.speed', 'yard.>'] });
  const source = await openNats(context);
  await source.publish!({ topic: 'mill.3.speed', message: { rpm: 900 }, headers: { line: '3' } }, NOBODY);
  await source.publish!({ topic: 'yard.a.b', message: 'plain', contentType: 'text/plain', replyTo: 'answers' }, NOBODY);
  await source.publish!({ topic: 'other', message: 1 }, NOBODY);
  await expect.poll(() => context.delivered).toHaveLength(2);
  expect(context.delivered).toMatchObject([
    { topic: 'mill.3.speed', contentType: 'application/json', properties: { headers: { line: '3' } } },
    { topic: 'yard.a.b', contentType: 'text/plain', properties: { replyTo: 'answers' } },
  ]);
  expect(textsOf(context)).toEqual(['{"rpm":900}', 'plain']);
  await source.close();
  expect(context.losses).toEqual([]);
});

test.each([
  [{ message: 1 }],
  [{ topic: 'a.*', message: 1 }],
  [{ topic: 'a b', message: 1 }],
  [{ topic: 'a\r\nPUB b 0', message: 1 }],
  [{ topic: '.a', message: 1 }],
  [{ topic: 'a' }],
  [{ topic: 'a', message: 1, replyTo: 'x y' }],
  [{ topic: 'a', message: 1, headers: { 'a:b': 'x' } }],
  [{ topic: 'a', message: 1, headers: { a: 'x\r\ny: z' } }],
  [{ topic: 'a', message: 1, headers: { 'Nats-Msg-Id': 'x' } }],
])('the publish %j is refused', async (request) => {
  const source = await openNats(contextOf({ serverURIs: uri }));
  await expect(source.publish!(request as never, NOBODY)).rejects.toMatchObject({ code: 'cascade.nats.publish.invalid', status: 400 });
  await source.close();
});

test('of two sources in a queue group one gets each message', async () => {
  const both = [1, 2].map(() => contextOf({ serverURIs: uri, topics: ['work'], shared: true }));
  const sources = await Promise.all(both.map((context) => openNats(context)));
  for (const text of numbers(0, 50)) await sources[0]?.publish!({ topic: 'work', message: text, contentType: 'text/plain' }, NOBODY);
  await expect.poll(() => both.flatMap(textsOf)).toHaveLength(50);
  expect(new Set(both.flatMap(textsOf)).size).toBe(50);
  for (const source of sources) await source.close();
});

test('a stream: a message is acknowledged when it is stored, and otherwise delivered again, even after the server was killed', async () => {
  await streamOf('ORDERS', 'orders.>');
  const config = { serverURIs: [uri], stream: 'ORDERS', ackWait: 1 };
  const never = contextOf(config, { take: () => new Promise(() => undefined) });
  await openNats(never);
  await published('orders.a', numbers(0, 10));
  await expect.poll(() => new Set(textsOf(never)).size).toBe(10);
  await broker.kill();
  await expect.poll(() => never.losses).toHaveLength(1);
  await broker.restart();
  const again = contextOf(config);
  const source = await openNats(again);
  await expect.poll(() => new Set(textsOf(again))).toEqual(new Set(numbers(0, 10)));
  const keys = (context: TestContext): Set<unknown> => new Set(context.delivered.map(({ onceKey }) => onceKey));
  expect(keys(again)).toEqual(keys(never));
  await published('orders.b', ['last']);
  await expect.poll(() => textsOf(again)).toContain('last');
  expect(again.delivered.at(-1)).toMatchObject({ topic: 'orders.b', properties: { stream: 'ORDERS', sequence: 11, redelivered: false } });
  await source.close();
  const later = contextOf(config);
  const reading = await openNats(later);
  await published('orders.c', ['after']);
  await expect.poll(() => textsOf(later)).toContain('after');
  expect(textsOf(later)).toEqual(['after']);
  await reading.close();
});

test('a publish to a stream waits for its acknowledgement, fails without a stream, and is deduplicated by its id', async () => {
  await streamOf('KEPT', 'kept.*');
  const context = contextOf({ serverURIs: uri, stream: 'KEPT', topics: ['kept.a'] });
  const source = await openNats(context);
  for (const message of [1, 2]) await source.publish!({ topic: 'kept.a', message, messageId: 'x' }, NOBODY);
  await source.publish!({ topic: 'kept.b', message: 3 }, NOBODY);
  await source.publish!({ topic: 'kept.a', message: 4 }, NOBODY);
  await expect.poll(() => textsOf(context)).toEqual(['1', '4']);
  await expect(source.publish!({ topic: 'elsewhere', message: 1 }, NOBODY)).rejects.toMatchObject({
    code: 'cascade.source.publish.failed',
  });
  await source.close();
  await expect(openNats(contextOf({ serverURIs: uri, stream: 'NONE' }))).rejects.toMatchObject({ code: 'cascade.source.connect.failed' });
});

test('a malformed message is not delivered again; one whose pipeline failed is', async () => {
  await streamOf('FAULTY', 'faulty');
  let tries = 0;
  const context = contextOf(
    { serverURIs: uri, stream: 'FAULTY', ackWait: 30 },
    {
      isReliable: true,
      take: async (message) => {
        const text = 'payload' in message ? Buffer.from(message.payload).toString() : '';
        if (text === 'bad') return 'refused';
        if (text === 'again' && ++tries === 1) throw new Error('not yet');
        return 'stored';
      },
    },
  );
  const source = await openNats(context);
  await published('faulty', ['bad', 'again', 'good']);
  await expect.poll(() => tries).toBe(2);
  expect(textsOf(context).filter((text) => text !== 'again')).toEqual(['bad', 'good']);
  await source.close();
});

test('TLS: the server’s certificate is verified, and a server without TLS receives nothing unencrypted', async () => {
  const [ours, theirs] = [newAuthority('ours'), newAuthority('theirs')];
  await using secure = await startNats(ours.issue('server', '127.0.0.1'));
  if (!secure) throw new Error('this needs nats-server (apt-get install nats-server)');
  const at = `127.0.0.1:${secure.port}`;
  const trusting = (serverURIs: string, { cert } = ours): TestContext => ({
    ...contextOf({ serverURIs, topics: ['a'] }),
    tls: { ca: cert },
  });
  for (const scheme of ['tls', 'nats']) {
    const context = trusting(`${scheme}://${at}`); // a server that requires TLS announces it, whatever the scheme
    const source = await openNats(context);
    await source.publish!({ topic: 'a', message: 1 }, NOBODY);
    await expect.poll(() => context.delivered).toHaveLength(1);
    await source.close();
  }
  await expect(openNats(trusting(`tls://${at}`, theirs))).rejects.toMatchObject({ failure: 'tls' });
  await expect(openNats(trusting(uri.replace('nats:', 'tls:')))).rejects.toMatchObject({
    failure: expect.stringMatching(/^(tls|timeout)$/),
  });
});
