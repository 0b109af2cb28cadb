// The requests that a statement with PROCESSED BY sends to a node, and its results from the answers (integrations.md 11.3 to 11.8). The
// node is a server of this test.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Committer } from '../../runtime/transactions/committer.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { answerJson, type HttpServer, openHttpServer, type Sent } from '../sources/testing/http-server.ts';

type Respond = (sent: Sent, response: Parameters<typeof answerJson>[0]) => void;

let t: TestEngine;
let far: HttpServer;
let respond: Respond;
let logins = 0;
let made = 0;

beforeAll(async () => {
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.0/8'] });
  far = await openHttpServer((sent, response) => {
    if (sent.url !== '/authenticate') return respond(sent, response);
    logins++;
    answerJson(response, { accessToken: `token${logins}`, expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
  });
  await register('far', far.url);
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});
beforeEach(() => {
  far.sent.length = 0;
});

async function register(name: string, uri: string, deliveryMode = 'bestEffort'): Promise<void> {
  const node = { name, uri, username: 'u', password: 'correct horse', deliveryMode, properties: { zone: name } };
  await t.ask('insert', 'nodes', { custom: false, body: JSON.stringify(node) });
}

async function run(body: string): Promise<unknown> {
  const name = `federated${made++}`;
  await t.program('procedures', `PROCEDURE ${name}()\n${body}`);
  return JSON.parse((await t.ask('execute', 'procedures', { custom: false, id: name, body: '[]' })).body ?? 'null');
}

const asked = (): Sent[] => far.sent.filter(({ url }) => url !== '/authenticate');

test('a SELECT is one request of the generic API with the headers of federation and evaluated operands', async () => {
  respond = (_, response) =>
    answerJson(response, [{ _id: '1', at: { $dt: '2026-01-01T00:00:00.000Z' } }], 200, { 'X-Cascade-Values': 'typed' });
  const found = await run(
    'var least = 2\nvar o = []\nSELECT FROM Pump WHERE rate > least AS p PROCESSED BY name == "far" CONTEXT TO c { push(o, [typeOf(p.at), c.status]) }\nreturn o',
  );
  expect(found).toEqual([['DateTime', 'SUCCESS']]);
  const [one] = asked();
  const url = new URL(one?.url ?? '', far.url);
  expect([one?.method, url.pathname, url.searchParams.get('where')]).toEqual([
    'GET',
    '/api/v1/resources/custom/Pump',
    '{"rate":{"$gt":2}}',
  ]);
  expect(one?.headers).toMatchObject({ 'x-cascade-federation': '1', 'x-cascade-hop': '1', 'x-cascade-values': 'typed' });
  expect(one?.headers['x-cascade-request-id']).toBeUndefined();
  expect(one?.headers['x-cascade-deadline-ms']).toMatch(/^\d+$/); // a node takes whole milliseconds
});

test('pages are fetched until one is short, and only while the block takes rows', async () => {
  respond = ({ url }, response) => {
    const page = Number(new URL(url, far.url).searchParams.get('page'));
    answerJson(
      response,
      Array.from({ length: page < 3 ? 1_000 : 7 }, (_, i) => ({ _id: `${page}.${i}` })),
    );
  };
  expect(await run('var n = 0\nSELECT FROM Pump PROCESSED BY name == "far" { n = n + 1 }\nreturn n')).toBe(2_007);
  expect(asked()).toHaveLength(3);
});

test.each(['{periodic: true, interval: 5000}', '{name: "x", interval: 5000, active: true}'])(
  'what is no schedule here is none there: %s',
  async (given) => {
    const code = 'cascade.scheduledevent.schedule.invalid';
    const publish = `PUBLISH {a: 1} TO TOPIC "/t" SCHEDULE ${given}`;
    await expect(run(`${publish}\nreturn 1`)).rejects.toMatchObject({ code });
    await expect(run(`${publish} PROCESSED BY name == "far" { }\nreturn 1`)).rejects.toMatchObject({ code });
    expect(asked()).toEqual([]);
  },
);

test('a 401 with a token causes one new login and one retry', async () => {
  const before = logins;
  respond = ({ headers }, response) =>
    headers.authorization === `Bearer token${before}`
      ? answerJson(response, [{ code: 'cascade.security.token.invalid' }], 401)
      : answerJson(response, 6);
  expect(await run('return EXECUTE weigh(3) PROCESSED BY ONE name == "far"')).toBe(6);
  expect(logins).toBe(before + 1);
});

test('a procedure that fails with a 401 of its own is not carried out twice', async () => {
  const code = 'io.service.security.authentication.failed';
  respond = (_, response) => answerJson(response, [{ code, message: 'm', params: [] }], 401);
  await expect(run('return EXECUTE weigh(3) PROCESSED BY ONE name == "far"')).rejects.toMatchObject({ code });
  expect(asked()).toHaveLength(1);
});

test('a statement that shares a login with one whose time is over waits for the login all the same', async () => {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  await using slow = await openHttpServer(async ({ url }, response) => {
    if (url !== '/authenticate') return answerJson(response, 6);
    begun.resolve();
    await over.promise;
    answerJson(response, { accessToken: 't', expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
  });
  await register('slow', slow.url);
  const asks = (more: string): Promise<unknown> =>
    run(
      `var o = []\nEXECUTE weigh(3) AS r PROCESSED BY name == "slow" ${more} { push(o, r) } ON ERROR (e) { push(o, e.error.code) }\nreturn o`,
    );
  const hasty = asks('WITHIN 300 milliseconds');
  await begun.promise;
  const patient = asks('');
  expect(await hasty).toEqual(['io.service.federation.request.timeout']);
  over.resolve();
  expect(await patient).toEqual([6]);
  expect(slow.sent.filter(({ url }) => url === '/authenticate')).toHaveLength(1);
});

test('a status that is no refusal does not become that of an answer here', async () => {
  respond = (_, response) => answerJson(response, [{ code: 'a.b', message: 'm', params: [] }], 302);
  await expect(run('return EXECUTE weigh(3) PROCESSED BY ONE name == "far"')).rejects.toMatchObject({ code: 'a.b', status: 500 });
});

test.each([
  ['an error document', 404, [{ code: 'a.b', message: 'm', params: [1] }], { code: 'a.b', message: 'm', params: [1] }],
  ['no error document', 502, { any: 1 }, { code: 'cascade.federation.protocol' }],
])('the answer %s becomes the error of its node', async (_, status, body, error) => {
  respond = (__, response) => answerJson(response, body, status);
  const items = await run(
    'var o = []\nEXECUTE weigh(3) AS r PROCESSED BY @n { } ON ERROR (e) { push(o, e) }\nreturn o'.replace('var o', 'var n = "far"\nvar o'),
  );
  expect(items).toMatchObject([{ node: { name: 'far' }, status: 'FAILURE', error }]);
  expect(JSON.stringify(items)).not.toContain('correct horse');
});

test('a node that does not answer before the deadline gives an error, and its connection is closed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  respond = (_, response) => void response.once('close', resolve);
  const items = await run(
    'var o = []\nINSERT Pump(rate: 1) PROCESSED BY name == "far" WITHIN 300 milliseconds { } ON ERROR (e) { push(o, e.error.code) }\nreturn o',
  );
  expect(items).toEqual(['io.service.federation.request.timeout']);
  await promise;
});

test('a write to a reliable node that fails with a transient error waits in the outbox, and is retried with its request id', async () => {
  await register('sure', far.url, 'reliable');
  let failures = 1;
  respond = (_, response) =>
    failures-- > 0 ? answerJson(response, [{ code: 'x', message: '', params: [] }], 503) : answerJson(response, [{ _id: '1' }]);
  const items = await run(
    'var o = []\nINSERT Pump(rate: 1) PROCESSED BY name == "sure" { push(o, "stored") } ON ERROR (e) { push(o, e.error.code) }\nreturn o',
  );
  expect(items).toEqual(['cascade.federation.delivery.pending']);
  const status = async (): Promise<unknown> => JSON.parse((await t.ask('status', 'nodes', { custom: false, id: 'sure' })).body ?? 'null');
  for (let i = 0; i < 200 && (asked().length < 2 || ((await status()) as { waiting: number }).waiting > 0); i++) await sleep(25);
  expect(await status()).toMatchObject({ name: 'sure', state: 'reachable', waiting: 0 });
  const ids = asked().map(({ headers }) => headers['x-cascade-request-id']);
  expect(ids).toEqual([ids[0], ids[0]]);
});

test('a dead letter of a node that is sent again is the same request, as long as there is the node', async () => {
  await register('lost', far.url, 'reliable');
  const answers = [503, 400, 400, 200];
  respond = (_, response) => {
    const status = answers.shift() ?? 200;
    answerJson(response, status === 200 ? [{ _id: '1' }] : [{ code: 'x', message: '', params: [] }], status);
  };
  await run('INSERT Pump(rate: 1) PROCESSED BY name == "lost" { } ON ERROR (e) { }\nreturn 1');
  interface Letter {
    readonly _id: string;
  }
  const letter = async (): Promise<Letter> => {
    for (;;) {
      const [found] = JSON.parse((await t.ask('select', 'deadletters', { custom: false })).body ?? '[]') as Letter[];
      if (found) return found;
      await sleep(25);
    }
  };
  const retry = async () => t.ask('retry', 'deadletters', { custom: false, id: (await letter())._id });
  expect(await letter()).toMatchObject({ target: '/nodes/lost', reason: 'outbox' });
  expect((await retry()).status).toBe(204);
  await letter(); // it was refused again
  await t.ask('delete', 'nodes', { custom: false, id: 'lost' });
  await expect(retry()).rejects.toMatchObject({ code: 'cascade.resource.not.found', params: ['/nodes/lost'] });
  await register('lost', far.url, 'reliable');
  expect((await retry()).status).toBe(204);
  while (asked().length < 4) await sleep(25);
  const [first] = asked();
  for (const { method, url, body, headers } of asked())
    expect([method, url, body, headers['x-cascade-request-id']]).toEqual([
      first?.method,
      first?.url,
      first?.body,
      first?.headers['x-cascade-request-id'],
    ]);
  await t.ask('delete', 'nodes', { custom: false, id: 'lost' });
});

test.each([
  ['WITHIN 0', 'cascade.federation.within'],
  ['WITHIN "x"', 'cascade.federation.within'],
])('%s is refused before anything is sent', async (within, code) => {
  await expect(run(`INSERT Pump(rate: 1) PROCESSED BY ALL ${within} { }\nreturn 1`)).rejects.toMatchObject({ code });
  expect(asked()).toEqual([]);
});

test('a value that is no data cannot be sent', async () => {
  await expect(run('var f = x => x\nINSERT Pump(rate: f) PROCESSED BY ALL { }\nreturn 1')).rejects.toMatchObject({
    code: 'cascade.federation.value',
  });
  expect(asked()).toEqual([]);
});

test('UNTIL ends the statement: no further item reaches the program', async () => {
  respond = (_, response) => answerJson(response, [{ _id: '1' }, { _id: '2' }, { _id: '3' }]);
  expect(await run('var n = 0\nSELECT FROM Pump PROCESSED BY name == "far" UNTIL n == 1 { n = n + 1 }\nreturn n')).toBe(1);
});

test('what can never be sent to a reliable node is an error at once, and nothing waits behind it', async () => {
  await register('strict', far.url, 'reliable');
  respond = (_, response) => answerJson(response, {});
  const publishes = (topic: string): Promise<unknown> =>
    run(
      `var o = []\nvar t = "${topic}"\nPUBLISH {a: 1} TO TOPIC @t PROCESSED BY name == "strict" { push(o, "sent") } ON ERROR (e) { push(o, e.error.code) }\nreturn o`,
    );
  expect(await publishes('/a/../b')).toEqual(['cascade.federation.protocol']);
  expect(await publishes('/a/b')).toEqual(['sent']);
});

test('no name that a program has from elsewhere leads out of its resource', async () => {
  respond = (_, response) => answerJson(response, []);
  for (const topic of ['/../users', '/a/./b', '/..', ''])
    expect(
      await run(
        `var o = []\nvar t = "${topic}"\nPUBLISH {a: 1} TO TOPIC @t PROCESSED BY name == "far" { } ON ERROR (e) { push(o, e.error.code) }\nreturn o`,
      ),
    ).toEqual(['cascade.federation.protocol']);
  expect(asked()).toEqual([]);
});

test('a node’s error of any size is told, cut, and one without a code is none', async () => {
  const long = 'x'.repeat(17 * 1024 * 1024);
  respond = (_, response) => answerJson(response, [{ code: 'a.b', message: long, params: [1] }], 400);
  expect(await run('INSERT Pump(rate: 1) PROCESSED BY name == "far" { }\nreturn "goes on"')).toBe('goes on');
  const fails = run('return INSERT Pump(rate: 1) PROCESSED BY ONE name == "far"');
  await expect(fails).rejects.toMatchObject({ code: 'a.b', params: [1], message: expect.stringMatching(/^x{32768}…$/) });
  respond = (_, response) => answerJson(response, [{ code: '', message: 'm', params: [] }], 400);
  await expect(run('return INSERT Pump(rate: 1) PROCESSED BY ONE name == "far"')).rejects.toMatchObject({
    code: 'cascade.federation.protocol',
  });
});

test('an answer of more values than any may have is a protocol error, and so are more rows than were asked for', async () => {
  const selects = (limit: string): Promise<unknown> =>
    run(
      `var o = []\nSELECT FROM Pump WITH limit = ${limit} AS p PROCESSED BY name == "far" { push(o, 1) } ON ERROR (e) { push(o, e.error.code) }\nreturn o`,
    );
  respond = (_, response) => answerJson(response, [{ all: Array.from({ length: 2_000_001 }, () => 1) }]);
  expect(await selects('5')).toEqual(['cascade.federation.protocol']);
  respond = (_, response) => answerJson(response, [{}, {}, {}]);
  expect(await selects('2')).toEqual(['cascade.federation.protocol']);
});

// spec: integrations.md 11.1 11.5
test('`self` gives a block and computed aggregates all rows, as many as there are', async () => {
  await t.type('Grain', { n: { type: 'Integer' } });
  const rows = Array.from({ length: 10_001 }, (_, n) => ({ n }));
  for (const part of [rows.slice(0, 6_000), rows.slice(6_000)]) await t.ask('insert', 'Grain', { body: JSON.stringify(part) });
  const counted = async (what: string, group: string): Promise<unknown> =>
    run(`var n = 0\nSELECT ${what} FROM Grain ${group} AS g PROCESSED BY name == "self" { n = n + 1 }\nreturn n`);
  expect(await counted('', '')).toBe(10_001);
  expect(await counted('n, c = count()', 'GROUP BY n')).toBe(10_001);
  const computed = 'SELECT m = max(n * 2), c = count() FROM Grain AS g PROCESSED BY name == "self" { push(o, [g.m, g.c]) }';
  expect(await run(`var o = []\n${computed}\nreturn o`)).toEqual([[20_000, 10_001]]);
});

// spec: integrations.md 11.2; language.md N7 D2
test('a procedure of the package is known to a node by its full name, where it has none of the short one', async () => {
  const there = new Set(['/procedures/plant.a.weigh', '/procedures/other.b.heft']);
  respond = ({ method, url }, response) => {
    const path = url.replace('/api/v1/resources', '');
    if (!there.has(path)) return answerJson(response, [{ code: 'cascade.resource.not.found', message: 'm', params: [path] }], 404);
    answerJson(response, method === 'POST' ? path : []);
  };
  const inPackage = async (name: string, body: string): Promise<unknown> => {
    await t.program('procedures', `PACKAGE plant.a\nIMPORT PROCEDURE other.b.heft\nPROCEDURE ${name}()\n${body}`);
    return JSON.parse((await t.ask('execute', 'procedures', { custom: false, id: `plant.a.${name}`, body: '[]' })).body ?? 'null');
  };
  const by = 'PROCESSED BY EXACTLY ONE name == "far"';
  expect(await inPackage('short', `return EXECUTE weigh(1) ${by}`)).toBe('/procedures/plant.a.weigh');
  expect(await inPackage('imported', `return EXECUTE heft(1) ${by}`)).toBe('/procedures/other.b.heft');
  await expect(inPackage('unknown', `return EXECUTE lift(1) ${by}`)).rejects.toMatchObject({ params: ['/procedures/lift'] });
  far.sent.length = 0;
  await inPackage('drops', `DROP PROCEDURE weigh ${by}`);
  expect(asked().map(({ method, url }) => `${method} ${url}`)).toEqual(['DELETE /api/v1/resources/procedures/plant.a.weigh']);
  await t.program('procedures', 'PROCEDURE weigh()\nreturn 1');
  far.sent.length = 0;
  await inPackage('dropsShort', `DROP PROCEDURE weigh PROCESSED BY name == "far" { }`);
  expect(asked().map(({ method, url }) => `${method} ${url}`)).toEqual(['DELETE /api/v1/resources/procedures/weigh']);
  expect(await inPackage('self', 'return EXECUTE weigh() PROCESSED BY EXACTLY ONE name == "self"')).toBe(1);
});

// spec: integrations.md 11.1 12.2
test('a rule’s statement for `self` outlasts what stands in the way of the store, as one without PROCESSED BY does', async () => {
  await t.type('Kept', { n: { type: 'Integer' } });
  await t.type('Missed', { code: { type: 'String' } });
  await t.ask('insert', 'topics', { custom: false, body: '{"name":"/keep"}' });
  await t.program(
    'rules',
    'RULE keeps WHEN EVENT OCCURS ON "/topics/keep"\nINSERT Kept(n: 1) PROCESSED BY name == "self" { } ON ERROR (e) { INSERT Missed(code: e.error.code) }',
  );
  const { submit } = Committer.prototype;
  const lost = new MongoNetworkError('the connection broke');
  let isBroken = true;
  const spy = vi.spyOn(Committer.prototype, 'submit').mockImplementation(function (this: Committer, unit, urgent) {
    if (!isBroken || !unit.writes.some(({ collection }) => collection.startsWith('t.'))) return submit.call(this, unit, urgent);
    isBroken = false;
    return Promise.reject(lost);
  });
  await t.ask('publish', 'topics', { custom: false, id: '/keep', body: '{}' });
  const rows = async (): Promise<number[]> => [await t.rows('Kept'), await t.rows('Missed')].map(({ length }) => length);
  await expect.poll(async () => (await rows()).includes(1)).toBe(true);
  expect([await rows(), isBroken]).toEqual([[1, 0], false]);
  spy.mockRestore();
});
