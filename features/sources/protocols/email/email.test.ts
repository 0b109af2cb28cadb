// EMAIL through the engine, against a real SMTP server of the test (integrations.md 5).
import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../../../engine/testing/engine.ts';
import { listening } from '../../testing/listening.ts';
import { contextOf, NOBODY } from '../testing/context.ts';
import { openEmail } from './connection.ts';
import { upload } from '../../testing/upload.ts';

interface Received {
  readonly from: string;
  readonly to: string[];
  readonly text: string;
  readonly user: string | undefined;
}

let t: TestEngine;
const received: Received[] = [];
const closes: (() => Promise<void>)[] = [];
let port: number;

async function openServer(options: SMTPServerOptions): Promise<number> {
  const smtp = new SMTPServer({
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'hush' ? done(null, { user: username ?? '' }) : done(new Error('Wrong credentials')),
    onRcptTo: ({ address }, _session, done) => {
      if (address.startsWith('nobody')) return done(Object.assign(new Error('No such mailbox'), { responseCode: 550 }));
      if (address.startsWith('later') && received.length === 0) return done(Object.assign(new Error('Try later'), { responseCode: 450 }));
      return done();
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const text = Buffer.concat(chunks).toString();
        if (text.includes('Subject: refuse')) return done(Object.assign(new Error('Content refused'), { responseCode: 554 }));
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text,
          user: session.user,
        });
        return done();
      });
    },
    ...options,
  });
  smtp.on('error', () => undefined);
  const { port: at, close } = await listening(smtp.server);
  closes.push(close);
  return at;
}

beforeAll(async () => {
  port = await openServer({ authOptional: true });
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1', '::1'] });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  for (const close of closes) await close();
});

async function source(name: string, config: object): Promise<void> {
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'EMAIL', config: { host: '127.0.0.1', ...config } }) });
}
const send = (name: string, mail: object) => t.ask('publish', 'sources', { id: name, body: JSON.stringify(mail) });
const MAIL = { from: 'Plant <plant@example.com>', to: 'ann@example.com', subject: 'Überdruck', text: 'Pump 4.\n.\nEnd' };

// spec: integrations.md 5/1-2 5/5 5/7-13
test('a mail arrives with text, cc, hidden bcc, an attachment and a header', async () => {
  await source('mails', { port, tls: 'opportunistic', trustAll: true });
  const attachments = [{ filename: 'a.csv', contentType: 'text/csv', content: 'YSxi', encoding: 'base64' }];
  const more = {
    to: ['ann@example.com'],
    cc: 'cy@example.com',
    bcc: ['bea@example.com'],
    replyTo: 'r@example.com',
    headers: { 'X-Line': '4' },
    attachments,
  };
  await send('mails', { ...MAIL, ...more });
  const [mail] = received.splice(0);
  expect(mail?.to).toEqual(['ann@example.com', 'cy@example.com', 'bea@example.com']);
  expect(mail?.from).toBe('plant@example.com');
  expect(mail?.text).toMatch(/^From: Plant <plant@example.com>/m);
  expect(mail?.text).toMatch(/^X-Line: 4/m);
  expect(mail?.text).toMatch(/^Reply-To: r@example.com/m);
  expect(mail?.text).toContain('filename=a.csv');
  expect(mail?.text).not.toMatch(/bea@example/);
  await send('mails', { ...MAIL, text: null, html: '<b>x</b>' });
  expect(received.splice(0)[0]?.text).toContain('<b>x</b>');
});

test.each([
  [{ from: null }, 'parameter.missing', ['from']],
  [{ to: [] }, 'parameter.missing', ['to']],
  [{ subject: null }, 'parameter.missing', ['subject']],
  [{ html: 'x' }, 'body.invalid', null],
  [{ text: null }, 'body.invalid', null],
  [{ to: 'nowhere' }, 'address.invalid', null],
  [{ to: 'a@b.c\r\nRCPT TO:<x@y.z>' }, 'address.invalid', null],
  [{ cc: 'a@b.c, d@e.f' }, 'address.invalid', null],
  [{ from: 'X\n<a@b.c>' }, 'address.invalid', null],
  [{ subject: 'a\r\nBcc: x@y.z' }, 'header.invalid', ['subject']],
  [{ headers: { 'X-A': 'a\nb' } }, 'header.invalid', ['X-A']],
  [{ headers: { Bcc: 'x@y.z' } }, 'header.invalid', ['Bcc']],
  [{ headers: { 'X A': 'x' } }, 'header.invalid', ['X A']],
  [{ attachments: [{ filename: 'a\r\nb', content: '' }] }, 'header.invalid', ['filename']],
])('%j is refused before anything is sent', async (change, code, params) => {
  await source('mails', { port });
  const refused = { code: `cascade.email.${code}`, status: 400, ...(params && { params }) };
  await expect(send('mails', { ...MAIL, ...change })).rejects.toMatchObject(refused);
  expect(received).toEqual([]);
});

