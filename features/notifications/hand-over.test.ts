// The queue of notes to push services, beside a service that answers when it is told to.
import { createECDH, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { VirtualClock } from '../../platform/clock/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import { Sources } from '../sources/index.ts';
import { listening } from '../sources/testing/listening.ts';

/** A note that the service has received and not yet answered. */
interface Arrived {
  readonly title: string;
  answer(status: number, body?: object, headers?: Record<string, string>): void;
}

const closes: (() => Promise<void>)[] = [];
let t: TestEngine;

const OPTIONS = { masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] };

async function prepare(engine: TestEngine): Promise<void> {
  await engine.ask('insert', 'ArsPushTarget', { body: '{"deviceId":"phone","platform":"android","token":"first"}' });
  await engine.program(
    'procedures',
    'PROCEDURE sends(source, id, title) return Notification.sendPayload(source, id, "", title, {responseTopic: "/r"}, ["ann"])._id',
  );
}

beforeAll(async () => {
  t = await openTestEngine(OPTIONS);
  await prepare(t);
  await t.program('procedures', 'PROCEDURE sendsMany(source, count) FOR (i IN range(0, count, 1)) { sends(source, null, "one of many") }');
  await t.program('procedures', 'PROCEDURE retracts(id) return Notification.retractPayload(id)');
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  for (const close of closes) await close();
});

/** The title of a note for a phone; for a browser it is encrypted. */
async function titleIn(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  if (request.headers['content-encoding'] === 'aes128gcm') return '';
  return (JSON.parse(Buffer.concat(pieces).toString()) as { notification: { title: string } }).notification.title;
}

/** A push service of this process, and the next note that arrives there. */
async function service(): Promise<{ port: number; next: () => Promise<Arrived> }> {
  const arrived: Arrived[] = [];
  const waiting: ((one: Arrived) => void)[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const title = await titleIn(request);
    const one: Arrived = {
      title,
      answer: (status, body = { results: [{}] }, headers = {}) =>
        void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body)),
    };
    const next = waiting.shift();
    if (next) next(one);
    else arrived.push(one);
  };
  const { port, close } = await listening(createServer((request, response) => void receive(request, response)));
  closes.push(close);
  const next = (): Promise<Arrived> => {
    const one = arrived.shift();
    return one ? Promise.resolve(one) : new Promise((resolve) => waiting.push(resolve));
  };
  return { port, next };
}

/** A source whose notes to phones go to a service of this process. @returns the next note that arrives there */
async function sourceTo(name: string, engine = t): Promise<() => Promise<Arrived>> {
  const { port, next } = await service();
  const config = { androidAppId: 'app', firebaseServerKey: 'legacy', fcmUri: `http://127.0.0.1:${port}` };
  await engine.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'PUSH_NOTIF', config }) });
  return next;
}

