// CHATBOT and WEBHOOK over HTTP, with a token issuer and a bot service of this test (integrations.md 6).
import { createHmac, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase } from '../../../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../../../engine/testing/engine.ts';
import { answerJson, type HttpServer, openHttpServer } from '../../testing/http-server.ts';

let t: TestEngine;
let outside: HttpServer;
let database: Awaited<ReturnType<typeof openOwnDatabase>>;
type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
const keys = new Map<string, Pair>();
let publicKeys: object[] = [];

async function newKey(kid: string, alg: string): Promise<void> {
  const pair = await generateKeyPair(alg);
  keys.set(kid, pair);
  publicKeys = [...publicKeys, { ...(await exportJWK(pair.publicKey)), kid, alg }];
}

beforeAll(async () => {
  await newKey('one', 'RS256');
  outside = await openHttpServer(({ url }, response) => {
    if (url === '/metadata') answerJson(response, { issuer: 'https://issuer.example', jwks_uri: `${outside.url}/keys` });
    else if (url === '/keys') answerJson(response, { keys: publicKeys });
    else if (url === '/token') answerJson(response, { access_token: 'bot-token', expires_in: 3600 });
    else if (url.startsWith('/bad/')) answerJson(response, { why: 'gone' }, 403);
    else answerJson(response, { id: 'x' });
  });
  // A database of its own: this test registers a namespace with a key, which engines of other tests lack.
  database = await openOwnDatabase();
  t = await openTestEngine({ mongoUri: database.uri, masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
  await database.register(t.identity.namespace);
  await t.type('Said', { text: { type: 'String' }, kind: { type: 'String' } });
  await t.program('rules', 'RULE hears WHEN MESSAGE ARRIVES FROM bot AS m INSERT Said(text: m.text, kind: m.type)');
  await source('bot', {
    openIdMetadataUri: `${outside.url}/metadata`,
    tokenUri: `${outside.url}/token`,
    allowedServiceUrls: [`${outside.url}/svc`],
  });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const CLIENT = { clientId: 'app-1', clientSecret: 'hush' };
async function source(name: string, config: object, type = 'CHATBOT'): Promise<void> {
  const whole = type === 'CHATBOT' ? { ...CLIENT, ...config } : config;
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type, config: whole }) });
}

const post = (source: string, body: string | Buffer, headers: Record<string, string> = {}, protocol = 'chatbot') =>
  t.engine.accept(t.identity.namespace, { protocol, source, headers, address: '', body: () => Buffer.from(body) });

const message = (more: object = {}): string =>
  JSON.stringify({
    type: 'message',
    id: 'm1',
    timestamp: '2031-04-02T08:15:00.000Z',
    serviceUrl: `${outside.url}/svc/`,
    channelId: 'teams',
    text: 'hello',
    from: { id: 'u1', name: 'Ann' },
    recipient: { id: 'b1', name: 'Bot' },
    conversation: { id: 'c 1', name: 'Plant', isGroup: true },
    entities: [{ type: 'x' }],
    ...more,
  });

async function bearer(
  claims: object = {},
  { kid = 'one', alg = 'RS256', exp = '5m' }: { kid?: string; alg?: string; exp?: string | null } = {},
): Promise<Record<string, string>> {
  const signing = new SignJWT({ iss: 'https://issuer.example', aud: 'app-1', ...claims }).setProtectedHeader({ alg, kid });
  if (exp !== null) signing.setExpirationTime(exp);
  return { authorization: `Bearer ${await signing.sign((keys.get(kid) as Pair).privateKey)}` };
}

// spec: integrations.md 6.1/1-4 6.2/1 6.2/4
test('6.2: a message with a valid token is accepted once', async () => {
  expect(await post('bot', message(), await bearer())).toMatchObject({ status: 200, body: '{}' });
  expect(await post('bot', message({ text: 'again' }), await bearer())).toMatchObject({ status: 200, body: '{}' });
  await post('bot', message({ id: 'm2', text: 'second' }), await bearer({ serviceurl: `${outside.url}/svc/` }));
  await t.eventually('Said', { kind: 'message' }, 2);
  expect((await t.rows('Said')).map((row) => row['text']).sort()).toEqual(['hello', 'second']);
});

// spec: integrations.md 6.2/1 6.2/5-7
test('6.2: every invalid token gets the same answer', async () => {
  await newKey('strange', 'RS256');
  publicKeys.pop();
  const wrong = [
    {},
    { authorization: 'Bearer nonsense' },
    await bearer({ iss: 'https://other.example' }),
    await bearer({ aud: 'app-2' }),
    await bearer({ serviceurl: 'https://elsewhere.example' }),
    await bearer({ nbf: Math.floor(Date.now() / 1000) + 600 }),
    await bearer({}, { exp: '-10m' }),
    await bearer({}, { exp: null }),
    await bearer({}, { kid: 'strange' }),
    { authorization: `Bearer ${btoa('{"alg":"none"}')}.${btoa('{"iss":"https://issuer.example","aud":"app-1"}')}.` },
  ];
  for (const headers of wrong)
    await expect(post('bot', message({ id: 'w' }), headers)).rejects.toMatchObject({
      code: 'cascade.chatbot.authentication.failed',
      status: 401,
      params: [],
    });
  for (const [name, protocol] of [
    ['none', 'chatbot'],
    ['bot', 'webhook'],
    ['bot', 'remote'],
  ] as const)
    await expect(post(name, message(), {}, protocol)).rejects.toMatchObject({ status: 404 });
  // The sender's answer does not wait for the audit.
  const refusals = async () => (await t.rows('audits', { entity: '/sources/bot' })).filter(({ op }) => op === 'authenticate').length;
  await expect.poll(refusals).toBe(wrong.length);
  for (const body of ['no json', '[]', '']) await expect(post('bot', body, await bearer())).rejects.toMatchObject({ status: 400 });
});