test('refusals of the server have errors of their own, and temporary ones are retried', async () => {
  await source('mails', { port, tls: 'none' });
  await expect(send('mails', { ...MAIL, to: 'nobody@example.com' })).rejects.toMatchObject({
    code: 'cascade.email.recipients.rejected',
    status: 500,
  });
  await expect(send('mails', { ...MAIL, subject: 'refuse' })).rejects.toMatchObject({ code: 'cascade.email.send.failed' });
  await send('mails', { ...MAIL, to: ['ann@example.com', 'nobody2@example.com'] });
  expect(received.splice(0)[0]?.to).toEqual(['ann@example.com']);
  const [line] = await t.eventually('logs', { invocationId: 'mails', level: 'WARN' }, 1);
  expect(line?.['message']).toContain('nobody2@example.com');
});

// spec: integrations.md 5/3-4 5/6
test('credentials are sent over TLS only', async () => {
  const bare = await openServer({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  await source('bare', { port: bare, username: 'ann', password: 'hush' });
  await expect(send('bare', MAIL)).rejects.toMatchObject({ code: 'cascade.email.send.failed' });
  expect(received).toEqual([]);
  await source('open', { port: bare, username: 'ann', password: 'hush', tls: 'none' });
  await send('open', MAIL);
  expect(received.splice(0)[0]?.user).toBe('ann');
  await source('start', { port, username: 'ann', password: 'hush', tls: 'starttls', trustAll: true });
  await send('start', MAIL);
  expect(received.splice(0)[0]?.user).toBe('ann');
  await source('wrong', { port, username: 'ann', password: 'no', tls: 'starttls', trustAll: true });
  await expect(send('wrong', MAIL)).rejects.toMatchObject({ code: 'cascade.email.send.failed' });
  await source('untrusted', { port, tls: 'starttls' });
  await expect(send('untrusted', MAIL)).rejects.toMatchObject({ code: 'cascade.email.send.failed' });
});

// spec: integrations.md 5/4
test('implicit TLS works, and a forbidden address is refused', async () => {
  const secure = await openServer({ secure: true, authOptional: true });
  await source('secure', { port: secure, tls: 'implicit', trustAll: true });
  await send('secure', MAIL);
  expect(received.splice(0)).toHaveLength(1);
  await expect(source('inner', { host: '10.0.0.1', port: 25 })).rejects.toMatchObject({ code: 'cascade.source.address.refused' });
});

// spec: integrations.md 5/13 13
test.each([
  ['nothing at all', () => undefined],
  ['nothing after its greeting', (socket: Socket) => socket.write('220 here\r\n')],
])('a server that says %s is given up, and the mail not sent twice', async (_what, greet) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    greet(socket);
  });
  const { port: at, close } = await listening(silent);
  const source = await openEmail(contextOf({ host: '127.0.0.1', port: at, tls: 'none' }), { silenceMs: 200 });
  await expect(source.publish!(MAIL, NOBODY)).rejects.toMatchObject({ code: 'cascade.email.send.failed', status: 500 });
  expect(sockets).toHaveLength(1);
  await source.close();
  await close();
});

// spec: integrations.md 5/12
test('an attachment may be a document', async () => {
  await source('attaching', { port, tls: 'none' });
  await upload(t, 'reports/pump 4.csv', 'text/csv', 'a,b\n1,2\n');
  await t.program(
    'procedures',
    `PROCEDURE report()
    PUBLISH { from: "a@b.example", to: "c@d.example", subject: "s", text: "t",
      attachments: [{ ref: "/documents/reports/pump 4.csv" }, { ref: { resource: "documents", resourceId: "reports/pump 4.csv" }, filename: "x.txt", contentType: "text/plain" }] } TO SOURCE attaching`,
  );
  await t.ask('execute', 'procedures', { id: 'report', body: '[]' });
  const { text } = received.at(-1) as Received;
  expect(text).toMatch(/Content-Type: text\/csv; name="pump 4.csv"/);
  expect(text).toMatch(/Content-Disposition: attachment; filename=x.txt/);
  expect(text.match(/a,b\r?\n1,2|YSxiCjEsMgo=/g)).toHaveLength(2);
  const mail = { from: 'a@b.example', to: 'c@d.example', subject: 's', text: 't' };
  const before = received.length;
  await expect(send('attaching', { ...mail, attachments: [{ ref: '/documents/none' }] })).rejects.toMatchObject({
    code: 'cascade.resource.not.found',
  });
  for (const attachments of [[{ ref: '/types/x' }], [{ ref: '/documents/reports/pump 4.csv', content: 'x' }], [{}], 'x', [1]])
    await expect(send('attaching', { ...mail, attachments })).rejects.toMatchObject({ code: 'cascade.email.body.invalid' });
  expect(received).toHaveLength(before);
});

test.each([
  ['a line that does not end', 'x'.repeat(20_000)],
  ['a reply that does not end', '220-hello\r\n'.repeat(2_000)],
])('a server that says %s is left at once', async (_what, said) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.write(said);
  });
  const { port: at, close } = await listening(server);
  closes.push(() => {
    for (const socket of sockets) socket.destroy();
    return close();
  });
  const source = await openEmail(contextOf({ host: '127.0.0.1', port: at }));
  await expect(source.publish!({ from: 'a@x.org', to: 'b@y.org', subject: 's', text: 't' }, NOBODY)).rejects.toMatchObject({
    code: 'cascade.email.send.failed',
    params: ['feed', 'the server says more than 16384 bytes at once'],
  });
  await source.close();
});
