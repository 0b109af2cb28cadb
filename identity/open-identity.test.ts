// spec: resources-and-api.md 6.1 6.3 6.4 6.6 6.8
// resources-and-api.md 6 on a real database.
import { randomUUID } from 'node:crypto';
import { type Db, type Document, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { apiError } from '../model/errors/index.ts';
import { openIdentity } from './open-identity.ts';
import type { IdentityStore } from './types.ts';

const HOUR = 60 * 60 * 1000;
const HERE = '10.0.0.1';
/** Cheap: a first start hashes two passwords. */
const passwordCost = { N: 2 ** 10, r: 8, p: 1 };

let client: MongoClient;
let db: Db;
let now = Date.now();
let store: IdentityStore;
let installed: Document[][];
const databases: Db[] = [];

beforeAll(async () => {
  client = await MongoClient.connect(process.env.CASCADE_TEST_MONGO!);
  ({ db } = await fresh().installed());
  installed = await Promise.all(['users', 'namespaces', 'organizations'].map((name) => db.collection(name).find().toArray()));
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.dropDatabase()));
  await client.close();
});
beforeEach(async () => {
  // Ahead of the machine's clock: the database removes what has expired by its own.
  now = Date.now() + 1000 * HOUR;
  store = openIdentity(db, () => now, { passwordCost });
  await Promise.all(['users', 'namespaces', 'tokens'].map((name) => db.collection(name).deleteMany({})));
  await Promise.all([db.collection('users').insertMany(installed[0]!), db.collection('namespaces').insertMany(installed[1]!)]);
});

/** A database where nothing has been installed yet. */
function fresh() {
  const db = client.db(`identity_${randomUUID().slice(0, 8)}`);
  databases.push(db);
  const store = openIdentity(db, () => now, { passwordCost });
  const installed = async () => {
    await store.ensureFirstStart({ adminPassword: 'admin pass:word', systemPassword: 'system password' });
    return { db, store };
  };
  return { db, store, installed };
}

const CONFLICT = 'cascade.update.authorization.or.version.conflict';
const refusal = (code: string) => expect.objectContaining({ code });
const FAILED = 'io.service.security.authentication.failed';
const login = (username = 'admin', password = 'admin pass:word', target?: string) => store.login(username, password, HERE, target);

async function withAnn(): Promise<void> {
  await store.createUser({ username: 'Ann@plant.example', password: 'correct horse', namespace: 'main', createdBy: 'admin' });
}

test('the first start makes the two namespaces, the organization and their admins', async () => {
  expect((await db.collection('namespaces').find().toArray()).map(({ namespace, organization }) => [namespace, organization])).toEqual([
    ['system', null],
    ['main', 'main'],
  ]);
  expect(await db.collection('organizations').findOne()).toMatchObject({ name: 'main', namespace: 'main' });
  expect((await login()).identity).toEqual({
    token: expect.any(String),
    username: 'admin',
    namespace: 'main',
    profiles: ['admin', 'user__system'],
    installationAdmin: true,
  });
  expect((await login('system', 'system password')).identity).toEqual({
    token: expect.any(String),
    username: 'system',
    namespace: 'system',
    profiles: ['admin', 'admin__system'],
    system: true,
  });
});

test('absent passwords are generated and told once', async () => {
  const { db, store } = fresh();
  const { generated } = await store.ensureFirstStart({ adminUsername: 'Boss' });
  expect(generated.map(({ username }) => username)).toEqual(['system', 'boss']);
  for (const { username, password } of generated) await store.login(username, password, HERE);
  expect(JSON.stringify(await db.collection('users').find().toArray())).not.toContain(generated[1]!.password);
});

test('later starts ignore what they are given', async () => {
  expect(await store.ensureFirstStart({ adminUsername: 'other', adminPassword: 'another password' })).toEqual({
    isFirst: false,
    generated: [],
  });
  await expect(login('other', 'another password')).rejects.toEqual(refusal(FAILED));
  await login();
});

