// resources-and-api.md 6.1 to 6.3, 6.6 over HTTP; the store behind it is tested in identity/.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await openFakeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.log.length = 0;
});

const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

async function login(authorization: string | undefined, more: Record<string, string> = {}, path = '/authenticate') {
  const headers = { ...(authorization !== undefined && { Authorization: authorization }), ...more };
  const response = await fetch(server.url + path, { headers });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown> & { code: string }[],
  };
}

const SESSION = {
  accessToken: TOKEN,
  idToken: TOKEN,
  expiresAt: '2031-02-02T10:00:00.000Z',
  username: 'ann',
  preferredUsername: 'Ann',
  namespace: 'main',
  profiles: ['admin', 'user__system'],
};

test('a login with name and password, split at the first colon and read as UTF-8', async () => {
  const { status, headers, body } = await login(basic('ann:pass:wörd'), { 'Content-Type': 'application/json' });
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(body).toEqual(SESSION);
});

test.each(['bearer', 'Bearer', 'BEARER'])('a login with a token behind %s', async (scheme) => {
  expect((await login(`${scheme} ${TOKEN}`)).body).toEqual(SESSION);
});

test('the scheme Basic may be written in any case', async () => {
  expect((await login(basic('ann:pass:wörd').replace('Basic', 'bASIC'))).status).toBe(200);
});

test('all failures of a login have the same answer', async () => {
  const answers = await Promise.all(
    [basic('ann:wrong'), basic('nobody:pass:wörd'), basic('ann:'), basic(':'), `Bearer ${TOKEN}x`, 'Bearer short'].map((header) =>
      login(header),
    ),
  );
  for (const { status, headers, body } of answers) {
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="cascade"');
    expect(body).toEqual([{ code: 'io.service.security.authentication.failed', message: 'Authentication failed.', params: [] }]);
  }
});

test.each([
  undefined,
  'Basic',
  'Basic !!!',
  `Basic ${Buffer.from('nocolon').toString('base64')}`,
  'Digest abc',
  TOKEN,
  'Bearer',
  'Bearer a b',
])('a header that is none is no credentials: %s', async (header) => {
  const { status, headers, body } = await login(header);
  expect([status, body[0]!.code]).toEqual([401, 'cascade.security.credentials.missing']);
  expect(headers.get('www-authenticate')).toBe('Bearer realm="cascade"');
});

test('too many failures are a 429 with the time to wait', async () => {
  const { status, headers, body } = await login(basic('locked:x'));
  expect([status, headers.get('retry-after')]).toEqual([429, '60']);
  expect(body[0]).toMatchObject({ code: 'cascade.security.rate.limited', params: [60] });
});

test('a login may be for another namespace, in a header or a parameter, and the header wins', async () => {
  const ann = basic('ann:pass:wörd');
  expect((await login(ann, { 'X-Target-Namespace': 'plant' })).body.namespace).toBe('plant');
  expect((await login(ann, {}, '/authenticate?targetNamespace=plant')).body.namespace).toBe('plant');
  expect((await login(ann, { 'X-Target-Namespace': 'plant' }, '/authenticate?targetNamespace=nowhere')).body.namespace).toBe('plant');
  const { status, body } = await login(ann, { 'X-Target-Namespace': 'nowhere' });
  expect([status, body[0]!.code]).toEqual([403, 'cascade.namespace.not.authorized']);
});

async function resource(query: string, headers: Record<string, string> = {}): Promise<[number, string?]> {
  const response = await fetch(`${server.url}/api/v1/resources/types${query}`, { headers });
  const body = (await response.json()) as { code: string }[];
  return response.status === 200 ? [200] : [response.status, body[0]!.code];
}

test('a request shows its token in the header or the parameter', async () => {
  expect(await resource('', { Authorization: `Bearer ${TOKEN}` })).toEqual([200]);
  expect(await resource('', { Authorization: `bEARER ${TOKEN}` })).toEqual([200]);
  expect(await resource(`?token=${TOKEN}`)).toEqual([200]);
});

test('a request without a valid token is refused', async () => {
  expect(await resource('')).toEqual([401, 'cascade.security.credentials.missing']);
  expect(await resource('?token=')).toEqual([401, 'cascade.security.credentials.missing']);
  expect(await resource('?token=css_no')).toEqual([401, 'cascade.security.token.invalid']);
  expect(await resource('', { Authorization: `Bearer ${TOKEN}x` })).toEqual([401, 'cascade.security.token.invalid']);
});

