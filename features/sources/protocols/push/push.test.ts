// Push services with their real protocols on this machine: the requests that they receive, and the outcomes of their answers.
import { createDecipheriv, createECDH, createPublicKey, type ECDH, generateKeyPairSync, hkdfSync, randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { createSecureServer, createServer as createHttp2Server, type ServerHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { openTestEngine, type TestEngine } from '../../../../engine/testing/engine.ts';
import { newAuthority } from '../../testing/certificates.ts';
import { listening } from '../../testing/listening.ts';
import { transportFor } from './connection.ts';
import { encrypted, mendedVapidKey, newVapidKey } from './web-push.ts';

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}
type Answer = readonly [status: number, body?: object, headers?: Record<string, string>];

const closes: (() => Promise<void>)[] = [];
let t: TestEngine;

const bytesOf = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
};

async function serve(server: Server): Promise<number> {
  const { port, close } = await listening(server);
  closes.push(close);
  return port;
}

/** Gives the answers in order; the last one repeats. */
async function httpService(answers: readonly Answer[]): Promise<{ uri: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = await bytesOf(request);
    const [status, json = {}, headers = {}] = answers[Math.min(received.length, answers.length - 1)] as Answer;
    received.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
  });
  return { uri: `http://127.0.0.1:${await serve(server)}`, received };
}

/** HTTP/2 only: without TLS by prior knowledge, with TLS for clients that present a certificate of the authority. */
async function http2Service(
  answers: readonly Answer[],
  tls?: { cert: string; key: string; ca: string },
): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = [];
  const onStream = async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> => {
    const body = await bytesOf(stream);
    const [status, json] = answers[Math.min(received.length, answers.length - 1)] as Answer;
    received.push({ path: headers[':path'] ?? '', headers, body });
    stream.respond({ ':status': status });
    stream.end(json === undefined ? '' : JSON.stringify(json));
  };
  const server = tls ? createSecureServer({ ...tls, requestCert: true, rejectUnauthorized: true }) : createHttp2Server();
  server.on('stream', (stream, headers) => void onStream(stream, headers));
  return { port: await serve(server), received };
}

beforeAll(async () => {
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
  const send =
    'PROCEDURE pushSend(source, title) return Notification.sendPayload(source, null, "c", title, {responseTopic: "/push/reply"}, [Context.username()])';
  await t.program('procedures', send);
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  for (const close of closes) await close();
});

let count = 0;
/** Creates a source with this config, the only device of the user, and a message to it. @returns the delivery, once it has ended */
async function deliveryBy(config: object, platform: string, token: string): Promise<Record<string, unknown>> {
  const name = `push${++count}`;
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'PUSH_NOTIF', config }) });
  for (const { deviceId } of await t.rows('ArsPushTarget')) await t.ask('delete', 'ArsPushTarget', { id: String(deviceId) });
  const target = { deviceId: `device${count}`, platform, token };
  await t.ask('insert', 'ArsPushTarget', { custom: true, body: JSON.stringify(target) });
  const { body = '' } = await t.ask('execute', 'procedures', { id: 'pushSend', body: JSON.stringify([name, 'Look']) });
  const { _id, recipients } = JSON.parse(body) as { _id: string; recipients: { deliveries: { status: string }[] }[] };
  expect(recipients[0]?.deliveries).toMatchObject([{ deviceId: target.deviceId, status: 'queued' }]);
  for (;;) {
    const [message] = await t.rows('ArsPayloadMessage', { _id });
    const [delivery] = (message?.['recipients'] as { deliveries: Record<string, unknown>[] }[])[0]?.deliveries ?? [];
    if (delivery && delivery['status'] !== 'queued') return delivery;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const device = async (): Promise<unknown> => (await t.rows('ArsPushTarget'))[0]?.['active'];

const account = generateKeyPairSync('rsa', { modulusLength: 2048 });
const serviceAccount = (tokenUri: string): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'plant-4',
    client_email: 'push@plant-4.example',
    private_key_id: 'k1',
    private_key: account.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: tokenUri,
  });
const claimsIn = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as never;