test('a first start with names or passwords that are none writes nothing', async () => {
  const { db, store } = fresh();
  await expect(store.ensureFirstStart({ adminPassword: 'short' })).rejects.toEqual(refusal('cascade.user.password.weak'));
  await expect(store.ensureFirstStart({ adminUsername: '-' })).rejects.toEqual(refusal('cascade.user.name.invalid'));
  await expect(store.ensureFirstStart({ adminUsername: 'SYSTEM' })).rejects.toEqual(refusal('cascade.user.name.invalid'));
  expect(await db.collection('users').countDocuments()).toBe(0);
  expect((await store.ensureFirstStart({})).generated).toHaveLength(2);
});

test('of several processes that start at once one does the work', async () => {
  const { db } = fresh();
  const results = await Promise.all([1, 2, 3].map(() => openIdentity(db).ensureFirstStart({})));
  expect(results.map(({ generated }) => generated.length).sort()).toEqual([0, 0, 2]);
  expect(await db.collection('users').countDocuments()).toBe(2);
});

test('a first start that died half-way is taken over', async () => {
  const { db, store } = fresh();
  await db
    .collection<{ _id: string }>('installation')
    .insertOne({ _id: 'firstStart', state: 'running', startedAt: new Date(now - 60_000) } as never);
  await db.collection('users').insertOne({ username: 'admin', installationAdmin: true, password: 'nobody knows' });
  await db.collection('namespaces').insertOne({ namespace: 'system' });
  const { generated } = await store.ensureFirstStart({});
  expect(generated).toHaveLength(2);
  await store.login('admin', generated[1]!.password, HERE);
});

test('a login gives a token of 24 hours that stands for its user', async () => {
  const { token, expiresAt, identity } = await login();
  expect(token).toMatch(/^css_[A-Za-z0-9_-]{43}$/);
  expect(expiresAt.getTime()).toBe(now + 24 * HOUR);
  expect(await store.verify(token)).toEqual(identity);
  expect((await db.collection('users').findOne({ username: 'admin' }))!.lastLogin).toEqual(new Date(now));
});

test('the database holds neither tokens nor passwords', async () => {
  const { token } = await login();
  for (const name of ['users', 'tokens']) {
    const text = JSON.stringify(await db.collection(name).find().toArray());
    expect(text).not.toContain(token.slice(4));
    expect(text).not.toContain('admin pass:word');
  }
});

test('usernames are the same in any case', async () => {
  await withAnn();
  expect((await login('ANN@Plant.Example', 'correct horse')).identity.username).toBe('ann@plant.example');
  await expect(
    store.createUser({ username: 'ann@PLANT.example', password: 'correct horse', namespace: 'system', createdBy: 'x' }),
  ).rejects.toEqual(refusal('cascade.resource.duplicate.key'));
});

test('a new user has the default profiles', async () => {
  await withAnn();
  expect((await login('ann@plant.example', 'correct horse')).identity).toEqual({
    token: expect.any(String),
    username: 'ann@plant.example',
    namespace: 'main',
    profiles: ['user', 'user__system'],
  });
});

test.each(['', '-ann', 'ann.', 'a b', 'ann/x', 'a'.repeat(129), 'änn'])('a name that is none is refused: %s', async (username) => {
  await expect(store.createUser({ username, password: 'correct horse', namespace: 'main', createdBy: 'admin' })).rejects.toEqual(
    refusal('cascade.user.name.invalid'),
  );
});

test('wrong user, wrong password and inactive user fail alike', async () => {
  await withAnn();
  await store.changeUser('ann@plant.example', { active: false });
  const attempts = [
    ['nobody', 'correct horse'],
    ['admin', 'wrong'],
    ['ann@plant.example', 'correct horse'],
    ['', ''],
  ] as const;
  for (const [username, password] of attempts) await expect(login(username, password)).rejects.toEqual(refusal(FAILED));
});

