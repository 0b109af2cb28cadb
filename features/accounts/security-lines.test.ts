// The log entries about users, tokens and rights: author, address and change, and no secret.

import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiReply, Identity } from '../../resources/api.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';

const PASSWORD = 'correct horse';
const ADDRESS = '10.0.0.7';
const mark = randomBytes(4).toString('hex');
const namespace = `Lines_${mark}`;
const ADMIN = `boss.${mark}`;
const ANN = `ann.${mark}`;
const FIRST: Identity = {
  username: `first${mark}`,
  namespace: `Makers_${mark}`,
  profiles: ['admin', 'user__system'],
  installationAdmin: true,
};

let t: TestEngine;
let admin: Identity;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  t = await openTestEngine({ log: pino({ level: 'debug' }, sink) });
  await as(FIRST, 'insert', 'namespaces', undefined, { namespace, username: ADMIN, password: PASSWORD });
  admin = (await t.engine.identity.login(ADMIN, PASSWORD, ADDRESS)).identity;
  await as(admin, 'insert', 'users', undefined, { username: ANN, password: PASSWORD });
});
afterAll(() => t[Symbol.asyncDispose]());
beforeEach(() => void lines.splice(0));

const as = (identity: Identity, op: string, resourceName: string, resourceId?: string, body?: object): Promise<ApiReply> =>
  t.engine.execute({
    identity,
    op,
    resourceName,
    custom: false,
    ...(resourceId !== undefined && { resourceId }),
    ...(body && { object: parseJson(JSON.stringify(body)) }),
    parameters: {},
    address: ADDRESS,
  });
const security = () => lines.filter((line) => line['security'] !== undefined);

test('logins are logged; failures and lockouts are warnings', async () => {
  const { identity } = t.engine;
  await identity.login(ANN, PASSWORD, ADDRESS);
  expect(security()).toMatchObject([{ level: 20, security: 'login', username: ANN, namespace, address: ADDRESS }]);
  lines.splice(0);
  for (let i = 0; i < 10; i++) await identity.login(ANN, 'a wrong one', '10.0.0.8').catch(() => undefined);
  const failed = Array.from({ length: 10 }, () => ({ level: 40, security: 'loginFailed', username: ANN, address: '10.0.0.8' }));
  expect(security()).toMatchObject([...failed, { level: 40, security: 'locked', username: ANN, address: '10.0.0.8' }]);
  lines.splice(0);
  await identity.loginWithToken('css_of_nobody_at_all_00000', undefined, ADDRESS).catch(() => undefined);
  expect(security()).toMatchObject([{ level: 40, security: 'loginFailed', reason: 'token', address: ADDRESS }]);
});

test('changes of accounts are logged with their author and without secrets', async () => {
  await as(admin, 'update', 'users', ANN, { password: 'another horse', profiles: ['admin', 'user__system'], active: true });
  const token = JSON.parse((await as(admin, 'insert', 'tokens', undefined, { name: 'edge' })).body!) as { accessToken: string };
  await as(admin, 'delete', 'tokens', token.accessToken);
  const invited = await as(admin, 'delegateUserAuthZ', 'namespaces', namespace, { profiles: ['user', 'user__system'] });
  const { code } = JSON.parse(invited.body!) as { code: string };
  await t.engine.identity.createUser({ username: `far.${mark}`, password: PASSWORD, namespace: t.identity.namespace, createdBy: 'tests' });
  await as((await t.engine.identity.login(`far.${mark}`, PASSWORD, ADDRESS)).identity, 'redeem', 'delegatedrequests', code);
  await as(admin, 'delete', 'users', ANN);

  const by = { level: 30, security: 'account', username: ADMIN, namespace, address: ADDRESS };
  expect(security().filter((line) => line['security'] === 'account')).toMatchObject([
    {
      ...by,
      operation: 'update',
      resource: 'users',
      target: ANN,
      members: ['password', 'profiles', 'active'],
      profiles: ['admin', 'user__system'],
    },
    { ...by, operation: 'insert', resource: 'tokens', target: 'edge' },
    { ...by, operation: 'delete', resource: 'tokens', target: 'edge' },
    { ...by, operation: 'delegateUserAuthZ', resource: 'namespaces', target: namespace },
    { security: 'account', operation: 'redeem', resource: 'namespaces', target: namespace, username: `far.${mark}` },
    { ...by, operation: 'delete', resource: 'users', target: ANN },
  ]);
  const text = JSON.stringify(lines);
  for (const secret of [PASSWORD, 'another horse', token.accessToken, code]) expect(text).not.toContain(secret);
});

test('a refused operation is logged as a warning', async () => {
  const user: Identity = { username: ADMIN, namespace, profiles: ['user', 'user__system'] };
  await as(user, 'insert', 'tokens', undefined, { name: 'more' }).catch(() => undefined);
  expect(security()).toMatchObject([
    {
      level: 40,
      security: 'refused',
      username: ADMIN,
      address: ADDRESS,
      operation: 'insert',
      resource: 'tokens',
      code: 'cascade.authorization.denied',
    },
  ]);
});
