// Rights of the default profiles on every way in, and as whom code runs (resources-and-api.md 7.2, 7.5, 7.6).

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiReply, Identity } from '../api.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';

const DENIED = { code: 'cascade.authorization.denied', status: 403 };
const USER = ['user', 'user__system'];
const ADMIN = ['admin', 'user__system'];

let t: TestEngine;
let user: Identity;
let admin: Identity;

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  const make = async (name: string, profiles: string[]): Promise<Identity> => {
    const username = `${name}.${namespace}`;
    await t.engine.identity.createUser({ username, password: 'correct horse', namespace, profiles, createdBy: 'ann' });
    return { username, namespace, profiles, token: '000000000000000000000001' };
  };
  [user, admin] = await Promise.all([make('plain', USER), make('boss', ADMIN)]);
  await t.type('Pump', { n: { type: 'Integer' } });
  await t.type('Open', { n: { type: 'Integer' } }, { userAccessLevel: 'ars_readWrite' });
  await t.type('Closed', { n: { type: 'Integer' } }, { userAccessLevel: 'ars_denied' });
  await t.ask('insert', 'topics', { body: '{"name":"/t"}' });
  await t.program('rules', 'RULE r WHEN INSERT OCCURS ON Pump AS p log.info("x")');
  await t.program('procedures', 'PROCEDURE p()\nreturn 1');
  await t.ask('insert', 'sources', { body: '{"name":"S","type":"REMOTE","config":{"uri":"http://example.com"},"mockMode":true}' });
});
afterAll(() => t[Symbol.asyncDispose]());

interface Asked {
  id?: string;
  body?: unknown;
  text?: string;
  parameters?: object;
}

const as = (identity: Identity, op: string, resourceName: string, { id, body, text, parameters = {} }: Asked = {}): Promise<ApiReply> =>
  t.engine.execute({
    identity,
    op,
    resourceName,
    custom: null,
    ...(id !== undefined && { resourceId: id }),
    ...(body !== undefined && { object: parseJson(JSON.stringify(body)) }),
    ...(text !== undefined && { text }),
    parameters: parseJson(JSON.stringify(parameters)) as Record<string, never>,
  });
const idle = (identity: Identity, active: boolean) => t.engine.identity.changeUser(identity.username, { active });

let procedures = 0;
/** The value of a procedure that an admin has made and a user calls. */
async function called(identity: Identity, body: string, options = ''): Promise<unknown> {
  const name = `call${++procedures}`;
  await as(admin, 'insert', 'procedures', { text: `PROCEDURE ${name}()${options}\n${body}` });
  return JSON.parse((await as(identity, 'execute', 'procedures', { id: name })).body ?? 'null');
}

const DEFINITIONS: [string, string, Asked][] = [
  ['types', 'Pump', { body: { name: 'New', properties: {} } }],
  ['rules', 'r', { text: 'RULE mine WHEN INSERT OCCURS ON Pump AS p log.info("x")' }],
  ['procedures', 'p', { text: 'PROCEDURE mine()\nreturn 1' }],
  ['sources', 'S', { body: { name: 'S', type: 'REMOTE', mockProcedures: { query: 'mine' } } }],
  ['services', 'V', { body: { name: 'V', scheduledProcedures: {} } }],
  ['topics', '/t', { body: { name: '/mine' } }],
  ['scalars', 'X', { body: { name: 'X', baseType: 'String', toInternal: 'mine' } }],
  ['scheduledevents', 'E', { body: { name: 'E', periodic: true, interval: 1000, topic: '/t', message: {} } }],
  ['debugconfigs', 'D', { body: { name: 'D', type: 'log', value: 'DEBUG', resources: ['/rules/r'] } }],
  ['configurations', 'C', { body: { name: 'C' } }],
];

test.each(DEFINITIONS)('a user without admin rights reads %s and writes none', async (resource, id, asked) => {
  await as(user, 'select', resource);
  const { text, body } = asked;
  const refused: [string, Asked][] = [
    ['insert', asked],
    ['upsert', asked],
    ['update', { id, ...asked }],
    ['patch', { id, body: [{ op: 'add', path: '/description', value: 'x' }] }],
    ['delete', { id }],
    ['delete', { parameters: { where: {} } }],
  ];
  for (const [op, rest] of refused) await expect(as(user, op, resource, rest)).rejects.toMatchObject(DENIED);
  const object = JSON.stringify(body ?? { ruleText: text });
  const message = `{op: "insert", resourceName: "system.${resource}", object: ${object}}`;
  await expect(called(user, `return ResourceAPI.executeOp(${message})`)).rejects.toMatchObject(DENIED);
  await expect(called(user, `DELETE system.${resource} WHERE name == "${id}"\nreturn 1`)).rejects.toMatchObject(DENIED);
});