test('a token is refused from the moment it expires', async () => {
  const { token } = await login();
  now += 24 * HOUR - 1;
  expect(await store.verify(token)).not.toBeNull();
  now += 1;
  expect(await store.verify(token)).toBeNull();
  await expect(store.loginWithToken(token)).rejects.toEqual(refusal(FAILED));
  await expect(store.refresh(token)).rejects.toEqual(refusal('cascade.security.token.invalid'));
});

test.each(['', 'css_', 'x'.repeat(201), `css_${'a'.repeat(43)}`, 'css_$where'])('what is no token stands for nobody: %s', async (token) => {
  expect(await store.verify(token)).toBeNull();
});

test('a session for another namespace from a session never outlives it', async () => {
  await store.authorizeUser('admin', 'system', ['user'], { isConsented: true });
  const { token } = await login();
  now += HOUR;
  const second = await store.loginWithToken(token, 'system');
  expect(second.expiresAt.getTime()).toBe(now + 23 * HOUR);
  expect(second.token).not.toBe(token);
});

test('a socket that is opened with a session token in its own namespace makes no further session, and needs no room for one', async () => {
  const first = await login();
  now += HOUR;
  const requireSessionRoom = () => Promise.reject(apiError('cascade.quota.exceeded', 'sessions', 1));
  const full = openIdentity(db, () => now, { passwordCost, requireSessionRoom });
  for (const target of [undefined, 'main', undefined]) {
    const { token, expiresAt, identity, preferredUsername } = await full.loginWithToken(first.token, target, null, 'same');
    expect([token, expiresAt, preferredUsername]).toEqual([first.token, first.expiresAt, first.preferredUsername]);
    expect(identity).toEqual(await store.verify(first.token));
  }
  expect(await db.collection('tokens').countDocuments()).toBe(1);
  await store.revoke(first.token);
  await expect(store.loginWithToken(first.token, undefined, null, 'same')).rejects.toEqual(refusal(FAILED));
});

test('so many sessions are made one from the other, and then a password is needed again', async () => {
  await store.authorizeUser('admin', 'system', ['user'], { isConsented: true });
  const { token } = await login();
  const ancestors = Array.from({ length: 999 }, () => new ObjectId());
  await db.collection('tokens').updateOne({}, { $set: { ancestors } });
  const last = await store.loginWithToken(token, 'system');
  expect(await db.collection('tokens').countDocuments({ ancestors: { $size: 1_000 } })).toBe(1);
  await expect(store.loginWithToken(last.token, 'main')).rejects.toEqual(refusal(FAILED));
  await expect(store.refresh(last.token)).rejects.toEqual(refusal('cascade.security.token.invalid'));
  expect(await db.collection('tokens').countDocuments()).toBe(2);
});

test('renewal gives a day more and leaves the old token as it was', async () => {
  const { token, expiresAt } = await login();
  now += HOUR;
  const renewed = await store.refresh(token);
  expect(renewed.expiresAt.getTime()).toBe(now + 24 * HOUR);
  now = expiresAt.getTime() - 1;
  expect(await store.verify(token)).not.toBeNull();
  now += 1;
  expect(await store.verify(token)).toBeNull();
  expect(await store.verify(renewed.token)).not.toBeNull();
});

test('a session that was ended is refused at once, and so is all that was made from it, but not what it was made from', async () => {
  const first = await login();
  const second = await store.refresh(first.token);
  await store.authorizeUser('admin', 'system', ['user'], { isConsented: true });
  const third = await store.loginWithToken(second.token, 'system');
  expect(third.token).not.toBe(second.token);
  const fourth = await store.refresh(third.token);
  await store.revoke(second.token);
  expect(await store.verify(first.token)).not.toBeNull();
  for (const { token } of [second, third, fourth]) expect(await store.verify(token)).toBeNull();
  await store.revoke('css_unknown');
});