test('the header wins over the parameter', async () => {
  expect(await resource(`?token=${TOKEN}`, { Authorization: 'Bearer css_no' })).toEqual([401, 'cascade.security.token.invalid']);
  expect(await resource('?token=css_no', { Authorization: `Bearer ${TOKEN}` })).toEqual([200]);
});

test.each([basic('ann:pass:wörd'), `Token ${TOKEN}`, TOKEN])('another scheme than Bearer does not open a resource: %s', async (header) => {
  expect(await resource(`?token=${TOKEN}`, { Authorization: header })).toEqual([401, 'cascade.security.credentials.missing']);
});

test('a token given twice is refused without being repeated', async () => {
  const response = await fetch(`${server.url}/api/v1/resources/types?token=${TOKEN}&token=${TOKEN}`);
  const text = await response.text();
  expect(response.status).toBe(400);
  expect(text).not.toContain(TOKEN);
});

test('the identity is checked before the syntax of the request', async () => {
  expect(await resource('?where=nonsense')).toEqual([401, 'cascade.security.credentials.missing']);
  const malformed = await fetch(`${server.url}/api/v1/resources/custom/T`, { method: 'POST', body: '{' });
  expect(malformed.status).toBe(401);
});

test('the target namespace reaches the engine; one that the user is not authorized in is refused', async () => {
  await server.resource('types', { headers: { 'X-Target-Namespace': 'plant' } });
  expect(server.requests.at(-1)!.identity).toEqual({ username: 'ann', namespace: 'plant', profiles: ['admin', 'user__system'] });
  await server.resource('types?targetNamespace=plant');
  expect(server.requests.at(-1)!.identity.namespace).toBe('plant');
  const refused = await server.resource('types?where=nonsense', { headers: { 'X-Target-Namespace': 'nowhere' } });
  expect(refused.status).toBe(403);
});

test('the session check is 200 or 401', async () => {
  const check = await fetch(`${server.url}/api/v1/_status?token=${TOKEN}`);
  expect([check.status, await check.text()]).toEqual([200, '{"status":"ok"}']);
  expect((await fetch(`${server.url}/api/v1/_status`)).status).toBe(401);
});

test('a session is renewed with the token as the body, of any type', async () => {
  for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
    const response = await fetch(`${server.url}/authenticate/refresh`, {
      method: 'POST',
      body: `${TOKEN}\n`,
      headers: { 'Content-Type': type },
    });
    expect([response.status, await response.json()]).toEqual([200, SESSION]);
  }
});

test('an access token that is not a session token is not renewed', async () => {
  const code = async (body: string) => {
    const response = await fetch(`${server.url}/authenticate/refresh`, { method: 'POST', body });
    return [response.status, ((await response.json()) as { code: string }[])[0]!.code];
  };
  expect(await code('css_unknown')).toEqual([401, 'cascade.security.token.invalid']);
  expect(await code('')).toEqual([401, 'cascade.security.credentials.missing']);
});

test('a session is revoked, and revoking an unknown one succeeds, too', async () => {
  for (const body of [TOKEN, 'css_unknown']) {
    const response = await fetch(`${server.url}/authenticate/revoke`, { method: 'POST', body });
    expect([response.status, await response.text()]).toEqual([200, '{}']);
  }
});

const INVITATION = 'csi_cO9mwTzT7bGyqFJ0o0u5iI8K3tQyUl4bYfG9Z1n2x3A';

test('the log contains no token and no password', async () => {
  await login(basic('ann:pass:wörd'));
  await fetch(`${server.url}/api/v1/resources/types?token=${TOKEN}`);
  await fetch(`${server.url}/authenticate/revoke`, { method: 'POST', body: TOKEN });
  for (const named of [`tokens/${TOKEN}`, `delegatedrequests/${INVITATION}`, `tokens/${TOKEN.replace('_', '%5F')}`])
    await fetch(`${server.url}/api/v1/resources/${named}`);
  const log = server.log.join('');
  expect(log).toContain('/api/v1/resources/types');
  expect(log).toContain('/api/v1/resources/tokens/…');
  expect(log).toContain('/api/v1/resources/delegatedrequests/…');
  expect(log).not.toContain(TOKEN.slice(5));
  expect(log).not.toContain(INVITATION);
  expect(log).not.toContain(TOKEN);
  expect(log).not.toContain('pass');
});