// spec: integrations.md 7.1 7.3
test('FCM v1: a signed assertion gets an access token, which is used for several notes', async () => {
  const oauth = await httpService([[200, { access_token: 'at-1', expires_in: 3600 }]]);
  const fcm = await httpService([[200, { name: 'projects/plant-4/messages/1' }]]);
  const config = { androidAppId: 'app', firebaseServerKey: serviceAccount(`${oauth.uri}/token`), fcmUri: fcm.uri };
  expect(await deliveryBy(config, 'android', 'registration:1')).toMatchObject({ transport: 'fcm', status: 'sent', error: null });
  const assertion = new URLSearchParams(oauth.received[0]?.body.toString()).get('assertion') ?? '';
  const [head, claims, signature] = assertion.split('.') as [string, string, string];
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), account.publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  expect(claimsIn(assertion)).toMatchObject({
    iss: 'push@plant-4.example',
    aud: `${oauth.uri}/token`,
    scope: expect.stringMatching(/messaging$/),
  });
  const [note] = fcm.received;
  expect([note?.path, note?.headers['authorization']]).toEqual(['/v1/projects/plant-4/messages:send', 'Bearer at-1']);
  expect(JSON.parse(String(note?.body))).toMatchObject({
    message: {
      token: 'registration:1',
      notification: { title: 'Look' },
      data: { kind: 'notify', messageId: expect.stringMatching(/^[0-9a-f]{24}$/) },
    },
  });
});

const V1_ERROR = (errorCode: string): object => ({
  error: { status: 'NOT_FOUND', details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }] },
});

test.each<[string, readonly Answer[], object, boolean | undefined]>([
  ['unregistered', [[404, V1_ERROR('UNREGISTERED')]], { status: 'failed', error: '404 UNREGISTERED' }, false],
  ['of another sender', [[403, V1_ERROR('SENDER_ID_MISMATCH')]], { status: 'failed' }, false],
  ['refused', [[400, { error: { status: 'INVALID_ARGUMENT' } }]], { status: 'failed', error: '400 INVALID_ARGUMENT' }, true],
  ['throttled, then taken', [[429, {}, { 'retry-after': '0' }], [200]], { status: 'sent' }, true],
  ['away, then taken', [[503], [200]], { status: 'sent' }, true],
])('FCM v1: %s', async (_name, answers, delivery, isActive) => {
  const oauth = await httpService([[200, { access_token: 'at', expires_in: 3600 }]]);
  const fcm = await httpService(answers);
  const config = { androidAppId: 'app', firebaseServerKey: serviceAccount(oauth.uri), fcmUri: fcm.uri };
  expect(await deliveryBy(config, 'android', 'r')).toMatchObject({ transport: 'fcm', ...delivery });
  expect([fcm.received.length, await device()]).toEqual([answers.length, isActive]);
});

test.each<[string, Answer, object, boolean]>([
  ['taken', [200, { success: 1, results: [{ message_id: '1' }] }], { status: 'sent' }, true],
  ['NotRegistered', [200, { failure: 1, results: [{ error: 'NotRegistered' }] }], { status: 'failed', error: 'NotRegistered' }, false],
  ['InvalidRegistration', [200, { failure: 1, results: [{ error: 'InvalidRegistration' }] }], { status: 'failed' }, false],
  ['410', [410], { status: 'failed', error: '410' }, false],
  ['a wrong key', [401], { status: 'failed', error: '401' }, true],
])('FCM with a legacy key: %s', async (_name, answer, delivery, isActive) => {
  const fcm = await httpService([answer]);
  const config = { androidAppId: 'app', firebaseServerKey: 'AAAA:legacy', fcmUri: `${fcm.uri}/fcm/send` };
  expect(await deliveryBy(config, 'android', 'r')).toMatchObject(delivery);
  expect([fcm.received[0]?.path, fcm.received[0]?.headers['authorization']]).toEqual(['/fcm/send', 'key=AAAA:legacy']);
  expect(JSON.parse(String(fcm.received[0]?.body))).toMatchObject({ to: 'r', notification: { title: 'Look' } });
  expect(await device()).toBe(isActive);
});

const apple = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const APNS_KEY = {
  iosAppId: 'com.example.plant',
  apnsKey: apple.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  apnsKeyId: 'K1',
  apnsTeamId: 'T1',
};

test.each<[string, readonly Answer[], object, boolean]>([
  ['taken', [[200]], { status: 'sent', error: null }, true],
  ['unregistered', [[410, { reason: 'Unregistered' }]], { status: 'failed', error: '410 Unregistered' }, false],
  ['a token of nobody', [[400, { reason: 'BadDeviceToken' }]], { status: 'failed' }, false],
  ['refused', [[400, { reason: 'PayloadTooLarge' }]], { status: 'failed', error: '400 PayloadTooLarge' }, true],
  ['throttled, then taken', [[429, { reason: 'TooManyRequests' }], [200]], { status: 'sent' }, true],
  ['an expired provider token, then taken', [[403, { reason: 'ExpiredProviderToken' }], [200]], { status: 'sent' }, true],
])('APNs over HTTP/2 by prior knowledge: %s', async (_name, answers, delivery, isActive) => {
  const apns = await http2Service(answers);
  const token = 'ab'.repeat(32);
  expect(await deliveryBy({ ...APNS_KEY, apnsUri: `http://127.0.0.1:${apns.port}` }, 'ios', token)).toMatchObject({
    transport: 'apns',
    ...delivery,
  });
  const [note] = apns.received;
  expect([note?.path, note?.headers['apns-topic'], note?.headers['apns-push-type']]).toEqual([
    `/3/device/${token}`,
    'com.example.plant',
    'alert',
  ]);
  expect(JSON.parse(String(note?.body))).toMatchObject({ aps: { alert: { title: 'Look' } }, kind: 'notify' });
  const [head, claims, signature] = String(note?.headers['authorization']).replace('bearer ', '').split('.') as [string, string, string];
  const key = { key: apple.publicKey, dsaEncoding: 'ieee-p1363' as const };
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  expect(claimsIn(`${head}.${claims}.`)).toMatchObject({ iss: 'T1' });
  expect([apns.received.length, await device()]).toEqual([answers.length, isActive]);
});

