// Sending of a long body: no faster than it is read, closed however it ends, and never complete by mistake.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Pieces } from '../../resources/api.ts';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.log.length = 0;
});

interface Counted extends Pieces {
  taken: number;
  closed: number;
}

/** An array of so many texts, one per piece. */
function pieces(count: number, text: string, fail?: { at: number }): Counted {
  const counted: Counted = {
    taken: 0,
    closed: 0,
    async next() {
      if (counted.taken === fail?.at) throw new Error('the store is gone');
      if (counted.taken === count) return null;
      const [begin, end] = [counted.taken === 0 ? '[' : ',', counted.taken === count - 1 ? ']' : ''];
      counted.taken++;
      return `${begin}"${text}"${end}`;
    },
    close: async () => void counted.closed++,
  };
  return counted;
}

const answer = (body: Counted, more: object = {}): Counted => {
  server.answer = () => ({ status: 200, pieces: body, ...more });
  return body;
};

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6_000 && !holds(); tries++) await sleep(10);
  expect(holds()).toBe(true);
}

/** A connection that has sent its request and does not read. */
async function ask(headers = ''): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET /api/v1/resources/custom/Pump HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${TOKEN}\r\n${headers}\r\n`);
  return socket;
}

test('pieces are sent as one JSON body with the usual headers', async () => {
  const body = answer(pieces(3, 'ü'), { count: 3, truncated: true });
  const response = await server.resource('custom/Pump');
  expect(await response.json()).toEqual(['ü', 'ü', 'ü']);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('x-total-count')).toBe('3');
  expect(response.headers.get('x-result-truncated')).toBe('true');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(server.requests.at(-1)).toMatchObject({ streams: true });
  expect(body.closed).toBe(1);
});

test('each of several requests on one connection gets its own answer', async () => {
  for (let n = 1; n <= 3; n++) {
    answer(pieces(n, 'x'.repeat(100_000)));
    expect(((await (await server.resource('custom/Pump')).json()) as string[]).length).toBe(n);
  }
});

test('a client that accepts gzip gets it', async () => {
  const text = 'abc'.repeat(20_000);
  answer(pieces(20, text));
  const socket = await ask('Accept-Encoding: gzip\r\nConnection: close\r\n');
  const parts: Buffer[] = [];
  socket.on('data', (data: Buffer) => parts.push(data)).resume();
  await until(() => Buffer.concat(parts).includes('\r\n0\r\n\r\n'));
  socket.destroy();
  const all = Buffer.concat(parts);
  const head = all.subarray(0, all.indexOf('\r\n\r\n')).toString();
  expect(head.toLowerCase()).toContain('content-encoding: gzip');
  expect(JSON.parse(gunzipSync(unchunked(all.subarray(all.indexOf('\r\n\r\n') + 4))).toString())).toEqual(Array(20).fill(text));
});

test('HEAD has the headers and no body, and no piece is made', async () => {
  const body = answer(pieces(3, 'x'), { count: 3 });
  const response = await server.resource('custom/Pump', { method: 'HEAD' });
  expect([response.status, response.headers.get('x-total-count'), await response.text()]).toEqual([200, '3', '']);
  expect([body.taken, body.closed]).toEqual([0, 1]);
});

test('no more pieces are made than a client reads, and a client that disconnects ends the result', async () => {
  const body = answer(pieces(10_000, 'x'.repeat(64 * 1024))); // 640 MB: more than any buffer on the way
  const socket = await ask();
  await until(() => body.taken > 0);
  let before = -1;
  for (; before !== body.taken; await sleep(300)) before = body.taken;
  expect(body.taken).toBeLessThan(1_000);
  let bytes = 0;
  socket.on('data', (data: Buffer) => (bytes += data.length)).resume();
  await until(() => body.taken > before + 100);
  expect(bytes).toBeGreaterThan(0);
  socket.destroy();
  await until(() => body.closed === 1);
  expect(body.taken).toBeLessThan(10_000);
});

test('the connection of a body that fails is cut, and the log has the reason', async () => {
  const body = answer(pieces(9, 'x'.repeat(100_000), { at: 2 }));
  await expect((async () => (await server.resource('custom/Pump')).text())()).rejects.toThrow();
  expect(body.closed).toBe(1);
  expect(server.log.some((line) => line.includes('the store is gone'))).toBe(true);
});

test('the connection of a compressed body that fails is cut, too', async () => {
  const body = answer(pieces(9, 'x'.repeat(100_000), { at: 2 }));
  const headers = { 'Accept-Encoding': 'gzip' };
  await expect((async () => (await server.resource('custom/Pump', { headers })).text())()).rejects.toThrow();
  await until(() => body.closed === 1);
});

test('a result that is late for its request is closed', async () => {
  await using hasty = await openFakeServer({ timeoutMs: 300 });
  const body = pieces(3, 'x');
  hasty.answer = async () => {
    await sleep(600);
    return { status: 200, pieces: body };
  };
  expect((await hasty.resource('custom/Pump')).status).toBe(500);
  await until(() => body.closed === 1);
  expect(body.taken).toBe(0);
});

/** The content of a chunked body. */
function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (size === 0 || Number.isNaN(size)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
