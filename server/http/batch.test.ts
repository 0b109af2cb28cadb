// resources-and-api.md 2.14 and the public instances of 1.1: the requests that reach the engine, and their identity.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { countTurns } from '../../platform/structures/testing/count-turns.ts';
import { batch as answerBatch } from './batch.ts';
import type { HttpRequest } from './types.ts';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.requests.length = 0;
  server.answer = () => ({ status: 200, body: '[]' });
});

type Reply = { status: number; headers: Record<string, string>; body?: unknown };
async function batch(
  requests: unknown[],
  headers: Record<string, string> = { Authorization: `Bearer ${TOKEN}` },
  query = '',
): Promise<Reply[]> {
  const response = await fetch(`${server.url}/api/v1/batch${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(requests),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Reply[];
}

test('each request has the identity of the batch, or its own', async () => {
  const replies = await batch([
    { uri: '/types' },
    { uri: 'types', headers: { authorization: 'Bearer nobody' } },
    { uri: '/types?token=nobody' },
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 401, 401]);
  expect((await batch([{ uri: '/types' }], {}, `?token=${TOKEN}`)).map(({ status }) => status)).toEqual([200]);
});

test('the target namespace of a batch applies to its requests, unless they name one', async () => {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'X-Target-Namespace': 'plant' };
  await batch([{ uri: '/types' }, { uri: '/types', headers: { 'X-Target-Namespace': 'main' } }], headers);
  expect(server.requests.map(({ identity }) => identity.namespace).sort()).toEqual(['main', 'plant']);
});

test('a target namespace is named by header or parameter, of a batch and of its requests', async () => {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const namespaces = () => server.requests.splice(0).map(({ identity }) => identity.namespace);
  const one = async (query: string, more: Record<string, string>, uri: string) => {
    await batch([{ uri }], { ...headers, ...more }, query);
    return namespaces();
  };
  expect(await one('?targetNamespace=plant', {}, '/types')).toEqual(['plant']);
  expect(await one('?targetNamespace=plant', {}, '/types?targetNamespace=main')).toEqual(['main']);
  expect(await one('', { 'X-Target-Namespace': 'plant' }, '/types?targetNamespace=main')).toEqual(['main']);
});

test('a malformed namespace of one request is an error of that request', async () => {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'X-Target-Namespace': 'plant' };
  const malformed = ['/types?targetNamespace=%zz', '/types?targetNamespace=main&targetNamespace=plant'];
  const replies = await batch([{ uri: '/types' }, ...malformed.map((uri) => ({ uri }))], headers);
  expect(replies.map(({ status }) => status)).toEqual([200, 400, 400]);
});

test('what changes something in a batch with a request id has an id of its own there, or the one that it names', async () => {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'X-Cascade-Request-Id': 'whole' };
  const named = { method: 'POST', uri: '/topics//b', headers: { 'x-cascade-request-id': 'own' } };
  await batch([{ uri: '/types' }, { method: 'POST', uri: '/topics//a' }, { method: 'DELETE', uri: '/rules/r' }, named], headers);
  const ids = server.requests.map(({ op, resourceName, requestId }) => [op, resourceName, requestId]);
  expect(ids.sort()).toEqual([
    ['delete', 'rules', 'whole\n2'],
    ['publish', 'topics', 'own'],
    ['publish', 'topics', 'whole\n1'],
    ['select', 'types', undefined],
  ]);
});

test('answers have the order of the requests, with the headers of each result', async () => {
  server.answer = async ({ resourceName }) => {
    if (resourceName === 'rules') await new Promise((resolve) => setTimeout(resolve, 20));
    return resourceName === 'topics' ? { status: 204 } : { status: 200, body: `["${resourceName}"]`, count: 1 };
  };
  expect(await batch([{ uri: '/rules' }, { uri: '/types' }, { method: 'DELETE', uri: '/topics?where={}' }])).toEqual([
    { status: 200, headers: { 'X-Total-Count': '1', 'Content-Type': 'application/json' }, body: ['rules'] },
    { status: 200, headers: { 'X-Total-Count': '1', 'Content-Type': 'application/json' }, body: ['types'] },
    { status: 204, headers: {} },
  ]);
});

test('a long answer comes in pieces, whole and in its order', async () => {
  server.answer = ({ resourceName }) => ({ status: 200, body: JSON.stringify([resourceName.repeat(100_000)]) });
  const names = ['rules', 'types', 'topics'];
  expect((await batch(names.map((name) => ({ uri: `/${name}` })))).map(({ body }) => body)).toEqual(
    names.map((name) => [name.repeat(100_000)]),
  );
  const response = await fetch(`${server.url}/api/v1/batch`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' },
    body: JSON.stringify([{ uri: '/rules' }]),
  });
  expect(response.headers.get('content-length')).toBeNull();
  await response.arrayBuffer();
});

test('requests of a batch have the smaller bound of rows, and are never answered in pieces', async () => {
  await batch([{ uri: '/custom/Pump' }]);
  expect(server.requests[0]).toMatchObject({ streams: false, parameters: { mostRows: 1_000 } });
});

test('a text with another content type than JSON is a program, everything else is JSON', async () => {
  await batch([
    { method: 'POST', uri: '/rules', body: 'RULE r …', headers: { 'content-type': 'text/plain' } },
    { method: 'POST', uri: '/topics//a', body: 'text' },
    { method: 'POST', uri: '/procedures/p' },
  ]);
  expect(server.requests.map(({ text, object }) => text ?? object)).toEqual(['RULE r …', 'text', undefined]);
});

test('public instances are requested without an identity, in the namespace of the address', async () => {
  const response = await fetch(`${server.url}/api/v1/resources/public/plant/procedures/My.open`, {
    method: 'POST',
    body: '[1]',
    headers: { 'Content-Type': 'application/json', 'X-Cascade-Request-Id': 'one' },
  });
  expect(response.status).toBe(200);
  expect(server.requests[0]).toMatchObject({
    op: 'execute',
    resourceName: 'procedures',
    resourceId: 'My.open',
    publicOnly: true,
    identity: { username: 'publicExecutor', namespace: 'plant', profiles: [] },
  });
  expect(server.requests[0]!.requestId).toBeUndefined();
});

test.each(['public/main', 'public/main/procedures', 'public/main/procedures/', 'public//procedures/x'])(
  '%s is no address',
  async (path) => {
    expect((await fetch(`${server.url}/api/v1/resources/${path}`)).status).toBe(404);
    expect(server.requests).toEqual([]);
  },
);

test('others have turns while the body of a request is made, which is the same', async () => {
  const list = Array.from({ length: 100_000 }, (_, index) => index);
  const whole = Buffer.from(JSON.stringify([{ method: 'POST', uri: '/custom/Vast', body: { list, r: 1 } }]));
  const outer = { method: 'POST', path: '/api/v1/batch', query: '', headers: new Map(), address: '', peer: '', body: () => whole };
  let turns = 0;
  let body = '';
  await answerBatch(outer as unknown as HttpRequest, 'main', async (one) => {
    using count = countTurns();
    body = Buffer.from(await one.body()).toString();
    turns = count.turn;
    return { status: 200 };
  });
  expect(body).toBe(JSON.stringify({ list, r: 1 }));
  expect(turns).toBeGreaterThan(2);
});

test('what is a page for a browser is data within a batch, whose answer is always JSON', async () => {
  server.answer = () => ({ status: 200, body: '{"title":"a","category":"","payload":{}}' });
  const [part] = await batch([{ uri: '/custom/ArsPayloadMessage/0123456789abcdef01234567/preview' }]);
  expect([part!.headers['Content-Type'], part!.body]).toEqual(['application/json', { title: 'a', category: '', payload: {} }]);
});
