// spec: resources-and-api.md 9.3 1.4 1.7 10
// The form of replies on the wire.
import { request as httpRequest } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CascadeErrors, apiError } from '../../model/errors/api-errors.ts';
import { Decimal } from '../../stdlib/values/index.ts';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';
import { acceptsGzip } from './headers.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.requests.length = 0;
  server.log.length = 0;
  server.health = { ready: true, status: 'ok' };
  server.answer = () => ({ status: 200, body: '[]' });
});

const get = (headers: Record<string, string> = {}): Promise<Response> => server.resource('custom/Pump', { headers });

/** The answer on the wire: fetch would decompress it silently. */
function wire(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const all = { Authorization: `Bearer ${TOKEN}`, ...headers };
    const sent = httpRequest({ host: '127.0.0.1', port: server.port, path, headers: all, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('JSON is application/json without a charset', async () => {
  server.answer = () => ({ status: 200, body: '{"a":"ü"}' });
  const response = await get();
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.text()).toBe('{"a":"ü"}');
});

test('204 has neither body nor type, also with a count', async () => {
  server.answer = () => ({ status: 204, count: 3 });
  const { status, headers, body } = await wire('/api/v1/resources/custom/Pump?where={}&count=true', {}, 'DELETE');
  expect([status, headers['x-total-count'], headers['content-type'], body.length]).toEqual([204, '3', undefined, 0]);
});

test('the properties of a result become headers', async () => {
  server.answer = () => ({ status: 200, body: '[]', count: 0, truncated: true, partial: true, version: '7' });
  const { headers } = await get();
  expect(headers.get('x-total-count')).toBe('0');
  expect(headers.get('x-result-truncated')).toBe('true');
  expect(headers.get('x-partial-result')).toBe('true');
  expect(headers.get('etag')).toBe('"7"');
});

test('when all of several instances are refused for a while, Retry-After says for how long', async () => {
  server.answer = () => ({ status: 429, body: '[]', retryAfterSeconds: 1 });
  expect((await get()).headers.get('retry-after')).toBe('1');
});

test('a result without these properties has none of these headers', async () => {
  const { headers } = await get();
  for (const name of [
    'x-total-count',
    'x-result-truncated',
    'x-partial-result',
    'etag',
    'retry-after',
    'www-authenticate',
    'content-encoding',
  ])
    expect(headers.get(name)).toBeNull();
});

test('If-None-Match and If-Match reach the engine as sent, and its 304 the client', async () => {
  server.answer = () => ({ status: 304, version: '7' });
  const { status, headers, body } = await wire('/api/v1/resources/custom/Pump/1', { 'If-None-Match': '"7"', 'If-Match': '"8", "9"' });
  expect(server.requests[0]).toMatchObject({ ifNoneMatch: '"7"', ifMatch: '"8", "9"' });
  expect([status, headers.etag, headers['content-type'], body.length]).toEqual([304, '"7"', undefined, 0]);
});

test('X-Request-Id is echoed, or generated', async () => {
  expect((await get({ 'X-Request-Id': 'mine 1' })).headers.get('x-request-id')).toBe('mine 1');
  expect((await get()).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect((await get({ 'X-Request-Id': 'é' })).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect((await fetch(`${server.url}/nowhere`, { headers: { 'X-Request-Id': 'lost' } })).headers.get('x-request-id')).toBe('lost');
});

test('caches may not store answers of the API', async () => {
  expect((await get()).headers.get('cache-control')).toBe('no-store');
  expect((await fetch(`${server.url}/authenticate`)).headers.get('cache-control')).toBe('no-store');
  expect((await fetch(`${server.url}/healthz`)).headers.get('cache-control')).toBeNull();
});

test('HEAD is GET without the body', async () => {
  server.answer = () => ({ status: 200, body: '[1,2,3]', count: 3 });
  const { status, headers, body } = await wire('/api/v1/resources/custom/Pump?count=true', {}, 'HEAD');
  expect(server.requests[0]!.op).toBe('select');
  expect([status, headers['content-length'], headers['content-type'], headers['x-total-count'], body.length]).toEqual([
    200,
    '7',
    'application/json',
    '3',
    0,
  ]);
});

test('a long body is compressed for clients that accept it', async () => {
  const long = JSON.stringify('a'.repeat(2000));
  server.answer = () => ({ status: 200, body: long });
  const zipped = await wire('/api/v1/resources/custom/Pump', { 'Accept-Encoding': 'deflate, gzip;q=0.5' });
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(zipped.headers.vary).toContain('Accept-Encoding');
  expect(gunzipSync(zipped.body).toString()).toBe(long);
  for (const header of [{}, { 'Accept-Encoding': 'gzip;q=0, br' }]) {
    const plain = await wire('/api/v1/resources/custom/Pump', header as Record<string, string>);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.body.toString()).toBe(long);
  }
});

test('a body of 1 KiB is not compressed', async () => {
  server.answer = () => ({ status: 200, body: JSON.stringify('a'.repeat(1022)) });
  expect((await wire('/api/v1/resources/custom/Pump', { 'Accept-Encoding': 'gzip' })).headers['content-encoding']).toBeUndefined();
});

test.each([
  ['gzip', true],
  ['GZIP;Q=1', true],
  ['*', true],
  ['*;q=0', false],
  ['gzip;q=0, *', false],
  ['br', false],
  ['', false],
])('Accept-Encoding %s', (header, accepted) => {
  expect(acceptsGzip(header)).toBe(accepted);
});

test('a preflight is answered without login, whatever its path', async () => {
  for (const path of ['/api/v1/resources/custom/Pump', '/nowhere']) {
    const { status, headers, body } = await wire(path, { Authorization: '', Origin: 'https://app.example' }, 'OPTIONS');
    expect([status, body.length]).toEqual([204, 0]);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-methods']).toContain('PATCH');
    expect(headers['access-control-allow-headers']).toBe(
      'Authorization, Content-Type, Content-Encoding, X-Target-Namespace, X-Request-Id, X-Cascade-Request-Id, If-Match, If-None-Match',
    );
    expect(headers['access-control-max-age']).toBe('86400');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  }
});

test('every answer may be read by scripts of any origin, with its headers', async () => {
  for (const response of [await get(), await fetch(`${server.url}/nowhere`)]) {
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toBe(
      'X-Total-Count, X-Partial-Result, X-Result-Truncated, X-Request-Id, ETag, Retry-After, Allow, WWW-Authenticate',
    );
  }
});

test('origins may be limited to a list', async () => {
  const limited = await openFakeServer({ corsOrigins: ['https://app.example'] });
  const origin = async (value: string) => (await limited.resource('types', { headers: { Origin: value } })).headers;
  expect((await origin('https://app.example')).get('access-control-allow-origin')).toBe('https://app.example');
  expect((await origin('https://other.example')).get('access-control-allow-origin')).toBeNull();
  expect((await origin('https://other.example')).get('vary')).toBe('Origin');
  expect((await origin('https://other.example')).get('x-content-type-options')).toBe('nosniff');
  await limited[Symbol.asyncDispose]();
});

async function failing(error: unknown): Promise<{ response: Response; errors: { code: string; message: string; params: unknown[] }[] }> {
  server.answer = () => {
    throw error;
  };
  const response = await get();
  return { response, errors: (await response.json()) as { code: string; message: string; params: unknown[] }[] };
}

test('a refusal is an array of one error document with its status', async () => {
  const { response, errors } = await failing(apiError('cascade.resource.duplicate.key', 'Pump', 'name=p4'));
  expect(response.status).toBe(409);
  expect(errors).toEqual([
    { code: 'cascade.resource.duplicate.key', message: 'Pump already has an instance with name=p4.', params: ['Pump', 'name=p4'] },
  ]);
});

test('several refusals are one array, with their common status or 400', async () => {
  const unknown = apiError('cascade.type.property.unknown', 'Pump', 'x');
  const required = apiError('cascade.type.property.required', 'Pump', 'rpm');
  const { response, errors } = await failing(new CascadeErrors([unknown, required]));
  expect(response.status).toBe(400);
  expect(errors.map(({ code }) => code)).toEqual(['cascade.type.property.unknown', 'cascade.type.property.required']);
  expect((await failing(new CascadeErrors([unknown, apiError('cascade.patch.test.failed', '/a')]))).response.status).toBe(400);
});

test('params of any type have their JSON spelling', async () => {
  const { errors } = await failing(apiError('cascade.query.limit.range', 'limit', 1, 10n ** 17n));
  expect(errors[0]!.params).toEqual(['limit', 1, 1e17]);
  const decimal = await failing(apiError('cascade.request.parameter.invalid', 'x', new Decimal(1250n, 2)));
  expect(decimal.errors[0]!.params).toEqual(['x', '12.50']);
});

test('the answer to an unexpected error contains a reference only; the log has the details', async () => {
  const { response, errors } = await failing(new Error('E11000 at /srv/cascade/store.ts'));
  expect(response.status).toBe(500);
  const [{ code, message, params }] = errors as [(typeof errors)[0]];
  expect([code, params.length]).toEqual(['cascade.server.error', 1]);
  expect(message).toBe(`Unexpected condition, reference ${String(params[0])}.`);
  const logged = server.log.find((line) => line.includes(String(params[0])));
  expect(logged).toContain('E11000');
});

test('a method whose operation the resource does not offer is a 405', async () => {
  const { response } = await failing(apiError('cascade.method.not.allowed', 'select', 'logs'));
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, DELETE, OPTIONS']);
});

const conflict = new MongoServerError({ message: 'WriteConflict', code: 112 });
conflict.addErrorLabel('TransientTransactionError');

test.each([
  ['a database that is away', new MongoNetworkError('connection refused')],
  ['a conflict with a transaction that nobody ends', conflict],
  ['a collection that is being changed', new MongoServerError({ message: 'LockTimeout', code: 24 })],
])('%s is told as what goes by itself', async (_, reason) => {
  const { response, errors } = await failing(reason);
  expect([response.status, errors[0]!.code, response.headers.get('retry-after')]).toEqual([500, 'cascade.server.unavailable', '5']);
});

test('every 429 except those of a single run has Retry-After, and so has the answer without a database', async () => {
  const after = async (error: unknown) => (await failing(error)).response.headers.get('retry-after');
  expect(await after(apiError('cascade.security.rate.limited', 60))).toBe('60');
  expect(await after(apiError('cascade.quota.exceeded', 'requestsPerSecond', 5))).toBe('1');
  expect(await after(apiError('cascade.execution.timeout', 'P', 1))).toBeNull();
  expect(await after(apiError('cascade.execution.depth', 'P', 1))).toBeNull();
  expect(await after(apiError('cascade.server.unavailable'))).toBe('5');
});

test('a request beyond its time limit is answered with an error', async () => {
  await using hasty = await openFakeServer({ timeoutMs: 300 });
  hasty.answer = () => new Promise(() => undefined);
  const response = await hasty.resource('types');
  expect(response.status).toBe(500);
  expect(((await response.json()) as { code: string; params: unknown[] }[])[0]).toMatchObject({
    code: 'cascade.request.timeout',
    params: [300],
  });
});

test('EXECUTE is not bound by the time limit of a request', async () => {
  await using hasty = await openFakeServer({ timeoutMs: 300 });
  hasty.answer = () => new Promise((resolve) => setTimeout(() => resolve({ status: 200, body: '"late"' }), 500));
  expect(await (await hasty.resource('procedures/P', { method: 'POST' })).json()).toBe('late');
});

test('health needs no login', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const response = await fetch(server.url + path);
    expect([response.status, await response.text()]).toEqual([200, '{"status":"ok"}']);
  }
});

test.each(['starting', 'draining', 'database'] as const)('a service that is %s is not ready', async (status) => {
  server.health = { ready: false, status };
  for (const path of ['/healthz', '/readyz']) {
    const response = await fetch(server.url + path);
    expect([response.status, await response.text()]).toEqual([500, `{"status":"${status}"}`]);
  }
});
