// REMOTE through the engine, against an HTTP server of this test (integrations.md 2).
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../../../engine/testing/engine.ts';
import { answerJson, type HttpServer, openHttpServer } from '../../testing/http-server.ts';
import { upload } from '../../testing/upload.ts';

let t: TestEngine;
let server: HttpServer;
let polls = 0;
beforeAll(async () => {
  server = await openHttpServer((sent, response) => {
    const { pathname } = new URL(sent.url, 'http://x');
    if (pathname === '/fail') answerJson(response, { why: 'no' }, 418);
    else if (pathname === '/page') response.writeHead(503, { 'content-type': 'text/html' }).end('é'.repeat(1_000_000));
    else if (pathname === '/list')
      answerJson(
        response,
        Array.from({ length: 100_000 }, (_, n) => n),
        418,
      );
    else if (pathname === '/xml') response.writeHead(200, { 'content-type': 'text/xml' }).end(YARD);
    else if (pathname === '/text') response.writeHead(200, { 'content-type': 'text/plain' }).end('plain');
    else if (pathname === '/csv') response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b\r\n1,"x,""y"""\r\n2\r\n');
    else if (pathname === '/bytes') response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([1, 2, 255]));
    else if (pathname === '/empty') response.writeHead(204).end();
    else if (pathname === '/broken') response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":');
    else if (pathname === '/cookies') answerJson(response, 1, 200, { 'set-cookie': ['a=1', 'b=2'], 'x-two': ['1', '2'] });
    else if (pathname === '/slow') setTimeout(() => answerJson(response, 1), 5_000).unref();
    else if (pathname === '/cut') response.destroy();
    else if (pathname === '/away') response.writeHead(302, { location: '/echo' }).end();
    else if (pathname === '/inside') response.writeHead(302, { location: 'http://192.168.77.1/' }).end();
    else if (pathname === '/poll') answerJson(response, { n: ++polls });
    else answerJson(response, sent);
  });
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const YARD = '<yard><crane id="k1"><load>12</load></crane><crane id="k2"/></yard>';

async function source(name: string, config: object, more: object = {}): Promise<void> {
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'REMOTE', config, ...more }) });
}
const query = async (name: string, document: object): Promise<{ url?: string; method?: string; headers?: Record<string, string> }> =>
  JSON.parse((await t.ask('query', 'sources', { id: name, body: JSON.stringify(document) })).body ?? 'null');
const status = async (name: string): Promise<{ url?: string; method?: string; headers?: Record<string, string> }> =>
  JSON.parse((await t.ask('status', 'sources', { id: name })).body ?? '');