// spec: integrations.md 6.1/6-8
test('6.3: a reply carries the text and changed attachments; service addresses outside the prefix are refused', async () => {
  const reply = { ...JSON.parse(message({ id: 'm2' })), text: 'yes' };
  await t.ask('publish', 'sources', { id: 'bot', body: JSON.stringify(reply) });
  const sent = outside.sent.at(-1);
  expect(sent).toMatchObject({
    method: 'POST',
    url: '/svc/v3/conversations/c%201/activities/m2',
    headers: { authorization: 'Bearer bot-token' },
  });
  expect(JSON.parse(sent?.body ?? '')).toEqual({
    type: 'message',
    from: { id: 'b1', name: 'Bot' },
    recipient: { id: 'u1', name: 'Ann' },
    conversation: { id: 'c 1', name: 'Plant', isGroup: true },
    channelId: 'teams',
    replyToId: 'm2',
    text: 'yes',
  });
  for (const serviceUrl of [
    'https://elsewhere.example/svc',
    `${outside.url}/svcx`,
    `${outside.url}/other`,
    'file:///etc',
    `http://a@127.0.0.1:${outside.port}/svc`,
  ])
    await expect(t.ask('publish', 'sources', { id: 'bot', body: JSON.stringify({ ...reply, serviceUrl }) })).rejects.toMatchObject({
      code: 'cascade.chatbot.service.url.refused',
    });
  await expect(t.ask('publish', 'sources', { id: 'bot', body: '{"text":"x"}' })).rejects.toMatchObject({
    code: 'cascade.chatbot.message.invalid',
  });
});

// spec: integrations.md 6.3 6.2
test('6.3: a reply is compared with the message of its own conversation, whatever ids others use', async () => {
  const [here, there] = [
    { id: 'same', conversation: { id: 'here' }, entities: [{ type: 'here' }] },
    { id: 'same', conversation: { id: 'there' }, entities: [{ type: 'there' }] },
  ];
  for (const one of [here, there]) await post('bot', message(one), await bearer());
  const sentFor = async (more: object): Promise<{ entities?: unknown }> => {
    await t.ask('publish', 'sources', { id: 'bot', body: message(more) });
    return JSON.parse(outside.sent.at(-1)?.body ?? '');
  };
  expect(await sentFor(here)).not.toHaveProperty('entities');
  expect(await sentFor({ ...here, entities: there.entities })).toMatchObject({ entities: there.entities });
});

test('6.3: channels are stored, listed, sent to and deleted', async () => {
  const hi = JSON.stringify({ text: 'hi', service: 'teams', channel: 'Plant' });
  await expect(t.ask('publish', 'sources', { id: 'bot', body: hi })).rejects.toMatchObject({
    code: 'cascade.chatbot.channel.unknown',
    status: 404,
  });
  await post('bot', message({ id: 'u', type: 'conversationUpdate', membersAdded: [{ id: 'u9' }] }), await bearer());
  const { body } = await t.ask('channels', 'sources', { id: 'bot' });
  expect(JSON.parse(body ?? '')).toMatchObject([{ service: 'teams', channel: 'Plant', updatedAt: expect.any(String) }]);
  await t.ask('publish', 'sources', { id: 'bot', body: hi });
  expect(outside.sent.at(-1)?.url).toBe('/svc/v3/conversations/c%201/activities');
  expect(JSON.parse(outside.sent.at(-1)?.body ?? '')).toEqual({
    type: 'message',
    from: { id: 'b1', name: 'Bot' },
    conversation: { id: 'c 1' },
    channelId: 'teams',
    text: 'hi',
  });
  await post('bot', message({ id: 'v', type: 'conversationUpdate', membersRemoved: [{ id: 'b1' }] }), await bearer());
  expect((await t.ask('channels', 'sources', { id: 'bot' })).body).toBe('[]');
});

// spec: integrations.md 6.1/2 6.1/5 6.2/2
test('6.2: without an issuer the body is signed with the secret', async () => {
  await source('shared', {});
  const signature = createHmac('sha256', 'hush').update(message()).digest('hex');
  expect(await post('shared', message(), { 'x-cascade-signature': `sha256=${signature}` })).toMatchObject({ status: 200 });
  for (const wrong of [signature, `sha256=${signature.slice(1)}`, '', `sha256=${'0'.repeat(64)}`])
    await expect(post('shared', message(), { 'x-cascade-signature': wrong })).rejects.toMatchObject({ status: 401 });
});

