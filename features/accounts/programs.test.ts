// Users, tokens and namespaces by AGGREGATE, UPSERT and the statements of programs, and their events (resources-and-api.md 4.11, 4.12,
// 8.1).

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiReply, Identity, Notice } from '../../resources/api.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';

const DENIED = { code: 'cascade.authorization.denied', status: 403 };
const mark = randomBytes(4).toString('hex');
const name = (text: string): string => `${text}.${mark}`;

let t: TestEngine;
let user: Identity;
let procedures = 0;

beforeAll(async () => {
  t = await openTestEngine();
  await as(t.identity, 'insert', 'users', { body: { username: name('plain'), password: 'correct horse' } });
  user = (await t.engine.identity.login(name('plain'), 'correct horse', '10.0.0.1')).identity;
});
afterAll(() => t[Symbol.asyncDispose]());

interface Asked {
  id?: string;
  body?: unknown;
  parameters?: Record<string, unknown>;
}

const as = (identity: Identity, op: string, resourceName: string, { id, body, parameters = {} }: Asked = {}): Promise<ApiReply> =>
  t.engine.execute({
    identity,
    op,
    resourceName,
    custom: false,
    ...(id !== undefined && { resourceId: id }),
    ...(body !== undefined && { object: parseJson(JSON.stringify(body)) }),
    parameters: parseJson(JSON.stringify(parameters)) as Record<string, never>,
  });
const json = async (reply: Promise<ApiReply>): Promise<unknown> => JSON.parse((await reply).body ?? 'null');

async function called(identity: Identity, body: string): Promise<unknown> {
  const id = `accounts${procedures++}`;
  await t.program('procedures', `PROCEDURE ${id}()\n${body}`);
  return json(as(identity, 'execute', 'procedures', { id }));
}

/** The events that a subscriber receives during `work`: an event is delivered when it is committed, before the change is answered. */
async function received(path: string, work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const reported: Notice[] = [];
  const { close } = await t.engine.subscribe(t.identity, path, {}, (notice) => reported.push(notice));
  await work();
  await expect.poll(() => reported.length).toBeGreaterThan(0);
  close();
  return reported
    .map((notice) => notice as unknown as { path: string; valueJson: string })
    .map(({ path: at, valueJson }) => ({ path: at, value: JSON.parse(valueJson) as unknown }));
}

test('AGGREGATE covers what the caller may see, names with dollar signs included', async () => {
  await as(t.identity, 'insert', 'users', { body: { username: name('agg'), password: 'correct horse', firstName: '$username' } });
  const pipeline = [
    { $match: { username: { $in: [name('agg'), name('plain')] } } },
    { $project: { username: 1, firstName: 1, _id: 0 } },
    { $sort: { username: 1 } },
  ];
  expect(await json(as(t.identity, 'aggregate', 'users', { body: pipeline }))).toEqual([
    { username: name('agg'), firstName: '$username' },
    { username: name('plain'), firstName: null },
  ]);
  expect(await json(as(user, 'aggregate', 'users', { body: pipeline }))).toEqual([{ username: name('plain'), firstName: null }]);
  expect(await json(as(user, 'aggregate', 'users', { body: [{ $group: { _id: null, n: { $sum: 1 } } }] }))).toEqual([{ _id: null, n: 1 }]);
  expect(await json(as(user, 'aggregate', 'tokens', { body: [] }))).toEqual([]);
});

test('UPSERT of a user inserts, then updates, and is not for plain users', async () => {
  const upsert = (identity: Identity, body: object) => as(identity, 'upsert', 'users', { body });
  expect(await json(upsert(t.identity, { username: name('up'), password: 'correct horse', firstName: 'A' }))).toMatchObject({
    firstName: 'A',
  });
  expect(await json(upsert(t.identity, { username: name('UP'), firstName: 'B' }))).toMatchObject({ username: name('up'), firstName: 'B' });
  await expect(upsert(user, { username: name('up'), firstName: 'C' })).rejects.toMatchObject(DENIED);
  await expect(upsert(t.identity, { firstName: 'C' })).rejects.toMatchObject({ code: 'cascade.upsert.key.missing' });
  await expect(as(t.identity, 'upsert', 'tokens', { body: { name: 'x' } })).rejects.toMatchObject({ status: 405 });
});