test('a session that is ended while another is made from it ends that, too', async () => {
  const { token } = await login();
  const [renewal] = await Promise.allSettled([store.refresh(token), store.revoke(token)]);
  const made = renewal.status === 'fulfilled' ? renewal.value.token : token;
  expect(await store.verify(made)).toBeNull();
});

test('a login is renewed for thirty days, then a password is needed again', async () => {
  const begun = now;
  let { token } = await login();
  for (let day = 1; day < 30; day++) {
    now = begun + day * 24 * HOUR - day;
    ({ token } = await store.refresh(token));
  }
  now += HOUR;
  expect((await store.refresh(token)).expiresAt.getTime()).toBe(begun + 30 * 24 * HOUR);
  now = begun + 30 * 24 * HOUR;
  await expect(store.refresh(token)).rejects.toEqual(refusal('cascade.security.token.invalid'));
});

test('what is no token ends nothing, and takes nothing that is remembered away', async () => {
  const { token } = await login();
  await store.verify(token);
  for (const text of ['', 'x', 'css_$where', `css_${'a'.repeat(43)}`]) await store.revoke(text);
  expect(store.verify(token)).not.toBeInstanceOf(Promise);
});

test('another process refuses an ended session soon', async () => {
  const other = openIdentity(db, () => now, { passwordCost });
  const { token } = await login();
  expect(await other.verify(token)).not.toBeNull();
  await store.revoke(token);
  await expect.poll(() => other.verify(token)).toBeNull();
});

test('a new password ends the sessions, also of logins that were under way', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  const before = await login(ann, 'correct horse');
  const [underWay] = await Promise.allSettled([login(ann, 'correct horse'), store.changeUser(ann, { password: 'another horse' })]);
  expect(await store.verify(before.token)).toBeNull();
  if (underWay.status === 'fulfilled') expect(await store.verify(underWay.value.token)).toBeNull();
  await expect(login(ann, 'correct horse')).rejects.toEqual(refusal(FAILED));
  expect(await store.verify((await login(ann, 'another horse')).token)).not.toBeNull();
  await expect(store.changeUser('nobody', { password: 'another horse' })).rejects.toEqual(refusal('cascade.user.not.found'));
});

test('an inactive or deleted user is refused at once', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  const { token } = await login(ann, 'correct horse');
  await store.changeUser(ann, { active: false });
  expect(await store.verify(token)).toBeNull();
  await store.changeUser(ann, { active: true });
  expect(await store.verify(token)).not.toBeNull();
  await expect(store.deleteUser(ann, { version: 1n })).rejects.toMatchObject({ code: CONFLICT, status: 409 });
  expect(await store.verify(token)).not.toBeNull();
  await store.deleteUser(ann, { version: 3n });
  expect(await store.verify(token)).toBeNull();
  await withAnn();
  expect(await store.verify(token)).toBeNull();
});

test('ten wrong passwords lock the pair, even for the right one, until the window is empty', async () => {
  for (let i = 0; i < 10; i++) await expect(login('admin', 'wrong')).rejects.toEqual(refusal(FAILED));
  await expect(login()).rejects.toEqual(refusal('cascade.security.rate.limited'));
  await store.login('admin', 'admin pass:word', '10.0.0.2');
  now += 5 * 60_000 + 1;
  await login();
});

test('guesses sent at once are worth no more than one by one', async () => {
  // None of them is right: that would begin the count anew, whenever its turn came.
  const guesses = await Promise.allSettled(Array.from({ length: 24 }, () => login('admin', 'wrong')));
  const codes = guesses.map((guess) => (guess.status === 'rejected' ? (guess.reason as { code: string }).code : 'in'));
  expect(codes.filter((code) => code === FAILED)).toHaveLength(10);
  expect(codes.filter((code) => code === 'cascade.security.rate.limited')).toHaveLength(14);
  await expect(login()).rejects.toEqual(refusal('cascade.security.rate.limited'));
});

