// Runs the examples of docs/sources.md against a real service and real brokers and servers: each definition with the addresses of this
// machine, each program unchanged. (`npm run nightly -- --only docs` runs the commands of the page.)
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import amqp from 'amqplib';
import mqtt from 'mqtt';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { startMosquitto, startNats, startRabbit } from '../../scripts/brokers/index.ts';
import { wireTo } from './protocols/nats/connection.ts';
import { contextOf } from './protocols/testing/context.ts';
import { type Authority, newAuthority } from './testing/certificates.ts';
import { answerJson, type HttpServer, openHttpServer } from './testing/http-server.ts';
import { listening } from './testing/listening.ts';

const WAIT_MS = 30_000;
const page = readFileSync(new URL('../../docs/sources.md', import.meta.url), 'utf8');

/** A section of the page, by its heading. */
function sectionOf(heading: string): { definition: Record<string, unknown>; programs: string[] } {
  const [, text] = new RegExp(`\\n## ${heading}\\n([\\s\\S]*?)\\n## `).exec(page) ?? [];
  const [, json] = /```json\n([\s\S]*?)```/.exec(text ?? '') ?? [];
  if (text === undefined || json === undefined) throw new Error(`docs/sources.md has no definition under ${heading}`);
  const programs = [...text.matchAll(/`((?:PUBLISH \{|SELECT ONE FROM SOURCE|RULE \w+ WHEN)[^`]*)`/g)].map(([, program = '']) => program);
  return { definition: JSON.parse(json) as Record<string, unknown>, programs: programs.filter((program) => !program.includes('…')) };
}

let folder: string;
let authority: Authority;
let service: StartedService;
let client: RestClient;
const closes: (() => unknown)[] = [];

const JSON_TYPE = { 'Content-Type': 'application/json' };
async function post(path: string, body: unknown): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await client.send('POST', path, { text, headers: typeof body === 'string' ? {} : JSON_TYPE });
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
  return reply.text;
}
let procedures = 0;
/** Runs statements exactly as the page has them. @returns the JSON of their value */
async function run(statements: string): Promise<string> {
  const name = `example${++procedures}`;
  await post('/procedures', `PROCEDURE ${name}()\n${statements}`);
  return post(`/procedures/${name}`, []);
}
/** Creates the source of a section, with the given members of its config replaced by addresses of this machine. */
async function define(heading: string, here: object): Promise<string[]> {
  const { definition, programs } = sectionOf(heading);
  await post('/sources', { ...definition, config: { ...(definition['config'] as object), ...here } });
  return programs;
}
async function received(type: string): Promise<Record<string, unknown>[]> {
  return JSON.parse((await client.send('GET', `/custom/${type}`)).text) as Record<string, unknown>[];
}
const eventually = <T>(look: () => Promise<T> | T): Promise<T> => vi.waitFor(look, { timeout: WAIT_MS, interval: 100 });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-docs-'));
  authority = newAuthority('docs');
  await writeFile(join(folder, 'authority.pem'), authority.cert);
  service = await startService({
    args: ['--outbound-addresses', '127.0.0.1'],
    env: { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') },
    expects: 'any',
  });
  client = new RestClient(service.url);
  await client.login(service.user, service.password);
  await post('/types', { name: 'Heard', properties: { source: { type: 'String' }, n: { type: 'Integer' } } });
});
afterAll(async () => {
  client?.close();
  await service?.[Symbol.asyncDispose]();
  for (const close of closes.reverse()) await close();
  await rm(folder, { recursive: true, force: true });
});

const secure = async (answer: Parameters<typeof openHttpServer>[0]): Promise<HttpServer> => {
  const server = await openHttpServer(answer, authority.issue('server', '127.0.0.1'));
  closes.push(() => server[Symbol.asyncDispose]());
  return server;
};

// spec: integrations.md 2.9
test('REMOTE', async () => {
  const tanks = await secure((_sent, response) => answerJson(response, { level: 3.5 }));
  const programs = await define('REMOTE: HTTP', { uri: `${tanks.url}/` });
  expect(JSON.parse(await post('/sources/tanks/query', { path: 'tanks/4', query: { unit: 'C' } }))).toEqual({ level: 3.5 });
  const [select = '', publish = ''] = programs;
  expect(JSON.parse(await run(select))).toEqual({ level: 3.5 });
  await run(publish);
  expect(tanks.sent.map(({ method, url, body }) => ({ method, url, body }))).toEqual([
    { method: 'GET', url: '/tanks/4?unit=C', body: '' },
    { method: 'GET', url: '/tanks/4?unit=C', body: '' },
    { method: 'PUT', url: '/pumps/4', body: '{"on":true}' },
  ]);
  expect(tanks.sent[0]?.headers.authorization).toBe(`Basic ${btoa('ann:hush')}`);
});

// spec: integrations.md 3.2
test('MQTT', async () => {
  const broker = (await startMosquitto())!;
  closes.push(() => broker[Symbol.asyncDispose]());
  const [rule = ''] = await define('MQTT', { serverURI: `mqtt://127.0.0.1:${broker.port}` });
  await post('/rules', rule);
  const mill = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`);
  closes.push(() => mill.endAsync(true));
  const controls: string[] = [];
  mill.on('message', (_topic, payload) => controls.push(payload.toString()));
  await mill.subscribeAsync('mill/control');
  await eventually(async () => {
    await mill.publishAsync('mill/4/speed', '{"rpm":950}', { qos: 1 });
    expect(controls).toContain('{"stop":true}');
  });
});

// spec: integrations.md 4.2 4.3
test('AMQP', async () => {
  const rabbit = (await startRabbit({ user: 'plant', password: 'hush', host: 'plant' }))!;
  closes.push(() => rabbit[Symbol.asyncDispose]());
  const uri = `amqp://plant:hush@127.0.0.1:${rabbit.port}/plant`;
  const other = await vi.waitFor(() => amqp.connect(uri), 60_000); // the port answers before the broker is ready
  closes.push(() => other.close());
  const channel = await other.createConfirmChannel();
  for (const queue of ['jobs', 'done']) await channel.assertQueue(queue);
  await channel.assertExchange('plant', 'topic');
  const [publish = ''] = await define('AMQP', { serverURIs: `amqp://127.0.0.1:${rabbit.port}/plant` });
  await post('/rules', 'RULE jobbed WHEN MESSAGE ARRIVES FROM jobs AS m INSERT Heard(source: "jobs", n: m.n)');
  await eventually(async () =>
    expect(JSON.parse((await client.send('GET', '/sources/jobs/_status')).text)).toMatchObject({ state: 'connected' }),
  );
  channel.publish('', 'jobs', Buffer.from('{"n":1}'), { contentType: 'application/json' });
  channel.publish('plant', 'mill.4', Buffer.from('{"n":2}'), { contentType: 'application/json' });
  await eventually(async () =>
    expect((await received('Heard')).flatMap(({ source, n }) => (source === 'jobs' ? [n] : [])).sort()).toEqual([1, 2]),
  );
  await run(publish);
  expect(((await channel.get('done', { noAck: true })) || null)?.content.toString()).toBe('{"n":1}');
});

