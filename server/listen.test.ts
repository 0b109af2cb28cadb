// The life of the listening socket: a port in use, open requests at the end, clients that disconnect.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ApiReply } from '../resources/api.ts';
import { urlOf } from './listen.ts';
import { openFakeServer, TOKEN } from './testing/fake-engine.ts';

/** An answer that waits until the test releases it. */
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

test('a port in use is an error that says so', async () => {
  await using server = await openFakeServer();
  await expect(openFakeServer({ port: server.port })).rejects.toThrow(`Port ${server.port} cannot be listened on`);
});

test.each([
  ['0.0.0.0', 'http://localhost:8080'],
  ['::', 'http://localhost:8080'],
  ['::1', 'http://[::1]:8080'],
  ['2001:db8::7', 'http://[2001:db8::7]:8080'],
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['plant.example', 'http://plant.example:8080'],
])('a service that listens on %s has an address that is a URL', (host, url) => {
  expect(urlOf(host, 8080)).toBe(url);
  expect(new URL(url).port).toBe('8080');
});

test('closing finishes open requests, accepts no new ones and ends the connections', async () => {
  const server = await openFakeServer();
  const { answer, begun, release } = held();
  server.answer = answer;
  const open = server.resource('types');
  await begun;
  const closed = server[Symbol.asyncDispose]();
  // A client that connected before the listening socket was closed is answered; the next one is refused.
  for (let isOpen = true; isOpen; )
    isOpen = await fetch(`${server.url}/healthz`).then(
      ({ status }) => expect(status).toBe(500) === undefined,
      () => false,
    );
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

test('a client that disconnects before its answer harms no other, and is counted apart', async () => {
  await using server = await openFakeServer();
  const { answer, begun, release } = held();
  server.answer = answer;
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`GET /api/v1/resources/types HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
  await begun;
  socket.destroy();
  await expect.poll(() => server.requests[0]?.isGone?.()).toBe(true);
  release({ status: 200, body: '[]' });
  const counted = async () => (await fetch(`${server.url}/metrics`)).text();
  await expect.poll(counted).toContain('cascade_http_requests_total{method="GET",resource="types",status="499"} 1');
  expect(await counted()).not.toContain('resource="types",status="200"');
});

test('a client that disconnects within its body does not keep the service from closing', async () => {
  const server = await openFakeServer();
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`POST /api/v1/resources/types HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 9\r\n\r\n{"a"`);
  await sleep(50);
  socket.destroy();
  await sleep(50);
  await server[Symbol.asyncDispose]();
  expect(server.requests).toEqual([]);
});

/** Sends requests one after the other on one connection, each after the last answer, until the connection ends. */
function backToBack(port: number): { begun: Promise<void>; ended: Promise<{ answered: number; rest: string; error: string | null }> } {
  const request = `GET /api/v1/resources/types HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<{ answered: number; rest: string; error: string | null }>((resolve) => {
    let answered = 0;
    let rest = '';
    let error: string | null = null;
    socket.on('data', (data) => {
      rest += data.toString('latin1');
      const head = rest.indexOf('\r\n\r\n');
      if (head < 0 || rest.length < head + 6) return; // every body here is []
      const isLast = /\r\nconnection: close\r\n/i.test(rest.slice(0, head + 2));
      rest = rest.slice(head + 6);
      if (++answered === 3) begin();
      if (!isLast) socket.write(request);
    });
    socket.on('error', (err) => {
      error = err.message;
    });
    socket.on('close', () => resolve({ answered, rest, error }));
  });
  socket.write(request);
  return { begun, ended };
}

test('a client that sends requests while the service stops gets an answer to each, and the connection ends after the last', async () => {
  const server = await openFakeServer();
  server.answer = async () => {
    await sleep(Math.random() * 4);
    return { status: 200, body: '[]' };
  };
  const clients = Array.from({ length: 16 }, () => backToBack(server.port));
  await Promise.all(clients.map(({ begun }) => begun));
  await server[Symbol.asyncDispose]();
  const ended = await Promise.all(clients.map(({ ended }) => ended));
  expect(ended.map(({ rest, error }) => ({ rest, error }))).toEqual(clients.map(() => ({ rest: '', error: null })));
  expect(ended.reduce((sum, { answered }) => sum + answered, 0)).toBe(server.requests.length);
});

test('a connection that was opened just before the stop is served, or ended without an error', async () => {
  const server = await openFakeServer();
  const clients = Array.from({ length: 16 }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(clients.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  const ends = clients.map(
    (socket) =>
      new Promise<string>((resolve) => {
        let text = '';
        socket.on('data', (data) => {
          text += data.toString();
        });
        socket.on('error', (error) => resolve(error.message));
        socket.on('close', () => resolve(text));
      }),
  );
  const stopped = server[Symbol.asyncDispose]();
  for (const socket of clients) socket.write(`GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n`);
  for (const end of await Promise.all(ends)) {
    expect(end).toMatch(/^HTTP\/1\.1 500 /);
    expect(end).toMatch(/\r\nconnection: close\r\n/i);
    expect(end).toContain('{"status":"draining"}');
  }
  await stopped;
});