test('a token is never locked out, and refused ones do not count', async () => {
  const { token } = await login();
  for (let i = 0; i < 10; i++) await expect(login('admin', 'wrong')).rejects.toEqual(refusal(FAILED));
  expect((await store.loginWithToken(token)).identity.username).toBe('admin');
  for (let i = 0; i < 20; i++) await expect(store.loginWithToken(`css_${'a'.repeat(43)}`)).rejects.toEqual(refusal(FAILED));
  await store.login('system', 'system password', HERE);
});

test('another namespace is entered by those who are authorized there', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  await store.createNamespace({ namespace: 'plant', createdBy: 'admin' });
  const here = await login(ann, 'correct horse');
  await expect(login(ann, 'correct horse', 'plant')).rejects.toEqual(refusal('cascade.namespace.not.authorized'));
  await expect(store.verify(here.token, 'plant')).rejects.toEqual(refusal('cascade.namespace.not.authorized'));
  await expect(store.verify(here.token, 'nowhere')).rejects.toEqual(refusal('cascade.namespace.not.authorized'));
  await store.authorizeUser(ann, 'plant', ['admin', 'user__system']);
  await store.authorizeUser(ann, 'other', ['user', 'user__system']);
  const there = await login(ann, 'correct horse', 'plant');
  expect(there.identity).toEqual({ token: expect.any(String), username: ann, namespace: 'plant', profiles: ['admin', 'user__system'] });
  expect(await store.verify(here.token, 'plant')).toEqual({ ...there.identity, token: here.identity.token });
  expect(await store.verify(here.token, 'main')).toEqual(here.identity);
  await store.revokeAuthorization(ann, 'plant');
  expect(await store.verify(there.token)).toBeNull();
  expect(await store.verify(here.token)).not.toBeNull();
  await expect(store.authorizeUser('nobody', 'plant', [])).rejects.toEqual(refusal('cascade.user.not.found'));
});

test('profiles given anew replace the old ones', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  const { token } = await login(ann, 'correct horse');
  await store.authorizeUser(ann, 'plant', ['user', 'user__system']);
  await store.authorizeUser(ann, 'plant', ['$profiles', 'user__system']);
  await store.authorizeUser(ann, 'main', ['clerk', 'user__system']);
  expect((await store.verify(token, 'plant'))!.profiles).toEqual(['$profiles', 'user__system']);
  expect((await store.verify(token))!.profiles).toEqual(['clerk', 'user__system']);
  expect((await db.collection('users').findOne({ username: ann }))!.authorizations).toHaveLength(1);
});

test('namespaces have proper names, each once', async () => {
  await expect(store.createNamespace({ namespace: 'main', createdBy: 'system' })).rejects.toEqual(
    refusal('cascade.resource.duplicate.key'),
  );
  for (const name of ['', '_a', 'a-b', 'a'.repeat(53), 'a'.repeat(65)])
    await expect(store.createNamespace({ namespace: name, createdBy: 'system' })).rejects.toEqual(refusal('cascade.resource.name.invalid'));
});

