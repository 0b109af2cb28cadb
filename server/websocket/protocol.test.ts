// resources-and-api.md 2.15, 2.17, 6.7, 8.4 on real sockets, with a stand-in for the engine.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { apiError } from '../../model/errors/api-errors.ts';
import type { Notice } from '../../engine/index.ts';
import { ANN, type FakeServer, openFakeServer, TOKEN } from '../testing/fake-engine.ts';
import { openTestSocket, requestIdOf, type TestSocket } from '../testing/web-socket.ts';

let server: FakeServer;
let socket: TestSocket;
beforeAll(async () => {
  server = await openFakeServer({ bodyLimitBytes: 100_000 });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  server.requests.length = 0;
  server.answer = () => ({ status: 200, body: '[]' });
  server.subscribe = async () => ({ close: () => undefined });
  socket = await openTestSocket(server.port);
});
afterEach(() => socket[Symbol.asyncDispose]());

const VALIDATE = { op: 'validate', resourceName: 'system.credentials', object: TOKEN };
const login = async (on = socket): Promise<TestSocket> => {
  on.send(JSON.stringify(VALIDATE));
  await on.message(({ status }) => status === 200);
  return on;
};
const code = ({ errors }: Record<string, unknown>): unknown => (errors as { code: string }[])[0]?.code;

/** Lets the test deliver the notices of a subscription. */
function subscriptions() {
  const made: { path: string; username: string; deliver: (notice: Notice) => void; closed: boolean; filter: unknown }[] = [];
  server.subscribe = async (identity, path, { eventFilter }, deliver) => {
    const one = { path, username: identity.username, deliver, closed: false, filter: eventFilter };
    made.push(one);
    return { close: () => void (one.closed = true) };
  };
  return made;
}
const event = (path: string, valueJson: string): Notice => ({ kind: 'event', path, valueJson, createdAt: 1_930_000_000_000 });

test('a login is answered without headers, in a binary frame, with the body of REST', async () => {
  socket.send(JSON.stringify({ ...VALIDATE, parameters: { requestId: '1' } }));
  const frame = await socket.frame(() => true);
  expect(frame.opcode).toBe('binary');
  const answer = JSON.parse(frame.data.toString()) as Record<string, unknown>;
  expect(Object.keys(answer)).toEqual(['status', 'contentType', 'body']);
  expect(answer).toMatchObject({ status: 200, body: { accessToken: TOKEN, username: 'ann', namespace: 'main' } });
});

test('a name and password log in, too, and an error is in body and errors', async () => {
  const enter = (password: string): void =>
    socket.send(JSON.stringify({ op: 'authenticate', resourceName: 'system.credentials', object: { username: 'ann', password } }));
  enter('wrong');
  const refused = await socket.message(({ status }) => status === 401);
  expect(Object.keys(refused)).toEqual(['status', 'contentType', 'body', 'errors']);
  expect(refused['body']).toEqual(refused['errors']);
  expect(code(refused)).toBe('io.service.security.authentication.failed');
  enter('pass:wörd');
  expect((await socket.message(({ status }) => status === 200))['body']).toMatchObject({ username: 'ann' });
});

test('before the login all other requests are a 401 and the socket stays open', async () => {
  const refused = await socket.ask({ op: 'select', resourceName: 'Pump' });
  expect([refused.status, code(refused)]).toEqual([401, 'cascade.security.credentials.missing']);
  expect(server.requests).toEqual([]);
  await login();
  expect((await socket.ask({ op: 'select', resourceName: 'Pump' })).status).toBe(200);
});

test('requests that are sent right after the login have the identity of the login', async () => {
  socket.send(JSON.stringify(VALIDATE));
  expect((await socket.ask({ op: 'select', resourceName: 'Pump' })).status).toBe(200);
  expect(server.requests[0]?.identity).toEqual(ANN);
});