test('a user without admin rights reads instances of a type, and writes where the access levels of the type allow it', async () => {
  const writes: [string, Asked][] = [
    ['insert', { body: { n: 1 } }],
    ['insert', { body: [{ n: 1 }] }],
    ['update', { id: '0'.repeat(24), body: { n: 1 } }],
    ['patch', { id: '0'.repeat(24), body: [] }],
    ['delete', { parameters: { where: {} } }],
  ];
  await as(user, 'select', 'Pump');
  await as(user, 'aggregate', 'Pump', { body: [] });
  for (const [op, rest] of writes) {
    await expect(as(user, op, 'Pump', rest)).rejects.toMatchObject(DENIED);
    if (rest.id === undefined) await as(user, op, 'Open', rest);
  }
  await expect(as(user, 'select', 'Closed')).rejects.toMatchObject(DENIED);
  await expect(as(user, 'aggregate', 'Closed', { body: [] })).rejects.toMatchObject(DENIED);
  for (const statement of ['INSERT Pump(n: 1)', 'UPDATE Pump(n: 1) WHERE n == 1', 'DELETE Pump WHERE n == 1'])
    await expect(called(user, `${statement}\nreturn 1`)).rejects.toMatchObject(DENIED);
  await expect(called(user, 'return ResourceAPI.executeOp({op: "insert", resourceName: "Pump", object: [{n: 1}]})')).rejects.toMatchObject(
    DENIED,
  );
  await expect(called(user, 'var s = SELECT FROM Closed\nreturn s')).rejects.toMatchObject(DENIED);
  expect(await called(user, 'INSERT Open(n: 7)\nreturn 1')).toBe(1);
  expect(await called(user, 'INSERT Pump(n: 7)\nreturn 1', ' WITH profiles = ["admin"]')).toBe(1);
});

test('only admins use sources; all users use topics and procedures', async () => {
  await as(user, 'publish', 'topics', { id: '/t', body: {} });
  await as(user, 'execute', 'procedures', { id: 'p' });
  for (const op of ['query', 'publish']) await expect(as(user, op, 'sources', { id: 'S', body: {} })).rejects.toMatchObject(DENIED);
  await expect(called(user, 'PUBLISH {a: 1} TO SOURCE S')).rejects.toMatchObject(DENIED);
  await expect(called(user, 'var s = SELECT ONE FROM SOURCE S\nreturn s')).rejects.toMatchObject(DENIED);
});

test('a resource that names its users is visible to these users only, on every way in', async () => {
  await expect(as(user, 'select', 'deadletters')).rejects.toMatchObject(DENIED);
  await expect(called(user, 'return SELECT FROM system.deadletters')).rejects.toMatchObject(DENIED);
  await expect(called(user, 'DELETE system.deadletters WHERE reason == "x"\nreturn 1')).rejects.toMatchObject(DENIED);
  await expect(as(user, 'delete', 'logs', { parameters: { where: {} } })).rejects.toMatchObject(DENIED);
  const listener = await t.engine.subscribe(admin, '/topics/t', { persistent: true }, () => undefined).catch(() => null);
  if (!listener) return;
  expect(JSON.parse((await as(user, 'aggregate', 'ArsSubscription', { body: [] })).body ?? '')).toEqual([]);
  expect(JSON.parse((await as(admin, 'aggregate', 'ArsSubscription', { body: [] })).body ?? '')).toHaveLength(1);
  await expect(as(user, 'select', 'ArsSubscription', { id: listener.name! })).rejects.toMatchObject({ status: 404 });
  await expect(as(user, 'delete', 'ArsSubscription', { id: listener.name! })).rejects.toMatchObject({ status: 404 });
  expect(await called(user, 'var s = SELECT FROM ArsSubscription\nreturn s')).toEqual([]);
  listener.close();
});

