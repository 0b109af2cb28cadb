// Which users an admin may see and change (resources-and-api.md 4.9, 4.11, 4.12): two namespaces, their admins, and the users of the
// installation.

import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { ApiReply, Identity } from '../../resources/api.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';

const PASSWORD = 'correct horse';
const NEW_PASSWORD = 'another horse';
const DENIED = { code: 'cascade.authorization.denied', status: 403 };
const ADMIN = ['admin', 'user__system'];
const USER = ['user', 'user__system'];

let t: TestEngine;
const mark = randomBytes(4).toString('hex');
const SYSTEM: Identity = { username: `system${mark}`, namespace: `Rulers_${mark}`, profiles: ['admin', 'admin__system'], system: true };
const FIRST: Identity = { username: `first${mark}`, namespace: `Makers_${mark}`, profiles: ADMIN, installationAdmin: true };
/** Names of two namespaces, created for each test. */
let north: string;
let south: string;
let [northAdmin, southAdmin, bob]: Identity[] = [];
let count = 0;

beforeAll(async () => {
  t = await openTestEngine();
  await t.engine.identity.ensureFirstStart({}); // creates its indexes
});
afterAll(() => t[Symbol.asyncDispose]());
beforeEach(async () => {
  count++;
  north = `North_${mark}_${count}`;
  south = `South_${mark}_${count}`;
  for (const namespace of [north, south])
    await as(FIRST, 'insert', 'namespaces', { body: { namespace, username: `boss.${namespace}`, password: PASSWORD } });
  [northAdmin, southAdmin] = await Promise.all([login(`boss.${north}`), login(`boss.${south}`)]);
  const body = { username: `bob.${south}`, password: PASSWORD, email: 'bob@example.com', firstName: 'Bob' };
  await as(southAdmin, 'insert', 'users', { body });
  bob = await login(`bob.${south}`);
});

interface Asked {
  id?: string;
  body?: object;
  parameters?: Record<string, unknown>;
}

async function as(identity: Identity, op: string, resourceName: string, { id, body, parameters = {} }: Asked = {}): Promise<ApiReply> {
  return t.engine.execute({
    identity,
    op,
    resourceName,
    custom: false,
    ...(id !== undefined && { resourceId: id }),
    ...(body && { object: parseJson(JSON.stringify(body)) }),
    parameters: parseJson(JSON.stringify(parameters)) as Record<string, never>,
    address: '10.0.0.1',
  });
}

async function login(username: string, password = PASSWORD, target?: string): Promise<Identity> {
  return (await t.engine.identity.login(username, password, '10.0.0.1', target)).identity;
}

const json = async (reply: Promise<ApiReply>): Promise<unknown> => JSON.parse((await reply).body ?? 'null');
const command = (caller: Identity, namespace: string, op: string, data: object) =>
  as(caller, op, 'namespaces', { id: namespace, body: data });
const draft = (username: string, profiles = USER) => command(northAdmin!, north, 'authorizeUser', { username, profiles });
const seenBy = async (caller: Identity, username: string) =>
  ((await json(as(caller, 'select', 'users'))) as { username: string }[]).find((one) => one.username === username);

test('an admin cannot take over a user of another namespace by inviting it', async () => {
  const { username } = bob!;
  for (const enter of [() => Promise.resolve(bob), () => login(username, PASSWORD, north)]) {
    await draft(username);
    await enter();
    for (const body of [
      { password: NEW_PASSWORD },
      { active: false },
      { active: true },
      { email: 'eve@example.com' },
      { preferredUsername: null },
      { profiles: ADMIN, password: NEW_PASSWORD },
    ])
      await expect(as(northAdmin!, 'update', 'users', { id: username, body })).rejects.toMatchObject(DENIED);
    const patch = as(northAdmin!, 'patch', 'users', { id: username, body: [{ op: 'add', path: '/email', value: 'eve@example.com' }] });
    await expect(patch).rejects.toMatchObject(DENIED);
    await expect(as(northAdmin!, 'delete', 'users', { id: username })).rejects.toMatchObject(DENIED);
  }
  expect(await seenBy(southAdmin!, username)).toMatchObject({ email: 'bob@example.com', active: true, profiles: USER });
  await login(username);
});

