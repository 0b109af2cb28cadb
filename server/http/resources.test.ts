// resources-and-api.md 1.4 to 1.6: valid bodies and query parameters, over a real socket.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Real } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/api-errors.ts';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer({ bodyLimitBytes: 64 * 1024 });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.requests.length = 0;
});

async function refused(path: string, init: RequestInit = {}): Promise<unknown[]> {
  const response = await server.resource(path, init);
  expect(server.requests).toEqual([]);
  const [first] = (await response.json()) as { code: string; params: unknown[] }[];
  return [response.status, first!.code, ...first!.params];
}

async function passed(path: string, init: RequestInit = {}) {
  const response = await server.resource(path, init);
  expect(response.status).toBe(200);
  return server.requests.at(-1)!;
}

const post = (body: string | Uint8Array, type?: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' ? Buffer.from(body) : body, // fetch would add a type to a string
  headers: { ...(type !== undefined && { 'Content-Type': type }), ...headers },
});

test.each([undefined, 'application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
  'JSON comes with the type %s',
  async (type) => {
    expect((await passed('custom/Pump', post('[{"rpm":1}]', type))).object).toEqual([{ rpm: 1 }]);
  },
);

test.each(['GET', 'DELETE'])('%s may have application/json and no body', async (method) => {
  expect((await passed('custom/Pump/1', { method, headers: { 'Content-Type': 'application/json' } })).object).toBeUndefined();
});

test('POST may have application/json and no body where none is needed', async () => {
  expect((await passed('topics//a', { method: 'POST', headers: { 'Content-Type': 'application/json' } })).object).toBeUndefined();
  expect((await passed('procedures/P', { method: 'POST', headers: { 'Content-Type': 'application/json' } })).object).toBeUndefined();
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
  '%s is refused where JSON is meant',
  async (type) => {
    expect(await refused('custom/Pump', post('{}', type))).toEqual([400, 'cascade.request.content.type', type]);
    expect(await refused('procedures/P', post('[]', type))).toEqual([400, 'cascade.request.content.type', type]);
  },
);

test.each(['POST', 'PUT'])('%s accepts program text with any type but JSON, on rules and procedures', async (method) => {
  const text = '// süß\nRULE r WHEN INSERT OCCURS ON Pump AS p';
  for (const type of ['text/plain', 'text/x-rule', 'application/octet-stream', undefined]) {
    const request = await passed(method === 'PUT' ? 'rules/r' : 'rules?active=false', { ...post(text, type), method });
    expect(request.text).toBe(text);
    expect(request.object).toBeUndefined();
    expect(request.parameters).toEqual(method === 'PUT' ? {} : { active: false });
  }
  expect((await passed(method === 'PUT' ? 'procedures/p' : 'procedures', { ...post('PROCEDURE p()', 'text/plain'), method })).text).toBe(
    'PROCEDURE p()',
  );
});

test('program text may come as a JSON string or in an object', async () => {
  expect((await passed('rules', post('"RULE r"', 'application/json'))).text).toBe('RULE r');
  expect((await passed('rules', post(' {"ruleText":"RULE r"}'))).object).toEqual({ ruleText: 'RULE r' });
});

test('a text on a type named rules is not a program', async () => {
  expect(await refused('custom/rules', post('RULE r', 'text/plain'))).toEqual([400, 'cascade.request.content.type', 'text/plain']);
});

test('a text with invalid UTF-8 is refused', async () => {
  expect((await refused('rules', post(Buffer.from([0x52, 0xff]), 'text/plain')))[1]).toBe('cascade.request.body.invalid');
});

test.each([
  ['{', 1],
  ['[1,]', 3],
  ['{"a":1} x', 8],
])('malformed JSON is refused with its place: %s', async (body, offset) => {
  expect(await refused('custom/Pump', post(body))).toEqual([400, 'cascade.request.body.invalid', expect.any(String), offset]);
});

test.each(['POST custom/Pump', 'PUT custom/Pump/1', 'PATCH custom/Pump/1', 'POST custom/Pump/aggregate', 'POST rules', 'POST types/T'])(
  'an empty body is refused where one is needed: %s',
  async (line) => {
    const [method, path] = line.split(' ');
    expect((await refused(path!, { method })).slice(0, 2)).toEqual([400, 'cascade.request.body.invalid']);
  },
);

test('numbers keep their digits', async () => {
  const { object } = await passed('custom/Pump', post('{"a":9007199254740993,"b":5.0,"c":5}'));
  expect(object).toEqual({ a: 9007199254740993n, b: new Real(5), c: 5 });
});

test('__proto__ and constructor are ordinary members', async () => {
  const { object } = await passed('custom/Pump', post('{"__proto__":{"x":1},"constructor":2}'));
  expect(Object.keys(object as object)).toEqual(['__proto__', 'constructor']);
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

test('every known parameter is parsed as JSON', async () => {
  const query = 'where={"rpm":{"$gt":900}}&props=["rpm","site"]&sort={"rpm":-1,"a":1}&page=2&limit=50&count=true';
  const { parameters } = await passed(`custom/Pump?${encodeURI(query)}`);
  expect(parameters).toEqual({
    where: { rpm: { $gt: 900 } },
    props: ['rpm', 'site'],
    sort: { rpm: -1, a: 1 },
    page: 2,
    limit: 50,
    count: true,
  });
  expect(Object.keys(parameters.sort as object)).toEqual(['rpm', 'a']);
});

test('a plus sign in the query is a blank, an escaped one a plus sign', async () => {
  expect((await passed('custom/Pump?where={"a":"b+c%2Bd"}')).parameters.where).toEqual({ a: 'b c+d' });
});

test('unknown parameters, and those that the operation does not use, are ignored', async () => {
  expect((await passed('custom/Pump?_=1&_=2&direct=x&explicit&%zz=1&where={}')).parameters).toEqual({ where: {} });
  expect((await passed('custom/Pump/1?where=nonsense&props=["a"]')).parameters).toEqual({ props: ['a'] });
  expect((await passed('custom/Pump?active=1&upsert=', { method: 'GET' })).parameters).toEqual({});
});

test.each([
  ['where', '{'],
  ['where', '[]'],
  ['where', '"a"'],
  ['where', ''],
  ['where', '5.0'],
  ['props', '{}'],
  ['props', '["a",1]'],
  ['sort', '["a"]'],
  ['page', '"1"'],
  ['page', '1.5'],
  ['page', '1.0'],
  ['limit', 'ten'],
  ['count', '1'],
  ['count', 'TRUE'],
])('%s=%s is refused', async (name, value) => {
  expect(await refused(`custom/Pump?${name}=${encodeURIComponent(value)}`)).toEqual([
    400,
    'cascade.request.parameter.invalid',
    name,
    value,
  ]);
});

test('a known parameter may not occur twice', async () => {
  expect(await refused('custom/Pump?limit=1&limit=2')).toEqual([400, 'cascade.request.parameter.invalid', 'limit', '2']);
});

test('a malformed escape in a parameter is refused', async () => {
  expect(await refused('custom/Pump?where=%zz')).toEqual([400, 'cascade.request.parameter.invalid', 'where', '%zz']);
});

test('INSERT, DELETE and EXECUTE have parameters of their own', async () => {
  expect((await passed('custom/Pump?count=true', post('[]'))).parameters).toEqual({ count: true });
  expect((await passed('custom/Pump?where={}&count=true', { method: 'DELETE' })).parameters).toEqual({ where: {}, count: true });
  expect((await passed('procedures/P?stream=true&maxBufferSize=9&maxFlushInterval=-1', post('[]'))).parameters).toEqual({
    stream: true,
    maxBufferSize: 9,
    maxFlushInterval: -1,
  });
});

test('a body may be compressed, and its limit counts the decompressed bytes', async () => {
  const zipped = (text: string) => post(gzipSync(text), 'application/json', { 'Content-Encoding': 'gzip' });
  expect((await passed('custom/Pump', zipped('[{"a":1}]'))).object).toEqual([{ a: 1 }]);
  server.requests.length = 0;
  expect(await refused('custom/Pump', zipped(`["${'a'.repeat(100_000)}"]`))).toEqual([400, 'cascade.request.body.too.large', 65536]);
});

// spec: integrations.md 6.2
test('what is posted to a source is given to it as it was sent, since signatures are of that', async () => {
  for (const sent of [gzipSync('{"a":1}'), gzipSync('x'.repeat(1_000_000)), Buffer.from('no gzip')]) {
    const init = { method: 'POST', body: sent, headers: { 'Content-Encoding': 'gzip' } };
    const response = await fetch(`${server.url}/private/webhook/main/hook`, init);
    expect([response.status, await response.json()]).toEqual([200, sent.toString('base64')]);
  }
});

test('an invalid or unsupported compression is refused', async () => {
  expect((await refused('custom/Pump', post('[]', 'application/json', { 'Content-Encoding': 'gzip' })))[1]).toBe(
    'cascade.request.body.invalid',
  );
  expect((await refused('custom/Pump', post('[]', 'application/json', { 'Content-Encoding': 'br' })))[1]).toBe(
    'cascade.request.content.type',
  );
});

test('a body beyond the limit is refused, and the connection stays usable', async () => {
  expect(await refused('custom/Pump', post(`"${'a'.repeat(1_000_000)}"`))).toEqual([400, 'cascade.request.body.too.large', 65536]);
  await passed('custom/Pump', post(`["${'a'.repeat(65_000)}"]`));
});

test('a body may be chunked, without a length', async () => {
  const answer = await server.raw(
    `POST /api/v1/resources/custom/Pump HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[{}\r\n1\r\n]\r\n0\r\n\r\n`,
  );
  expect(answer).toContain('200 OK');
  expect(server.requests.at(-1)!.object).toEqual([{}]);
});

test('builtins.md 20: a procedure sees the headers of its call, except credentials and those of proxies', async () => {
  const secrets = {
    'proxy-authorization': 'Basic x',
    cookie: 'a=b',
    forwarded: 'for=10.0.0.1',
    'x-forwarded-for': '10.0.0.1',
    'X-Forwarded-User': 'eve',
  };
  const { headers } = await passed('procedures/P', post('[]', 'application/json', { ...secrets, 'X-Plain': '1' }));
  expect(headers).toMatchObject({ 'x-plain': '1' });
  for (const name of ['authorization', ...Object.keys(secrets)]) expect(headers).not.toHaveProperty(name.toLowerCase());
});

// spec: resources-and-api.md 2
test('a request that cannot be read counts as one, and is told of the quota first', async () => {
  const wrong: [string, RequestInit?][] = [
    ['custom/Pump?limit=x'],
    ['custom/Pump/%zz'],
    ['custom/Pump', post('{"rpm":')],
    ['custom/Pump', post('x', 'text/plain')],
    ['documents', post('x', 'multipart/form-data')],
    ['../batch', post('{}')],
  ];
  const counted: string[] = [];
  server.count = ({ username }) => void counted.push(username);
  for (const [path, init] of wrong) expect((await server.resource(path, init)).status, path).toBe(400);
  expect(counted).toEqual(wrong.map(() => 'ann'));
  server.count = () => {
    throw apiError('cascade.quota.exceeded', 'requestsPerSecond', 5);
  };
  for (const [path, init] of wrong)
    expect(await refused(path, init), path).toEqual([429, 'cascade.quota.exceeded', 'requestsPerSecond', 5]);
  server.count = () => undefined;
});
