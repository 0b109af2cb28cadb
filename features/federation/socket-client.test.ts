// The WebSocket client of a node: its messages, and the fate of requests when the node, its token or the connection fails.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { afterEach, expect, test } from 'vitest';
import { Egress, ReceivedBudget } from '../../platform/egress/index.ts';
import { HttpFailure } from '../sources/http/index.ts';
import type { Carriage, NodeRequest } from './node-client.ts';
import { SocketNodeClient } from './socket-client.ts';

type Message = Record<string, unknown> & { parameters: Record<string, unknown> };
type Respond = (message: Message, socket: WebSocket) => void;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => (server.closeAllConnections(), server.close()));
  return (server.address() as AddressInfo).port;
}

/** A node of this test, which records received messages. */
interface Node {
  readonly port: number;
  readonly client: SocketNodeClient;
  readonly received: Message[];
  readonly logins: () => number;
  readonly peers: Set<WebSocket>;
}

async function openNode(respond: Respond): Promise<Node> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, path: '/api/v1/wsock/websocket' });
  const received: Message[] = [];
  let logins = 0;
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      if (message['resourceName'] === 'credentials') {
        logins++;
        const right = (message['object'] as { password?: string }).password === 'right';
        return socket.send(JSON.stringify(right ? { status: 200, body: { accessToken: 't' } } : { status: 401, body: [{ code: 'x' }] }));
      }
      received.push(message);
      respond(message, socket);
    });
  });
  const port = await listening(http);
  return { port, client: clientOf(port), received, logins: () => logins, peers: server.clients };
}

const budget = new ReceivedBudget();
const outlet = new Egress({ allowed: ['127.0.0.0/8'], received: budget }).outletOf('main');

function clientOf(port: number, password = 'right', connectMs?: number): SocketNodeClient {
  const credentials = async (): Promise<{ username: string; password: string }> => ({ username: 'ann', password });
  const uri = new URL(`ws://127.0.0.1:${port}/ignored?x#y`);
  const client = new SocketNodeClient('far', { uri, outlet, tls: async () => ({}), credentials }, connectMs);
  closing.push(() => client.close());
  return client;
}

const answer = (socket: WebSocket, { parameters }: Message, rest: object): void =>
  socket.send(JSON.stringify({ headers: { 'X-Request-Id': parameters['requestId'], 'X-Cascade-Values': 'typed' }, ...rest }));

const carriage = (more: Partial<Carriage> = {}): Carriage => ({
  hop: 2,
  signal: new AbortController().signal,
  deadline: performance.now() + 60_000,
  ...more,
});
const READ: NodeRequest = { op: 'select', resource: 'Pump', isType: true, parameters: { where: '{"a":1}', limit: '5' } };

test('a request is a message with the headers of federation in its parameters', async () => {
  const { client, received } = await openNode((message, socket) =>
    answer(socket, message, { status: 200, body: [{ at: { $long: '9007199254740993' } }] }),
  );
  const found = await client.ask({ ...READ, requestId: 'r-1' }, carriage());
  expect(found).toEqual({ value: [{ at: 9_007_199_254_740_993n }], count: null, isPartial: false });
  const [{ parameters, ...message }] = received as [Message];
  expect(message).toEqual({ op: 'select', resourceName: 'Pump' });
  expect(parameters).toMatchObject({
    where: { a: 1 },
    limit: 5,
    'X-Cascade-Federation': 1,
    'X-Cascade-Hop': 2,
    'X-Cascade-Values': 'typed',
    'X-Cascade-Request-Id': 'r-1',
  });
});

test('all requests share one socket and one login, whatever the order of the answers', async () => {
  const waiting: (() => void)[] = [];
  const { client, logins, peers } = await openNode((message, socket) => {
    waiting.push(() => answer(socket, message, { status: 200, body: message['resourceId'] }));
    if (waiting.length === 3) for (const go of waiting.reverse()) go();
  });
  const asked = ['a', 'b', 'c'].map((id) => client.ask({ op: 'execute', resource: 'procedures', id, object: '[]' }, carriage()));
  expect((await Promise.all(asked)).map(({ value }) => value)).toEqual(['a', 'b', 'c']);
  expect([logins(), peers.size, client.state]).toEqual([1, 1, 'reachable']);
});

test('the first element of a deletion’s answer is the count', async () => {
  const { client } = await openNode((message, socket) => answer(socket, message, { status: 200, body: [{ count: 3 }] }));
  expect(
    await client.ask({ op: 'delete', resource: 'Pump', isType: true, parameters: { where: '{}', count: 'true' } }, carriage()),
  ).toMatchObject({
    count: 3,
    value: [],
  });
});

test('a refused login is an authentication error, and the next request logs in again', async () => {
  const { port, logins } = await openNode(() => undefined);
  const stranger = clientOf(port, 'wrong');
  for (let tries = 1; tries <= 2; tries++) {
    await expect(stranger.ask(READ, carriage())).rejects.toMatchObject({ code: 'io.service.security.authentication.failed' });
    expect(logins()).toBe(tries);
  }
});

test('a 401 is retried once, and a second one is the error', async () => {
  let refusals = 1;
  const { client } = await openNode((message, socket) =>
    refusals-- > 0
      ? answer(socket, message, { status: 401, body: [{ code: 'a.b', message: 'm', params: [] }] })
      : answer(socket, message, { status: 200, body: 1 }),
  );
  expect((await client.ask(READ, carriage())).value).toBe(1);
  refusals = 2;
  await expect(client.ask(READ, carriage())).rejects.toMatchObject({ code: 'a.b' });
});

