// The memory that all clients together can occupy is bounded, over both bindings, and freed afterwards.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { openFakeServer, TOKEN } from '../testing/fake-engine.ts';
import { openTestSocket } from '../testing/web-socket.ts';
import { Budget, requestBudget } from './budget.ts';

const LENGTH = 60_000;
const HEAD = `POST /api/v1/resources/types HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${LENGTH}\r\n\r\n`;
const BODY = JSON.stringify({ name: 'x'.repeat(LENGTH - 11) });

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function answerTo(socket: Socket): Promise<string> {
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString();
}

test('a budget bounds each owner and all together, and a returned amount is available again', () => {
  const budget = new Budget('bytes', 100, 60);
  expect(budget.take('a', 60)).toBeNull();
  expect(budget.take('a', 1)).toMatchObject({ code: 'cascade.quota.exceeded', status: 429, params: ['bytes', 60] });
  expect(budget.take('b', 41)).toMatchObject({ params: ['bytes', 100] });
  expect(budget.take('b', 40)).toBeNull();
  budget.give('a', 60);
  expect(budget.take('b', 20)).toBeNull();
  expect(budget.total).toBe(60);
});

test('slow bodies fill the budget; the next one is refused, and accepted once there is room', async () => {
  const budget = new Budget('requestBytes', 100_000, 100_000);
  await using server = await openFakeServer({ budget });
  const [first, second, third] = [0, 1, 2].map(() => connect(server.port, '127.0.0.1')) as [Socket, Socket, Socket];
  first.write(HEAD + BODY.slice(0, -1));
  await until(() => budget.total >= LENGTH - 1);
  second.write(HEAD + BODY);
  expect(await answerTo(second)).toMatch(/^HTTP\/1\.1 429 [^]*"params":\["requestBytes",100000\]/);
  first.write(BODY.slice(-1));
  expect(await answerTo(first)).toMatch(/^HTTP\/1\.1 200 /);
  await until(() => budget.total === 0);
  third.write(HEAD + BODY);
  expect(await answerTo(third)).toMatch(/^HTTP\/1\.1 200 /);
  first.destroy();
  second.destroy();
  third.write(HEAD + BODY.slice(0, -1));
  await until(() => budget.total > 0);
  third.destroy();
  await until(() => budget.total === 0);
});

test('messages of sockets count until they are answered', async () => {
  const budget = new Budget('requestBytes', 100_000, 100_000);
  await using server = await openFakeServer({ budget });
  let answer = (): void => undefined;
  server.answer = () => new Promise((resolve) => (answer = () => resolve({ status: 200, body: '{}' })));
  await using socket = await openTestSocket(server.port);
  socket.send(JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: TOKEN }));
  await socket.message(({ status }) => status === 200);
  const insert = { op: 'insert', resourceName: 'types', object: { name: 'x'.repeat(LENGTH) } };
  const asked = socket.ask(insert);
  await until(() => budget.total > LENGTH);
  const before = budget.total;
  expect(await socket.ask(insert)).toMatchObject({ status: 429 });
  expect(budget.total).toBe(before);
  answer();
  expect(await asked).toMatchObject({ status: 200 });
  await until(() => budget.total === 0);
});

const EMPTY = JSON.stringify({ op: 'insert', resourceName: 'types', object: Array.from({ length: 5_000 }, () => ({})) });
const VALUES = 5_000 * 64;

test('messages count as what they take in memory, however short their texts are', async () => {
  const budget = new Budget('requestBytes', 3.5 * VALUES, 3.5 * VALUES);
  await using server = await openFakeServer({ budget });
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  server.answer = () => answered.then(() => ({ status: 200, body: '{}' }));
  await using socket = await openTestSocket(server.port);
  socket.send(JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: TOKEN }));
  await socket.message(({ status }) => status === 200);
  for (let n = 0; n < 5; n++) socket.send(EMPTY);
  await until(() => socket.messages().length === 3); // the login, and two that are refused
  expect(socket.messages().slice(1)).toMatchObject([{ status: 429 }, { status: 429 }]);
  expect(budget.total).toBeGreaterThan(3 * VALUES);
  answer();
  await until(() => socket.messages().length === 6 && budget.total === 0);
});

test('before a login all messages count that wait for it, and as many as fit are answered behind it', async () => {
  const login = JSON.stringify({ op: 'authenticate', resourceName: 'system.credentials', object: { username: 'ann', password: 'wrong' } });
  const small = new Budget('requestBytes', 100 * VALUES, 3.5 * VALUES);
  const large = new Budget('requestBytes', 8 * 1024 * 1024, 4 * 1024 * 1024);
  await using few = await openFakeServer({ budget: small });
  let enter = (): void => undefined;
  few.logins = new Promise((resolve) => (enter = resolve));
  await using first = await openTestSocket(few.port);
  first.send(login);
  for (let n = 0; n < 5; n++) first.send(EMPTY);
  await until(() => first.messages().length === 2);
  expect(first.messages()).toMatchObject([{ status: 429 }, { status: 429 }]);
  await first[Symbol.asyncDispose]();
  await until(() => small.total === 0);
  await using many = await openFakeServer({ budget: large });
  many.logins = few.logins;
  await using second = await openTestSocket(many.port);
  second.send(login);
  for (let n = 0; n < 1_500; n++) second.send(JSON.stringify({ op: 'select', resourceName: 'T' }));
  await until(() => large.total >= 1_501 * 1024); // all have arrived: once the login is refused, so many more would close the socket
  enter();
  await until(() => second.messages().length === 1_501);
  expect(new Set(second.messages().map(({ status }) => status))).toEqual(new Set([401]));
  expect(second.closeCode).toBeUndefined();
  await until(() => large.total === 0);
});

test('the number of sockets without a login is bounded', async () => {
  const unknown = new Budget('unknownSockets', 2, 2);
  await using server = await openFakeServer({ webSocket: { unknown } });
  await using first = await openTestSocket(server.port);
  await using second = await openTestSocket(server.port);
  await using third = await openTestSocket(server.port);
  expect(await third.closed()).toBe(1013);
  first.send(JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: TOKEN }));
  await first.message(({ status }) => status === 200);
  await until(() => unknown.total === 1);
  await using fourth = await openTestSocket(server.port);
  await until(() => unknown.total === 2);
  expect([second.closeCode, fourth.closeCode]).toEqual([undefined, undefined]);
});

test.each([
  ['a large machine', 64 * 1024, [384, 128]],
  ['a machine of 1 GiB', 1024, [128, 128 / 3]],
  ['a machine that is too small for the bodies', 256, [80, 40]],
])('%s has room for bodies in proportion to its memory, and for some of the greatest length', (_, memoryMb, mostMb) => {
  const MB = 1024 * 1024;
  const budget = requestBudget(10 * MB, memoryMb * MB);
  const fits = (owner: string, mb: number): boolean => budget.take(owner, Math.floor(mb * MB)) === null;
  const [all, each] = mostMb as [number, number];
  expect([fits('a', each + 1), fits('a', each)]).toEqual([false, true]);
  for (let rest = all - each, n = 0; rest > 1; rest -= each, n++) expect(fits(`b${n}`, Math.min(rest, each) - 0.1)).toBe(true);
  expect(fits('c', 1)).toBe(false);
});