test('a long-lived token stands for its creator, and its sessions end with it', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  const expiresAt = new Date(now + HOUR);
  const token = await store.createAccessToken({ name: 'edge-7', username: ann, namespace: 'main', expiresAt });
  expect(token).toMatch(/^cst_[A-Za-z0-9_-]{43}$/);
  expect(await store.verify(token)).toEqual({
    token: expect.any(String),
    ofToken: expect.any(String),
    username: ann,
    namespace: 'main',
    profiles: ['user', 'user__system'],
  });
  const session = await store.loginWithToken(token);
  expect(session.expiresAt).toEqual(expiresAt);
  expect((await store.refresh(session.token)).expiresAt).toEqual(expiresAt);
  await store.revoke(token);
  await store.changeUser(ann, { password: 'another horse' });
  expect(await store.verify(session.token)).not.toBeNull();
  await expect(store.refresh(token)).rejects.toEqual(refusal('cascade.security.token.invalid'));
  const id = (await db.collection('tokens').findOne({ name: 'edge-7' }))!._id.toHexString();
  await expect(store.deleteAccessToken(id, ann, { version: 2n })).rejects.toMatchObject({ code: CONFLICT, status: 409 });
  expect(await store.verify(token)).not.toBeNull();
  expect(await store.deleteAccessToken(id, ann, { version: 1n })).toBe(true);
  expect(await store.verify(token)).toBeNull();
  expect(await store.verify(session.token)).toBeNull();
  expect(await store.deleteAccessToken(id, ann)).toBe(false);
});

test('a user of elsewhere is invited, and accepts by entering the namespace', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  const document = async () => (await db.collection('users').findOne({ username: ann }))!.authorizations as unknown;
  const reader = await store.createAccessToken({ name: 'reader', username: ann, namespace: 'main', profiles: ['user', 'user__system'] });
  await store.authorizeUser(ann, 'plant', ['admin', 'user__system']);
  expect(await document()).toEqual([{ namespace: 'plant', profiles: ['admin', 'user__system'], invited: true }]);
  await expect(store.verify(reader, 'plant')).rejects.toEqual(refusal('cascade.namespace.not.authorized'));
  expect(await document()).toMatchObject([{ invited: true }]);
  await login(ann, 'correct horse', 'plant');
  expect(await document()).toEqual([{ namespace: 'plant', profiles: ['admin', 'user__system'] }]);
  await store.authorizeUser(ann, 'plant', ['user', 'user__system']);
  expect(await document()).toEqual([{ namespace: 'plant', profiles: ['user', 'user__system'] }]);
});

test('an invitation is for whoever has its code first, and void when who made it is no admin any more', async () => {
  await withAnn();
  await store.createNamespace({ namespace: 'plant', createdBy: 'system' });
  const boss = { username: 'boss', password: 'correct horse', namespace: 'plant', profiles: ['admin', 'user__system'] };
  await store.createUser({ ...boss, createdBy: 'system' });
  const invite = () =>
    store.invite({ namespace: 'plant', profiles: ['user', 'user__system'], createdBy: 'boss', expiresAt: new Date(now + HOUR) });
  const [code, second, third] = [await invite(), await invite(), await invite()];
  const gone = refusal('cascade.resource.not.found');
  await store.redeem(code, 'ann@plant.example');
  expect((await login('ann@plant.example', 'correct horse', 'plant')).identity.profiles).toEqual(['user', 'user__system']);
  await expect(store.redeem(code, 'admin')).rejects.toEqual(gone);
  await expect(store.redeem(`${second}x`, 'admin')).rejects.toEqual(gone);
  now += HOUR;
  await expect(store.redeem(second, 'admin')).rejects.toEqual(gone);
  now -= HOUR;
  await store.changeUser('boss', { authorization: { namespace: 'plant', profiles: ['user', 'user__system'], isConsented: false } });
  await expect(store.redeem(third, 'admin')).rejects.toEqual(gone);
  expect(JSON.stringify(await db.collection('invitations').find().toArray())).not.toContain(third.slice(4));
});

test('a token has no more than its creator has now', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  const made = (name: string, profiles: string[]) => store.createAccessToken({ name, username: ann, namespace: 'main', profiles });
  const profiles = (list: string[]) => store.authorizeUser(ann, 'main', list);
  await profiles(['admin', 'admin__system']);
  const token = await made('all', ['admin', 'admin__system']);
  expect((await store.verify(token))!.profiles).toEqual(['admin', 'admin__system']);
  await profiles(['user', 'user__system']);
  expect((await store.verify(token))!.profiles).toEqual(['user', 'user__system']);
});

