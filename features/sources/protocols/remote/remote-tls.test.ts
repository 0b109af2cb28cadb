// REMOTE over TLS and through proxies, with an authority and a proxy of this test (integrations.md 1.11).
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, request as requestHttp } from 'node:http';
import { connect, createServer as createTcp, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { deflateSync, gzipSync } from 'node:zlib';
import { createServer as createHttps } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../../../engine/testing/engine.ts';
import { type Authority, type Certificate, newAuthority } from '../../testing/certificates.ts';
import { openHttpServer } from '../../testing/http-server.ts';
import { listening } from '../../testing/listening.ts';

let t: TestEngine;
let ours: Authority;
let theirs: Authority;
let client: Certificate;
let uri: string;
/** A certificate of the same authority for another host. */
let misnamed: string;
const closes: (() => Promise<void>)[] = [];
let made = 0;

async function serve(certificate: Certificate): Promise<string> {
  const server = createHttps(
    { key: certificate.key, cert: certificate.cert, ca: ours.cert, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket;
      const name = socket.authorized ? socket.getPeerCertificate().subject.CN : null;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ name, headers: request.headers }));
    },
  );
  const { port, close } = await listening(server);
  closes.push(close);
  return `https://127.0.0.1:${port}`;
}

beforeAll(async () => {
  [ours, theirs] = [newAuthority('ours'), newAuthority('theirs')];
  client = ours.issue('pump-4');
  uri = await serve(ours.issue('server', '127.0.0.1'));
  misnamed = await serve(ours.issue('server', 'elsewhere.example'));
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  for (const close of closes) await close();
});

/** Queries a new source that has these options. */
async function asked(config: object, clientOptions: object): Promise<{ name?: string | null; headers?: Record<string, string> }> {
  const name = `tls${++made}`;
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'REMOTE', config: { uri, ...config, clientOptions } }) });
  return JSON.parse((await t.ask('query', 'sources', { id: name, body: '{}' })).body ?? 'null');
}

// spec: integrations.md 1.11/1-3
test('an unknown authority is refused, unless checks are off or the config names it', async () => {
  const refused = { code: 'cascade.remote.connect.failed', status: 500 };
  await expect(asked({}, {})).rejects.toMatchObject(refused);
  await expect(asked({}, { pemTrustOptions: { certValues: [theirs.cert] } })).rejects.toMatchObject(refused);
  expect(await asked({}, { trustAll: true })).toMatchObject({ name: null });
  expect(await asked({}, { pemTrustOptions: { certValues: [theirs.cert, ours.cert] } })).toMatchObject({ name: null });
  expect(await asked({}, { pemTrustOptions: { certValues: [Buffer.from(ours.cert).toString('base64')] } })).toMatchObject({ name: null });
  expect(await asked({}, { trustStoreOptions: { value: ours.pkcs12('hush'), password: 'hush' } })).toMatchObject({ name: null });
  await expect(asked({ uri: misnamed }, { pemTrustOptions: { certValues: [ours.cert] } })).rejects.toMatchObject(refused);
  expect(await asked({ uri: misnamed }, { trustAll: true })).toMatchObject({ name: null });
});

// spec: integrations.md 1.11/4-5
test('a client presents its certificate, configured as PEM or as a key store', async () => {
  const trust = { pemTrustOptions: { certValues: [ours.cert] } };
  expect(await asked({}, { ...trust, pemKeyCertOptions: { certValues: [client.cert], keyValues: [client.key] } })).toMatchObject({
    name: 'pump-4',
  });
  expect(
    await asked({}, { ...trust, keyStoreOptions: { value: client.pkcs12('hush', 'one'), password: 'hush', alias: 'one' } }),
  ).toMatchObject({ name: 'pump-4' });
  const strange = theirs.issue('pump-5');
  expect(await asked({}, { ...trust, pemKeyCertOptions: { certValues: [strange.cert], keyValues: [strange.key] } })).toMatchObject({
    name: null,
  });
  const wrongs = [
    { pemKeyCertOptions: { certValues: [client.cert] } },
    { pemKeyCertOptions: { certValues: ['no PEM'], keyValues: [client.key] } },
    { keyStoreOptions: { value: client.pkcs12('hush'), password: 'wrong' } },
    { keyStoreOptions: { value: 'AAAA', password: 'hush' } },
    { keyStoreOptions: { value: client.pkcs12('hush', 'one'), password: 'hush', alias: 'two' } },
    { trustStoreOptions: { value: ours.pkcs12('hush'), password: 'wrong' } },
    { pemTrustOptions: { certPaths: ['/etc/ssl/cert.pem'] } },
  ];
  // In parallel, since each query waits for its source before it counts as unavailable.
  const refusals = await Promise.all(wrongs.map((wrong) => asked({}, wrong).then(String, ({ code }: { code: string }) => code)));
  for (const [n, refusal] of refusals.entries())
    expect(refusal, JSON.stringify(wrongs[n]).slice(0, 60)).toMatch(/^cascade\.source\.(config\.invalid|unavailable)$/);
});