test('an admin sees only the name and the local profiles of a user of another namespace, and may change the profiles', async () => {
  const { username } = bob!;
  const details = { username, preferredUsername: 'Bobby', password: undefined };
  await as(southAdmin!, 'update', 'users', { id: username, body: { preferredUsername: 'Bobby' } });
  await draft(username);
  await login(username, PASSWORD, north);
  const seen = { _id: expect.any(String) as string, username, profiles: USER, ars_namespace: north };
  expect(await seenBy(northAdmin!, username)).toEqual(seen);
  await as(northAdmin!, 'update', 'users', { id: username, body: { profiles: ADMIN } });
  expect(await seenBy(northAdmin!, username)).toEqual({ ...seen, profiles: ADMIN });
  expect(await json(as(northAdmin!, 'getAuthorizedUsers', 'namespaces', { id: north }))).toContainEqual({
    username,
    preferredUsername: username,
    profiles: ADMIN,
    home: false,
  });
  expect(await seenBy(southAdmin!, username)).toMatchObject({ profiles: USER, preferredUsername: details.preferredUsername });
});

test('an invited user of another namespace belongs to the namespace only after it has entered', async () => {
  const { username } = bob!;
  await draft(username, ADMIN);
  const users = await json(as(northAdmin!, 'getAuthorizedUsers', 'namespaces', { id: north }));
  expect(users).toContainEqual({ username, preferredUsername: username, profiles: ADMIN, home: false });
  // The invited user is no admin yet: the last admin cannot be demoted.
  const demotion = as(northAdmin!, 'update', 'users', { id: northAdmin!.username, body: { profiles: USER } });
  await expect(demotion).rejects.toMatchObject({ code: 'cascade.namespace.last.admin' });
  const there = await login(username, PASSWORD, north);
  expect(there).toMatchObject({ namespace: north, profiles: ADMIN });
  await as(northAdmin!, 'update', 'users', { id: northAdmin!.username, body: { profiles: USER } });
  await expect(draft(username)).rejects.toBeDefined();
});

test('the first admin of the installation is invited like anybody, and has its further rights at home only; the system admin invites itself', async () => {
  const { username } = bob!;
  await t.engine.identity
    .createUser({ username: SYSTEM.username, password: PASSWORD, namespace: SYSTEM.namespace, createdBy: 'test' })
    .catch(() => undefined);
  await promote(SYSTEM.username, { system: true });
  await promote(username, { installationAdmin: true });
  await expect(draft(SYSTEM.username)).rejects.toMatchObject(DENIED);
  await draft(username, ADMIN);
  const [here, there] = [await login(username), await login(username, PASSWORD, north)];
  expect([here, there]).toMatchObject([{ installationAdmin: true }, { namespace: north, profiles: ADMIN }]);
  // A program of that namespace that it calls has no more rights than an admin there.
  const founding = (n: number) => ({ body: { namespace: `${north}_f${n}`, organization: { name: `${north}_o${n}` } } });
  await expect(as(there, 'insert', 'namespaces', founding(1))).rejects.toMatchObject(DENIED);
  expect(await t.engine.identity.rightsOf(username, north)).not.toHaveProperty('installationAdmin');
  await as(here, 'insert', 'namespaces', founding(2));
  const taken = as(FIRST, 'insert', 'namespaces', { body: { namespace: `${north}_b`, username: SYSTEM.username } });
  await expect(taken).rejects.toMatchObject(DENIED);
  // An admin of the user's own namespace has no more rights than the user.
  for (const body of [{ password: NEW_PASSWORD }, { active: false }, { profiles: ADMIN }])
    await expect(as(southAdmin!, 'update', 'users', { id: username, body })).rejects.toMatchObject(DENIED);
  await expect(as(southAdmin!, 'delete', 'users', { id: username })).rejects.toMatchObject(DENIED);
  await command(SYSTEM, north, 'authorizeUser', { username: SYSTEM.username, profiles: ADMIN });
  expect(await login(SYSTEM.username, PASSWORD, north)).toMatchObject({ namespace: north, profiles: ADMIN });
});