test.each([
  [
    { op: 'select', resourceName: 'system.types', resourceId: 'Pump', parameters: { props: ['name'], page: null, unknown: 1 } },
    { op: 'select', resourceName: 'types', resourceId: 'Pump', custom: null, parameters: { props: ['name'] } },
  ],
  [
    { op: 'insert', resourceName: 'Pump', object: { site: 'n1' }, accessToken: 'x', parameters: { count: true } },
    { op: 'insert', resourceName: 'Pump', object: { site: 'n1' }, parameters: { count: true } },
  ],
  [
    { op: 'patch', resourceName: 'Pump', resourceId: '66', object: [{ op: 'replace', path: 'rpm', value: 900 }] },
    { op: 'patch', resourceId: '66', object: [{ op: 'replace', path: 'rpm', value: 900 }] },
  ],
  [
    { op: 'deleteOne', resourceName: 'Pump', resourceId: '66' },
    { op: 'delete', resourceId: '66' },
  ],
  [
    { op: 'execute', resourceName: 'services', resourceId: 'Metrics/toKelvin', object: [20] },
    { op: 'execute', resourceName: 'procedures', resourceId: 'Metrics.toKelvin', object: [20] },
  ],
  [
    { op: 'aggregate', resourceName: 'Pump', parameters: { pipeline: [{ $match: {} }] } },
    { op: 'aggregate', object: [{ $match: {} }], parameters: {} },
  ],
  [
    { op: 'getAuthorizedUsers', resourceName: 'system.namespaces', resourceId: 'main' },
    { op: 'getAuthorizedUsers', resourceName: 'namespaces', resourceId: 'main' },
  ],
])('%j reaches the engine', async (sent, asked) => {
  await login();
  const answer = await socket.ask(sent);
  expect(answer).toMatchObject({ status: 200, contentType: 'application/json', body: [] });
  expect(server.requests).toMatchObject([asked]);
});

test.each([
  [{ resourceName: 'Pump' }, 'cascade.operation.unknown', [null]],
  [{ op: 'select' }, 'cascade.request.parameter.invalid', ['resourceName', null]],
  [{ op: 'update', resourceName: 'Pump', object: {} }, 'cascade.request.parameter.invalid', ['resourceId', null]],
  [{ op: 'insert', resourceName: 'Pump', object: null }, 'cascade.request.parameter.invalid', ['object', null]],
  [{ op: 'publish', resourceName: 'topics' }, 'cascade.request.parameter.invalid', ['resourceId', null]],
  [{ op: 'select', resourceName: 'Pump', parameters: { limit: 'all' } }, 'cascade.request.parameter.invalid', ['limit', 'all']],
  [{ op: 'subscribe', resourceName: 'topics', resourceId: '/a' }, 'cascade.request.parameter.invalid', ['resourceName', 'topics']],
  [{ op: 'subscribe', resourceName: 'events' }, 'cascade.request.parameter.invalid', ['resourceId', null]],
])('%j is refused with %s', async (sent, refusal, params) => {
  await login();
  const { status, body, errors } = await socket.ask(sent);
  expect(status).toBe(400);
  expect(errors).toEqual([{ code: refusal, message: expect.any(String) as string, params }]);
  expect(body).toEqual(errors);
  expect(server.requests).toEqual([]);
});

test('a count is the first element of the body, also of a deletion', async () => {
  await login();
  server.answer = () => ({ status: 200, body: '[{"a":1}]', count: 7 });
  expect((await socket.ask({ op: 'select', resourceName: 'Pump' }))['body']).toEqual([{ count: 7 }, { a: 1 }]);
  server.answer = () => ({ status: 200, body: '[]', count: 0 });
  expect((await socket.ask({ op: 'select', resourceName: 'Pump' }))['body']).toEqual([{ count: 0 }]);
  server.answer = () => ({ status: 204, count: 3 });
  expect(await socket.ask({ op: 'delete', resourceName: 'Pump' })).toMatchObject({ status: 200, body: [{ count: 3 }] });
  server.answer = () => ({ status: 204 });
  const deleted = await socket.ask({ op: 'delete', resourceName: 'Pump' });
  expect(Object.keys(deleted)).toEqual(['status', 'headers']);
});

test('a request without an id is answered with empty headers, one that is refused by the engine with its errors', async () => {
  await login();
  server.answer = () => {
    throw apiError('cascade.resource.type.not.found', 'Pump');
  };
  socket.send(JSON.stringify({ op: 'select', resourceName: 'Pump' }));
  const refused = await socket.message(({ status }) => status === 404);
  expect(refused['headers']).toEqual({});
  expect(code(refused)).toBe('cascade.resource.type.not.found');
});