/** A proxy that requires credentials, and the requests that it received. */
async function openProxy(): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = [];
  const admitted = ({ headers }: IncomingMessage): boolean => headers['proxy-authorization'] === `Basic ${btoa('ann:hush')}`;
  const server = createHttp((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (!admitted(request)) return response.writeHead(407).end();
    const { 'proxy-authorization': _, ...headers } = request.headers;
    return requestHttp(request.url ?? '', { headers, method: request.method }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`);
    if (!admitted(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const [host = '', port] = (request.url ?? '').split(':');
    const onward = connect({ host, port: Number(port) }, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const one of [socket, onward]) one.on('error', () => undefined);
  });
  const { port, close } = await listening(server);
  closes.push(close);
  return { port, seen };
}

// spec: integrations.md 1.11/6 13
test('a proxy gets CONNECT for TLS, and the absolute address otherwise', async () => {
  const { port, seen } = await openProxy();
  const proxyOptions = { host: '127.0.0.1', port, username: 'ann', password: 'hush' };
  expect(await asked({}, { trustAll: true, proxyOptions })).toMatchObject({ name: null });
  expect(seen).toEqual([`CONNECT ${new URL(uri).host}`]);
  await using plain = await openHttpServer(
    (sent, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ headers: sent.headers })),
  );
  const { headers } = await asked({ uri: `${plain.url}/a?b=1` }, { proxyOptions });
  expect(seen.at(-1)).toBe(`GET ${plain.url}/a?b=1`);
  expect(headers).not.toHaveProperty('proxy-authorization');
  for (const target of [uri, plain.url])
    await expect(asked({ uri: target }, { trustAll: true, proxyOptions: { ...proxyOptions, password: 'wrong' } })).rejects.toMatchObject({
      code: expect.stringMatching(/^cascade\.(remote\.connect|source\.query)\.failed$/),
    });
  await expect(asked({ uri: 'http://10.0.0.1/' }, { proxyOptions })).rejects.toMatchObject({ code: 'cascade.source.address.refused' });
  await expect(asked({}, { proxyOptions: { host: '127.0.0.1', port: 1 } })).rejects.toMatchObject({
    code: 'cascade.remote.connect.failed',
  });
});

// spec: integrations.md 1.11/7
test('compressed answers are requested and decompressed where the config enables it', async () => {
  const packed: Record<string, Buffer> = { gzip: gzipSync('{"a":1}'), deflate: deflateSync('{"a":1}'), broken: Buffer.from('x') };
  let encoding = 'gzip';
  await using server = await openHttpServer(({ headers }, response) => {
    const isAsked = headers['accept-encoding'] === 'gzip, deflate';
    const name = encoding === 'broken' ? 'gzip' : encoding;
    response.writeHead(200, { 'content-type': 'application/json', ...(isAsked && { 'content-encoding': name }) });
    response.end(isAsked ? packed[encoding] : JSON.stringify(headers['accept-encoding'] ?? null));
  });
  expect(await asked({ uri: server.url }, {})).toBeNull();
  for (encoding of ['gzip', 'deflate']) expect(await asked({ uri: server.url }, { decompressionSupported: true })).toEqual({ a: 1 });
  encoding = 'broken';
  await expect(asked({ uri: server.url }, { decompressionSupported: true })).rejects.toMatchObject({
    code: 'cascade.remote.response.malformed',
  });
});

// spec: integrations.md 1.11/8
test('a connection that does not open in time fails', async () => {
  const silent = createTcp(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  await expect(asked({ uri: `https://127.0.0.1:${port}` }, { connectTimeout: 50 })).rejects.toMatchObject({
    code: 'cascade.remote.connect.failed',
  });
  silent.close();
});