test('APNs over TLS: the certificate of the PKCS#12 file authenticates the sender', async () => {
  const authority = newAuthority('Test authority');
  const server = authority.issue('localhost', '127.0.0.1');
  const client = authority.issue('Apple Push: com.example.plant');
  const apns = await http2Service([[200]], { cert: server.cert, key: server.key, ca: authority.cert });
  const config = {
    iosAppId: 'com.example.plant',
    pkcs12Password: 'hush',
    pkcs12Contents: client.pkcs12('hush'),
    apnsUri: `https://127.0.0.1:${apns.port}`,
    trustAll: true,
  };
  expect(await deliveryBy(config, 'ios', 'cd'.repeat(32))).toMatchObject({ transport: 'apns', status: 'sent' });
  expect(apns.received[0]?.headers['authorization']).toBeUndefined();
});

test('an invalid subscription is dead; a forbidden address is refused at once', async () => {
  const delivery = await deliveryBy({}, 'web', 'no subscription');
  expect(delivery).toMatchObject({ transport: 'webpush', status: 'failed', error: 'no subscription' });
  const body = JSON.stringify({ name: 'pushInside', type: 'PUSH_NOTIF', config: { fcmUri: 'http://10.0.0.1' } });
  await expect(t.ask('insert', 'sources', { body })).rejects.toMatchObject({ code: 'cascade.source.address.refused' });
  const keys = { p256dh: newVapidKey().publicKey, auth: randomBytes(16).toString('base64url') };
  const inside = JSON.stringify({ endpoint: 'https://169.254.169.254/latest', keys });
  expect(await deliveryBy({}, 'web', inside)).toMatchObject({ status: 'failed', error: expect.stringMatching(/may not be reached/) });
});

/** Decrypts a note as a browser does (RFC 8291). */
function decrypted(body: Buffer, ecdh: ReturnType<typeof createECDH>, auth: Buffer): string {
  const [salt, idLength] = [body.subarray(0, 16), body.readUInt8(20)];
  const sender = body.subarray(21, 21 + idLength);
  const content = body.subarray(21 + idLength);
  const derive = (secret: Uint8Array, from: Uint8Array, info: Buffer, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, from, info, length));
  const secret = derive(ecdh.computeSecret(sender), auth, Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]), 32);
  const decipher = createDecipheriv(
    'aes-128-gcm',
    derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16),
    derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12),
  );
  decipher.setAuthTag(content.subarray(-16));
  const text = Buffer.concat([decipher.update(content.subarray(0, -16)), decipher.final()]);
  return text.subarray(0, text.lastIndexOf(2)).toString();
}

test.each<[string, readonly Answer[], object, boolean, string | undefined]>([
  ['taken', [[201]], { status: 'sent' }, true, undefined],
  ['a subscription that has ended', [[410]], { status: 'failed', error: '410' }, false, 'https://plant.example/contact'],
  ['throttled, then taken', [[429, {}, { 'retry-after': '1' }], [201]], { status: 'sent' }, true, 'mailto:push@plant.example'],
])('Web Push: %s', async (_name, answers, delivery, isActive, webPushSubject) => {
  const service = await httpService(answers);
  const [browser, auth] = [createECDH('prime256v1'), randomBytes(16)];
  browser.generateKeys();
  const keys = { p256dh: browser.getPublicKey('base64url'), auth: auth.toString('base64url') };
  const subscription = JSON.stringify({ endpoint: `${service.uri}/push/abc`, keys });
  expect(await deliveryBy({ webPushSubject }, 'web', subscription)).toMatchObject({ transport: 'webpush', ...delivery });
  const [note] = service.received;
  expect(note).toMatchObject({ path: '/push/abc', headers: { 'content-encoding': 'aes128gcm', ttl: expect.any(String) } });
  expect(JSON.parse(decrypted(note!.body, browser, auth))).toMatchObject({ title: 'Look', kind: 'notify' });
  const [, token = '', publicKey = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(String(note?.headers['authorization'])) ?? [];
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
  const [head, claims, signature] = token.split('.') as [string, string, string];
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))).toBe(
    true,
  );
  expect(claimsIn(token)).toMatchObject({ aud: service.uri, sub: webPushSubject ?? 'mailto:postmaster@localhost' });
  const declaredType = JSON.parse((await t.ask('select', 'pushkey', { custom: false })).body ?? '') as object;
  expect(declaredType).toEqual({ publicKey });
  expect([service.received.length, await device()]).toEqual([answers.length, isActive]);
});

