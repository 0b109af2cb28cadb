import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { connect } from 'node:net';
import { MongoNetworkError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endWritesWithTheirConnection } from './connection-writes.ts';
import { isUnavailable } from './errors.ts';

/** More than the buffers of both ends take: its write waits for `drain`. */
const LARGE = { insert: 'x', documents: [{ text: 'x'.repeat(12_000_000) }] };

let server: Server;
let accepted: Socket[];

beforeEach(async () => {
  endWritesWithTheirConnection();
  accepted = [];
  server = createServer({ allowHalfOpen: true }, (socket) => void accepted.push(socket.on('error', () => undefined).pause()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  for (const socket of accepted) socket.destroy();
  server.close();
});

async function open(): Promise<{ connection: Connection; socket: Socket }> {
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(socket, 'connect');
  while (accepted.length === 0) await once(server, 'connection');
  return { connection: new Connection(socket, { id: 1, generation: 0, monitorCommands: false }), socket };
}

const send = (connection: Connection, command: object): Promise<unknown> =>
  connection.command({ db: 'a', toString: () => 'a.$cmd', withCollection: () => null }, command, {}).catch((error: unknown) => error);

test('a command whose write waits for the server fails when the connection is closed', async () => {
  const { connection } = await open();
  const answer = send(connection, LARGE);
  await new Promise(setImmediate);
  connection.destroy();
  expect(await answer).toBeInstanceOf(MongoNetworkError);
});

test('a command fails whose connection is closed before its bytes are written', async () => {
  const { connection } = await open();
  const answer = send(connection, { ping: 1 });
  connection.destroy(); // the message is still being made
  expect(await answer).toBeInstanceOf(MongoNetworkError);
});

test('a command to a server that has closed its side fails as one out of reach, and the connection is closed', async () => {
  const { connection, socket } = await open();
  const ended = once(socket, 'end');
  socket.resume();
  accepted[0]?.end();
  await ended;
  const error = await send(connection, { ping: 1 });
  expect(error).toBeInstanceOf(MongoNetworkError);
  expect(isUnavailable(error)).toBe(true);
  expect(connection.error).toBeInstanceOf(MongoNetworkError);
});