test('the system admin administers all users of the installation, each in its own namespace', async () => {
  const { username } = bob!;
  const inSystem = { ...SYSTEM, namespace: 'system' };
  // Other tests' engines audit changes of users without a namespace there, and hold the namespace until they have ended.
  const free = { timeout: 30_000, interval: 100 };
  const seen = await vi.waitFor(() => seenBy(inSystem, username), free);
  expect(seen).toMatchObject({ email: 'bob@example.com', ars_namespace: south });
  await as(inSystem, 'update', 'users', { id: username, body: { password: NEW_PASSWORD, profiles: ADMIN } });
  expect(await login(username, NEW_PASSWORD)).toMatchObject({ namespace: south, profiles: ADMIN });
  const last = as(inSystem, 'update', 'users', { id: northAdmin!.username, body: { active: false } });
  await expect(last).rejects.toMatchObject({ code: 'cascade.namespace.last.admin' });
});

test('an admin cannot set the password of a user with more rights', async () => {
  const { username } = bob!;
  await command(SYSTEM, south, 'authorizeUser', { username, profiles: ['admin', 'admin__system'] });
  await expect(as(southAdmin!, 'update', 'users', { id: username, body: { password: NEW_PASSWORD } })).rejects.toMatchObject(DENIED);
});

test('a user changes its password by giving the old one, and keeps that session', async () => {
  const { username } = bob!;
  const change = (oldPassword?: string) => as(bob!, 'update', 'users', { id: username, body: { password: NEW_PASSWORD, oldPassword } });
  await expect(change()).rejects.toMatchObject({ code: 'cascade.user.password.mismatch' });
  await expect(change('wrong')).rejects.toMatchObject({ code: 'cascade.user.password.mismatch' });
  await change(PASSWORD);
  await login(username, NEW_PASSWORD);
  const both = { email: 'new@example.com', password: 'short', oldPassword: NEW_PASSWORD };
  await expect(as(bob!, 'update', 'users', { id: username, body: both })).rejects.toMatchObject({ code: 'cascade.user.password.weak' });
  expect(await seenBy(bob!, username)).toMatchObject({ email: 'bob@example.com' }); // a change applies as a whole or not at all
});

test('an invitation is redeemed once, by a user who is not limited to a namespace', async () => {
  const made = (data: object) =>
    json(command(northAdmin!, north, 'delegateUserAuthZ', data)) as Promise<{ code: string; expiresAt: string }>;
  const { code, expiresAt } = await made({ profiles: USER });
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / 3_600_000)).toBe(48);
  const redeem = (caller: Identity, id = code) => as(caller, 'redeem', 'delegatedrequests', { id });
  await expect(redeem({ ...bob!, restricted: true })).rejects.toMatchObject(DENIED);
  expect(await json(redeem(bob!))).toEqual({ namespace: north, profiles: USER });
  expect(await login(bob!.username, PASSWORD, north)).toMatchObject({ namespace: north, profiles: USER });
  for (const id of [code, 'csi_unknown_unknown_unknown'])
    await expect(redeem(bob!, id)).rejects.toMatchObject({ code: 'cascade.resource.not.found', status: 404 });
  await expect(as(bob!, 'select', 'delegatedrequests')).rejects.toMatchObject({ code: 'cascade.method.not.allowed' });
  for (const data of [{ timeout: 0 }, { expiresAt: 'soon' }, { expiresAt: 5 }, { expiresAt, timeout: 5 }, { requireExisting: 1 }])
    await expect(made(data)).rejects.toMatchObject({ code: 'cascade.resource.property.invalid' });
  await expect(made({ profiles: ['admin', 'admin__system'] })).rejects.toMatchObject({ code: 'cascade.profile.escalation' });
  await expect(command(bob!, south, 'delegateUserAuthZ', {})).rejects.toMatchObject(DENIED);
});

