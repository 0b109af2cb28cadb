import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openLoop } from './open-loop.ts';

const REQUEST = Buffer.from('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');

/** A server that answers at once, with the status that `status` gives for the n-th request. */
async function serving<T>(status: (n: number) => number, use: (url: string) => Promise<T>): Promise<T> {
  let n = 0;
  const server = createServer((request, response) => {
    request.resume();
    const code = status(n++);
    if (code === 0) return void request.socket.destroy();
    response.writeHead(code, { 'Content-Length': 2 }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Blocks this process, and so the server in it. */
function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('a stall of 200 ms shows in p99.9 of the intended requests, though few were in flight', async () => {
  const stalled = { is: false };
  const result = await serving(
    (n) => {
      if (n === 200 && !stalled.is) {
        stalled.is = true;
        standStill(200);
      }
      return 200;
    },
    (url) => openLoop({ url, request: () => REQUEST, rate: 400, seconds: 1.5, connections: 2 }),
  );
  const { latencies, intended, answered, refused } = result;
  expect([intended, answered, refused, latencies.count]).toEqual([600, 600, {}, 600]);
  expect(latencies.quantile(0.999)).toBeGreaterThan(180);
  // A closed loop would have counted the stall for its two requests in flight, 0.3 %; from the intended time 40 requests waited 100 ms or more.
  expect(latencies.within([90])[0]).toBeLessThan(568);
});

test('refused, lost and unsent requests are counted as such, and all of them are in the latencies', async () => {
  const refused = await serving(
    (n) => (n % 4 === 1 ? 429 : n % 4 === 3 ? 0 : 204),
    (url) => openLoop({ url, request: () => REQUEST, rate: 400, seconds: 0.1, connections: 3 }),
  );
  expect([refused.intended, refused.answered, refused.latencies.count]).toEqual([40, 30, 40]);
  expect(refused.refused).toEqual({ 429: 10, lost: 10 });
});

test('a service that cannot be reached is an error', async () => {
  const url = await serving(
    () => 200,
    (one) => Promise.resolve(one),
  );
  await expect(openLoop({ url, request: () => REQUEST, rate: 10, seconds: 0.1, connections: 1 })).rejects.toThrow('ECONNREFUSED');
});
