// Long answers on a WebSocket: one message in fragments, sent no faster than it is read; other messages wait behind it.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notice, Pieces } from '../../resources/api.ts';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';
import { openTestSocket, requestIdOf, type TestSocket } from '../testing/web-socket.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Counted extends Pieces {
  taken: number;
  closed: number;
}

function pieces(texts: string[], failAt = Infinity): Counted {
  const counted: Counted = {
    taken: 0,
    closed: 0,
    async next() {
      if (counted.taken === failAt) throw new Error('the store is gone');
      return texts[counted.taken++] ?? null;
    },
    close: async () => void counted.closed++,
  };
  return counted;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6_000 && !holds(); tries++) await sleep(10);
  expect(holds()).toBe(true);
}

async function enter(path?: string): Promise<TestSocket> {
  const socket = await openTestSocket(server.port, path);
  const login = JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: TOKEN });
  socket.send(path ? JSON.stringify([login]) : login);
  await socket.message(({ status }) => status === 200);
  return socket;
}

const SELECT = { op: 'select', resourceName: 'Pump' };
const KILOBYTES = 'x'.repeat(64 * 1024);

test('a long answer is one message that begins with its count', async () => {
  await using socket = await enter();
  const body = pieces(['[{"a":"ü"}', ',{"a":2}', ',{"a":3}]']);
  server.answer = () => ({ status: 200, pieces: body, count: 7 });
  expect(await socket.ask(SELECT)).toMatchObject({
    status: 200,
    contentType: 'application/json',
    body: [{ count: 7 }, { a: 'ü' }, { a: 2 }, { a: 3 }],
  });
  expect(socket.fragments).toBeGreaterThan(1);
  expect(body.closed).toBe(1);
});

test('an empty long answer is sent as a short one', async () => {
  await using socket = await enter();
  server.answer = () => ({ status: 200, pieces: pieces(['[]']), count: 0 });
  expect((await socket.ask(SELECT))['body']).toEqual([{ count: 0 }]);
});

test('in the framing of SockJS a long answer is one frame of text', async () => {
  await using socket = await enter('/api/v1/wsock/s/1/websocket');
  server.answer = () => ({ status: 200, pieces: pieces(['[{"a":"\\"ü"}', ',{"a":2}]']) });
  socket.send(JSON.stringify([JSON.stringify({ ...SELECT, parameters: { requestId: 'q' } })]));
  expect(await socket.message((message) => requestIdOf(message) === 'q')).toMatchObject({ body: [{ a: '"ü' }, { a: 2 }] });
  expect(socket.frames.every(({ opcode }) => opcode === 'text')).toBe(true);
});

test.each([undefined, '/api/v1/wsock/s/1/websocket'])('a long piece goes in parts, no character of which is cut (%s)', async (path) => {
  await using socket = await enter(path);
  const row = { a: `"${'😀'.repeat(600_000)}` };
  server.answer = () => ({ status: 200, pieces: pieces([`[${JSON.stringify(row)}`, `,${JSON.stringify({ ...row, b: 1 })}]`]) });
  const request = JSON.stringify({ ...SELECT, parameters: { requestId: 'q' } });
  const before = socket.fragments;
  socket.send(path ? JSON.stringify([request]) : request);
  const answer = await socket.message((message) => requestIdOf(message) === 'q');
  expect(answer['body']).toEqual([row, { ...row, b: 1 }]);
  expect(socket.fragments - before).toBeGreaterThan(8);
});

