// The specification's tables of requests to REMOTE sources, one row per test, against an HTTP server of this test (integrations.md 2.1 to
// 2.6).
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../../../engine/testing/engine.ts';
import { answerJson, type HttpServer, openHttpServer } from '../../testing/http-server.ts';

let t: TestEngine;
let server: HttpServer;
let polled: string[] = [];
let made = 0;
let tokens = 0;
/** The answer of the token server, and the token that it accepts. */
let grant: object = {};
let accepted = '';

beforeAll(async () => {
  server = await openHttpServer((sent, response) => {
    const { pathname } = new URL(sent.url, 'http://x');
    if (pathname === '/xml') response.writeHead(200, { 'content-type': 'text/xml' }).end(SITE);
    else if (pathname === '/long') response.writeHead(200, { 'content-type': 'text/xml' }).end(`<r>${'<a b="1">t</a>'.repeat(20_000)}</r>`);
    else if (pathname === '/unnamed') response.writeHead(200).end('a,b\n1,2');
    else if (pathname === '/entity')
      response.writeHead(200, { 'content-type': 'text/xml' }).end('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>');
    else if (pathname === '/away') response.writeHead(302, { location: '/echo', 'x-hop': '1' }).end();
    else if (pathname === '/round') response.writeHead(302, { location: '/round' }).end();
    else if (pathname === '/same') response.writeHead(304).end();
    else if (pathname === '/big') response.writeHead(200, { 'content-length': String(65 * 1024 * 1024) }).flushHeaders();
    else if (pathname === '/endless') endless(response);
    else if (pathname === '/values') response.writeHead(200).end(`[${'1,'.repeat(2_000_000)}1]`);
    else if (pathname === '/token') token(response);
    else if (pathname === '/guarded')
      answerJson(response, sent.headers.authorization ?? null, sent.headers.authorization === `Bearer ${accepted}` ? 200 : 401);
    else if (pathname.startsWith('/poll')) {
      polled.push(sent.url);
      answerJson(response, sent.url);
    } else answerJson(response, sent);
  });
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const SITE = '<site><tank volume="9"><load>1</load><load>2</load></tank><tank><load>3</load></tank>text</site>';

function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain' });
  const piece = Buffer.alloc(1 << 20, 'x');
  const more = (): void => {
    while (response.write(piece));
  };
  response.on('drain', more);
  more();
}

function token(response: ServerResponse): void {
  tokens++;
  answerJson(response, grant, 'error' in grant ? 400 : 200);
}

type Reply = Record<string, unknown> & { url?: string; method?: string; body?: string; headers?: Record<string, string> };
async function source(name: string, config: object, more: object = {}): Promise<void> {
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'REMOTE', config, ...more }) });
}
const query = async (name: string, document: object): Promise<Reply> =>
  JSON.parse((await t.ask('query', 'sources', { id: name, body: JSON.stringify(document) })).body ?? 'null');
const status = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse((await t.ask('status', 'sources', { id: name })).body ?? '');

