// The AsyncAPI document: valid by the schema of AsyncAPI, and true. Its examples of requests are sent to a service, and all messages that come are
// compared with the document.
import { createRequire } from 'node:module';
import { randomBytes } from 'node:crypto';
import { Ajv } from 'ajv';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../../engine/testing/engine.ts';
import { type Listener, listen } from '../../listen.ts';
import { type Message, openTestSocket, type TestSocket } from '../../testing/web-socket.ts';
import { SOCKJS } from '../framing.ts';
import { LOGINS, OWN, READINGS } from '../operations.ts';

const require = createRequire(import.meta.url);

interface Schema {
  properties?: Record<string, Schema>;
}
interface Component {
  payload: Schema;
  examples: { payload: Record<string, unknown> }[];
}
interface Operation {
  action: 'send' | 'receive';
  messages: { $ref: string }[];
  reply?: { messages: { $ref: string }[] };
}
interface Document {
  servers: Record<string, { host: string }>;
  channels: Record<'raw' | 'sockjs', { messages: Record<string, unknown> }>;
  operations: Record<string, Operation>;
  components: { messages: Record<string, Component>; schemas: Record<string, Schema> };
}

const username = `ws${randomBytes(6).toString('hex')}`;
const password = 'correct horse';
let t: TestEngine;
let listener: Listener;
let token: string;
let document: Document;
let ajv: Ajv;

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  await t.engine.identity.createNamespace({ namespace, createdBy: 'ann' });
  await t.engine.identity.createUser({ username, password, namespace, profiles: ['admin', 'user__system'], createdBy: 'ann' });
  listener = await listen({ engine: t.engine, log: pino({ level: 'silent' }), port: 0, host: '127.0.0.1' });
  await t.type('Meter', { code: { type: 'String', required: true }, n: { type: 'Integer' } }, { naturalKey: ['code'] });
  await t.program('procedures', 'PROCEDURE doubled(n Integer) return n * 2');
  await t.ask('insert', 'topics', { body: '{"name": "/meter/kept", "isReliable": true}' });
  token = (await t.engine.identity.login(username, password, 'here')).token;
  const response = await fetch(`${listener.url}/api/v1/asyncapi.json`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  document = (await response.json()) as Document;
  ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'doc', components: document.components });
});
afterAll(async () => {
  await listener[Symbol.asyncDispose]();
  await t[Symbol.asyncDispose]();
});

/** The faults of a value by the schema at a place of the document. */
function faults(place: string, value: unknown): unknown {
  ajv.validate({ $ref: `doc#${place}` }, value);
  return ajv.errors ?? [];
}
const payloadFaults = (kind: string, value: unknown): unknown => faults(`/components/messages/${kind}/payload`, value);
const nameIn = ({ $ref }: { $ref: string }): string => $ref.slice($ref.lastIndexOf('/') + 1);

test('the document is valid AsyncAPI 3, and names the host that was asked', () => {
  const schema = require('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  expect(validate(document) || validate.errors).toBe(true);
  expect(document.servers['plain']?.host).toBe(new URL(listener.url).host);
});

test('each reference leads to something', () => {
  const places = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, place]) => place!);
  const at = (place: string): unknown =>
    place.split('/').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
  expect(places.filter((place) => at(place) === undefined)).toEqual([]);
});

test('the operations are those that the service reads, and each message belongs to one', () => {
  const { operations, channels, components } = document;
  const read = [...LOGINS, ...OWN, ...Object.keys(READINGS), 'updateWhere', 'command', 'sockjsMessages'];
  const receiving = Object.entries(operations).filter(([, { action }]) => action === 'receive');
  expect(receiving.map(([name]) => name).sort()).toEqual([...read].sort());
  const used = Object.values(operations).flatMap(({ messages, reply }) => [...messages, ...(reply?.messages ?? [])].map(nameIn));
  expect([...new Set(used)].sort()).toEqual(Object.keys(components.messages).sort());
  expect(
    Object.values(channels)
      .flatMap(({ messages }) => Object.keys(messages))
      .sort(),
  ).toEqual(Object.keys(components.messages).sort());
});

test('each message has examples, which its schema allows', () => {
  for (const [kind, { examples }] of Object.entries(document.components.messages)) {
    expect(examples, kind).not.toEqual([]);
    for (const { payload } of examples) expect(payloadFaults(kind, payload), kind).toEqual([]);
  }
});

test('the schemas refuse what the service refuses', () => {
  expect(payloadFaults('update', { op: 'update', resourceName: 'Meter', object: {} })).not.toEqual([]); // no id
  expect(payloadFaults('insert', { op: 'insert', resourceName: 'Meter' })).not.toEqual([]);
  expect(payloadFaults('select', { op: 'select', resourceName: 'Meter', parameters: { where: 'n > 1' } })).not.toEqual([]);
  expect(payloadFaults('command', { op: 'explode', resourceName: 'rules' })).not.toEqual([]);
  expect(payloadFaults('session', { status: 200, headers: {}, contentType: 'application/json', body: {} })).not.toEqual([]);
});