test('a namespace whose creation was refused can be created after a correction', async () => {
  const namespace = `${north}_c`;
  const make = (more: object) => as(FIRST, 'insert', 'namespaces', { body: { namespace, ...more } });
  const refusals: [object, string][] = [
    [{ username: `c.${north}`, password: 'short' }, 'cascade.user.password.weak'],
    [{ username: 'a b', password: PASSWORD }, 'cascade.user.name.invalid'],
    [{ organization: 'acme' }, 'cascade.resource.property.invalid'],
    [{ organization: { description: 'x' } }, 'cascade.resource.property.required'],
    [{ organization: { name: 'a-b' } }, 'cascade.resource.name.invalid'],
    [{ organization: { name: 'acme', quota: {} } }, 'cascade.resource.property.unknown'],
  ];
  for (const [more, code] of refusals) await expect(make(more)).rejects.toMatchObject({ code });
  const organization = { name: `acme_${mark}`, description: 'Acme' };
  expect(await json(make({ organization }))).toMatchObject({ namespace, organizationRef: `/organizations/${organization.name}` });
  const again = as(FIRST, 'insert', 'namespaces', { body: { namespace: `${north}_d`, organization } });
  await expect(again).rejects.toMatchObject({ code: 'cascade.resource.duplicate.key' });
  const otherCase = as(FIRST, 'insert', 'namespaces', { body: { namespace: namespace.toUpperCase() } });
  await expect(otherCase).rejects.toMatchObject({ code: 'cascade.resource.duplicate.key', status: 409 });
});

test('a change whose audit cannot be stored fails as a whole', async () => {
  await as(southAdmin!, 'insert', 'tokens', { body: { name: 'kept' } });
  await withAuditsRefused(south, async () => {
    const body = { username: `new.${south}`, password: PASSWORD };
    for (const change of [
      () => as(southAdmin!, 'insert', 'users', { body }),
      () => as(southAdmin!, 'update', 'users', { id: bob!.username, body: { firstName: 'Robert' } }),
      () => as(southAdmin!, 'delete', 'users', { id: bob!.username }),
      () => as(southAdmin!, 'insert', 'tokens', { body: { name: 'new' } }),
      () => as(southAdmin!, 'update', 'tokens', { id: 'kept', body: { name: 'other' } }),
      () => as(southAdmin!, 'delete', 'tokens', { id: 'kept' }),
      () => as(southAdmin!, 'update', 'namespaces', { id: south, body: { ars_properties: { a: 1 } } }),
      () => command(southAdmin!, south, 'authorizeUser', { username: bob!.username, profiles: ADMIN }),
      () => command(southAdmin!, south, 'delegateUserAuthZ', {}),
    ])
      await expect(change()).rejects.toThrow('Document failed validation');
  });
  expect(await seenBy(southAdmin!, `new.${south}`)).toBeUndefined();
  expect(await seenBy(southAdmin!, bob!.username)).toMatchObject({ firstName: 'Bob', profiles: USER, ars_version: 1 });
  expect(await json(as(southAdmin!, 'select', 'tokens'))).toMatchObject([{ name: 'kept' }]);
  expect(await json(as(southAdmin!, 'select', 'namespaces'))).toMatchObject([{ namespace: south, ars_version: 1 }]);
});

test('the deletion of a namespace is audited in the installation, in the same transaction', async () => {
  await as(southAdmin!, 'delete', 'namespaces', { id: south });
  await withMongo(async (client) => {
    const entity = { resource: 'namespaces', resourceId: south };
    const kept = client.db('cascade_ns_system').collection('t.ArsAudit');
    expect(await kept.find({ 'entity.resourceId': south }).toArray()).toMatchObject([
      { entity, op: 'delete', username: southAdmin!.username, ars_namespace: 'system' },
    ]);
  });
});

test('a version conflict is refused for tokens and namespaces, too', async () => {
  await as(southAdmin!, 'insert', 'tokens', { body: { name: 'first' } });
  const conflict = { code: 'cascade.update.authorization.or.version.conflict', status: 409 };
  for (const ars_version of [0, 2]) {
    const renaming = as(southAdmin!, 'update', 'tokens', { id: 'first', body: { name: 'second', ars_version } });
    await expect(renaming).rejects.toMatchObject(conflict);
    const tagging = as(southAdmin!, 'update', 'namespaces', { id: south, body: { ars_properties: {}, ars_version } });
    await expect(tagging).rejects.toMatchObject(conflict);
  }
});

