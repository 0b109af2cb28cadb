// Look-ups of names that take long, by a resolver of the test.
import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Egress } from './index.ts';
import { Lookups } from './lookups.ts';

/** A resolver whose answers the test gives. */
function resolver() {
  const asked = new Map<string, (addresses: string[]) => void>();
  const names: string[] = [];
  const resolve = (host: string) =>
    new Promise<string[]>((answer) => {
      names.push(host);
      asked.set(host, answer);
    });
  return { resolve, names, answer: (host: string, ...addresses: string[]) => asked.get(host)?.(addresses) };
}

test('one look-up of a namespace is under way, whatever the others do; a name is looked up once for all that ask meanwhile', async () => {
  const { resolve, names, answer } = resolver();
  const lookups = new Lookups(resolve, 1);
  const slow = lookups.addressesOf('a', 'slow.example');
  const next = lookups.addressesOf('a', 'next.example');
  const same = lookups.addressesOf('a', 'NEXT.example');
  const other = lookups.addressesOf('b', 'other.example');
  expect(names).toEqual(['slow.example', 'other.example']);
  answer('other.example', '1.1.1.1');
  expect(await other).toEqual(['1.1.1.1']);
  answer('slow.example', '1.1.1.2');
  expect(await slow).toEqual(['1.1.1.2']);
  expect(names).toEqual(['slow.example', 'other.example', 'next.example']);
  answer('next.example', '1.1.1.3', '1.1.1.4');
  expect([await next, await same]).toEqual([
    ['1.1.1.3', '1.1.1.4'],
    ['1.1.1.3', '1.1.1.4'],
  ]);
});

test('a failed look-up lets the next one begin, and one that nobody waits for any more is not begun', async () => {
  const names: string[] = [];
  const { promise, reject } = Promise.withResolvers<string[]>();
  const lookups = new Lookups((host) => {
    names.push(host);
    return host === 'broken' ? promise : Promise.resolve(['1.1.1.1']);
  }, 1);
  const broken = lookups.addressesOf('a', 'broken');
  const left = lookups.addressesOf('a', 'left', () => false);
  const wanted = lookups.addressesOf('a', 'wanted');
  reject(new Error('no answer'));
  await expect(broken).rejects.toThrow('no answer');
  await expect(left).rejects.toMatchObject({ failure: 'timeout' });
  expect(await wanted).toEqual(['1.1.1.1']);
  expect(names).toEqual(['broken', 'wanted']);
});

test('a connection whose name is not looked up in time fails, and leaves the turn to others', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const { resolve, names, answer } = resolver();
  const outlet = new Egress({ allowed: ['127.0.0.0/8'], lookups: new Lookups(resolve, 1) }).outletOf('a');
  const slow = outlet.connect({ host: 'slow.example', port, timeoutMs: 30 });
  const late = outlet.connect({ host: 'late.example', port, timeoutMs: 30 });
  const good = outlet.connect({ host: 'good.example', port, timeoutMs: 60_000 });
  for (const waits of [slow, late]) await expect(waits).rejects.toMatchObject({ failure: 'timeout' });
  answer('slow.example', '127.0.0.1');
  await expect.poll(() => names).toEqual(['slow.example', 'good.example']);
  answer('good.example', '127.0.0.1');
  (await good).destroy();
  server.close();
});