test('answers are sent when they are ready, and a request beyond its time limit is a 500', async () => {
  await using hasty = await openFakeServer({ timeoutMs: 2_000 });
  await using socket = await login(await openTestSocket(hasty.port));
  hasty.answer = ({ resourceId }) => (resourceId === 'slow' ? new Promise(() => undefined) : { status: 200, body: '{}' });
  const slow = socket.ask({ op: 'select', resourceName: 'Pump', resourceId: 'slow' });
  expect((await socket.ask({ op: 'select', resourceName: 'Pump', resourceId: 'fast' })).status).toBe(200);
  expect(code(await slow)).toBe('cascade.request.timeout');
});

test('numbers keep their digits in both directions', async () => {
  await login();
  server.answer = () => ({ status: 200, body: '{"n":9223372036854775807,"r":5.0}' });
  socket.send('{"op":"publish","resourceName":"topics","resourceId":"/a","object":9223372036854775807}');
  const { data } = await socket.frame(({ data }) => data.includes('"headers"'));
  expect(data.toString()).toContain('"body":{"n":9223372036854775807,"r":5.0}');
  expect(server.requests[0]?.object).toBe(9223372036854775807n);
});

test('requests may be in binary frames; a binary frame without JSON is a keep-alive, a text without JSON a 400', async () => {
  await login();
  socket.send(Buffer.from([0xff, 0x00]), 'binary');
  socket.send('keep-alive', 'binary');
  socket.send(Buffer.from('{"op":"select","resourceName":"Pump","parameters":{"requestId":"b"}}'), 'binary');
  expect((await socket.message((message) => requestIdOf(message) === 'b')).status).toBe(200);
  expect(socket.messages()).toHaveLength(2);
  socket.send('keep-alive');
  const refused = await socket.message(({ status }) => status === 400);
  expect([refused['headers'], code(refused)]).toEqual([{}, 'cascade.request.body.invalid']);
  socket.send('[1]');
  await socket.message((message) => message !== refused && message.status === 400);
});

test('a message above the limit closes with 1009', async () => {
  await login();
  socket.send(JSON.stringify({ op: 'insert', resourceName: 'Pump', object: { text: 'x'.repeat(100_000) } }));
  expect(await socket.closed()).toBe(1009);
});

test('beyond a thousand unanswered requests further ones wait for their turn, and all are answered', async () => {
  await login();
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let most = 0;
  let open = 0;
  server.answer = async () => {
    most = Math.max(most, ++open);
    await gate;
    open--;
    return { status: 200, body: '[]' };
  };
  const answers = Array.from({ length: 1_200 }, () => socket.ask({ op: 'publish', resourceName: 'topics', resourceId: '/a' }));
  for (const until = Date.now() + 60_000; open < 1_000 && Date.now() < until; ) await new Promise((r) => setTimeout(r, 10));
  expect(open).toBe(1_000);
  release();
  expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
  expect(most).toBe(1_000);
});

test('a subscription is answered, and its events have the request id of the request', async () => {
  await login();
  const made = subscriptions();
  const path = '/topics/plant/7';
  socket.send(
    JSON.stringify({ op: 'subscribe', resourceName: 'events', resourceId: path, parameters: { requestId: 's1', eventFilter: { a: 1 } } }),
  );
  const answer = await socket.message((message) => requestIdOf(message) === 's1');
  expect(answer).toEqual({
    status: 200,
    headers: { 'X-Request-Id': 's1' },
    contentType: 'application/json',
    body: { namespace: 'main', topic: path },
  });
  expect(made).toMatchObject([{ path, username: 'ann', filter: { a: 1 } }]);
  made[0]?.deliver(event(`${path}/publish`, '{"t":4.0}'));
  const frame = await socket.frame(({ data }) => data.includes('"status":100'));
  expect(frame.data.toString()).toBe(
    '{"status":100,"contentType":"application/json","headers":{"X-Request-Id":"s1"},' +
      `"body":{"path":"${path}/publish","value":{"t":4.0},"createdAt":1930000000000,"namespace":"main","username":"ann"}}`,
  );
});