test('a procedure that fails with a 401 of its own is not carried out twice', async () => {
  const code = 'io.service.security.authentication.failed';
  const { client, received } = await openNode((message, socket) =>
    answer(socket, message, { status: 401, body: [{ code, message: 'm', params: [] }] }),
  );
  await expect(client.ask({ op: 'execute', resource: 'procedures', id: 'p', object: '[]' }, carriage())).rejects.toMatchObject({ code });
  expect(received).toHaveLength(1);
});

test('a node that answers no login is given up, and does not hold up who closes the client', async () => {
  const http = createServer();
  let logins = 0;
  new WebSocketServer({ server: http }).on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      if (message['resourceName'] !== 'credentials') return answer(socket, message, { status: 200, body: 1 });
      if (++logins === 2) socket.send(JSON.stringify({ status: 200, body: { accessToken: 't' } }));
    }),
  );
  const port = await listening(http);
  const client = clientOf(port, 'right', 1_000);
  await expect(client.ask(READ, carriage())).rejects.toMatchObject({ kind: 'unconnected' });
  expect((await client.ask(READ, carriage())).value).toBe(1);
  const patient = clientOf(port);
  const unanswered = expect(patient.ask(READ, carriage())).rejects.toBeInstanceOf(HttpFailure);
  await expect.poll(() => logins).toBe(3);
  await patient.close();
  await unanswered;
});

test('when the token ends, repeatable requests are sent again after a new login, and requests that may have taken effect fail', async () => {
  let isFirst = true;
  const { client, logins } = await openNode((message, socket) => {
    if (message['op'] === 'execute') return;
    if (!isFirst) return answer(socket, message, { status: 200, body: 'again' });
    isFirst = false;
    socket.close(4401, 'the token was ended');
  });
  const done = client.ask({ op: 'execute', resource: 'procedures', id: 'p', object: '[]' }, carriage());
  const read = client.ask(READ, carriage());
  await expect(done).rejects.toBeInstanceOf(HttpFailure);
  expect((await read).value).toBe('again');
  expect(logins()).toBe(2);
});

test('the loss of the socket fails requests in progress, and the next request opens another', async () => {
  const { client, peers } = await openNode((message, socket) =>
    message['op'] === 'publish' ? socket.terminate() : answer(socket, message, { status: 200, body: 1 }),
  );
  await expect(client.ask({ op: 'publish', resource: 'topics', id: '/t', object: '1' }, carriage())).rejects.toBeInstanceOf(HttpFailure);
  expect(client.state).toBe('unreachable');
  expect((await client.ask(READ, carriage())).value).toBe(1);
  expect(peers.size).toBe(1);
});

test('an aborted request is cancelled, and so is one past its deadline', async () => {
  const { client, received } = await openNode(() => undefined);
  const unwanted = new AbortController();
  const asked = client.ask(READ, carriage({ signal: unwanted.signal }));
  await expect.poll(() => received.length).toBe(1);
  unwanted.abort();
  await expect(asked).rejects.toMatchObject({ kind: 'cut' });
  await expect(client.ask(READ, carriage({ deadline: performance.now() + 50 }))).rejects.toMatchObject({ kind: 'timeout' });
  await expect.poll(() => received.filter(({ op }) => op === 'cancel').map(({ resourceId }) => resourceId)).toEqual(['1', '2']);
});

test.each([
  ['no JSON', 'none'],
  ['no object', '[]'],
])('an answer that is %s is a protocol error', async (_, text) => {
  const { client } = await openNode((__, socket) => socket.send(text));
  await expect(client.ask(READ, carriage())).rejects.toMatchObject({ code: 'cascade.federation.protocol' });
});

test('a server without WebSocket is a protocol error', async () => {
  const client = clientOf(await listening(createServer((_, response) => response.writeHead(404).end())));
  await expect(client.ask(READ, carriage())).rejects.toMatchObject({ code: 'cascade.federation.protocol' });
});

test('a request that is too long for a message is not sent, since it would end the socket', async () => {
  const { client, received } = await openNode((message, socket) => answer(socket, message, { status: 200, body: 1 }));
  const long = JSON.stringify('x'.repeat(10 * 1024 * 1024));
  await expect(client.ask({ op: 'insert', resource: 'Pump', isType: true, object: long }, carriage())).rejects.toMatchObject({
    code: 'cascade.request.body.too.large',
  });
  expect(received).toEqual([]);
});

test('a long answer is counted until its statement gives it back, one that nobody waits for any more is not', async () => {
  let answerLeft = (): void => undefined;
  const { client, received } = await openNode((message, socket) => {
    if (message['op'] !== 'select') return answerLeft(); // the request before is cancelled
    const give = (): void => answer(socket, message, { status: 200, body: ['a'.repeat(2_000_000)] });
    if (received.length === 2) answerLeft = give;
    else give();
  });
  const room = outlet.answerRoom();
  await client.ask(READ, carriage({ room }));
  expect([room.bytes > 2_000_000, budget.held]).toEqual([true, room.bytes]);
  room.clear();
  expect(budget.held).toBe(0);
  const leaving = new AbortController();
  const left = client.ask(READ, carriage({ room, signal: leaving.signal }));
  await expect.poll(() => received.length).toBe(2);
  leaving.abort();
  await expect(left).rejects.toThrow('not wanted');
  await client.ask(READ, carriage()); // answers come in turn: the one before is there
  expect([room.bytes, budget.held]).toEqual([0, 0]);
});
