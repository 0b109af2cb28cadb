// resources-and-api.md 2.15, 2.16, 6.4: how sockets begin and end, and the SockJS framing.
import { expect, test } from 'vitest';
import type { Notice } from '../../engine/index.ts';
import { openFakeServer, TOKEN } from '../testing/fake-engine.ts';
import { type Message, openTestSocket, type TestSocket } from '../testing/web-socket.ts';

const VALIDATE = JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: TOKEN });
const SESSION = '/api/v1/wsock/websocket/idsa0bui/websocket';

async function login(socket: TestSocket, text = VALIDATE): Promise<void> {
  socket.send(text);
  await socket.message(({ status }) => status === 200);
}

test('a socket without login is closed with 4401, one with login stays', async () => {
  await using server = await openFakeServer({ webSocket: { loginMs: 2_000 } });
  await using known = await openTestSocket(server.port);
  await login(known);
  await using silent = await openTestSocket(server.port);
  expect(await silent.closed()).toBe(4401);
  expect((await known.ask({ op: 'select', resourceName: 'Pump' })).status).toBe(200);
});

test('a login beyond the quota of sockets is answered with 429, and the socket closed with 4429', async () => {
  await using server = await openFakeServer();
  server.sockets = 1;
  await using first = await openTestSocket(server.port);
  await login(first);
  await using second = await openTestSocket(server.port);
  second.send(VALIDATE);
  expect((await second.message(({ status }) => status !== undefined)).status).toBe(429);
  expect(await second.closed()).toBe(4429);
  expect((await first.ask({ op: 'select', resourceName: 'Pump' })).status).toBe(200);
});

test('the server pings', async () => {
  await using server = await openFakeServer({ webSocket: { pingMs: 50 } });
  await using socket = await openTestSocket(server.port);
  expect(await socket.frame(({ opcode }) => opcode === 'ping')).toMatchObject({ opcode: 'ping' });
});

test('a socket that is silent for too long is closed', async () => {
  await using server = await openFakeServer({ webSocket: { pingMs: 2_000, silenceSeconds: 9 } });
  await using mute = await openTestSocket(server.port);
  await using alive = await openTestSocket(server.port);
  mute.answersPings = false;
  await mute.closed();
  expect(alive.closeCode).toBeUndefined();
});

