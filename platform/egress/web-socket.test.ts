// What is received from a peer that sends faster than its messages are handled.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { expect, test } from 'vitest';
import { Egress, openWebSocket } from './index.ts';

const MESSAGES = 40;
const MESSAGE_BYTES = 1024 * 1024;
const ONE_TAKES_MS = 10;

test('no more is received than a little beyond what is being handled', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  server.on('connection', (peer) => {
    for (let i = 0; i < MESSAGES; i++) peer.send(Buffer.alloc(MESSAGE_BYTES));
  });
  const socket = await openWebSocket(new Egress({ allowed: ['127.0.0.0/8'] }).outletOf('main'), {
    url: new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    tls: {},
    timeoutMs: 10_000,
    mostBytes: 2 * MESSAGE_BYTES,
  });
  try {
    let [unread, mostUnread, handled] = [0, 0, 0];
    let queue = Promise.resolve();
    socket.listen({
      alive: () => undefined,
      closed: () => undefined,
      message(data) {
        unread += data.length;
        mostUnread = Math.max(mostUnread, unread);
        queue = queue.then(async () => {
          await sleep(ONE_TAKES_MS); // a slow reader
          unread -= data.length;
          handled++;
        });
        return queue;
      },
    });
    await expect.poll(() => handled, { timeout: 30_000 }).toBe(MESSAGES);
    expect(mostUnread).toBeLessThanOrEqual(4 * MESSAGE_BYTES);
  } finally {
    socket.terminate();
    server.close();
  }
});