/** Makes the store refuse audits in a namespace during `work`. */
async function withAuditsRefused(namespace: string, work: () => Promise<void>): Promise<void> {
  await withMongo(async (client) => {
    const refuse = (validator: object) => client.db(`cascade_ns_${namespace}`).command({ collMod: 't.ArsAudit', validator });
    await refuse({ nothing: { $exists: true } });
    await work().finally(() => refuse({}));
  });
}

async function withMongo(work: (client: MongoClient) => Promise<void>): Promise<void> {
  const client = await MongoClient.connect(process.env['CASCADE_TEST_MONGO'] as string);
  await work(client).finally(() => client.close());
}

/** Grants rights that only the first start grants. */
async function promote(username: string, rights: object): Promise<void> {
  await withMongo(async (client) => void (await client.db('cascade').collection('users').updateOne({ username }, { $set: rights })));
}

test('users, tokens, namespaces and organizations have ars_properties; who may not see a user does not see them', async () => {
  const tags = { team: 'a', $n: [1, { deep: null }] };
  const set = async (caller: Identity, resource: string, id: string): Promise<void> => {
    expect(await json(as(caller, 'update', resource, { id, body: { ars_properties: tags } }))).toMatchObject({ ars_properties: tags });
    const where = { 'ars_properties.team': 'a' };
    expect(await json(as(caller, 'select', resource, { parameters: { where } }))).toMatchObject([{ ars_properties: tags }]);
    await expect(as(caller, 'update', resource, { id, body: { ars_properties: [1] } })).rejects.toMatchObject({
      code: 'cascade.resource.property.invalid',
    });
    const long = { text: 'x'.repeat(65_536) };
    await expect(as(caller, 'update', resource, { id, body: { ars_properties: long } })).rejects.toMatchObject({
      code: 'cascade.resource.too.large',
    });
    expect(await json(as(caller, 'update', resource, { id, body: { ars_properties: null } }))).not.toHaveProperty('ars_properties');
  };
  await set(southAdmin!, 'users', bob!.username);
  await set(bob!, 'users', bob!.username);
  await set(southAdmin!, 'namespaces', south);
  const name = `org_tags_${mark}`;
  await as(FIRST, 'insert', 'namespaces', {
    body: { namespace: `Org_${mark}`, organization: { name }, username: `org.${mark}`, password: PASSWORD },
  });
  await set(SYSTEM, 'organizations', name);
  await expect(as(await login(`org.${mark}`), 'update', 'organizations', { id: name, body: { ars_properties: {} } })).rejects.toMatchObject(
    DENIED,
  );

  const made = { username: `ted.${south}`.toLowerCase(), password: PASSWORD, ars_properties: tags };
  expect(await json(as(southAdmin!, 'insert', 'users', { body: made }))).toMatchObject({ ars_properties: tags });
  await draft(made.username);
  await login(made.username, PASSWORD, north);
  expect(await seenBy(northAdmin!, made.username)).not.toHaveProperty('ars_properties');
  await expect(as(northAdmin!, 'update', 'users', { id: made.username, body: { ars_properties: {} } })).rejects.toMatchObject(DENIED);
  const token = (await json(as(southAdmin!, 'insert', 'tokens', { body: { name: 'tagged', ars_properties: tags } }))) as object;
  expect(token).toMatchObject({ ars_properties: tags });
  expect(await json(as(southAdmin!, 'update', 'tokens', { id: 'tagged', body: { name: 'told', ars_properties: tags } }))).toMatchObject({
    name: 'told',
  });
  await expect(as(southAdmin!, 'update', 'tokens', { id: 'told', body: { ars_properties: {} } })).rejects.toMatchObject({
    code: 'cascade.resource.key.immutable',
  });
});