test('statements of programs change users with the rights of their caller', async () => {
  const made = `INSERT system.users(username: "${name('eve')}", password: "correct horse")`;
  await expect(called(user, made)).rejects.toMatchObject(DENIED);
  expect(await called(t.identity, `var u = ${made} return u.username`)).toBe(name('eve'));
  const changed = `var u = UPDATE system.users(firstName: "Eve") WHERE username == "${name('eve')}" return u.firstName`;
  expect(await called(t.identity, changed)).toBe('Eve');
  await expect(called(user, changed)).rejects.toMatchObject({ code: 'cascade.resource.not.found' });
  expect(await called(user, `var u = UPDATE system.users(firstName: "P") WHERE username == "${name('plain')}" return u.firstName`)).toBe(
    'P',
  );
  await expect(called(user, `UPDATE system.users(active: false) WHERE username == "${name('plain')}"`)).rejects.toMatchObject(DENIED);
  expect(await called(t.identity, `UPSERT system.users(username: "${name('eve')}", lastName: "Adams") return 1`)).toBe(1);
  expect(await json(as(t.identity, 'select', 'users', { id: name('eve') }))).toMatchObject({ firstName: 'Eve', lastName: 'Adams' });
  expect(await called(t.identity, `return DELETE FROM system.users WHERE username == "${name('eve')}"`)).toBe(1);
  await expect(as(t.identity, 'select', 'users', { id: name('eve') })).rejects.toMatchObject({ status: 404 });
  await expect(called(t.identity, 'UPDATE system.namespaces(ars_properties: {}) WHERE namespace == "none"')).rejects.toMatchObject({
    code: 'cascade.resource.not.found',
  });
});

test('subscribers and rules receive events of users and tokens without secrets', async () => {
  await t.type('UserHeard', { u: { type: 'Object' } });
  await t.program('rules', 'RULE hearUsers WHEN INSERT OCCURS ON system.users AS u INSERT UserHeard(u: u)');
  const body = { username: name('told'), password: 'correct horse', firstName: 'T' };
  expect(await received('/types/system.users/insert', () => as(t.identity, 'insert', 'users', { body }))).toMatchObject([
    { path: `/types/system.users/insert/${name('told')}`, value: { username: name('told'), firstName: 'T' } },
  ]);
  const [{ u }] = (await t.eventually('UserHeard', {}, 1)) as [{ u: object }];
  expect(u).toMatchObject({ username: name('told') });
  expect(u).not.toHaveProperty('password');
  const update = () => as(t.identity, 'update', 'users', { id: name('told'), body: { password: 'another horse', firstName: 'U' } });
  const updated = await received('/types/system.users/update', update);
  expect(updated).toMatchObject([{ value: { username: name('told'), firstName: 'U' } }]);
  expect(JSON.stringify(updated)).not.toContain('horse');
  const deletion = () => as(t.identity, 'delete', 'users', { parameters: { where: { username: name('told') } } });
  expect(await received('/types/system.users/delete', deletion)).toMatchObject([{ path: `/types/system.users/delete/${name('told')}` }]);

  const [token] = await received('/types/system.tokens/insert', () => as(t.identity, 'insert', 'tokens', { body: { name: 'told' } }));
  expect(token).toMatchObject({ value: { name: 'told', username: 'ann' } });
  expect(token!['value']).not.toHaveProperty('accessToken');
  for (const one of ['a', 'b']) await as(t.identity, 'insert', 'tokens', { body: { name: `many-${one}` } });
  const where = { name: { $in: ['many-a', 'many-b'] } };
  expect(await received('/types/system.tokens/delete', () => as(t.identity, 'delete', 'tokens', { parameters: { where } }))).toEqual([
    { path: '/types/system.tokens/delete', value: { ars_bulkOperation: true, count: 2, qual: where } },
  ]);
  // A plain user receives events of its own objects only.
  const own: string[] = [];
  const { close } = await t.engine.subscribe(user, '/types/system.users/update', {}, (notice) => {
    if (notice.kind === 'event') own.push(notice.path);
  });
  for (const username of [name('agg'), user.username]) await as(t.identity, 'update', 'users', { id: username, body: { lastName: 'N' } });
  await expect.poll(() => own).toEqual([`/types/system.users/update/${user.username}`]);
  close();
  await expect(t.engine.subscribe(t.identity, '/types/system.namespaces/insert', {}, () => undefined)).rejects.toMatchObject({
    status: 400,
  });
});
