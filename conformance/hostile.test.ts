// What nobody should send, byte by byte on sockets of our own, against a real service: each gets its precise answer, and the service lives.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RestClient, type StartedService, startService } from './client/index.ts';

const MEGABYTE = 1024 * 1024;
let service: StartedService;
let client: RestClient;
let slow: Socket[];

beforeAll(async () => {
  service = await startService();
  client = new RestClient(service.url);
  await client.login(service.user, service.password);
  const properties = { s: { type: 'String' }, i: { type: 'Integer' }, r: { type: 'Real' }, o: { type: 'Object' } };
  expect((await client.send('POST', '/types', { body: { name: 'Prey', properties } })).status).toBe(200);
  // Open from the beginning on: while everything else is tried, these never end what they have begun.
  slow = await Promise.all(Array.from({ length: 100 }, () => opened()));
  for (const socket of slow) socket.write('POST /api/v1/resources/custom/Prey HTTP/1.1\r\nHost: x\r\nContent-Le');
});

afterAll(async () => {
  client.close();
  for (const socket of slow) socket.destroy();
  await service[Symbol.asyncDispose]();
});

async function opened(): Promise<Socket> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined); // a cut connection is an answer, too
  await once(socket, 'connect');
  return socket;
}

/** All that comes back until the connection ends or the answer is whole; sends as fast as it is taken. */
async function exchange(...parts: (string | Uint8Array)[]): Promise<string> {
  const socket = await opened();
  let answer = '';
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('data', (data: Buffer) => {
      answer += data.toString('latin1');
      const [head = '', body] = answer.split('\r\n\r\n', 2);
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      if (body !== undefined && length !== undefined && body.length >= Number(length)) resolve();
    });
  });
  const sent = (async () => {
    for (const part of parts) {
      if (socket.destroyed) return;
      if (!socket.write(part)) await Promise.race([once(socket, 'drain'), ended]);
    }
  })();
  await Promise.race([ended, sent.then(() => ended)]);
  socket.destroy();
  return answer;
}