// spec: resources-and-api.md 4.9
test('of admins who take each other away at the same time one is left, whatever the way', async () => {
  const names = [0, 1, 2].map((n) => `chief${n}.${north}`.toLowerCase());
  for (const username of names) await as(northAdmin!, 'insert', 'users', { body: { username, password: PASSWORD, profiles: ADMIN } });
  const chiefs = await Promise.all(names.map((username) => login(username)));
  await as(chiefs[0]!, 'update', 'users', { id: `boss.${north}`, body: { profiles: USER } });
  const done = await Promise.allSettled([
    as(chiefs[0]!, 'delete', 'users', { id: names[1]! }),
    as(chiefs[1]!, 'update', 'users', { id: names[2]!, body: { active: false } }),
    as(chiefs[2]!, 'authorizeUser', 'namespaces', { id: north, body: { username: names[0], profiles: USER } }),
  ]);
  expect(done.some(({ status }) => status === 'rejected')).toBe(true);
  await withMongo(async (client) => {
    const admins = { namespace: north, profiles: 'admin', active: true };
    expect(await client.db('cascade').collection('users').countDocuments(admins)).toBeGreaterThan(0);
  });
});

// spec: resources-and-api.md 4.9 4.11
test('the system admin gives custom profiles of other namespaces, and sends back a user who has one', async () => {
  const system = { ...SYSTEM, namespace: 'system' };
  await vi.waitFor(() => seenBy(system, bob!.username), { timeout: 30_000, interval: 100 }); // another test's engine may have it
  await as(southAdmin!, 'insert', 'profiles', { body: { name: 'clerk', dml: {} } });
  const { username } = bob!;
  const clerk = ['clerk', 'user__system'];
  await as(system, 'authorizeUser', 'namespaces', { id: south, body: { username, profiles: clerk } });
  expect(await seenBy(southAdmin!, username)).toMatchObject({ profiles: clerk });
  await as(system, 'update', 'users', { id: username, body: { profiles: clerk, firstName: 'Rob' } });
  await as(system, 'update', 'users', { id: username, body: { profiles: USER } });
  await as(system, 'update', 'users', { id: username, body: { profiles: clerk } });
  expect(await seenBy(southAdmin!, username)).toMatchObject({ profiles: clerk, firstName: 'Rob' });
  const none = as(system, 'authorizeUser', 'namespaces', { id: north, body: { username, profiles: clerk } });
  await expect(none).rejects.toMatchObject({ code: 'cascade.user.profiles.invalid' });
});

test('a token is known by its name, the own one or the only one, then by its text and its _id', async () => {
  const [eve, joe] = await Promise.all(
    ['eve', 'joe'].map(async (name) => {
      await as(southAdmin!, 'insert', 'users', { body: { username: `${name}.${south}`, password: PASSWORD, profiles: ADMIN } });
      return login(`${name}.${south}`);
    }),
  );
  const make = async (by: Identity, name: string) =>
    (await json(as(by, 'insert', 'tokens', { body: { name } }))) as { _id: string; accessToken: string };
  const names = async () =>
    ((await json(as(joe!, 'select', 'tokens'))) as { name: string; username: string }[]).map(
      ({ name, username }) => `${name} of ${username.split('.')[0]}`,
    );
  const first = await make(southAdmin!, 'edge');
  const second = await make(eve!, 'spare');
  await make(eve!, 'edge');
  await expect(as(joe!, 'delete', 'tokens', { id: 'edge' })).rejects.toMatchObject({ code: 'cascade.resource.ambiguous', status: 409 });
  await as(eve!, 'delete', 'tokens', { id: 'edge' });
  expect(await names()).toEqual(['edge of boss', 'spare of eve']);
  await as(joe!, 'delete', 'tokens', { id: 'edge' });
  expect(await names()).toEqual(['spare of eve']);
  await as(joe!, 'delete', 'tokens', { id: second.accessToken });
  expect(await names()).toEqual([]);
  const third = await make(southAdmin!, 'edge');
  await as(eve!, 'delete', 'tokens', { id: third._id });
  expect([await names(), first._id === third._id]).toEqual([[], false]);
});