test('NATS', async () => {
  const nats = (await startNats())!;
  closes.push(() => nats[Symbol.asyncDispose]());
  const wire = await wireTo(contextOf({}), { host: '127.0.0.1', port: nats.port, isSecure: false });
  closes.push(() => wire.close());
  const manager = await jetstreamManager(wire);
  await manager.streams.add({ name: 'ORDERS', subjects: ['orders.>'] });
  const [publish = ''] = await define('NATS', { serverURIs: `nats://127.0.0.1:${nats.port}` });
  await post('/rules', 'RULE ordered WHEN MESSAGE ARRIVES FROM orders AS m INSERT Heard(source: "orders", n: m.n)');
  await run(publish);
  await run(publish); // of two messages with one id the stream keeps the first
  await eventually(async () => expect((await received('Heard')).filter(({ source }) => source === 'orders')).toMatchObject([{ n: 1 }]));
  expect((await manager.streams.info('ORDERS')).state.messages).toBe(1);
});

test('EMAIL', async () => {
  const mails: { text: string; user: string | undefined; isSecure: boolean }[] = [];
  const { key, cert } = authority.issue('server', '127.0.0.1');
  const smtp = new SMTPServer({
    logger: false,
    key,
    cert,
    onAuth: ({ username, password }, _session, done) =>
      username === 'plant' && password === 'hush' ? done(null, { user: username }) : done(new Error('Wrong credentials')),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push({ text: Buffer.concat(chunks).toString(), user: session.user, isSecure: session.secure });
        done();
      });
    },
  });
  const { port, close } = await listening(smtp.server);
  closes.push(close);
  const [publish = ''] = await define('EMAIL', { host: '127.0.0.1', port });
  await run(publish);
  expect(mails).toMatchObject([{ user: 'plant', isSecure: true }]);
  expect(mails[0]?.text).toMatch(/From: Plant <plant@example.com>[\s\S]*To: ann@example.com[\s\S]*Subject: Pump 4[\s\S]*It is off\./);
});

test('CHATBOT', async () => {
  const replies: unknown[] = [];
  const outside = await secure(({ url, body }, response) => {
    replies.push({ url, ...(JSON.parse(body) as object) });
    answerJson(response, { id: 'x' });
  });
  await define('CHATBOT', { allowedServiceUrls: [`${outside.url}/`] });
  await post('/rules', 'RULE replies WHEN MESSAGE ARRIVES FROM bot AS m\nm.text = "You said: " + m.text\nPUBLISH m TO SOURCE bot');
  const message = JSON.stringify({
    type: 'message',
    id: 'm1',
    timestamp: '2031-04-02T08:15:00.000Z',
    serviceUrl: `${outside.url}/`,
    channelId: 'teams',
    text: 'hello',
    from: { id: 'u1', name: 'Ann' },
    recipient: { id: 'b1', name: 'Bot' },
    conversation: { id: 'c1' },
  });
  const signature = `sha256=${createHmac('sha256', 'hush').update(message).digest('hex')}`;
  const to = `${new URL(service.url).origin}/private/chatbot/main/bot`;
  const sign = (value: string): Promise<Response> =>
    fetch(to, { method: 'POST', body: message, headers: { ...JSON_TYPE, 'X-Cascade-Signature': value } });
  expect((await sign('sha256=00')).status).toBe(401);
  expect((await sign(signature)).status).toBe(200);
  await eventually(() => expect(replies).toMatchObject([{ text: 'You said: hello' }]));
});