test('a webhook accepts signed deliveries, and each of them once', async () => {
  await t.program('rules', 'RULE hooked WHEN MESSAGE ARRIVES FROM hook AS m INSERT Said(text: m.text, kind: "hook")');
  await source('hook', { inboundSecret: 'hook-secret', timestampHeader: 'X-At' }, 'WEBHOOK');
  const signed = (body: string, at: number, key: string): Record<string, string> => ({
    'x-at': String(at),
    'x-cascade-delivery': key,
    'content-type': 'application/json',
    'x-cascade-signature': `sha256=${createHmac('sha256', 'hook-secret').update(`${at}.${body}`).digest('hex')}`,
  });
  const now = Math.floor(Date.now() / 1000);
  expect((await post('hook', '{"text":"a"}', signed('{"text":"a"}', now, 'k1'), 'webhook')).body).toBe('{}');
  expect((await post('hook', '{"text":"a"}', signed('{"text":"a"}', now, 'k1'), 'webhook')).body).toBe('{"repeated":true}');
  expect((await post('hook', '{"text":"b"}', signed('{"text":"b"}', now, 'k2'), 'webhook')).body).toBe('{}');
  await t.eventually('Said', { kind: 'hook' }, 2);
  await expect(post('hook', '{"text":"c"}', signed('{"text":"c"}', now - 400, 'k3'), 'webhook')).rejects.toMatchObject({ status: 401 });
  await expect(post('hook', '{"text":"d"}', signed('{"text":"c"}', now, 'k4'), 'webhook')).rejects.toMatchObject({
    code: 'cascade.webhook.authentication.failed',
  });
  await expect(post('hook', '{', signed('{', now, 'k5'), 'webhook')).rejects.toMatchObject({ status: 400 });
});

test('6.3: an id never leads to another path of the service, whatever its characters are', async () => {
  const reply = (id: string, more: object = {}) =>
    t.ask('publish', 'sources', {
      id: 'bot',
      body: JSON.stringify({ text: 'a', serviceUrl: `${outside.url}/svc/`, conversation: { id }, ...more }),
    });
  await expect(reply('..')).rejects.toMatchObject({ code: 'cascade.chatbot.message.invalid', status: 400 });
  await expect(reply('c', { id: '.' })).rejects.toMatchObject({ code: 'cascade.chatbot.message.invalid', status: 400 });
  const lone = `return ResourceAPI.executeOp({op: "publish", resourceName: "sources", resourceId: "bot",
    object: {text: "a", serviceUrl: "${outside.url}/svc/", conversation: {id: "\\ud800"}}})`;
  await t.program('procedures', `PROCEDURE loneSurrogate()\n${lone}`);
  await t.ask('execute', 'procedures', { id: 'loneSurrogate' });
});

test('WEBHOOK: headers of a config may be named as members of every object', async () => {
  await source('named', { inboundSecret: 's', signatureHeader: 'constructor', idempotencyHeader: '__proto__' }, 'WEBHOOK');
  const signature = `sha256=${createHmac('sha256', 's').update('1').digest('hex')}`;
  await expect(post('named', '1', {}, 'webhook')).rejects.toMatchObject({ code: 'cascade.webhook.authentication.failed' });
  for (let i = 0; i < 2; i++) expect(await post('named', '1', { constructor: signature }, 'webhook')).toMatchObject({ body: '{}' });
});

// spec: integrations.md 6.2
test('a signature is of the body as it was sent, which is unpacked for a sender who has shown who it is', async () => {
  await source('packed', {});
  await source('packedHook', { inboundSecret: 'hush', maxMessageSize: 100 }, 'WEBHOOK');
  const sent = (name: string, protocol: string, body: Buffer, signed: string | Buffer = body, encoding = 'gzip') => {
    const signature = createHmac('sha256', 'hush').update(signed).digest('hex');
    return post(name, body, { 'content-encoding': encoding, 'x-cascade-signature': `sha256=${signature}` }, protocol);
  };
  for (const [name, protocol, text] of [
    ['packed', 'chatbot', message({ id: 'zip' })],
    ['packedHook', 'webhook', '{"text":"a"}'],
  ] as const) {
    expect(await sent(name, protocol, gzipSync(text))).toMatchObject({ status: 200, body: '{}' });
    await expect(sent(name, protocol, gzipSync(text), text)).rejects.toMatchObject({ status: 401 });
    await expect(sent(name, protocol, Buffer.from(text))).rejects.toMatchObject({ code: 'cascade.request.body.invalid' });
    await expect(sent(name, protocol, gzipSync(text), undefined, 'br')).rejects.toMatchObject({ code: 'cascade.request.content.type' });
    await expect(sent(name, protocol, gzipSync(' '.repeat(2_000_000)))).rejects.toMatchObject({ code: 'cascade.request.body.too.large' });
  }
});