test('frames of SockJS are those that are written', () => {
  const frames = {
    sockjsOpening: SOCKJS.opening,
    sockjsHeartbeat: SOCKJS.heartbeat,
    sockjsMessage: SOCKJS.frame('{"status":204}'),
    sockjsClosing: SOCKJS.closing(3000, 'Go away!'),
  };
  for (const [kind, frame] of Object.entries(frames)) expect(payloadFaults(kind, frame), kind).toEqual([]);
  const [example] = document.components.messages['sockjsMessages']!.examples;
  expect(SOCKJS.unframe(Buffer.from(JSON.stringify(example!.payload)), false)).toHaveLength(1);
});

/** Members of a message that its schema does not know. */
function undocumented(kind: string, message: Message): string[] {
  const { properties = {} } = document.components.messages[kind]!.payload;
  const known = Object.keys(properties);
  const body = properties['body']?.properties;
  const members = body ? Object.keys(message['body'] as object).filter((name) => !Object.hasOwn(body, name)) : [];
  return [...Object.keys(message).filter((name) => !known.includes(name)), ...members];
}

function expectKind(kind: string, message: Message): void {
  expect(payloadFaults(kind, message), `${kind}: ${JSON.stringify(message)}`).toEqual([]);
  expect(undocumented(kind, message), kind).toEqual([]);
}

const examplesOf = (kind: string): Record<string, unknown>[] => document.components.messages[kind]!.examples.map(({ payload }) => payload);
const isEvent = ({ status, body }: Message): boolean => status === 100 && Object.hasOwn(Object(body), 'value');

async function enter(): Promise<TestSocket> {
  const socket = await openTestSocket(listener.port);
  socket.send(JSON.stringify({ ...examplesOf('validate')[0], object: token }));
  expectKind('session', await socket.message(() => true));
  return socket;
}

test('logins are answered as the document says', async () => {
  await using socket = await openTestSocket(listener.port);
  socket.send(JSON.stringify({ ...examplesOf('authenticate')[0], object: { username, password: 'wrong' } }));
  expectKind('loginRefused', await socket.message(({ status }) => status === 401));
  socket.send(JSON.stringify({ ...examplesOf('authenticate')[0], object: { username, password } }));
  expectKind('session', await socket.message(({ status }) => status === 200));
});

test('the examples of requests are carried out, and answered as the document says', async () => {
  await using socket = await enter();
  const answered: string[] = [];
  for (const [name, { reply }] of Object.entries(document.operations)) {
    if (!reply?.messages.some((message) => nameIn(message) === 'answer') || name === 'unsubscribe') continue;
    for (const example of examplesOf(name)) {
      const answer = await socket.ask(example);
      if (name === 'query')
        expectKind('refusal', answer); // there is no such source
      else expectKind('answer', answer);
      answered.push(name);
    }
  }
  expect([...new Set(answered)].sort()).toEqual([...Object.keys(READINGS), 'updateWhere', 'command'].sort());
  socket.send('{');
  expectKind('refusal', await socket.message(({ status }) => status === 400));
});

test('subscriptions, events and their end come as the document says', async () => {
  await using socket = await enter();
  const [usual, persistent] = examplesOf('subscribe') as [Record<string, unknown>, Record<string, unknown>];
  expectKind('subscribed', await socket.ask(usual));
  await t.ask('insert', 'Meter', { body: '{"code": "w9", "n": 5}', custom: true });
  expectKind('event', await socket.message(isEvent));
  expectKind('answer', await socket.ask(examplesOf('unsubscribe')[0]!));

  socket.send(JSON.stringify(persistent));
  const named = await socket.message(({ body }) => Object.hasOwn(Object(body), 'subscriptionName'));
  expectKind('subscriptionNamed', named);
  const { subscriptionName } = named['body'] as { subscriptionName: string };
  expectKind('subscribed', await socket.message(({ status, body }) => status === 200 && Object.hasOwn(Object(body), 'name')));
  await t.ask('publish', 'topics', { id: '/meter/kept', body: '{"code": "w1"}' });
  const event = await socket.message((message) => isEvent(message) && Object.hasOwn(Object(message['body']), 'partitionId'));
  expectKind('event', event);
  const { partitionId, sequenceId } = event['body'] as { partitionId: number; sequenceId: number };
  const acknowledgement = { ...examplesOf('acknowledge')[0], parameters: { subscriptionName, partitionId, sequenceId } };
  expect(payloadFaults('acknowledge', acknowledgement)).toEqual([]);
  socket.send(JSON.stringify(acknowledgement));
  socket.send(JSON.stringify(examplesOf('cancel')[0]));

  await using other = await enter();
  await other.ask({ ...persistent, parameters: { requestId: 'there', subscriptionName } });
  expectKind('subscriptionEnded', await socket.message(({ body }) => (body as { op?: string } | undefined)?.op === 'unsubscribe'));
});
