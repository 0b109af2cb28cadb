import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Egress } from './index.ts';
import { canonical, isPublic, Networks } from './networks.ts';

let server: Server;
let port: number;
beforeAll(async () => {
  server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => void server.close());

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd12::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.1.2.3',
  '::127.0.0.1',
  '::ffff:0:127.0.0.1',
  '::ffff:0:a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '192.0.2.1',
  '198.18.0.1',
  '2001:db8::1',
])('%s is not reached', (address) => {
  expect(isPublic(canonical(address))).toBe(false);
  expect(() => new Egress().outletOf('a').checkLiteral(address)).toThrow('may not be reached');
});

test.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
  '%s is public',
  (address) => {
    expect(isPublic(canonical(address))).toBe(true);
  },
);

test('literal addresses are refused before anything is connected, names when they are resolved', () => {
  const outlet = new Egress().outletOf('a');
  for (const host of ['[::1]', '127.0.0.1', '10.0.0.1']) expect(() => outlet.checkLiteral(host)).toThrow('may not be reached');
  for (const host of ['localhost', 'a.localhost', 'db.internal']) expect(() => outlet.checkLiteral(host)).not.toThrow();
});

test('names are refused when they lead to an address that is', async () => {
  const outlet = new Egress().outletOf('a');
  await expect(outlet.connect({ host: 'localhost', port, timeoutMs: 5_000 })).rejects.toMatchObject({ failure: 'refused' });
  await expect(outlet.connect({ host: '127.0.0.1', port, timeoutMs: 5_000 })).rejects.toMatchObject({ failure: 'refused' });
  await expect(outlet.connect({ host: 'nowhere.invalid', port, timeoutMs: 5_000 })).rejects.toMatchObject({ failure: 'resolve' });
  expect(outlet.open).toBe(0);
});

test('a network that is opened is reached, and sockets are counted a namespace', async () => {
  const egress = new Egress({ allowed: ['127.0.0.0/8'], socketsPerNamespace: 2 });
  const [outlet, other] = [egress.outletOf('a'), egress.outletOf('b')];
  const target = { host: '127.0.0.1', port, timeoutMs: 5_000 };
  const sockets = [await outlet.connect(target), await outlet.connect(target)];
  await expect(outlet.connect(target)).rejects.toMatchObject({ failure: 'limit' });
  sockets.push(await other.connect(target));
  expect([outlet.open, other.open]).toEqual([2, 1]);
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  for (const socket of sockets) socket.destroy();
  await closed;
  expect([outlet.open, other.open]).toEqual([0, 0]);
});

test("the database's port stays closed, whatever is opened", async () => {
  const outlet = new Egress({ allowed: ['127.0.0.0/8', '::1'], databases: [{ host: 'localhost', port }] }).outletOf('a');
  for (const host of ['127.0.0.1', '127.0.0.2', 'localhost'])
    await expect(outlet.connect({ host, port, timeoutMs: 5_000 })).rejects.toMatchObject({ failure: 'refused' });
});

test('a connection has its time, and ends when nobody wants it', async () => {
  const outlet = new Egress({ allowed: ['127.0.0.0/8'] }).outletOf('a');
  const tls = { rejectUnauthorized: false }; // the server never answers the handshake
  await expect(outlet.connect({ host: '127.0.0.1', port, tls, timeoutMs: 30 })).rejects.toMatchObject({ failure: 'timeout' });
  const wanted = new AbortController();
  const connecting = outlet.connect({ host: '127.0.0.1', port, tls, timeoutMs: 60_000, signal: wanted.signal });
  wanted.abort();
  await expect(connecting).rejects.toMatchObject({ failure: 'connect' });
  expect(outlet.open).toBe(0);
});

test('what is no network is named', () => {
  for (const wrong of ['', '10.0.0.0/33', '10.0.0/8', 'fe80::/129', 'a', '10.0.0.0/8/8', '::1/x'])
    expect(() => new Networks([wrong])).toThrow(`'${wrong}'`);
  expect(new Networks(['10.1.2.3', 'fd00::/8']).has('fd00::7')).toBe(true);
});