test('rights on the installation are not those of a token with profiles', async () => {
  const profiles = ['admin', 'user__system'];
  const token = await store.createAccessToken({ name: 'all', username: 'system', namespace: 'system', profiles });
  expect(await store.verify(token)).toEqual({
    ofToken: expect.any(String),
    username: 'system',
    namespace: 'system',
    profiles,
    restricted: true,
    bound: true,
    token: expect.any(String),
  });
});

test('a token for its own namespace enters no other', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  await store.authorizeUser(ann, 'plant', ['admin', 'user__system'], { isConsented: true });
  const token = await store.createAccessToken({ name: 'here', username: ann, namespace: 'main', singleNamespace: true });
  const session = await store.loginWithToken(token);
  for (const text of [token, session.token])
    await expect(store.verify(text, 'plant')).rejects.toEqual(refusal('cascade.namespace.not.authorized'));
});

test('the session that changed the password goes on', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  const [mine, other] = [await login(ann, 'correct horse'), await login(ann, 'correct horse')];
  await store.changeUser(ann, { password: 'another horse', exceptToken: mine.identity.token! });
  expect(await store.verify(mine.token)).not.toBeNull();
  expect(await store.verify(other.token)).toBeNull();
});

test('a namespace that is refused leaves nothing behind', async () => {
  const admin = (username: string, password: string) => ({ username, password, profiles: ['admin', 'user__system'] });
  const plant = { namespace: 'plant', createdBy: 'system' };
  const refused: [Parameters<IdentityStore['createNamespace']>[0], string][] = [
    [{ ...plant, admin: admin('boss', 'short') }, 'cascade.user.password.weak'],
    [{ ...plant, admin: admin('a b', 'correct horse') }, 'cascade.user.name.invalid'],
    [{ ...plant, admin: admin('system', 'correct horse') }, 'cascade.resource.duplicate.key'],
    [{ ...plant, organization: { name: 'main' } }, 'cascade.resource.duplicate.key'],
    [{ ...plant, admin: { username: 'nobody', profiles: [], isConsented: false } }, 'cascade.user.not.found'],
  ];
  for (const [entry, code] of refused) await expect(store.createNamespace(entry)).rejects.toEqual(refusal(code));
  const broken = store.createNamespace({ ...plant, organization: { name: 'acme' }, admin: admin('boss', 'correct horse') }, () =>
    Promise.reject(new Error('no key')),
  );
  await expect(broken).rejects.toThrow('no key');
  for (const [name, filter] of [
    ['namespaces', { namespace: 'plant' }],
    ['organizations', { name: 'acme' }],
    ['users', { username: 'boss' }],
  ] as const)
    expect(await db.collection(name).countDocuments(filter)).toBe(0);
  await store.createNamespace({ ...plant, organization: { name: 'acme' }, admin: admin('boss', 'correct horse') });
  expect((await login('boss', 'correct horse')).identity.namespace).toBe('plant');
});

test('names of namespaces that differ in case only are the same name', async () => {
  await store.createNamespace({ namespace: 'xAb', createdBy: 'system' });
  await expect(store.createNamespace({ namespace: 'xaB', createdBy: 'system' })).rejects.toEqual(refusal('cascade.resource.duplicate.key'));
});

test('a token with profiles of its own has those, in its namespace only', async () => {
  await withAnn();
  const ann = 'ann@plant.example';
  await store.authorizeUser(ann, 'plant', ['admin', 'user__system']);
  await store.authorizeUser(ann, 'main', ['admin', 'user__system']);
  const token = await store.createAccessToken({ name: 'reader', username: ann, namespace: 'main', profiles: ['reader', 'user__system'] });
  const session = await store.loginWithToken(token);
  for (const text of [token, session.token]) {
    expect((await store.verify(text))!.profiles).toEqual(['reader', 'user__system']);
    await expect(store.verify(text, 'plant')).rejects.toEqual(refusal('cascade.namespace.not.authorized'));
    await expect(store.loginWithToken(text, 'plant')).rejects.toEqual(refusal('cascade.namespace.not.authorized'));
  }
});