test('other messages wait until it is sent, in order', async () => {
  await using socket = await enter();
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const long = pieces(['[1', ',2', ']']);
  const { next } = long;
  long.next = async () => {
    if (long.taken === 2) await gate;
    return next();
  };
  const deliver = await subscribed(socket);
  server.answer = ({ resourceName }) => (resourceName === 'Long' ? { status: 200, pieces: long } : { status: 200, body: '[]' });
  socket.send(JSON.stringify({ op: 'select', resourceName: 'Long', parameters: { requestId: 'long' } }));
  await until(() => long.taken === 2);
  const short = socket.ask(SELECT);
  deliver({ kind: 'event', path: '/topics/a/publish', valueJson: '1', createdAt: 0 });
  go();
  await short;
  const order = socket.messages().map((message) => (message.status === 100 ? 'event' : requestIdOf(message)));
  expect(order.slice(-3)[0]).toBe('long');
  expect(order.slice(-3)).toContain('event');
});

test('no more parts are made than a client reads, and a client that disconnects ends the answer', async () => {
  await using socket = await enter();
  const body = pieces(['[1', ...Array<string>(10_000).fill(`,"${KILOBYTES}"`), ']']);
  server.answer = () => ({ status: 200, pieces: body });
  socket.connection.pause();
  socket.send(JSON.stringify(SELECT));
  await until(() => body.taken > 0);
  let before = -1;
  for (; before !== body.taken; await sleep(300)) before = body.taken;
  expect(body.taken).toBeLessThan(1_000);
  expect(socket.closeCode).toBeUndefined();
  socket.connection.destroy();
  await until(() => body.closed === 1);
});

test('a client that reads a long answer slowly and has too many messages waiting is closed with 1013', async () => {
  await using socket = await enter();
  const body = pieces(['[1', ...Array<string>(10_000).fill(`,"${KILOBYTES}"`), ']']);
  const deliver = await subscribed(socket);
  server.answer = () => ({ status: 200, pieces: body });
  socket.connection.pause();
  socket.send(JSON.stringify(SELECT));
  await until(() => body.taken > 0);
  for (let n = 0; n < 60 && body.closed === 0; n++) {
    deliver({ kind: 'event', path: '/topics/a/publish', valueJson: `"${'y'.repeat(1_000_000)}"`, createdAt: 0 });
    await sleep(5);
  }
  await until(() => body.closed === 1);
  socket.connection.resume();
  expect(await socket.closed()).toBe(1013);
});

test('stored events of a subscription are sent no faster than they are read, so that no backlog ends the socket', async () => {
  await using socket = await enter();
  const count = 40;
  let sent = 0;
  server.subscribe = async (_identity, _path, _options, deliver) => ({
    name: 'kept',
    close: () => undefined,
    begin: async (hasRoom) => {
      for (; sent < count; sent++) {
        deliver({ kind: 'event', path: '/topics/a/publish', valueJson: `"${'y'.repeat(1_000_000)}"`, createdAt: 0 });
        await hasRoom?.();
      }
    },
  });
  socket.connection.pause();
  socket.send(JSON.stringify({ op: 'subscribe', resourceName: 'events', resourceId: '/topics/a', parameters: { persistent: true } }));
  await until(() => sent > 0);
  socket.connection.resume();
  await until(
    () => socket.messages().filter(({ contentType }) => contentType !== undefined).length >= count + 2 || socket.closeCode !== undefined,
  );
  expect([sent, socket.closeCode]).toEqual([count, undefined]);
});

test('an answer that fails halfway ends the socket with 1011', async () => {
  await using socket = await enter();
  const body = pieces(['[1', ',2', ',3', ']'], 2);
  server.answer = () => ({ status: 200, pieces: body });
  socket.send(JSON.stringify(SELECT));
  expect(await socket.closed()).toBe(1011);
  await until(() => body.closed === 1);
  expect(server.log.some((line) => line.includes('the store is gone'))).toBe(true);
});

async function subscribed(socket: TestSocket): Promise<(notice: Notice) => void> {
  let deliver = (_: Notice): void => undefined;
  server.subscribe = async (_identity, _path, _options, given) => {
    deliver = given;
    return { close: () => undefined };
  };
  await socket.ask({ op: 'subscribe', resourceName: 'events', resourceId: '/topics/a' });
  return (notice) => deliver(notice);
}