test('an event that happens while a subscription begins is sent after its answer', async () => {
  await login();
  server.subscribe = async (_identity, _path, _options, deliver) => {
    deliver(event('/topics/a/publish', '1'));
    return { close: () => undefined };
  };
  expect((await socket.ask({ op: 'subscribe', resourceName: 'events', resourceId: '/topics/a' })).status).toBe(200);
  await socket.message(({ status }) => status === 100);
  expect(socket.messages().map(({ status }) => status)).toEqual([200, 200, 100]);
});

test('the same path and request id replace a subscription, another id adds one', async () => {
  await login();
  const made = subscriptions();
  const listen = (requestId: string, path: string): void =>
    socket.send(JSON.stringify({ op: 'subscribe', resourceName: 'events', resourceId: path, parameters: { requestId } }));
  listen('s1', '/topics/a');
  listen('s1', '/topics//a/publish');
  listen('s2', '/topics/a');
  await socket.message((message) => requestIdOf(message) === 's2');
  expect(made.map(({ closed }) => closed)).toEqual([true, false, false]);
});

test('the same path and request id in another namespace are another subscription, and each is ended in its own', async () => {
  await login();
  const made = subscriptions();
  const say = async (op: string, requestId: string, targetNamespace?: string): Promise<void> => {
    const answers = socket.messages().length + 1;
    const parameters = { requestId };
    socket.send(JSON.stringify({ op, resourceName: 'events', resourceId: '/topics/a', targetNamespace, parameters }));
    await socket.message(() => socket.messages().length >= answers);
  };
  await say('subscribe', 'x');
  await say('subscribe', 'x', 'plant');
  await say('subscribe', 'y', 'plant');
  expect(made.map(({ closed }) => closed)).toEqual([false, false, false]);
  await say('unsubscribe', 'x', 'plant');
  expect(made.map(({ closed }) => closed)).toEqual([false, true, false]);
  await say('unsubscribe', 'y'); // the only one with this request id
  expect(made.map(({ closed }) => closed)).toEqual([false, true, true]);
});

test('unsubscribe is a 204 and ends the subscription, closing the socket ends the others', async () => {
  await login();
  const made = subscriptions();
  for (const [requestId, resourceId] of [
    ['s1', '/topics/a'],
    ['s2', '/topics/b'],
  ])
    socket.send(JSON.stringify({ op: 'subscribe', resourceName: 'events', resourceId, parameters: { requestId } }));
  await socket.message((message) => requestIdOf(message) === 's2');
  socket.send(JSON.stringify({ op: 'unsubscribe', resourceName: 'events', resourceId: '/topics/a', parameters: { requestId: 's1' } }));
  expect(await socket.message(({ status }) => status === 204)).toEqual({ status: 204, headers: { 'X-Request-Id': 's1' } });
  expect(made.map(({ closed }) => closed)).toEqual([true, false]);
  await socket[Symbol.asyncDispose]();
  for (const until = Date.now() + 60_000; !made[1]?.closed && Date.now() < until; ) await new Promise((r) => setTimeout(r, 10));
  expect(made[1]?.closed).toBe(true);
});

test('a deletion ends the subscriptions to the resource with 410', async () => {
  await login();
  const made = subscriptions();
  socket.send(
    JSON.stringify({ op: 'subscribe', resourceName: 'events', resourceId: '/types/Pump/insert', parameters: { requestId: 's1' } }),
  );
  await socket.message((message) => requestIdOf(message) === 's1');
  made[0]?.deliver({ kind: 'gone' });
  const gone = await socket.message(({ status }) => status === 410);
  expect([requestIdOf(gone), code(gone)]).toEqual(['s1', 'cascade.event.path.gone']);
});

test('the thousand and first subscription of a socket is a 429; a refused one does not count', async () => {
  await login();
  const made = subscriptions();
  const listen = (n: number) => socket.ask({ op: 'subscribe', resourceName: 'events', resourceId: `/topics/t${n}` });
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => listen(n)));
  const refused = await listen(1_000);
  expect([refused.status, code(refused), made.length]).toEqual([429, 'cascade.quota.exceeded', 1_000]);
  await socket.ask({ op: 'unsubscribe', resourceName: 'events', resourceId: '/topics/t5' });
  expect((await listen(1_000)).status).toBe(200);
});

