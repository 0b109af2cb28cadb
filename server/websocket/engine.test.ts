// The WebSocket binding on a real engine: one client's changes become another's events (resources-and-api.md 2.15, 8.4).
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { type Listener, listen } from '../listen.ts';
import { openTestSocket, requestIdOf, type TestSocket } from '../testing/web-socket.ts';

let t: TestEngine;
let listener: Listener;
const username = `ws${randomBytes(6).toString('hex')}`;
const password = 'correct horse';

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  await t.engine.identity.createNamespace({ namespace, createdBy: 'ann' });
  await t.engine.identity.createUser({ username, password, namespace, profiles: ['admin', 'user__system'], createdBy: 'ann' });
  listener = await listen({ engine: t.engine, log: pino({ level: 'silent' }), port: 0, host: '127.0.0.1', webSocket: { pingMs: 300 } });
  await t.type('Pump', { site: { type: 'String' }, rpm: { type: 'Integer' } });
});
afterAll(async () => {
  await listener[Symbol.asyncDispose]();
  await t[Symbol.asyncDispose]();
});

async function enter(): Promise<TestSocket> {
  const socket = await openTestSocket(listener.port);
  socket.send(JSON.stringify({ op: 'authenticate', resourceName: 'system.credentials', object: { username, password } }));
  expect((await socket.message(() => true)).status).toBe(200);
  return socket;
}
const received = (socket: TestSocket) => socket.messages().filter(({ status }) => status === 100);
const bodyOf = (message: object): Record<string, unknown> => (message as { body: Record<string, unknown> }).body;

test('an instance is created, read, changed and deleted over a socket, with the answers of REST', async () => {
  await using socket = await enter();
  const inserted = await socket.ask({ op: 'insert', resourceName: 'Pump', object: { site: 'n1', rpm: 880 } });
  expect(inserted).toMatchObject({ status: 200, body: [{ site: 'n1', rpm: 880, ars_version: 1 }] });
  const resourceId = (inserted['body'] as { _id: string }[])[0]?._id;
  const patch = [{ op: 'replace', path: 'rpm', value: 900 }];
  expect(await socket.ask({ op: 'patch', resourceName: 'Pump', resourceId, object: patch })).toMatchObject({ body: [{ rpm: 900 }] });
  expect(await socket.ask({ op: 'select', resourceName: 'Pump', resourceId })).toMatchObject({ body: { rpm: 900 } });
  const counted = await socket.ask({ op: 'select', resourceName: 'Pump', parameters: { where: { rpm: 900 }, count: true } });
  expect(counted['body']).toMatchObject([{ count: 1 }, { rpm: 900 }]);
  expect(await socket.ask({ op: 'delete', resourceName: 'Pump', resourceId })).toMatchObject({ status: 204 });
  expect(await socket.ask({ op: 'nonsense', resourceName: 'Pump', resourceId })).toMatchObject({
    status: 400,
    errors: [{ code: 'cascade.operation.unknown' }],
  });
});

test('a wrong password is a 401 on a socket as in REST', async () => {
  await using socket = await openTestSocket(listener.port);
  socket.send(JSON.stringify({ op: 'authenticate', resourceName: 'system.credentials', object: { username, password: 'no' } }));
  expect((await socket.message(() => true)).status).toBe(401);
});

test('after the 200 of a subscription a client gets the events of others’ changes, in order, and those that rules publish', async () => {
  await using listens = await enter();
  await using writes = await enter();
  await t.program('rules', 'RULE echo WHEN EVENT OCCURS ON "/topics/in" AS e PUBLISH {n: e.value.n} TO TOPIC "/out"');
  const subscribe = (resourceId: string) => listens.ask({ op: 'subscribe', resourceName: 'events', resourceId });
  expect((await subscribe('/topics/in')).status).toBe(200);
  expect((await subscribe('/topics/out')).status).toBe(200);
  expect((await subscribe('/types/Pump/insert')).status).toBe(200);
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  await Promise.all(numbers.map((n) => writes.ask({ op: 'publish', resourceName: 'topics', resourceId: '/in', object: { n } })));
  const [pump] = (await writes.ask({ op: 'insert', resourceName: 'Pump', object: { site: 'n2' } }))['body'] as { _id: string }[];
  const on = (path: string) => received(listens).filter((message) => bodyOf(message)['path'] === path);
  const last = await listens.message((message) => message.status === 100 && bodyOf(message)['path'] === `/types/Pump/insert/${pump?._id}`);
  expect(bodyOf(last)).toMatchObject({ namespace: t.identity.namespace, username, value: { site: 'n2' } });
  expect(on('/topics/in/publish').map((message) => (bodyOf(message)['value'] as { n: number }).n)).toEqual(numbers);
  for (const until = Date.now() + 60_000; on('/topics/out/publish').length < 100 && Date.now() < until; )
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(on('/topics/out/publish')).toHaveLength(100);
});