test('a token has a name that its creator has not used', async () => {
  await store.createAccessToken({ name: 'edge', username: 'admin', namespace: 'main' });
  await store.createAccessToken({ name: 'edge', username: 'system', namespace: 'system' });
  await expect(store.createAccessToken({ name: 'edge', username: 'admin', namespace: 'main' })).rejects.toEqual(
    refusal('cascade.resource.duplicate.key'),
  );
});

test('a wrong old password counts like a failed login', async () => {
  expect(await store.checkPassword('admin', 'admin pass:word', HERE)).toBe(true);
  for (let i = 0; i < 10; i++) expect(await store.checkPassword('admin', 'wrong', HERE)).toBe(false);
  await expect(store.checkPassword('admin', 'admin pass:word', HERE)).rejects.toEqual(refusal('cascade.security.rate.limited'));
});

test('wrong passwords from the addresses of one IPv6 network count together, at a login and as old ones', async () => {
  for (let i = 0; i < 5; i++) expect(await store.checkPassword('admin', 'wrong', `2001:db8:1:2::${i}`)).toBe(false);
  for (let i = 5; i < 10; i++) await expect(store.login('admin', 'wrong', `2001:db8:1:2::${i}`)).rejects.toEqual(refusal(FAILED));
  await expect(store.checkPassword('admin', 'admin pass:word', '2001:db8:1:2:ffff::')).rejects.toEqual(
    refusal('cascade.security.rate.limited'),
  );
  expect(await store.checkPassword('admin', 'admin pass:word', '2001:db8:1:3::1')).toBe(true);
});

test('a login renews a hash of a lower cost, and its sessions go on', async () => {
  await withAnn();
  const { token } = await login('ann@plant.example', 'correct horse');
  const dearer = openIdentity(db, () => now, { passwordCost: { N: 2 ** 11, r: 8, p: 1 } });
  const costOf = async () => String((await db.collection('users').findOne({ username: 'ann@plant.example' }))!['password']).split('$')[1];

  await expect(dearer.login('ann@plant.example', 'wrong horse', HERE)).rejects.toEqual(refusal(FAILED));
  expect(await costOf()).toBe('1024');
  await dearer.login('ann@plant.example', 'correct horse', HERE);
  expect(await costOf()).toBe('2048');
  await dearer.login('ann@plant.example', 'correct horse', HERE);
  expect(await dearer.verify(token)).toMatchObject({ username: 'ann@plant.example' });
  await store.login('ann@plant.example', 'correct horse', HERE); // one of a lower cost leaves it as it is
  expect(await costOf()).toBe('2048');
});

// spec: resources-and-api.md 2, 7.4
test('who may not enter a namespace is told so, whether or not its organization has room for a session', async () => {
  await withAnn();
  const asked: string[] = [];
  const full = openIdentity(db, () => now, {
    passwordCost,
    async requireSessionRoom(namespace) {
      asked.push(namespace);
      if (namespace !== 'main') throw apiError('cascade.quota.exceeded', 'sessions', 50);
    },
  });
  const ann = (namespace: string) => full.login('ann@plant.example', 'correct horse', HERE, namespace);
  const { token } = await ann('main');
  const denied = refusal('cascade.namespace.not.authorized');
  await expect(ann('system')).rejects.toEqual(denied);
  await expect(ann('nowhere')).rejects.toEqual(denied);
  await expect(full.loginWithToken(token, 'system')).rejects.toEqual(denied);
  expect(asked).toEqual(['main']);
  await full.authorizeUser('ann@plant.example', 'system', ['user'], { isConsented: true });
  await expect(ann('system')).rejects.toEqual(refusal('cascade.quota.exceeded'));
});
