// Requests that no client library sends, written byte by byte: the answer must not depend on the HTTP library of the service.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => server.requests.splice(0));

const WITH_TOKEN = `Host: a\r\nAuthorization: Bearer ${TOKEN}\r\n`;
const status = async (text: string): Promise<number> => Number((await server.raw(text)).slice(9, 12));

test('two lengths are refused with an error of the API, and end the connection', async () => {
  const answer = await server.raw(`POST /api/v1/resources/types HTTP/1.1\r\n${WITH_TOKEN}Content-Length: 2\r\nContent-Length: 7\r\n\r\n{}`);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"cascade.request.body.invalid"');
  expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  expect(server.requests).toEqual([]);
});

test('a length beside chunks is refused', async () => {
  const both = `POST /api/v1/resources/types HTTP/1.1\r\n${WITH_TOKEN}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
  expect(await status(both)).toBe(400);
  expect(server.requests).toEqual([]);
});

test('an unknown method is a 405', async () => {
  const answer = await server.raw(`BREW /api/v1/resources/types HTTP/1.1\r\n${WITH_TOKEN}\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(answer).toContain('["BREW","types"]');
});

test('targets are not normalised', async () => {
  expect(await status(`GET /api/v1/resources/types/a/../b//c/. HTTP/1.1\r\n${WITH_TOKEN}\r\n`)).toBe(200);
  expect(server.requests[0]).toMatchObject({ resourceName: 'types', resourceId: 'a/../b//c/.' });
});

test('headers of more than 64 KiB end the connection without reaching the engine', async () => {
  const answer = await server
    .raw(`GET /api/v1/resources/types HTTP/1.1\r\n${WITH_TOKEN}X-Long: ${'x'.repeat(80_000)}\r\n\r\n`)
    .catch(String);
  expect(answer).toMatch(/^(?:HTTP\/1\.1 431 |$|Error: .*(?:ECONNRESET|EPIPE))/);
  expect(server.requests).toEqual([]);
});

test('an upgrade at a path without a socket is an ordinary request', async () => {
  const upgrade = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
  expect(await status(`GET /healthz HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`)).toBe(200);
  const body = '{"name":"A"}';
  expect(
    await status(`POST /api/v1/resources/types HTTP/1.1\r\n${WITH_TOKEN}${upgrade}Content-Length: ${body.length}\r\n\r\n${body}`),
  ).toBe(200);
  expect(server.requests[0]).toMatchObject({ op: 'insert', object: { name: 'A' } });
});

test('an expectation that nobody knows is ignored, and CONNECT is a method like others that are not offered', async () => {
  expect(await status(`GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n`)).toBe(200);
  expect(await status(`CONNECT /api/v1/resources/types HTTP/1.1\r\n${WITH_TOKEN}\r\n`)).toBe(405);
});

test('UTF-8 is decoded in the target and in headers', async () => {
  expect(await status(`GET /api/v1/resources/types/b%C3%A4r HTTP/1.1\r\n${WITH_TOKEN}If-Match: "bär"\r\n\r\n`)).toBe(200);
  expect(server.requests[0]).toMatchObject({ resourceId: 'bär', ifMatch: '"bär"' });
});