/** A browser that has a push service to itself. @returns the next note that arrives there */
async function browserOf(deviceId: string): Promise<() => Promise<Arrived>> {
  const { port, next } = await service();
  const browser = createECDH('prime256v1');
  const keys = { p256dh: browser.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') };
  const token = JSON.stringify({ endpoint: `http://127.0.0.1:${port}/push`, keys });
  await t.ask('insert', 'ArsPushTarget', { body: JSON.stringify({ deviceId, platform: 'web', token }) });
  return next;
}

const call = async (id: string, ...args: unknown[]): Promise<string> =>
  JSON.parse((await t.ask('execute', 'procedures', { id, body: JSON.stringify(args) })).body ?? 'null') as string;

async function deliveriesOf(_id: string): Promise<unknown> {
  const [message] = await t.rows('ArsPayloadMessage', { _id });
  return (message?.['recipients'] as { deliveries: unknown }[])[0]?.deliveries;
}

const isSent = (_id: string) => t.eventually('ArsPayloadMessage', { _id, 'recipients.deliveries.status': 'sent' }, 1);

test('messages that wait for a retry hold up no others, whatever their number', async () => {
  const [away, there] = [await sourceTo('away'), await sourceTo('there')];
  await call('sendsMany', 'away', 150);
  for (let n = 0; n < 150; n++) (await away()).answer(429, {}, { 'retry-after': '600' });
  const id = await call('sends', 'there', null, 'Look');
  const note = await there();
  expect(note.title).toBe('Look');
  note.answer(200);
  await isSent(id);
});

test('a service that does not answer holds up no other', async () => {
  const [silent, quick] = [await sourceTo('silent'), await sourceTo('quick')];
  await call('sends', 'silent', null, 'Slow');
  const slow = await silent();
  const id = await call('sends', 'quick', null, 'Quick');
  (await quick()).answer(200);
  await isSent(id);
  expect(slow.title).toBe('Slow');
  slow.answer(200);
});

test('what was withdrawn or answered is not sent any more', async () => {
  const next = await sourceTo('withdrawing');
  const withdrawn = await call('sends', 'withdrawing', null, 'Withdrawn');
  (await next()).answer(429, {}, { 'retry-after': '600' });
  await call('retracts', withdrawn);
  expect(await deliveriesOf(withdrawn)).toMatchObject([{ deviceId: 'phone', status: 'failed', error: 'retracted' }]);
  const answered = await call('sends', 'withdrawing', null, 'Answered');
  (await next()).answer(429, {}, { 'retry-after': '600' });
  await t.ask('submit', 'ArsPayloadMessage', { id: answered, body: '{}' });
  expect(await deliveriesOf(answered)).toMatchObject([{ status: 'failed', error: 'submitted' }]);
});

test('a message that is replaced while its note is on the way is announced, too', async () => {
  const next = await sourceTo('replacing');
  const id = await call('sends', 'replacing', null, 'Old');
  const old = await next();
  await call('sends', 'replacing', id, 'New');
  old.answer(400);
  const replacement = await next();
  expect([old.title, replacement.title]).toEqual(['Old', 'New']);
  replacement.answer(200);
  await isSent(id);
  expect(await deliveriesOf(id)).toMatchObject([{ deviceId: 'phone', status: 'sent', error: null }]);
});

test('a device keeps the token that it has registered while its former one was found dead', async () => {
  const next = await sourceTo('tokens');
  const id = await call('sends', 'tokens', null, 'Look');
  const note = await next();
  await t.ask('patch', 'ArsPushTarget', { id: 'phone', body: '[{"op":"add","path":"/token","value":"second"}]' });
  note.answer(200, { results: [{ error: 'NotRegistered' }] });
  await t.eventually('ArsPayloadMessage', { _id: id, 'recipients.deliveries.status': 'failed' }, 1);
  expect(await t.rows('ArsPushTarget', { deviceId: 'phone' })).toMatchObject([{ active: true }]);
  const again = await call('sends', 'tokens', null, 'Again');
  (await next()).answer(200);
  await isSent(again);
});

test('a note whose namespace is being closed stays queued, for the next owner', async () => {
  const next = await sourceTo('closing');
  const closed = vi.spyOn(Sources.prototype, 'connectionOf').mockRejectedValueOnce(new Fenced('another process owns it'));
  const first = await call('sends', 'closing', null, 'First');
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  closed.mockRestore();
  const second = await call('sends', 'closing', null, 'Second');
  (await next()).answer(200);
  await isSent(second);
  expect(await t.rows('ArsPayloadMessage', { _id: first, 'recipients.deliveries.status': 'queued' })).toHaveLength(1);
});

test('the push service of one browser holds up no other that does not answer', async () => {
  const [silent, quick] = [await browserOf('slow-tab'), await browserOf('quick-tab')];
  await t.ask('insert', 'sources', { body: '{"name":"browsers","type":"PUSH_NOTIF","config":{}}' });
  await call('sendsMany', 'browsers', 20);
  const held = await silent();
  for (let n = 0; n < 20; n++) (await quick()).answer(201);
  held.answer(201);
  for (let n = 1; n < 20; n++) (await silent()).answer(201);
  const sent = await t.eventually('ArsPayloadMessage', { source: 'browsers', 'recipients.deliveries.status': { $ne: 'queued' } }, 20);
  expect(sent).toHaveLength(20);
});

test('a message that is sent is all that is looked at, and what an earlier process has left is looked for now and then', async () => {
  const clock = new VirtualClock(1_900_000_000_000);
  await using engine = await openTestEngine({ ...OPTIONS, clock });
  await prepare(engine);
  const next = await sourceTo('leaving', engine);
  const left = async (title: string, count: number): Promise<void> => {
    const deliveries = [{ deviceId: 'phone', transport: 'fcm', status: 'queued', error: null }];
    const recipients = [{ username: 'ann', status: 'pending', deliveries }];
    const message = { source: 'leaving', title, payload: {}, users: ['ann'], pendingUsers: ['ann'], recipients };
    await engine.ask('insert', 'ArsPayloadMessage', { body: JSON.stringify(Array(count).fill(message)) });
  };
  const arriving = async (): Promise<string> => {
    const note = await next();
    note.answer(200);
    return note.title;
  };
  await left('Left at first', 1);
  expect(await arriving()).toBe('Left at first'); // by the look of the beginning
  await left('Left', 20);
  await engine.ask('execute', 'procedures', { id: 'sends', body: '["leaving",null,"Sent"]' });
  expect(await arriving()).toBe('Sent');
  await clock.advanceTo(clock.now() + 30_000, () => engine.engine.settled());
  expect(await Promise.all(Array.from({ length: 20 }, arriving))).toEqual(Array(20).fill('Left'));
});