// spec: integrations.md 2.1/1 2.1/3-7 2.1/10 2.1/12-13 2.2/1-6 2.2/8-10 2.3 2.4
test.each<[string, object, object, object, object?]>([
  ['uri alone', {}, {}, { method: 'GET', url: '/base/', body: '' }],
  ['Basic goes along at once', { username: 'ann', password: 'hush' }, {}, {}, { authorization: `Basic ${btoa('ann:hush')}` }],
  ['a username without a password', { username: 'ann' }, {}, {}, { authorization: `Basic ${btoa('ann:')}` }],
  ['the token wins over the username', { username: 'ann', accessToken: 't1' }, {}, {}, { authorization: 'Bearer t1' }],
  ['another realm', { accessToken: 't1', realm: 'Token' }, {}, {}, { authorization: 'Token t1' }],
  ['a header of the request wins over both', { accessToken: 't1' }, { headers: { authorization: 'X y' } }, {}, { authorization: 'X y' }],
  ['defaults count', { requestDefaults: { method: 'PUT', body: { a: 1 } } }, {}, { method: 'PUT', body: '{"a":1}' }],
  [
    'a property of the request replaces the default',
    { requestDefaults: { path: 'a', method: 'PUT' } },
    { path: 'b' },
    { method: 'PUT', url: '/base/b' },
  ],
  [
    'contentType is short for that of the defaults',
    { contentType: 'text/plain' },
    { method: 'POST', body: 'hi' },
    { body: 'hi' },
    { 'content-type': 'text/plain', accept: 'text/plain' },
  ],
  [
    'that of the defaults wins over it',
    { contentType: 'text/plain', requestDefaults: { contentType: 'text/csv' } },
    { method: 'POST', body: [{ a: 1 }] },
    { body: 'a\r\n1\r\n' },
    { 'content-type': 'text/csv' },
  ],
  [
    'queryForm body makes a form',
    { queryForm: 'body' },
    { query: { a: 'x y', b: [1, 2], c: null, d: { e: 1 } } },
    { method: 'POST', url: '/base/', body: 'a=x%20y&b=1&b=2&d=%7B%22e%22%3A1%7D' },
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  [
    'queryForm body leaves a request with a body alone',
    { queryForm: 'body' },
    { method: 'PUT', query: { a: 1 }, body: 2 },
    { url: '/base/?a=1', body: '2' },
  ],
  ['a method in any case', {}, { method: 'dElEtE' }, { method: 'DELETE' }],
  ['OPTIONS', {}, { method: 'OPTIONS' }, { method: 'OPTIONS' }],
  ['PATCH with a body', {}, { method: 'PATCH', body: [1] }, { method: 'PATCH', body: '[1]' }, { 'content-type': 'application/json' }],
  ['a path with a query of its own', {}, { path: 'a?x=1', query: { y: 2 } }, { url: '/base/a?x=1&y=2' }],
  ['query: Booleans and numbers are text', {}, { query: { t: true, n: 1.5, s: 'a&b' } }, { url: '/base/?t=true&n=1.5&s=a%26b' }],
  ['a fragment is not sent', {}, { path: 'a', fragment: 'x' }, { url: '/base/a' }],
  ['several values of a header', {}, { headers: { 'X-A': ['1', '2'] } }, {}, { 'x-a': '1, 2' }],
  [
    'null removes a default header',
    { requestDefaults: { headers: { 'X-A': '1' } } },
    { headers: { 'x-a': null } },
    {},
    { 'x-a': undefined },
  ],
  ['a body of null is null', {}, { method: 'POST', body: null }, { body: 'null' }],
  ['without a body nothing is sent', {}, { method: 'POST' }, { body: '' }],
  ['GET with a body sends none', {}, { body: { a: 1 } }, { method: 'GET', body: '' }],
  [
    'GET with a body and a contentType sends it',
    {},
    { body: { a: 1 }, contentType: 'application/json' },
    { method: 'GET', body: '{"a":1}' },
  ],
  [
    'a form of an Object',
    {},
    { method: 'POST', contentType: 'application/x-www-form-urlencoded', body: { b: 1, a: 'ü' } },
    { body: 'b=1&a=%C3%BC' },
  ],
  ['a form as it is', {}, { method: 'POST', contentType: 'application/x-www-form-urlencoded', body: 'a=1' }, { body: 'a=1' }],
  [
    'XML of an Object',
    {},
    { method: 'POST', contentType: 'application/xml', body: { site: { tank: [1, 2] } } },
    { body: expect.stringContaining('<site><tank>1</tank><tank>2</tank></site>') },
  ],
  ['acceptType wins', { contentType: 'text/csv' }, { acceptType: 'text/html' }, {}, { accept: 'text/html' }],
  ['responseType is accepted, and forces the parser', {}, { responseType: 'text/plain' }, {}, { accept: 'text/plain' }],
])('%s', async (_name, config, document, sent, headers = {}) => {
  const name = `row${++made}`; // a source of its own: secrets outlive an update
  await source(name, { uri: `${server.url}/base/`, ...config });
  await query(name, document);
  expect(server.sent.at(-1)).toMatchObject(sent);
  for (const [header, value] of Object.entries(headers)) expect(server.sent.at(-1)?.headers[header], header).toBe(value);
});

// spec: integrations.md 2.2/7
test('a request with parts is multipart, and may have another multipart type', async () => {
  await source('parts', { uri: server.url });
  await t.ask('publish', 'sources', {
    id: 'parts',
    body: JSON.stringify({
      parts: [{ name: 'a', content: { x: 1 }, contentType: 'application/json', filename: 'a".json' }],
      contentType: 'multipart/mixed',
    }),
  });
  const sent = server.sent.at(-1);
  expect(sent?.method).toBe('POST');
  expect(sent?.headers['content-type']).toMatch(/^multipart\/mixed; boundary=/);
  expect(sent?.body).toContain(
    'Content-Disposition: form-data; name="a"; filename="a%22.json"\r\nContent-Type: application/json\r\n\r\n{"x":1}\r\n--',
  );
});

// spec: integrations.md 2.2/8 2.2/10 2.5 1.6/3
test('an answer is parsed by responseType, else by its own type, else by that of the request', async () => {
  await source('read', { uri: server.url });
  expect(await query('read', { path: '/unnamed', contentType: 'text/csv' })).toEqual([{ a: '1', b: '2' }]);
  expect(await query('read', { path: '/unnamed', responseType: 'text/plain' })).toBe('a,b\n1,2');
  expect(await query('read', { path: '/xml', responseType: 'text/plain' })).toBe(SITE);
  const long = { a: Array.from({ length: 20_000 }, () => ({ '@b': '1', '#text': 't' })) };
  expect(await query('read', { path: '/long' })).toEqual(long);
  expect(await query('read', { path: '/long', asFullResponse: true })).toMatchObject({ status: 200, body: long });
  expect(await query('read', { path: '/long', asFullExchange: true })).toMatchObject({ response: { status: 200, body: long } });
  await expect(query('read', { path: '/unnamed' })).rejects.toMatchObject({ code: 'cascade.remote.response.malformed' });
  await expect(query('read', { path: '/entity' })).rejects.toMatchObject({ code: 'cascade.remote.response.malformed' });
});

// spec: integrations.md 2.2/11
test.each([['50 milliseconds'], ['0.05 seconds'], [50], ['1 second']])(
  'requestTimeout %j ends a request without an answer',
  async (requestTimeout) => {
    await using silent = await openHttpServer(() => undefined);
    await source('silent', { uri: silent.url });
    await expect(query('silent', { requestTimeout })).rejects.toMatchObject({ code: 'cascade.remote.request.timeout', status: 500 });
  },
);

// spec: integrations.md 2.2/12-14 2.1/13
test('redirects are followed for GET and HEAD, five at most, or returned on request', async () => {
  await source('moved', { uri: server.url });
  expect(await query('moved', { path: '/away' })).toMatchObject({ url: '/echo' });
  expect(await query('moved', { path: '/away', includeRedirect: true, asFullResponse: true })).toMatchObject({
    status: 302,
    headers: { 'x-hop': '1' },
    cookies: [],
    body: null,
  });
  const before = server.sent.length;
  await expect(query('moved', { path: '/round' })).rejects.toMatchObject({
    code: 'cascade.source.query.failed',
    params: ['moved', 'Found', null, 302],
  });
  expect(server.sent.length - before).toBe(6);
  await source('still', { uri: server.url, followRedirects: false });
  await expect(query('still', { path: '/away' })).rejects.toMatchObject({ code: 'cascade.source.query.failed' });
  expect(
    await query('moved', { asFullExchange: true, method: 'POST', body: { a: 1 }, headers: { Cookie: 'hush', 'X-A': 'b' } }),
  ).toMatchObject({
    request: { method: 'POST', url: `${server.url}/`, body: '{"a":1}', headers: { 'x-a': 'b' } },
    response: { status: 200, body: { headers: { cookie: 'hush' } } },
  });
  expect(JSON.stringify((await query('moved', { asFullExchange: true, headers: { Cookie: 'hush' } }))['request'])).not.toContain('hush');
});

// spec: integrations.md 2.1/13
test('a redirect to another origin takes no header and no body along that may hold a secret', async () => {
  await using elsewhere = await openHttpServer(({ headers, body }, response) => answerJson(response, { headers, body: String(body) }));
  await using here = await openHttpServer((_sent, response) => response.writeHead(302, { location: `${elsewhere.url}/` }).end());
  const headers = { 'PRIVATE-TOKEN': 'hush', Cookie: 'c=hush', Accept: 'application/json', 'X-Trace': 'hush' };
  await source('leads', { uri: here.url, accessToken: 'hush', requestDefaults: { headers } });
  const got = await query('leads', { body: { key: 'hush' } });
  expect(here.sent.at(-1)).toMatchObject({ headers: { 'private-token': 'hush', 'x-trace': 'hush' } });
  expect(got).toMatchObject({ headers: { accept: 'application/json' }, body: '' });
  expect(JSON.stringify(got)).not.toContain('hush');
});

// spec: integrations.md 2.5
test('an answer of more than 64 MiB is cut off, whatever size it announces', async () => {
  await source('large', { uri: server.url });
  for (const path of ['/big', '/endless', '/values'])
    await expect(query('large', { path })).rejects.toMatchObject({ code: 'cascade.remote.response.too.large', status: 500 });
});

// spec: integrations.md 2.1/2
test('the first base that can be connected to is used until it fails', async () => {
  await using second = await openHttpServer((_sent, response) => answerJson(response, 'second'));
  const third = await openHttpServer((_sent, response) => answerJson(response, 'third'));
  await source('several', { serverURIs: ['http://127.0.0.1:1', third.url, second.url] });
  expect(await query('several', {})).toBe('third');
  await third[Symbol.asyncDispose]();
  expect(await query('several', {})).toBe('second');
  await source('one', { uri: 'http://127.0.0.1:1', serverURIs: second.url });
  expect(await query('one', {})).toBe('second');
  await source('none', { serverURIs: ['http://127.0.0.1:1'] });
  await expect(query('none', {})).rejects.toMatchObject({ code: 'cascade.remote.connect.failed' });
});

// spec: integrations.md 2.1/8-9 2.1/11 2.8 1.7/2
test('polls send the query of the config, poll topics in turn, whichever of them fail, and raise no event for 304', async () => {
  await t.type('PollSeen', { topic: { type: 'String' }, value: { type: 'String' } });
  await t.program(
    'rules',
    'RULE pollSeen WHEN EVENT OCCURS ON "/sources/polling" AS e INSERT PollSeen(topic: e.topic, value: stringify(e.value))',
  );
  await source('polling', {
    uri: server.url,
    pollingInterval: 1000,
    query: { query: { q: 1 } },
    topics: ['/poll/a', '/same', '/big', '/poll/b'],
  });
  await t.eventually('PollSeen', {}, 2);
  expect(polled).toEqual(['/poll/a?q=1', '/poll/b?q=1']);
  // The events have one run each, in either order.
  expect((await t.rows('PollSeen')).map(({ topic, value }) => [topic, value]).sort()).toEqual([
    ['/poll/a', '"/poll/a?q=1"'],
    ['/poll/b', '"/poll/b?q=1"'],
  ]);
  expect(await query('polling', { path: '/poll/c' })).toBe('/poll/c');
  await t.ask('delete', 'sources', { id: 'polling' });
  polled = [];
});

// spec: integrations.md 2.8 1.4/1
test('a SINK does not poll', async () => {
  await source('sinking', { uri: `${server.url}/poll`, pollingInterval: 1 }, { direction: 'SINK' });
  expect(await status('sinking')).toMatchObject({ state: 'connected', consumers: [] });
  await source('asking', { uri: `${server.url}/poll/after`, pollingInterval: 1000 });
  await expect.poll(() => polled).toEqual(['/poll/after']);
});

// spec: integrations.md 2.1 2.9
test('queryForm body makes a form of what is published without a body, too', async () => {
  await source('forming', { uri: server.url, queryForm: 'body' });
  await t.ask('publish', 'sources', { id: 'forming', body: '{"path":"/formed","query":{"a":1}}' });
  await t.ask('publish', 'sources', { id: 'forming', body: '{"path":"/formed","query":{"a":1},"body":2,"method":"PUT"}' });
  expect(server.sent.filter(({ url }) => url.startsWith('/formed'))).toMatchObject([
    { method: 'POST', url: '/formed', body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { method: 'PUT', url: '/formed?a=1', body: '2', headers: { 'content-type': 'application/json' } },
  ]);
});

// spec: integrations.md 1.4 2.2
test('an invalid request to a source that is not connected is refused without waiting, and is no failure of the source', async () => {
  await source('unready', { uri: server.url, password: '@secrets(gone)', requestDefaults: { method: '@secrets(gone)', query: { q: 1 } } });
  const refused = (op: 'publish' | 'query', document: object) =>
    t.ask(op, 'sources', { id: 'unready', body: JSON.stringify(document) }).catch(({ code, params }) => [code, params[1]]);
  await expect.poll(async () => (await status('unready')) as object).toMatchObject({ state: 'error' });
  const invalid = 'cascade.remote.request.invalid';
  expect(await refused('publish', { method: 'FOO' })).toEqual([invalid, 'FOO is no method']);
  expect(await refused('query', { method: 'FOO' })).toEqual([invalid, 'FOO is no method']);
  expect(await refused('publish', { query: 1 })).toEqual([invalid, 'query must be an Object']);
  expect(await refused('publish', { contentType: 'text/csv', body: [1] })).toEqual([invalid, expect.stringContaining('body: ')]);
  const { failed, attempts } = (await status('unready')) as { failed?: number; attempts?: number };
  expect(failed).toBe(attempts);
});

const OAUTH = { oauthSourceName: 'issuer', oauthGrantType: 'client_credentials', oauthClientId: 'me:1', oauthClientSecret: 'hush/2' };

// spec: integrations.md 2.6/1-7 2.1/14
test.each<[string, object, string, object]>([
  [
    'client credentials in a form',
    {},
    'grant_type=client_credentials&client_id=me%3A1&client_secret=hush%2F2',
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  [
    'scope and audience',
    { oauthScope: 'a b', oauthAudience: 'x' },
    'grant_type=client_credentials&scope=a%20b&audience=x&client_id=me%3A1&client_secret=hush%2F2',
    {},
  ],
  [
    'Basic in the place of the body',
    { oauthUseBasicAuth: true },
    'grant_type=client_credentials',
    { authorization: `Basic ${btoa('me%3A1:hush%2F2')}` },
  ],
  [
    'JSON',
    { oauthContentType: 'application/json' },
    '{"grant_type":"client_credentials","client_id":"me:1","client_secret":"hush/2"}',
    { 'content-type': 'application/json' },
  ],
  [
    'a refresh token',
    { oauthGrantType: 'refresh_token', oauthRefreshToken: 'r0' },
    'grant_type=refresh_token&refresh_token=r0&client_id=me%3A1&client_secret=hush%2F2',
    {},
  ],
])('OAuth: %s', async (_name, config, body, headers) => {
  [grant, accepted] = [{ access_token: 'a1', expires_in: 3600 }, 'a1'];
  await source('issuer', { uri: `${server.url}/token`, requestDefaults: { headers: { 'X-Tenant': '7' } } });
  await source('guarded', { uri: server.url, ...OAUTH, ...config });
  expect(await query('guarded', { path: '/guarded' })).toBe('Bearer a1');
  const asked = server.sent.filter(({ url }) => url === '/token').at(-1);
  expect(asked).toMatchObject({ method: 'POST', body });
  expect(asked?.headers).toMatchObject({ 'x-tenant': '7', ...headers });
});

// spec: integrations.md 2.6/4 2.5
test('OAuth: a token is shared and cached, renewed when it is refused or expires, and a rotated refresh token is stored', async () => {
  await source('issuer', { uri: `${server.url}/token` });
  await source('sharing', { uri: server.url, ...OAUTH, oauthGrantType: 'refresh_token', oauthRefreshToken: 'r0' });
  [grant, accepted] = [{ access_token: 'b1', expires_in: 3600, refresh_token: 'r1' }, 'b1'];
  const before = tokens;
  await Promise.all([1, 2, 3].map(() => query('sharing', { path: '/guarded' })));
  await query('sharing', { path: '/guarded' });
  expect(tokens - before).toBe(1);
  [grant, accepted] = [{ access_token: 'b2', expires_in: 20 }, 'b2']; // below the margin of 30 s: the token is used once
  expect(await query('sharing', { path: '/guarded' })).toBe('Bearer b2');
  expect(tokens - before).toBe(2);
  expect(server.sent.filter(({ url }) => url === '/token').at(-1)?.body).toContain('refresh_token=r1');
  await query('sharing', { path: '/guarded' });
  expect(tokens - before).toBe(3);
  accepted = 'other';
  await expect(query('sharing', { path: '/guarded' })).rejects.toMatchObject({
    code: 'cascade.source.query.failed',
    params: ['sharing', 'Unauthorized', expect.anything(), 401],
  });
});

// spec: integrations.md 2.6/1 2.6/4
test('OAuth: each failure has an error of its own', async () => {
  await source('issuer', { uri: `${server.url}/token` });
  await source('failing', { uri: server.url, ...OAUTH });
  grant = { error: 'invalid_client' };
  await expect(query('failing', { path: '/guarded' })).rejects.toMatchObject({ code: 'cascade.remote.oauth.failed', status: 500 });
  grant = { token: 'x' };
  await expect(query('failing', { path: '/guarded' })).rejects.toMatchObject({ code: 'cascade.remote.oauth.failed' });
  await source('without', { uri: server.url, ...OAUTH, oauthGrantType: 'refresh_token' });
  await expect(query('without', { path: '/guarded' })).rejects.toMatchObject({ code: 'cascade.remote.oauth.failed' });
  await t.ask('insert', 'sources', { body: JSON.stringify({ name: 'issuer', active: false }) });
  await expect(query('failing', { path: '/guarded' })).rejects.toMatchObject({ code: 'cascade.remote.oauth.source' });
  await source('issuer', { uri: `${server.url}/token` }, { active: true, mockMode: true });
  await expect(query('failing', { path: '/guarded' })).rejects.toMatchObject({ code: 'cascade.remote.oauth.source' });
  await source('issuer', { uri: `${server.url}/token`, accessToken: '@secrets(gone)' }, { mockMode: false });
  await expect(query('failing', { path: '/guarded' })).rejects.toMatchObject({
    code: 'cascade.remote.oauth.failed',
    message: expect.stringContaining('gone'),
  });
  await source('lost', { uri: server.url, ...OAUTH, oauthSourceName: 'nobody' });
  await expect(query('lost', { path: '/guarded' })).rejects.toMatchObject({ code: 'cascade.remote.oauth.source' });
});

// spec: integrations.md 2.7/1-6 1.6/2
test.each([
  ['r.tank ? 1 : 0', 1],
  ['r.tank[0] ? 1 : 0', 1],
  ['r.tank[1].load.text()', '3'],
  ['r.tank[5]', []],
  ['r.tank.load.size()', 3],
  ['r.tank[0]["@volume"]', '9'],
  ['r.tank[0]["@volume"].text()', '9'],
  ['r.tank[1]["@volume"]', null],
  ['r.missing.deeper.text()', ''],
  ['r.missing ? 1 : 0', 0],
  ['"load " + r.tank[1].load', 'load 3'],
  ['"" + r.tank[0].load[0]', '1'],
])('XML: %s is %j', async (expression, expected) => {
  await source('site', { uri: server.url });
  await t.program('procedures', `PROCEDURE xml()\nvar r = SELECT ONE FROM SOURCE site WITH path = "/xml"\nreturn ${expression}`);
  expect(JSON.parse((await t.ask('execute', 'procedures', { id: 'xml', body: '[]' })).body ?? '')).toEqual(expected);
});
