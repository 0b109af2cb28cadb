// resources-and-api.md 1.1, over a real socket: fetch would normalise the path, so most requests are written raw.
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiRequest } from '../../resources/api.ts';
import { CascadeError } from '../../model/errors/api-errors.ts';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';
import { rememberingRoute, route } from './routes.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.requests.length = 0;
});

const R = '/api/v1/resources/';

async function send(
  method: string,
  path: string,
  body = '',
  authorized = true,
): Promise<{ status: number; head: string; codes: string[] }> {
  const authorization = authorized ? `Authorization: Bearer ${TOKEN}\r\n` : '';
  const answer = await server.raw(
    `${method} ${path} HTTP/1.1\r\nHost: a\r\n${authorization}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const [head, text] = answer.split('\r\n\r\n');
  const status = Number(head!.split(' ')[1]);
  return { status, head: head!, codes: status < 400 || !text ? [] : (JSON.parse(text) as { code: string }[]).map(({ code }) => code) };
}

/** The engine's view of one request. */
async function asked(method: string, path: string, body?: string): Promise<Partial<ApiRequest>> {
  const { status } = await send(method, R + path, body);
  expect(status).toBe(200);
  const { op, resourceName, custom, resourceId, object } = server.requests.at(-1)!;
  return { op, resourceName, custom, ...(resourceId !== undefined && { resourceId }), ...(object !== undefined && { object }) };
}

async function refused(method: string, path: string, body?: string): Promise<string> {
  const { status, codes } = await send(method, path, body);
  expect(server.requests).toEqual([]);
  return `${status} ${codes.join()}`;
}

const types = { resourceName: 'types', custom: false };
const pump = { resourceName: 'Pump', custom: true };

test.each([
  ['GET', 'types', { op: 'select', ...types }],
  ['GET', 'types/Pump', { op: 'selectOne', ...types, resourceId: 'Pump' }],
  ['DELETE', 'types', { op: 'delete', ...types }],
  ['DELETE', 'types/Pump', { op: 'delete', ...types, resourceId: 'Pump' }],
  ['GET', 'custom/Pump', { op: 'select', ...pump }],
  ['GET', 'custom/Pump/5f', { op: 'selectOne', ...pump, resourceId: '5f' }],
  ['GET', 'ArsRuleSnapshot', { op: 'select', resourceName: 'ArsRuleSnapshot', custom: false }],
  ['GET', 'types/Pump/_schema', { op: 'schema', ...types, resourceId: 'Pump' }],
  ['GET', 'sources/s.t/_status', { op: 'status', resourceName: 'sources', custom: false, resourceId: 's.t' }],
  ['GET', 'services/Dosing/_status', { op: 'status', resourceName: 'services', custom: false, resourceId: 'Dosing' }],
  ['GET', 'namespaces/main/authorizedUsers', { op: 'getAuthorizedUsers', resourceName: 'namespaces', custom: false, resourceId: 'main' }],
])('%s %s is that operation', async (method, path, expected) => {
  expect(await asked(method, path)).toEqual(expected);
});

test.each([
  ['POST', 'custom/Pump', { op: 'insert', ...pump }],
  ['POST', 'custom/Pump?upsert=true', { op: 'upsert', ...pump }],
  ['POST', 'custom/Pump?upsert=false', { op: 'insert', ...pump }],
  ['PUT', 'custom/Pump/5f', { op: 'update', ...pump, resourceId: '5f' }],
  ['PATCH', 'custom/Pump/5f', { op: 'patch', ...pump, resourceId: '5f' }],
  ['POST', 'topics//plant/7', { op: 'publish', resourceName: 'topics', custom: false, resourceId: '/plant/7' }],
  ['POST', 'sources/mail', { op: 'publish', resourceName: 'sources', custom: false, resourceId: 'mail' }],
  ['POST', 'sources/mail/query', { op: 'query', resourceName: 'sources', custom: false, resourceId: 'mail' }],
  ['POST', 'procedures/Metrics.toKelvin', { op: 'execute', resourceName: 'procedures', custom: false, resourceId: 'Metrics.toKelvin' }],
  ['PUT', 'services/Metrics/toKelvin', { op: 'execute', resourceName: 'procedures', custom: false, resourceId: 'Metrics.toKelvin' }],
  ['POST', 'services/Dosing/empty', { op: 'publish', resourceName: 'services', custom: false, resourceId: 'Dosing/empty' }],
  ['PUT', 'services/Dosing', { op: 'update', resourceName: 'services', custom: false, resourceId: 'Dosing' }],
])('%s %s with a body is that operation', async (method, path, expected) => {
  expect(await asked(method, path, '{"a":1}')).toEqual({ ...expected, object: { a: 1 } });
});

test('a pipeline is in the query of a GET and in the body of a POST', async () => {
  const pipeline = [{ $match: { site: 'n1' } }];
  const text = JSON.stringify(pipeline);
  expect(await asked('GET', `custom/Pump/aggregate?pipeline=${encodeURIComponent(text)}`)).toEqual({
    op: 'aggregate',
    ...pump,
    object: pipeline,
  });
  expect(await asked('POST', 'custom/Pump/aggregate', text)).toEqual({ op: 'aggregate', ...pump, object: pipeline });
});

test('an aggregation without a pipeline is refused', async () => {
  expect(await refused('GET', `${R}custom/Pump/aggregate`)).toBe('400 cascade.request.parameter.invalid');
});

test('a condition that is too long for a URL may be the body of POST …/select', async () => {
  expect(await asked('POST', 'custom/Pump/select?limit=5', '{"rpm":{"$gt":9}}')).toEqual({ op: 'select', ...pump });
  expect(server.requests.at(-1)!.parameters).toEqual({ limit: 5, where: { rpm: { $gt: 9 } } });
  expect(await refusedAfterwards('POST', `${R}custom/Pump/select`, '[]')).toBe('400 cascade.request.body.invalid');
});

async function refusedAfterwards(method: string, path: string, body: string): Promise<string> {
  server.requests.length = 0;
  return refused(method, path, body);
}

test('the id is the entire rest of the path', async () => {
  expect(await asked('GET', 'documents/assets/a.txt')).toMatchObject({ resourceName: 'documents', resourceId: 'assets/a.txt' });
});

test.each([
  ['documents/a//b', 'a//b'],
  ['documents/a/../b', 'a/../b'],
  ['documents/./a', './a'],
  ['documents/a/', 'a/'],
  ['documents/a%2Fb', 'a/b'],
  ['documents/100%2525', '100%25'],
  ['documents/m%C3%BCll+1', 'müll+1'],
  ['topics//plant/7', '/plant/7'],
  ['topics/%2Fplant%2F7', '/plant/7'],
  ['topics/plant/7', 'plant/7'],
])('the path is used raw and each escape is decoded once: %s', async (path, resourceId) => {
  expect(await asked('GET', path)).toMatchObject({ op: 'selectOne', resourceId });
});

test.each(['documents/%zz', 'documents/a%', 'documents/%C3%28', 'custom/%ff', '%e0%80/x'])(
  'a malformed escape is refused: %s',
  async (path) => {
    expect(await refused('GET', R + path)).toBe('400 cascade.request.parameter.invalid');
  },
);

test('only an authenticated client learns of a malformed escape', async () => {
  expect((await send('GET', `${R}documents/%zz`, '', false)).codes).toEqual(['cascade.security.credentials.missing']);
});

test('aggregate and select right behind the name are operations, also when they are escaped', async () => {
  expect(await asked('POST', 'custom/Pump/%73elect', '{}')).toMatchObject({ op: 'select' });
  expect(await refusedAfterwards('PUT', `${R}types/select`, '{}')).toBe('405 cascade.method.not.allowed');
});

test('an id may end like an operation that the resource does not have', async () => {
  expect(await asked('GET', 'documents/a/_schema')).toMatchObject({ op: 'selectOne', resourceId: 'a/_schema' });
  expect(await asked('POST', 'topics//a/query')).toMatchObject({ op: 'publish', resourceId: '/a/query' });
});

test('system.<name> is <name>', async () => {
  expect(await asked('GET', 'system.types/Pump')).toEqual({ op: 'selectOne', ...types, resourceId: 'Pump' });
  expect(await asked('POST', 'system.topics//a')).toMatchObject({ op: 'publish', resourceName: 'topics' });
});

test.each([
  '/api',
  '/api/v1',
  '/api/v1/',
  '/api/v1/other',
  '/api/v1/resources',
  R,
  `${R}custom`,
  `${R}custom/`,
  `${R}types/`,
  '//api/v1/_status',
])('a path outside the table is not found: %s', async (path) => {
  expect(await refused('GET', path)).toBe('404 cascade.resource.not.found');
});

test.each(['/api/v2/resources/types', '/api/v10/_status', '/api/v0'])(
  'another version of the API has an error of its own: %s',
  async (path) => {
    expect(await refused('GET', path)).toBe('404 cascade.api.version.unsupported');
  },
);

test.each([
  ['PUT', `${R}types`, 'GET, HEAD, POST, DELETE, OPTIONS'],
  ['PATCH', `${R}custom/Pump`, 'GET, HEAD, POST, DELETE, OPTIONS'],
  ['FOO', `${R}custom/Pump/1`, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  ['get', `${R}types/a`, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  ['DELETE', `${R}custom/Pump/aggregate`, 'GET, HEAD, POST, OPTIONS'],
  ['GET', `${R}sources/s/query`, 'POST, OPTIONS'],
  ['GET', `${R}services/s/e`, 'PUT, POST, OPTIONS'],
  ['POST', '/authenticate', 'GET, HEAD, OPTIONS'],
  ['GET', '/authenticate/refresh', 'POST, OPTIONS'],
  ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
  ['constructor', '/healthz', 'GET, HEAD, OPTIONS'],
])('%s %s is not allowed, and Allow says what is', async (method, path, allow) => {
  const { status, head, codes } = await send(method, path, '', false);
  expect([status, ...codes]).toEqual([405, 'cascade.method.not.allowed']);
  expect(head).toContain(`\r\nAllow: ${allow}\r\n`);
});

test('names of Object.prototype are ordinary names', async () => {
  expect(await asked('GET', 'constructor/__proto__/_status')).toMatchObject({
    resourceName: 'constructor',
    resourceId: '__proto__/_status',
  });
});

test('the body names a custom command', async () => {
  const command = JSON.stringify({ op: 'authorizeUser', data: { username: 'ann' } });
  expect(await asked('POST', 'namespaces/main', command)).toMatchObject({
    op: 'authorizeUser',
    resourceId: 'main',
    object: { username: 'ann' },
  });
});

test.each(['{}', '{"op":1}', '{"op":"delete"}', '{"op":"selectOne"}'])(
  'a body that names no custom command is refused: %s',
  async (body) => {
    expect(await refused('POST', `${R}types/Pump`, body)).toBe('400 cascade.operation.unknown');
  },
);

test('a command that is not an object is an invalid body', async () => {
  expect(await refused('POST', `${R}types/Pump`, '[]')).toBe('400 cascade.request.body.invalid');
});

test('POST on a group replaces its members', async () => {
  expect(await asked('POST', 'groups/night', '{"members":["ann"]}')).toEqual({
    op: 'upsert',
    resourceName: 'groups',
    custom: false,
    resourceId: 'night',
    object: { members: ['ann'] },
  });
});

test('a URL beyond its limit is refused with an error of the API', async () => {
  expect(await refused('GET', `${R}documents/${'a'.repeat(16 * 1024)}`)).toBe('400 cascade.request.url.too.long');
  expect(await refused('GET', `${R}documents?where=${'a'.repeat(16 * 1024)}`)).toBe('400 cascade.request.url.too.long');
});

test('every text is an id when it is escaped, and is decoded to itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      fc.pre(id !== 'aggregate' && id !== 'select');
      expect(route(`${R}documents/${encodeURIComponent(id)}`)).toMatchObject({ resourceName: 'documents', resourceId: id });
      expect(route(`${R}custom/T/${encodeURIComponent(id)}`)).toMatchObject({ resourceName: 'T', custom: true, resourceId: id });
    }),
  );
});

test('every path is routed or refused with an error of the API', () => {
  const piece = fc.oneof(
    fc.constantFrom('/', '//', 'api', 'v1', 'resources', 'custom', 'types', 'services', '%', '%2F', '_schema', '..'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      for (const path of [pieces.join(''), R + pieces.join('')])
        try {
          expect(route(path).methods).toBeDefined();
        } catch (error) {
          expect(error).toBeInstanceOf(CascadeError);
        }
    }),
  );
});

test('a frequently requested collection stays cached, however many others are requested', () => {
  const remembering = rememberingRoute();
  const ask = (name: string) => remembering(`/api/v1/resources/custom/${name}`);
  const pump = ask('Pump');
  for (let i = 0; i < 3_000; i++) {
    ask(`Other${i}`);
    if (i % 100 === 0) expect(ask('Pump')).toBe(pump);
  }
  expect(ask('Other0')).not.toBe(pump);
});
