// NATS against servers that break its protocol.
import { createServer, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { listening } from '../../testing/listening.ts';
import { contextOf, NOBODY } from '../testing/context.ts';
import { openNats } from './connection.ts';

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
  vi.restoreAllMocks();
});

async function serverThat(greets: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    greets(socket);
  });
  const { port, close } = await listening(server);
  closes.push(() => {
    for (const socket of sockets) socket.destroy();
    return close();
  });
  return `nats://127.0.0.1:${port}`;
}

test.each([
  ['an INFO that is no JSON', 'INFO {"version":\r\n'],
  ['an INFO that is null', 'INFO null\r\n'],
  ['an INFO without a version', 'INFO {}\r\n'],
  ['another protocol', 'HTTP/1.1 200 OK\r\n'],
])('%s ends the attempt with its reason, and nothing is printed', async (_name, greeting) => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const serverURIs = await serverThat((socket) => socket.write(greeting));
  await expect(openNats(contextOf({ serverURIs }))).rejects.toThrow('the server sent what is no NATS');
  expect(printed).not.toHaveBeenCalled();
});

test('what is no NATS ends a connection that stood', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const serverURIs = await serverThat((socket) => {
    socket.write('INFO {"version":"2.10.0","max_payload":1048576}\r\n');
    socket.on('data', (bytes) => {
      if (bytes.includes('PING')) socket.write('PONG\r\n');
      if (bytes.includes('SUB')) socket.write('RUBBISH\r\n');
    });
  });
  const context = contextOf({ serverURIs, topics: ['a'] });
  await openNats(context).catch((error: unknown) => context.lost(error));
  await expect.poll(() => context.losses.map(String)).toEqual([expect.stringContaining('the server sent what is no NATS')]);
  expect(printed).not.toHaveBeenCalled();
});

/** A server that refuses what is published on `no`, and subscriptions of `deaf`. */
const strictServer = (): Promise<string> =>
  serverThat((socket) => {
    socket.write('INFO {"version":"2.10.0","max_payload":1048576,"headers":true}\r\n');
    socket.on('data', (bytes) => {
      for (const line of bytes.toString('latin1').split('\r\n')) {
        const [command, subject = ''] = line.split(' ');
        if (command === 'HPUB' && subject === 'no') socket.write(`-ERR 'Permissions Violation for Publish to "${subject}"'\r\n`);
        if (command === 'SUB' && subject === 'deaf') socket.write(`-ERR 'Permissions Violation for Subscription to "${subject}"'\r\n`);
        if (command === 'PING') socket.write('PONG\r\n');
      }
    });
  });

test('a publish that the server refuses fails, and no other one', async () => {
  const source = await openNats(contextOf({ serverURIs: await strictServer() }));
  const publish = (topic: string): Promise<string> => source.publish!({ topic, message: 1 }, NOBODY).then(() => 'sent', codeOf);
  expect(await Promise.all(['yes', 'no', 'yes', 'no'].map(publish))).toEqual([
    'sent',
    'cascade.source.publish.failed',
    'sent',
    'cascade.source.publish.failed',
  ]);
  expect(await publish('yes')).toBe('sent');
  await source.close();
});

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);

test('a source whose subscription the server refuses does not open', async () => {
  const serverURIs = await strictServer();
  await expect(openNats(contextOf({ serverURIs, topics: ['heard', 'deaf'] }))).rejects.toThrow('Permissions Violation for Subscription');
});