test('the example of RFC 8291 is encrypted as in the standard', () => {
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
  const sender = createECDH('prime256v1');
  sender.setPrivateKey(bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'));
  const subscription = {
    endpoint: new URL('https://push.example.net/'),
    publicKey: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
    auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  };
  const own = { publicKey: sender.getPublicKey(), secretWith: (other: Buffer) => sender.computeSecret(other) };
  const text = Buffer.from('When I grow up, I want to be a watermelon');
  expect(encrypted(text, subscription, bytes('DGv6ra1nlYgDCS1FRnbzlw'), own).toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
});

test('a key is a pair of 32 and 65 bytes, whatever its first byte is; one that was padded by letters is mended', () => {
  const privateOf = (pair: ECDH): Buffer => Buffer.concat([Buffer.alloc(32 - pair.getPrivateKey().length), pair.getPrivateKey()]);
  let isShort = false;
  for (let n = 0; n < 10_000 && !isShort; n++) {
    const key = newVapidKey();
    expect([Buffer.from(key.privateKey, 'base64url').length, Buffer.from(key.publicKey, 'base64url').length]).toEqual([32, 65]);
    expect(mendedVapidKey(key)).toEqual(key);
    isShort = key.privateKey.startsWith('A') && Buffer.from(key.privateKey, 'base64url')[0] === 0;
  }
  expect(isShort).toBe(true);
  for (const bytes of [31, 30]) {
    const pair = createECDH('prime256v1');
    pair.setPrivateKey(Buffer.alloc(bytes, 7));
    const stored = { publicKey: pair.getPublicKey('base64url'), privateKey: pair.getPrivateKey('base64url').padStart(43, 'A') };
    expect(mendedVapidKey(stored)).toEqual({ ...stored, privateKey: privateOf(pair).toString('base64url') });
  }
  expect(() => mendedVapidKey({ ...newVapidKey(), privateKey: newVapidKey().privateKey })).toThrow('no pair');
});

test('a plain notification is sent to users or single devices, and needs at least one of them', async () => {
  const fcm = await httpService([[200, { results: [{}] }]]);
  const config = { androidAppId: 'app', firebaseServerKey: 'legacy', fcmUri: fcm.uri };
  await t.ask('insert', 'sources', { body: JSON.stringify({ name: 'plain', type: 'PUSH_NOTIF', config }) });
  const publish = (request: object) => t.ask('publish', 'sources', { id: 'plain', body: JSON.stringify(request) });
  for (const none of [{ title: 'x' }, { users: [] }, { devices: [5] }])
    await expect(publish(none)).rejects.toMatchObject({ code: 'cascade.notification.target.missing', status: 400 });
  const targets = [
    { deviceId: 'plain1', platform: 'android', token: 'one' },
    { deviceId: 'plain2', platform: 'android', token: 'two' },
  ];
  for (const target of targets) await t.ask('insert', 'ArsPushTarget', { custom: true, body: JSON.stringify(target) });
  await publish({ devices: ['plain2', 'nobodys'], title: 'Plain', body: 'text', data: { n: 1 } });
  const [message] = await t.eventually('ArsPayloadMessage', { title: 'Plain', 'recipients.deliveries.status': 'sent' }, 1);
  expect(message).toMatchObject({
    payload: { body: 'text', data: { n: 1 } },
    recipients: [{ status: 'pending', deliveries: [{ deviceId: 'plain2' }] }],
  });
  expect(fcm.received.map(({ body }) => (JSON.parse(String(body)) as { to: string }).to)).toEqual(['two']);
});

// spec: integrations.md 7.1/5
test.each<[string, ObjectValue, string | null]>([
  ['web', {}, 'webpush'],
  ['web', { transports: ['inbox', 'fcm'] }, null],
  ['web', { transports: ['webpush'] }, 'webpush'],
  ['android', {}, null],
  ['android', { androidAppId: 'a' }, 'fcm'],
  ['android', { androidAppId: 'a', transports: ['inbox', 'apns'] }, null],
  ['ios', { androidAppId: 'a' }, null],
  ['ios', { iosAppId: 'a', transports: ['apns'] }, 'apns'],
  ['toString', {}, null],
])('a device of %s is reached through %j by %s', (platform, config, transport) => {
  expect(transportFor(platform, config)).toBe(transport);
});