test('a socket that does not read is closed with 1013', async () => {
  await using server = await openFakeServer();
  const text = JSON.stringify('x'.repeat(1_000_000));
  let deliver = (_: Notice): void => undefined;
  let closed = false;
  server.subscribe = async (_identity, _path, _options, given) => {
    deliver = given;
    return { close: () => void (closed = true) };
  };
  await using socket = await openTestSocket(server.port);
  await login(socket);
  await socket.ask({ op: 'subscribe', resourceName: 'events', resourceId: '/topics/a' });
  socket.connection.pause();
  for (let n = 0; n < 60 && !closed; n++) {
    deliver({ kind: 'event', path: '/topics/a/publish', valueJson: text, createdAt: 0 });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(closed).toBe(true);
  socket.connection.resume();
  expect(await socket.closed()).toBe(1013);
});

test('the sockets of a revoked token are closed with 4401: at the next request, and at the next ping', async () => {
  await using server = await openFakeServer({ webSocket: { pingMs: 600_000 } });
  await using asks = await openTestSocket(server.port);
  await login(asks);
  server.revoked = true;
  expect((await asks.ask({ op: 'select', resourceName: 'Pump' })).status).toBe(401);
  expect(await asks.closed()).toBe(4401);
  await using pinging = await openFakeServer({ webSocket: { pingMs: 400 } });
  await using listens = await openTestSocket(pinging.port);
  await login(listens);
  pinging.revoked = true;
  expect(await listens.closed()).toBe(4401);
});

test('stopping waits for open requests, refuses new ones and closes sockets in order', async () => {
  const server = await openFakeServer();
  await using raw = await openTestSocket(server.port);
  await using sockjs = await openTestSocket(server.port, SESSION);
  await login(raw);
  let release = (): void => undefined;
  server.answer = () =>
    new Promise((resolve) => {
      release = () => resolve({ status: 200, body: '["whole"]' });
    });
  const open = raw.ask({ op: 'select', resourceName: 'Pump' });
  for (const until = Date.now() + 60_000; server.requests.length === 0 && Date.now() < until; ) await new Promise((r) => setTimeout(r, 5));
  const stopped = server[Symbol.asyncDispose]();
  expect((await raw.ask({ op: 'select', resourceName: 'Pump' })).status).toBe(500);
  release();
  expect((await open)['body']).toEqual(['whole']);
  expect(await raw.closed()).toBe(1001);
  await sockjs.frame(({ data }) => data.toString() === 'c[3000,"Go away!"]');
  await stopped;
});

test('SockJS: info, o, messages in arrays both ways, h', async () => {
  await using server = await openFakeServer({ webSocket: { heartbeatMs: 60 } });
  const info = await fetch(`${server.url}/api/v1/wsock/info`);
  expect(info.headers.get('access-control-allow-origin')).toBe('*');
  expect(await info.json()).toEqual({
    websocket: true,
    origins: ['*:*'],
    cookie_needed: false,
    entropy: expect.any(Number) as number,
  });
  await using socket = await openTestSocket(server.port, SESSION);
  await login(socket, JSON.stringify([VALIDATE]));
  expect(socket.frames[0]).toMatchObject({ opcode: 'text', data: Buffer.from('o') });
  const asked = ['a', 'b'].map((requestId) => JSON.stringify({ op: 'select', resourceName: 'Pump', parameters: { requestId } }));
  socket.send(JSON.stringify(asked));
  const frame = await socket.frame(({ data }) => data.includes('X-Request-Id'));
  expect(frame.opcode).toBe('text');
  expect(frame.data.toString()).toBe(
    `a[${JSON.stringify('{"status":200,"headers":{"X-Request-Id":"a"},"contentType":"application/json","body":[]}')}]`,
  );
  await socket.frame(({ data }) => data.toString() === 'h');
});

test('SockJS: a missing login and a malformed frame close with c', async () => {
  await using server = await openFakeServer({ webSocket: { loginMs: 150 } });
  await using silent = await openTestSocket(server.port, SESSION);
  await silent.frame(({ data }) => data.toString() === 'c[4401,"login expected"]');
  expect(await silent.closed()).toBe(4401);
  await using patient = await openFakeServer();
  await using broken = await openTestSocket(patient.port, SESSION);
  broken.send('');
  broken.send('[1]');
  expect(await broken.closed()).toBe(1002);
});

test('SockJS: limits are those of messages, however long the frame is in which they are escaped', async () => {
  await using server = await openFakeServer({ bodyLimitBytes: 400_000 });
  const quotes = (count: number): string => JSON.stringify({ ...JSON.parse(VALIDATE), parameters: { note: '"'.repeat(count) } });
  await using socket = await openTestSocket(server.port, SESSION);
  await login(socket, JSON.stringify([quotes(7_000)])); // 14 kB, in a frame of 28
  const inserting = (count: number): string =>
    JSON.stringify({ op: 'insert', resourceName: 'Pump', object: '"'.repeat(count), parameters: { requestId: count } });
  const frame = JSON.stringify([inserting(150_000), inserting(1)]);
  expect(frame.length).toBeGreaterThan(600_000);
  socket.send(frame);
  const isAnswer = (count: number) => (message: Message) => JSON.stringify(message['headers']) === `{"X-Request-Id":${count}}`;
  await socket.message(isAnswer(150_000));
  await socket.message(isAnswer(1));
  expect(server.requests.map(({ object }) => String(object).length)).toEqual([150_000, 1]);
  socket.send(JSON.stringify([inserting(210_000)]));
  expect(await socket.closed()).toBe(1009);
  for (const text of [quotes(9_000), 'x'.repeat(100_000)]) {
    await using early = await openTestSocket(server.port, SESSION);
    early.send(JSON.stringify([text]));
    expect(await early.closed()).toBe(1008);
  }
  await using whole = await openTestSocket(server.port, SESSION);
  await login(whole, JSON.stringify([VALIDATE]));
  whole.send(`["${'x'.repeat(100_000)}"`);
  expect(await whole.closed()).toBe(1002);
});

test('other transports, other addresses and plain requests are 404', async () => {
  await using server = await openFakeServer();
  for (const path of ['websocket/idsa0bui/xhr', 'websocket/idsa0bui/websocket', 'websocket', 'iframe.html'])
    expect([path, (await fetch(`${server.url}/api/v1/wsock/${path}`)).status]).toEqual([path, 404]);
  const tooLong = `/api/v1/wsock/${'s'.repeat(33)}/a/websocket`;
  for (const path of [tooLong, `/api/v1/wsock/a/${'s'.repeat(65)}/websocket`, '/api/v1/resources/topics'])
    await expect(openTestSocket(server.port, path)).rejects.toThrow(/^40[14]$/);
});

// spec: resources-and-api.md 6.7
test('the sessions that were made for a socket end with it, of many the oldest before; that of a token that was given goes on', async () => {
  await using server = await openFakeServer();
  const PASSWORD = JSON.stringify({
    op: 'authenticate',
    resourceName: 'system.credentials',
    object: { username: 'ann', password: 'pass:wörd' },
  });
  const SUBSCRIBE = { op: 'subscribe', resourceName: 'events', resourceId: '/topics/a' };
  await using given = await openTestSocket(server.port);
  await login(given);
  await login(given, PASSWORD); // the first is that of the token
  const answers = async (count: number): Promise<void> => {
    given.send(PASSWORD);
    await expect.poll(() => given.messages().length).toBe(count);
  };
  await expect.poll(() => given.messages().length).toBe(2);
  expect(server.ended).toEqual([]);
  await given.ask(SUBSCRIBE); // under the first
  for (let count = 4; count <= 11; count++) await answers(count);
  expect(server.ended).toEqual([]); // a client that repeats its login uses what any of the answers gave
  await answers(12);
  await answers(13);
  expect(server.ended).toEqual(['own2', 'own3']);
  await given[Symbol.asyncDispose]();
  await expect.poll(() => server.ended.length).toBe(11);
  expect(new Set(server.ended).size).toBe(11);
});

test('a session whose socket has no place ends, and the sockets of a service that stops end theirs before it does', async () => {
  const server = await openFakeServer();
  server.sockets = 1;
  const PASSWORD = JSON.stringify({
    op: 'authenticate',
    resourceName: 'system.credentials',
    object: { username: 'ann', password: 'pass:wörd' },
  });
  await using first = await openTestSocket(server.port);
  await login(first, PASSWORD);
  await using second = await openTestSocket(server.port);
  second.send(PASSWORD);
  expect(await second.closed()).toBe(4429);
  expect(server.ended).toEqual(['own2']);
  await server[Symbol.asyncDispose]();
  expect(server.ended).toEqual(['own2', 'own1']);
});