test('a user without the right to select may not subscribe', async () => {
  const listen = (identity: Identity, path: string) => t.engine.subscribe(identity, path, {}, () => undefined);
  (await listen(user, '/types/Pump/insert')).close();
  await expect(listen(user, '/types/Closed/insert')).rejects.toMatchObject(DENIED);
  await expect(listen(user, '/types/system.deadletters/insert')).rejects.toMatchObject(DENIED);
  await expect(listen(user, `/namespaces/${user.namespace}/authorized`)).rejects.toMatchObject(DENIED);
  for (const path of ['/namespaces/elsewhere/authorized', '/users/somebody/authenticationSuccess'])
    await expect(listen(user, path)).rejects.toMatchObject({ status: 404 });
  for (const path of ['/types/system.users/insert', '/types/ArsRuleSnapshot/insert', `/users/${user.username}/authorizationFailure`])
    (await listen(user, path)).close();
  for (const path of ['/types/system.users/insert', `/namespaces/${user.namespace}/revoked`, '/users/somebody/authenticationSuccess'])
    (await listen(admin, path)).close();
});

test('a rule of a suspended user does not run; a rule runs with the present rights of its user', async () => {
  await t.type('Ask', { n: { type: 'Integer' } });
  await as(admin, 'insert', 'rules', { text: 'RULE answer WHEN INSERT OCCURS ON Ask AS a INSERT Pump(n: a.n)' });
  await as(admin, 'insert', 'rules', { text: 'RULE guard BEFORE INSERT ON Ask AS a WHERE a.n > 100 return a' });
  await t.ask('insert', 'Ask', { body: '{"n":41}' });
  await t.eventually('Pump', { n: 41 }, 1);
  await idle(admin, false);
  await t.ask('insert', 'Ask', { body: '{"n":42}' });
  const failed = { resource: '/rules/answer', 'error.code': DENIED.code };
  await t.eventually('ArsRuleSnapshot', failed, 1);
  await expect(t.ask('insert', 'Ask', { body: '{"n":142}' })).rejects.toMatchObject({ code: DENIED.code });
  await idle(admin, true);
  await t.engine.identity.authorizeUser(admin.username, admin.namespace, USER);
  await t.ask('insert', 'Ask', { body: '{"n":43}' });
  await t.eventually('ArsRuleSnapshot', failed, 2);
  await t.engine.identity.authorizeUser(admin.username, admin.namespace, ADMIN);
  expect(await t.rows('Pump', { n: { $in: [42, 43, 142] } })).toEqual([]);
  await t.ask('delete', 'rules', { parameters: { where: '{}' } });
});

test('a mock runs with the rights that its creator and its last editor have in common', async () => {
  await as(admin, 'insert', 'procedures', { text: 'PROCEDURE mocked(queryDesc)\nreturn Context.profiles()' });
  const source = { name: 'M', type: 'REMOTE', config: { uri: 'http://example.com' }, mockMode: true, mockProcedures: { query: 'mocked' } };
  await as(admin, 'insert', 'sources', { body: source });
  const query = async () => JSON.parse((await t.ask('query', 'sources', { id: 'M', body: '{}' })).body ?? '') as unknown;
  expect(await query()).toEqual(ADMIN.map((profile) => `${admin.namespace}.${profile}`));
  await idle(admin, false);
  await expect(query()).rejects.toMatchObject(DENIED);
  await idle(admin, true);
});

test('runs that a token with profiles starts are confined to these profiles', async () => {
  const reader: Identity = { ...admin, profiles: USER, restricted: true };
  await as(admin, 'insert', 'procedures', { text: 'PROCEDURE later(n Integer)\nINSERT Open(n: n)\nINSERT Pump(n: n)' });
  await as(admin, 'insert', 'procedures', { text: 'PROCEDURE begin(n Integer)\nEXECUTE ASYNC later(n)' });
  await as(reader, 'execute', 'procedures', { id: 'begin', body: [61] });
  await t.eventually('Open', { n: 61 }, 1);
  await t.eventually('ArsRuleSnapshot', { resource: '/procedures/later' }, 1);
  await as(admin, 'execute', 'procedures', { id: 'begin', body: [62] });
  await t.eventually('Pump', { n: 62 }, 1);
  expect(await t.rows('Pump', { n: 61 })).toEqual([]);
});
