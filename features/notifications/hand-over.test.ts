// The queue of notes to push services, beside a service that answers when it is told to.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
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

beforeAll(async () => {
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
  await t.ask('insert', 'ArsPushTarget', { body: '{"deviceId":"phone","platform":"android","token":"first"}' });
  await t.program(
    'procedures',
    'PROCEDURE sends(source, id, title) return Notification.sendPayload(source, id, "", title, {responseTopic: "/r"}, ["ann"])._id',
  );
  await t.program('procedures', 'PROCEDURE sendsMany(source, count) FOR (i IN range(0, count, 1)) { sends(source, null, "one of many") }');
  await t.program('procedures', 'PROCEDURE retracts(id) return Notification.retractPayload(id)');
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  for (const close of closes) await close();
});

async function bodyOf(request: IncomingMessage): Promise<{ notification: { title: string } }> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString()) as { notification: { title: string } };
}

/** A source whose notes go to a service of this process. @returns the next note that arrives there */
async function sourceTo(name: string): Promise<() => Promise<Arrived>> {
  const arrived: Arrived[] = [];
  const waiting: ((one: Arrived) => void)[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { title } = (await bodyOf(request)).notification;
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
  const config = { androidAppId: 'app', firebaseServerKey: 'legacy', fcmUri: `http://127.0.0.1:${port}` };
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'PUSH_NOTIF', config }) });
  return () => {
    const one = arrived.shift();
    return one ? Promise.resolve(one) : new Promise((resolve) => waiting.push(resolve));
  };
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

test('a note whose namespace is being closed stays queued: it is sent later', async () => {
  const next = await sourceTo('closing');
  const closed = vi.spyOn(Sources.prototype, 'connectionOf').mockRejectedValueOnce(new Fenced('another process owns it'));
  await call('sends', 'closing', null, 'First');
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  closed.mockRestore();
  await call('sends', 'closing', null, 'Second');
  const notes = [await next(), await next()];
  expect(notes.map(({ title }) => title).sort()).toEqual(['First', 'Second']);
  for (const note of notes) note.answer(200);
});