const head = (method: string, path: string, headers: Record<string, string | number> = {}): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${client.token}`]
    .concat(Object.entries(headers).map(([name, value]) => `${name}: ${value}`))
    .join('\r\n') + '\r\n\r\n';

const PREY = '/api/v1/resources/custom/Prey';
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Status and the first code of what a body of bytes is answered with. */
async function posted(body: string | Uint8Array, headers: Record<string, string> = JSON_TYPE): Promise<string> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return reported(await exchange(head('POST', PREY, { ...headers, 'Content-Length': bytes.length }), bytes));
}

function reported(answer: string): string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'cut';
  const [, code = '', params = ''] = /"code":"([^"]+)".*?"params":(\[.*?\])/.exec(answer) ?? [];
  return [status, code.replace('cascade.', ''), params].filter(Boolean).join(' ');
}

const INVALID = '400 request.body.invalid';
const bodies: [what: string, body: string | Uint8Array, answer: string | RegExp, headers?: Record<string, string>][] = [
  ['arrays in arrays', '['.repeat(200_000), /^400 request\.body\.invalid \["nesting deeper than 100",100\]$/],
  ['objects in objects', '{"o":'.repeat(50_000), /^400 request\.body\.invalid \["nesting deeper than 100",/],
  ['a number of a million digits for an Integer', `{"i":${'9'.repeat(1_000_000)}}`, /^400 type\.property\.invalid \["Prey","i"/],
  ['a number beyond all doubles', '{"r":1e400000}', /^400 type\.property\.invalid \["Prey","r"/],
  ['an exponent of a million digits', `{"r":1e${'9'.repeat(1_000_000)}}`, /^400 type\.property\.invalid \["Prey","r"/],
  ['a member twice', '{"s":1,"s":"last"}', '200'],
  ['__proto__', '{"__proto__":{"s":"x"}}', '400 type.property.name.reserved ["__proto__"]'],
  ['constructor', '{"constructor":{"prototype":{"s":"x"}}}', '400 type.property.unknown ["Prey","constructor"]'],
  ['bytes that are no UTF-8', Buffer.from('7b2273223a22ff227d', 'hex'), `${INVALID} ["invalid UTF-8",6]`],
  ['half of a surrogate pair, encoded', Buffer.from('7b2273223a22eda080227d', 'hex'), `${INVALID} ["invalid UTF-8",6]`],
  ['half of a surrogate pair, escaped', '{"s":"\\ud800"}', '400 type.property.invalid ["Prey","s","String","lone surrogate"]'],
  ['a zero byte', '{"s":"\0"}', /^400 request\.body\.invalid \["control character in a string",/],
  ['a byte order mark', '\ufeff{}', /^400 request\.body\.invalid/],
  ['two values', '{}{}', /^400 request\.body\.invalid/],
  ['nothing', '', `${INVALID} ["it is empty",0]`],
  ['blanks', ' '.repeat(MEGABYTE), /^400 request\.body\.invalid/],
  [
    'multipart, cut off',
    '--b\r\nContent-Disposition: form-data; name="x"; filename="y"\r\n\r\nhalf',
    /^400 request\.content\.type/,
    { 'Content-Type': 'multipart/form-data; boundary=b' },
  ],
  ['what says that it is gzip', '{}', `${INVALID} ["it is not gzip",0]`, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
  ['gzip, cut off', gzipSync('{"s":"x"}').subarray(0, 20), `${INVALID} ["it is not gzip",0]`, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
  ['another compression', '{}', /^400 request\.content\.type/, { ...JSON_TYPE, 'Content-Encoding': 'br' }],
  ['a million elements', `{"o":[${'1,'.repeat(999_999)}1]}`, `${INVALID} ["more than 500000 values",1000002]`],
  ['eleven megabytes', Buffer.alloc(11 * MEGABYTE, 0x20), '400 request.body.too.large [10485760]'],
];

for (const [what, body, answer, headers] of bodies)
  test(`a body with ${what}`, async () => {
    expect(await posted(body, headers)).toMatch(
      typeof answer === 'string' ? new RegExp(`^${answer.replace(/[[\]().*+?^$|\\]/g, '\\$&')}`) : answer,
    );
    await lives();
  });

test('a hundred thousand members that nobody knows are told of up to a bound', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, n]));
  const send = (body: unknown) => client.send('POST', PREY, { text: JSON.stringify(body), headers: JSON_TYPE });
  const one = await send(unknown);
  expect([one.status, (JSON.parse(one.text) as unknown[]).length]).toEqual([400, 200]);
  const many = await send(Array.from({ length: 400 }, () => unknown));
  expect([many.status, (JSON.parse(many.text) as unknown[]).length]).toEqual([400, 20_000]);
  await lives();
});

test('a hundred megabytes, in gzip or as they are', async () => {
  const bomb = gzipSync(Buffer.alloc(100 * MEGABYTE, 0x20));
  expect(await posted(bomb, { ...JSON_TYPE, 'Content-Encoding': 'gzip' })).toBe('400 request.body.too.large [10485760]');
  const parts = Array.from({ length: 100 }, () => Buffer.alloc(MEGABYTE, 0x20));
  const answer = reported(await exchange(head('POST', PREY, { ...JSON_TYPE, 'Content-Length': 100 * MEGABYTE }), ...parts));
  expect(answer).toMatch(/^(400 request\.body\.too\.large \[10485760\]|cut)$/); // who does not stop sending may miss the answer
  await lives();
});

const messages: [what: string, bytes: () => string, answer: RegExp][] = [
  ['a chunk of no length', () => `${head('POST', PREY, { 'Transfer-Encoding': 'chunked' })}ZZ\r\n`, /^400/],
  ['a chunk of too great a length', () => `${head('POST', PREY, { 'Transfer-Encoding': 'chunked' })}FFFFFFFFFFFFFFFFF\r\n`, /^400/],
  [
    'chunks and a length',
    () => `${head('POST', PREY, { 'Content-Length': 3, 'Transfer-Encoding': 'chunked' })}2\r\n{}\r\n0\r\n\r\n`,
    /^400/,
  ],
  ['a negative length', () => `${head('POST', PREY, { 'Content-Length': -1 })}{}`, /^400/],
  ['a length that is no number', () => `${head('POST', PREY, { 'Content-Length': 'much' })}{}`, /^400/],
  [
    'two lengths',
    () => head('POST', PREY, { 'Content-Length': 2 }).replace(/\r\n\r\n$/, '\r\nContent-Length: 3\r\n\r\n{} '),
    /^400 request\.body\.invalid \["two lengths",0\]/,
  ],
  ['three hundred headers', () => head('GET', PREY, Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`X-${n}`, 'y']))), /^431/],
  ['a header of a hundred kilobytes', () => head('GET', PREY, { 'X-Long': 'x'.repeat(100_000) }), /^431/],
  ['an address of seventeen kilobytes', () => head('GET', `${PREY}?x=${'y'.repeat(17_000)}`), /^400 request\.url\.too\.long \[16384\]/],
  ['an address of a hundred kilobytes', () => head('GET', `/${'x'.repeat(100_000)}`), /^431/],
  ['another protocol', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', /^(505|400|cut)/],
  ['HTTP/1.0', () => 'GET /healthz HTTP/1.0\r\n\r\n', /^505/],
  ['a method of our own', () => head('SNEAK', PREY), /^405 method\.not\.allowed/],
  ['TRACE', () => head('TRACE', PREY), /^405 method\.not\.allowed/],
];

for (const [what, bytes, answer] of messages)
  test(`a message with ${what}`, async () => {
    expect(reported(await exchange(bytes()))).toMatch(answer);
    await lives();
  });

test('a body that never ends is nobody’s, and those who never ask are let go', async () => {
  const half = await opened();
  half.write(`${head('POST', PREY, { ...JSON_TYPE, 'Content-Length': 100 })}{"s":`);
  await lives();
  half.destroy();
  await lives();
  for (const until = performance.now() + 90_000; slow.some((socket) => !socket.destroyed && !socket.readableEnded); await sleep(50)) {
    for (const socket of slow) socket.resume();
    expect(performance.now(), 'connections without a request stay open').toBeLessThan(until);
  }
});

async function lives(): Promise<void> {
  expect((await client.send('GET', '/healthz')).text).toBe('{"status":"ok"}');
  expect(service.process.exitCode).toBeNull();
}