test('a persistent subscription is answered by two messages; acknowledgements are not answered', async () => {
  await login();
  server.subscribe = async (_identity, _path, { persistent, subscriptionName }, deliver) => ({
    name: subscriptionName ?? (persistent ? 'n1' : 'none'),
    begin: async () =>
      deliver({
        kind: 'event',
        path: '/topics/a/publish',
        valueJson: '1',
        createdAt: 5,
        reliable: { partitionId: 1, sequenceId: 2, redelivered: true },
      }),
    close: () => undefined,
  });
  const before = socket.messages().length;
  await socket.ask({ op: 'subscribe', resourceName: 'events', resourceId: '/topics/a', parameters: { persistent: true } });
  await socket.frame(({ data }) => data.toString().includes('sequenceId'));
  const reported = socket.messages().slice(before) as { status: number; body: Record<string, unknown> }[];
  expect(reported).toMatchObject([
    { status: 100, body: { subscriptionName: 'n1', requestId: expect.stringMatching(/^r\d+$/) as string } },
    { status: 200, body: { name: 'n1', namespace: 'main', topic: '/topics/a' } },
    { status: 100, body: { path: '/topics/a/publish', value: 1, partitionId: 1, sequenceId: 2, redelivered: true } },
  ]);
  expect(reported[1]?.body).not.toHaveProperty('subscriptionName');
  const count = socket.messages().length;
  const acknowledged = { requestId: 'a', subscriptionName: 'n1', partitionId: 1, sequenceId: 2 };
  socket.send(JSON.stringify({ op: 'acknowledge', resourceName: 'events', resourceId: '/topics/a', parameters: acknowledged }));
  await socket.ask({ op: 'select', resourceName: 'Pump' });
  expect(socket.messages()).toHaveLength(count + 1);
});

test('a target namespace applies to its request only', async () => {
  await login();
  await socket.ask({ op: 'select', resourceName: 'Pump', targetNamespace: 'plant' });
  await socket.ask({ op: 'select', resourceName: 'Pump' });
  expect(server.requests.map(({ identity }) => identity.namespace)).toEqual(['plant', 'main']);
  expect((await socket.ask({ op: 'select', resourceName: 'Pump', targetNamespace: 'other' })).status).toBe(403);
});

test('publishes to one topic reach the engine in the order of their messages', async () => {
  await login();
  const numbers = Array.from({ length: 500 }, (_, n) => n);
  await Promise.all(numbers.map((n) => socket.ask({ op: 'publish', resourceName: 'topics', resourceId: '/a', object: n })));
  expect(server.requests.map(({ object }) => object)).toEqual(numbers);
});

test('pings are answered', async () => {
  socket.send('hello', 'ping');
  expect((await socket.frame(({ opcode }) => opcode === 'pong')).data.toString()).toBe('hello');
});

// spec: resources-and-api.md 2
test('a message that cannot be read counts as a request, and is told of the quota first', async () => {
  const wrong = [
    '{"op":',
    JSON.stringify({ op: 'select', parameters: { requestId: 'a' } }),
    JSON.stringify({ op: 'select', resourceName: 5, parameters: { requestId: 'b' } }),
    JSON.stringify({ op: 'subscribe', resourceName: '/topics/a', parameters: { requestId: 'c', persistent: 5 } }),
    `{"op":"${'x'.repeat(70_000)}`,
  ];
  let counted = 0;
  server.count = () => void counted++;
  socket.send('{"op":');
  await socket.message(({ status }) => status === 400);
  expect(counted).toBe(0); // of nobody yet
  await login();
  const before = socket.messages().length;
  const answers = async (): Promise<unknown[]> => {
    const { length } = socket.messages();
    for (const text of wrong) socket.send(text);
    await expect.poll(() => socket.messages().length).toBe(length + wrong.length);
    return socket.messages().slice(length).map(code);
  };
  for (const one of await answers()) expect(one).toMatch(/^cascade\.request\./);
  expect([counted, socket.messages().length - before]).toEqual([wrong.length, wrong.length]);
  server.count = () => {
    throw apiError('cascade.quota.exceeded', 'requestsPerSecond', 5);
  };
  expect(new Set(await answers())).toEqual(new Set(['cascade.quota.exceeded']));
  server.count = () => undefined;
});
