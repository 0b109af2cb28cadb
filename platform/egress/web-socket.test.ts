// What is received from a peer that sends faster than its messages are handled.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { expect, test } from 'vitest';
import { type AnswerRoom, Egress, openWebSocket, ReceivedBudget } from './index.ts';

const MESSAGES = 40;
const MESSAGE_BYTES = 1024 * 1024;
const ONE_TAKES_MS = 10;
const MOST = 16 * MESSAGE_BYTES;

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
      message(data, room) {
        unread += data.length;
        mostUnread = Math.max(mostUnread, unread);
        queue = queue.then(async () => {
          await sleep(ONE_TAKES_MS); // a slow reader
          unread -= data.length;
          handled++;
          room.clear();
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

test('a message that has no room is not received on until another one is handed on, and is refused when that takes too long', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  server.on('connection', (peer) => peer.send(Buffer.alloc(MOST)));
  for (const patienceMs of [60_000, 50]) {
    const received = new ReceivedBudget({ most: MOST + MESSAGE_BYTES, mostEach: MOST + MESSAGE_BYTES, mostOfOne: MOST, patienceMs });
    const outlet = new Egress({ allowed: ['127.0.0.0/8'], received }).outletOf('main');
    const rooms: AnswerRoom[] = [];
    const ended: (Error | null)[] = [];
    const open = async () => {
      const url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const socket = await openWebSocket(outlet, { url, tls: {}, timeoutMs: 10_000, mostBytes: 2 * MOST });
      socket.listen({
        alive: () => undefined,
        closed: (_, refused) => ended.push(refused),
        message: async (_, room) => void rooms.push(room),
      });
      return socket;
    };
    const first = await open();
    await expect.poll(() => rooms.length, { timeout: 30_000 }).toBe(1);
    const second = await open();
    if (patienceMs > 1_000) {
      await expect.poll(() => second.isHeldUp, { timeout: 30_000 }).toBe(true);
      expect([rooms.length, received.held <= MOST + MESSAGE_BYTES]).toEqual([1, true]);
      rooms[0]?.clear();
      await expect.poll(() => rooms.length, { timeout: 30_000 }).toBe(2);
      expect(second.isHeldUp).toBe(false);
    } else {
      await expect.poll(() => ended.length, { timeout: 30_000 }).toBe(1);
      expect(ended[0]).toMatchObject({ code: 'cascade.quota.exceeded' });
    }
    for (const socket of [first, second]) socket.terminate();
    for (const room of rooms) room.clear();
    await expect.poll(() => received.held).toBe(0);
  }
  server.close();
});