test('subscribers of a deleted type get 410, and an unknown type is a 404', async () => {
  await using socket = await enter();
  await t.type('Doomed', { n: { type: 'Integer' } });
  const subscribe = (resourceId: string) => socket.ask({ op: 'subscribe', resourceName: 'events', resourceId });
  const answer = await subscribe('/types/Doomed/insert');
  expect((await subscribe('/types/Nowhere/insert')).status).toBe(404);
  expect((await subscribe('/sources/mqtt')).status).toBe(404);
  await t.ask('delete', 'types', { id: 'Doomed' });
  const gone = await socket.message(({ status }) => status === 410);
  expect(requestIdOf(gone)).toBe(requestIdOf(answer));
});

test('a token from REST logs in on a socket, until it is revoked', async () => {
  const { token } = await t.engine.identity.login(username, password, '127.0.0.1');
  await using socket = await openTestSocket(listener.port);
  socket.send(JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: token }));
  expect(await socket.message(() => true)).toMatchObject({ status: 200, body: { username } });
  await t.engine.identity.revoke(token);
  expect(await socket.closed()).toBe(4401);
});

test('a socket gets no more events and is closed when its login has ended, for whatever reason', async () => {
  const { namespace } = t.identity;
  const { identity: store } = t.engine;
  const ends: ((name: string, token: string) => Promise<void>)[] = [
    (name) => store.changeUser(name, { active: false }),
    (name) => store.changeUser(name, { password: 'another horse' }),
    (name) => store.deleteUser(name),
    (_name, token) => store.revoke(token),
  ];
  for (const [number, end] of ends.entries()) {
    const name = `${username}.${number}`;
    await store.createUser({ username: name, password, namespace, createdBy: 'ann' });
    const { token } = await store.login(name, password, '10.0.0.1');
    await using socket = await openTestSocket(listener.port);
    await using witness = await enter();
    socket.send(JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: token }));
    expect((await socket.message(() => true)).status).toBe(200);
    const subscription = { op: 'subscribe', resourceName: 'events', resourceId: '/types/Pump/insert' };
    for (const one of [socket, witness]) expect((await one.ask(subscription)).status).toBe(200);
    await end(name, token);
    await t.ask('insert', 'Pump', { body: `{"site":"end${number}","rpm":1}` });
    await witness.message((message) => message.status === 100);
    expect(await socket.closed()).toBe(4401);
    expect(received(socket)).toEqual([]);
  }
});

test('many concurrent changes of accounts cause one look-up per socket', async () => {
  const sockets = [await enter(), await enter(), await enter()];
  try {
    for (const socket of sockets)
      for (const resourceId of ['/types/Pump/insert', '/types/Pump/update'])
        expect((await socket.ask({ op: 'subscribe', resourceName: 'events', resourceId })).status).toBe(200);
    const verify = vi.spyOn(t.engine.identity, 'verify');
    for (let i = 0; i < 50; i++) t.engine.identity.noticed();
    await t.ask('insert', 'Pump', { body: '{"site":"looked up","rpm":1}' });
    for (const socket of sockets) await socket.message(({ status }) => status === 100);
    // Two for each socket, and one for each ping; 450 if each socket looked up each change, and each subscription did so by itself.
    expect(verify.mock.calls.length).toBeLessThan(50);
    verify.mockRestore();
  } finally {
    for (const socket of sockets) await socket[Symbol.asyncDispose]();
  }
});

test('endless changes of accounts do not withhold events from clients with the right to get them', async () => {
  await using socket = await enter();
  expect((await socket.ask({ op: 'subscribe', resourceName: 'events', resourceId: '/types/Pump/insert' })).status).toBe(200);
  let goesOn = true;
  const change = (): void => {
    t.engine.identity.noticed();
    if (goesOn) setImmediate(change);
  };
  change();
  try {
    await t.ask('insert', 'Pump', { body: '{"site":"endless","rpm":1}' });
    await socket.message((message) => message.status === 100 && (bodyOf(message)['value'] as { site?: string }).site === 'endless');
  } finally {
    goesOn = false;
  }
});
