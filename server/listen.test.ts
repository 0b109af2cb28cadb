// The life of the listening socket: refusing a taken port, finishing what is open, clients that go away.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ApiReply } from '../runtime/api.ts';
import { openFakeServer, TOKEN } from './testing/fake-engine.ts';

/** An answer that waits until the test lets it go. */
function held() {
  let release = (_: ApiReply): void => undefined;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const reply = new Promise<ApiReply>((resolve) => {
    release = resolve;
  });
  const answer = (): Promise<ApiReply> => {
    begin();
    return reply;
  };
  return { answer, begun, release };
}

test('a port that is taken is an error that says so', async () => {
  await using server = await openFakeServer();
  await expect(openFakeServer({ port: server.port })).rejects.toThrow(`Port ${server.port} cannot be listened on`);
});

test('closing finishes what is open, takes nothing new and ends the connections', async () => {
  const server = await openFakeServer();
  const { answer, begun, release } = held();
  server.answer = answer;
  const open = server.resource('types');
  await begun;
  const closed = server[Symbol.asyncDispose]();
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  release({ status: 200, body: '["whole"]' });
  const response = await open;
  expect(response.headers.get('connection')).toBe('close');
  expect(await response.json()).toEqual(['whole']);
  await closed;
});

test('closing ends connections that wait for a next request', async () => {
  const server = await openFakeServer();
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await server[Symbol.asyncDispose]();
  await ended;
  expect(socket.destroyed).toBe(true);
});

test('a client that goes away before its answer harms nobody', async () => {
  await using server = await openFakeServer();
  const { answer, begun, release } = held();
  server.answer = answer;
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`GET /api/v1/resources/types HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
  await begun;
  socket.destroy();
  await sleep(50);
  release({ status: 200, body: '[]' });
  await sleep(50);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

test('a client that goes away within its body does not keep the service from closing', async () => {
  const server = await openFakeServer();
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`POST /api/v1/resources/types HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 9\r\n\r\n{"a"`);
  await sleep(50);
  socket.destroy();
  await sleep(50);
  await server[Symbol.asyncDispose]();
  expect(server.requests).toEqual([]);
});