// spec: integrations.md 2.5
test('the long body of an error is shown by its beginning', async () => {
  await source('wordy', { uri: server.url });
  const paramsOf = (path: string): Promise<unknown[]> =>
    query('wordy', { path }).then(
      () => [],
      ({ params }) => params,
    );
  const page = await paramsOf('page');
  expect([page[0], page[1], page[3]]).toEqual(['wordy', 'Service Unavailable', 503]);
  expect(page[2]).toBe(`${'é'.repeat(16_384)}…`);
  const list = await paramsOf('list');
  expect(String(list[2])).toMatch(/^\[0,1,2,.{1,32768}…$/);
  expect(list[3]).toBe(418);
});

// spec: integrations.md 1.3 2.2
test('an exchange is shown of a source whose address is a secret', async () => {
  await t.ask('insert', 'secrets', { body: JSON.stringify({ name: 'whole', secret: `${server.url}/hush/` }) });
  await source('secretBase', { uri: '@secrets(whole)' });
  const exchange = await query('secretBase', { path: 'x', asFullExchange: true });
  expect(exchange).toMatchObject({
    request: { method: 'GET', url: '@secrets(whole)' },
    response: { status: 200, body: { url: '/hush/x' } },
  });
});

// spec: integrations.md 2.2
test('defaults hold secrets: a query, a SELECT, a publish and a poll send them, and no answer, mock or echo shows them', async () => {
  const secret = (name: string, value: string) => t.ask('insert', 'secrets', { body: JSON.stringify({ name, secret: value }) });
  await Promise.all([secret('defaultKey', 'hush-3'), secret('defaultPlace', 'hush-4')]);
  const headers = {
    Authorization: 'Zed hush-1',
    'X-Api-Key': 'hush-2',
    Cookie: 'c=hush-5',
    'X-Own': 'own @secrets(defaultKey)',
    'X-Site': '7',
  };
  const requestDefaults = {
    headers,
    query: { place: '@secrets(defaultPlace)' },
    path: '/at/@secrets(defaultKey)',
    method: '@secrets(verb)',
  };
  await secret('verb', 'put');
  await source('hushed', { uri: `${server.url}/x/`, requestDefaults, username: 'ann', password: 'no' });
  const sent = {
    method: 'PUT',
    url: '/at/hush-3?place=hush-4',
    headers: { authorization: 'Zed hush-1', 'x-api-key': 'hush-2', cookie: 'c=hush-5', 'x-own': 'own hush-3', 'x-site': '7' },
  };
  expect(await query('hushed', {})).toMatchObject(sent);
  await t.program('procedures', 'PROCEDURE asksHushed()\n  return SELECT ONE FROM SOURCE hushed');
  expect(JSON.parse((await t.ask('execute', 'procedures', { id: 'asksHushed', body: '[]' })).body ?? '')).toMatchObject(sent);
  await t.ask('publish', 'sources', { id: 'hushed', body: '{"body":1}' });
  await t.program(
    'procedures',
    'PROCEDURE tellsHushed()\n  PUBLISH { body: 1, headers: { "X-Kept": "k", "X-Site": "6" }, query: { kept: 1 } } TO SOURCE hushed USING { headers: { "x-site": "8" }, query: { more: 2 } }',
  );
  await t.ask('execute', 'procedures', { id: 'tellsHushed', body: '[]' });
  expect(server.sent.slice(-2)).toMatchObject([
    { ...sent, body: '1' },
    { url: `${sent.url}&kept=1&more=2`, headers: { ...sent.headers, 'x-kept': 'k', 'x-site': '8' } },
  ]);
  expect((await query('hushed', { headers: { authorization: 'Other' } })).headers).toMatchObject({
    authorization: 'Other',
    'x-api-key': 'hush-2',
  });

  const { request } = (await query('hushed', { asFullExchange: true, method: 'POST', body: { a: 1 } })) as { request?: object };
  expect(request).toMatchObject({ method: 'POST', headers: { 'x-own': 'own @secrets(defaultKey)', 'x-site': '7' }, body: '{"a":1}' });
  expect(JSON.stringify(request)).not.toContain('hush');
  const { request: byDefault } = (await query('hushed', { asFullExchange: true })) as { request?: object };
  expect(byDefault).toMatchObject({
    method: '@secrets(verb)',
    headers: { 'x-own': 'own @secrets(defaultKey)', 'x-site': '7' },
    body: null,
  });
  expect(JSON.stringify(byDefault)).not.toContain('hush');

  await t.ask('update', 'sources', { id: 'hushed', body: '{"mockMode":true,"mockProcedures":{"query":"asked"}}' });
  await t.program('procedures', 'PROCEDURE asked(queryDesc)\n  return queryDesc');
  const described = JSON.stringify(await query('hushed', { asFullResponse: true }));
  expect(described).toContain('@secrets(defaultKey)');
  expect(described).not.toContain('hush');
});

test('2.2: defaults and the request are merged, headers and query key by key', async () => {
  await source('merged', {
    uri: `${server.url}/api/v2/`,
    username: 'ann',
    password: 'hush',
    requestDefaults: { query: { unit: 'C', lang: 'en' }, headers: { 'X-Site': '7', 'X-Off': 'x' } },
  });
  const seen = await query('merged', {
    path: 'now',
    query: { lang: 'fr', many: [1, 2], no: null, o: { a: 1 } },
    headers: { 'x-off': null },
  });
  expect(seen.url).toBe('/api/v2/now?unit=C&lang=fr&many=1&many=2&o=%7B%22a%22%3A1%7D');
  expect(seen.headers).toMatchObject({ 'x-site': '7', authorization: `Basic ${btoa('ann:hush')}`, accept: 'application/json' });
  expect(seen.headers?.['x-off']).toBeUndefined();
  expect(seen.method).toBe('GET');
});

test.each([
  ['now', '/api/v2/now'],
  ['/now', '/now'],
  ['../up?a=1', '/api/up?a=1'],
  ['../../../../top', '/top'],
  ['', '/api/v2/'],
])('2.3: the path %j leads to %s', async (path, url) => {
  await source('paths', { uri: `${server.url}/api/v2/` });
  expect((await query('paths', { path })).url).toBe(url);
});

test.each([
  [{ path: 'http://example.com/x' }, 'another origin'],
  [{ path: '//example.com/x' }, 'another origin'],
  [{ path: '\\\\example.com\\x' }, 'another origin'],
  [{ headers: { 'X-A': 'a\r\nX-B: b' } }, 'a character'],
  [{ headers: { 'X A': 'a' } }, 'no name'],
  [{ headers: { Host: 'a' } }, 'made by the connection'],
  [{ headers: { 'Transfer-Encoding': 'chunked' } }, 'made by the connection'],
  [{ headers: { a: 1 } }, 'no String'],
  [{ headers: { a: ['x', true] } }, 'no String'],
  [{ method: 'BREW' }, 'no method'],
  [{ method: 'GET\r\n' }, 'line break'],
  [{ query: [] }, 'an Object'],
  [{ asFullResponse: 1 }, 'a Boolean'],
  [{ body: 1, parts: [] }, 'exclude each other'],
  [{ acceptType: 'a/b', responseType: 'a/b' }, 'exclude each other'],
  [{ requestTimeout: 'soon' }, 'an interval'],
  [{ parts: [{ content: 'x' }] }, 'needs a name'],
  [{ parts: [{ name: 'x' }] }, 'needs content or ref'],
])('2.2: %j is refused', async (document, reason) => {
  await source('refusing', { uri: server.url });
  const before = server.sent.length;
  await expect(query('refusing', document)).rejects.toMatchObject({
    code: 'cascade.remote.request.invalid',
    status: 400,
    message: expect.stringContaining(reason),
  });
  expect(server.sent).toHaveLength(before);
});

test('1.6, 2.5: answers are parsed by their content type', async () => {
  await source('typed', { uri: server.url });
  expect(await query('typed', { path: '/xml' })).toEqual({ crane: [{ '@id': 'k1', load: '12' }, { '@id': 'k2' }] });
  expect(await query('typed', { path: '/text' })).toBe('plain');
  expect(await query('typed', { path: '/csv' })).toEqual([
    { a: '1', b: 'x,"y"' },
    { a: '2', b: null },
  ]);
  expect(await query('typed', { path: '/bytes' })).toEqual({ contentType: 'image/png', size: 3, base64: 'AQL/' });
  expect(await query('typed', { path: '/xml', responseType: 'text/plain' })).toBe(YARD);
  expect(await query('typed', { path: '/empty' })).toBeNull();
  expect(await query('typed', { path: '/cookies', asFullResponse: true })).toMatchObject({
    status: 200,
    cookies: ['a=1', 'b=2'],
    body: 1,
    headers: { 'x-two': ['1', '2'] },
  });
  await expect(query('typed', { path: '/broken' })).rejects.toMatchObject({ code: 'cascade.remote.response.malformed' });
});

test('2.7: a program accesses XML elements by name', async () => {
  await source('yard', { uri: server.url });
  await t.program(
    'procedures',
    `PROCEDURE yard()\nvar r = SELECT ONE FROM SOURCE yard WITH path = "/xml"
    return [r.crane[0].load.text(), r.crane[1]["@id"], r.crane[1]["@id"].text(), r.crane[1].load.text(), r.crane.size()]`,
  );
  expect((await t.ask('execute', 'procedures', { id: 'yard', body: '[]' })).body).toBe('["12","k2","k2","",2]');
  await t.program(
    'procedures',
    `PROCEDURE rows()\nvar r = SELECT FROM SOURCE yard WITH path = "/xml"\nreturn [r.crane[0].load.text(), r[0].crane[0].load.text()]`,
  );
  expect((await t.ask('execute', 'procedures', { id: 'rows', body: '[]' })).body).toBe('["12","12"]');
});

test('2.5: each failure has an error of its own', async () => {
  await source('failing', { uri: server.url });
  await expect(query('failing', { path: '/fail' })).rejects.toMatchObject({
    code: 'cascade.source.query.failed',
    status: 500,
    params: ['failing', "I'm a Teapot", { why: 'no' }, 418],
  });
  await expect(t.ask('publish', 'sources', { id: 'failing', body: '{"path":"/fail"}' })).rejects.toMatchObject({
    code: 'cascade.source.publish.failed',
  });
  await expect(query('failing', { path: '/slow', requestTimeout: 20 })).rejects.toMatchObject({ code: 'cascade.remote.request.timeout' });
  await expect(query('failing', { path: '/cut' })).rejects.toMatchObject({ code: 'cascade.remote.connect.failed' });
  await source('nobody', { uri: 'http://127.0.0.1:1' });
  await expect(query('nobody', {})).rejects.toMatchObject({ code: 'cascade.remote.connect.failed' });
  expect(await query('failing', { path: '/fail', asFullExchange: true })).toMatchObject({
    response: { status: 418 },
    request: { method: 'GET' },
  });
  expect(await status('failing')).toMatchObject({ state: 'connected', failed: 4 });
});

test('2.1, 13: redirects are followed for GET, and never to a forbidden address', async () => {
  await source('moved', { uri: server.url, accessToken: 'abc' });
  expect((await query('moved', { path: '/away' })).url).toBe('/echo');
  expect(await query('moved', { path: '/away', includeRedirect: true, asFullResponse: true })).toMatchObject({ status: 302 });
  await expect(query('moved', { path: '/away', method: 'POST' })).rejects.toMatchObject({ code: 'cascade.source.query.failed' });
  await expect(query('moved', { path: '/inside' })).rejects.toMatchObject({ code: 'cascade.source.unavailable' });
  expect(await status('moved')).toMatchObject({ state: 'error', error: { code: 'cascade.source.address.refused' } });
});

test('13: forbidden literal addresses are refused at creation, host names when they are resolved', async () => {
  for (const uri of ['http://10.0.0.1/', 'http://[::1]/', 'http://0x0a.1/', 'http://167772161/', 'http://169.254.169.254/latest'])
    await expect(source('inner', { uri })).rejects.toMatchObject({ code: 'cascade.source.address.refused', status: 400 });
  await source('named', { uri: `http://localhost:${server.port}` });
  expect((await query('named', {})).url).toBe('/'); // this engine may reach 127.0.0.1, but not ::1
});

test('2.9: PUBLISH with USING sends a PUT', async () => {
  await source('plant', { uri: `${server.url}/base/` });
  await t.program(
    'procedures',
    'PROCEDURE send()\nPUBLISH { body: { pump: 4, on: true } } TO SOURCE plant USING { path: "pumps/4", method: "PUT" }',
  );
  await t.ask('execute', 'procedures', { id: 'send', body: '[]' });
  expect(server.sent.at(-1)).toMatchObject({ method: 'PUT', url: '/base/pumps/4', body: '{"pump":4,"on":true}' });
});

test('2.8: each poll raises an event', async () => {
  await t.type('Polled', { n: { type: 'Integer' }, status: { type: 'Integer' } });
  await t.program(
    'rules',
    'RULE takes WHEN EVENT OCCURS ON "/sources/polled" AS e INSERT Polled(n: e.value.n, status: e.properties.status)',
  );
  await source('polled', { uri: `${server.url}/poll`, pollingInterval: 1 });
  await t.eventually('Polled', { status: 200 }, 2);
  expect(await status('polled')).toMatchObject({ state: 'connected', consumers: [{ process: expect.stringMatching(/^p-/) }] });
  await t.ask('delete', 'sources', { id: 'polled' });
  const after = polls;
  await source('again', { uri: `${server.url}/poll`, pollingInterval: 1000 });
  await expect.poll(() => polls).toBe(after + 1);
});

// spec: integrations.md 1.2 2.8
test('2.8: the status of a source whose polls fail says when the next one is', async () => {
  await source('pollsNowhere', { uri: 'http://127.0.0.1:1/', pollingInterval: 500 });
  await expect.poll(() => status('pollsNowhere')).toMatchObject({ state: 'error', attempts: 1 });
  const { since, nextAttemptAt } = (await status('pollsNowhere')) as Record<'since' | 'nextAttemptAt', string>;
  const left = Date.parse(nextAttemptAt) - Date.parse(since);
  expect([left > 400_000, left <= 500_000]).toEqual([true, true]);
});

// spec: integrations.md 2.2/15
test('2.2: the body of an answer is stored as a document, and replaces the previous one', async () => {
  await source('keeping', { uri: server.url });
  for (const path of ['/text', '/csv']) {
    expect(await query('keeping', { path, saveAs: '/documents/kept/answer' })).toBe('/documents/kept/answer');
  }
  const [kept] = await t.rows('documents', { name: 'kept/answer' });
  expect(kept).toMatchObject({ contentSize: 21, fileType: 'text/csv', ars_createdBy: 'ann' });
  await t.program(
    'procedures',
    `PROCEDURE keep()
    var r = SELECT ONE FROM SOURCE keeping WITH path = "/bytes", saveAs = { resource: "system.documents", resourceId: "kept/a.bin" }
    var full = SELECT ONE FROM SOURCE keeping WITH path = "/text", saveAs = "/documents/kept/b", asFullResponse = true
    return [r.resource, r.resourceId, full.status, full.body.resourceId]`,
  );
  expect((await t.ask('execute', 'procedures', { id: 'keep', body: '[]' })).body).toBe('["documents","kept/a.bin",200,"kept/b"]');
  expect(await t.rows('documents', { name: 'kept/a.bin' })).toMatchObject([{ contentSize: 3 }]);
  await expect(query('keeping', { path: '/fail', saveAs: '/documents/kept/none' })).rejects.toMatchObject({
    code: 'cascade.source.query.failed',
  });
  expect(await query('keeping', { path: '/fail', saveAs: '/documents/kept/none', asFullExchange: true })).toMatchObject({
    response: { status: 418, body: { why: 'no' } },
  });
  expect(await t.rows('documents', { name: 'kept/none' })).toEqual([]);
});

test.each([
  ['/types/Pump', 'cascade.remote.request.invalid'],
  [5, 'cascade.remote.request.invalid'],
  ['/documents/../x', 'cascade.document.name.invalid'],
  ['/documents/system/x', 'cascade.document.name.reserved'],
])('2.2: saveAs %j is refused before anything is sent', async (saveAs, code) => {
  await source('keeping', { uri: server.url });
  const before = server.sent.length;
  await expect(query('keeping', { path: '/text', saveAs })).rejects.toMatchObject({ code });
  expect(server.sent).toHaveLength(before);
});

// spec: integrations.md 2.2/7
test('2.2: a part may be a document, with the document’s name and type', async () => {
  await source('uploading', { uri: server.url });
  await upload(t, 'reports/pump 4.csv', 'text/csv', 'a,b\n1,2\n');
  await t.ask('publish', 'sources', {
    id: 'uploading',
    body: JSON.stringify({ parts: [{ ref: '/documents/reports/pump 4.csv' }, { name: 'note', content: 'hi' }] }),
  });
  const sent = server.sent.at(-1);
  const [, boundary] = /boundary=(.+)$/.exec(String(sent?.headers['content-type'])) ?? [];
  expect(sent?.body.split(`--${boundary}`)).toEqual([
    '',
    '\r\nContent-Disposition: form-data; name="pump 4.csv"; filename="pump 4.csv"\r\nContent-Type: text/csv\r\n\r\na,b\n1,2\n\r\n',
    '\r\nContent-Disposition: form-data; name="note"\r\nContent-Type: text/plain\r\n\r\nhi\r\n',
    '--\r\n',
  ]);
  await expect(query('uploading', { parts: [{ ref: '/documents/none' }] })).rejects.toMatchObject({
    code: 'cascade.resource.not.found',
    status: 404,
  });
  await expect(query('uploading', { parts: [{ ref: '/types/Pump' }] })).rejects.toMatchObject({ code: 'cascade.remote.request.invalid' });
  await expect(query('uploading', { parts: [{ ref: '/documents/reports/pump 4.csv', content: 'x', name: 'n' }] })).rejects.toMatchObject({
    code: 'cascade.remote.request.invalid',
  });
});

test('1.8: changes of the state are audited, retries in between are not, nor a state that never was', async () => {
  await source('lost', { uri: 'http://127.0.0.1:1', pollingInterval: 1 });
  const audits = async () => (await t.rows('audits', { entity: '/sources/lost' })).map(({ op }) => op);
  await expect.poll(audits).toEqual(['insert', 'error']);
  await expect.poll(async () => Number(((await status('lost')) as { failed?: number }).failed)).toBeGreaterThanOrEqual(2);
  expect(await audits()).toEqual(['insert', 'error']);
  await source('lost', { uri: `${server.url}/poll`, pollingInterval: 1 });
  await expect.poll(audits).toEqual(['insert', 'error', 'update', 'connected']);
});
