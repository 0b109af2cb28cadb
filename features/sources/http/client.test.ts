import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type AnswerRoom, Egress, ReceivedBudget } from '../../../platform/egress/index.ts';
import { openHttpServer } from '../testing/http-server.ts';
import { openHttpClient } from './index.ts';

test('a request does not time out before its deadline, whatever the phase of the coarse timer', async () => {
  await using server = await openHttpServer(() => undefined);
  await using client = await openHttpClient({ outlet: new Egress({ allowed: ['127.0.0.0/8'] }).outletOf('a') });
  const ask = { url: new URL(server.url), method: 'GET', headers: [], body: null, timeoutMs: 1_200 };
  const asked = [];
  for (let n = 0; n < 8; n++) {
    const since = performance.now();
    const waited = client.ask(ask).catch((error: unknown) => ({ error, ms: performance.now() - since }));
    asked.push(waited);
    await sleep(110);
  }
  for (const given of await Promise.all(asked)) {
    expect(given).toMatchObject({ error: { kind: 'timeout', message: 'no data within 1200 ms' } });
    expect((given as { ms: number }).ms).toBeGreaterThanOrEqual(1_190);
  }
});

test('an answer that has no room is not read on: its sender waits until another one has been handed on', async () => {
  const MIB = 1024 * 1024;
  const written = new Map<string, number>();
  await using server = await openHttpServer(({ url }, response) => {
    const piece = Buffer.alloc(MIB);
    const go = (n: number): void => {
      written.set(url, n);
      if (n < 40) response.write(piece, () => go(n + 1));
      else response.end();
    };
    go(0);
  });
  const received = new ReceivedBudget({ most: 48 * MIB, mostEach: 48 * MIB, mostOfOne: 44 * MIB, patienceMs: 60_000 });
  const outlet = new Egress({ allowed: ['127.0.0.0/8'], received }).outletOf('a');
  await using client = await openHttpClient({ outlet });
  const ask = (path: string, room: AnswerRoom) =>
    client.ask({ url: new URL(path, server.url), method: 'GET', headers: [], body: null, timeoutMs: 30_000, room });
  const [first, second, third] = [outlet.answerRoom(), outlet.answerRoom(), outlet.answerRoom()];
  expect((await ask('/1', first)).body.length).toBe(40 * MIB);
  const later = ask('/2', second);
  await expect.poll(() => received.waiting).toBe(1);
  expect(received.held).toBeLessThanOrEqual(48 * MIB);
  expect(written.get('/2')).toBeLessThan(40);
  first.clear();
  expect((await later).body.length).toBe(40 * MIB);
  const leaving = new AbortController();
  const never = client.ask({
    url: new URL('/3', server.url),
    method: 'GET',
    headers: [],
    body: null,
    timeoutMs: 30_000,
    room: third,
    signal: leaving.signal,
  });
  await expect.poll(() => received.waiting).toBe(1);
  leaving.abort();
  await expect(never).rejects.toMatchObject({ kind: 'cut' });
  for (const room of [second, third]) room.clear();
  expect([received.held, received.waiting]).toEqual([0, 0]);
});

test('what is unpacked has room, too', async () => {
  const MIB = 1024 * 1024;
  await using server = await openHttpServer((_, response) => {
    response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateRawSync(Buffer.alloc(20 * MIB)));
  });
  const received = new ReceivedBudget({ most: 30 * MIB, mostEach: 30 * MIB, mostOfOne: 25 * MIB, patienceMs: 60_000 });
  const outlet = new Egress({ allowed: ['127.0.0.0/8'], received }).outletOf('a');
  await using client = await openHttpClient({ outlet, unpacks: true });
  using room = outlet.answerRoom();
  const { body } = await client.ask({ url: new URL(server.url), method: 'GET', headers: [], body: null, timeoutMs: 30_000, room });
  expect([body.length, room.bytes, received.held]).toEqual([20 * MIB, 20 * MIB, 20 * MIB]);
});
