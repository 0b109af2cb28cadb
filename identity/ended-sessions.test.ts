// spec: resources-and-api.md 6.3 6.4 6.7 7.4
// What an organization's quota of sessions counts: those that are still worth something, by whichever way they began.
import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { apiError } from '../model/errors/index.ts';
import { openDirectory } from './directory.ts';
import { openIdentity } from './open-identity.ts';
import type { IdentityStore } from './types.ts';

const HERE = '10.0.0.1';
const passwordCost = { N: 2 ** 10, r: 8, p: 1 };
const ann = 'ann@plant.example';

let client: MongoClient;
let db: Db;
let store: IdentityStore;
let most = 1_000;
const count = () => openDirectory(db).countSessions(['main']);

beforeAll(async () => {
  client = await MongoClient.connect(process.env.CASCADE_TEST_MONGO!);
  db = client.db(`identity_${randomUUID().slice(0, 8)}`);
  store = openIdentity(db, Date.now, {
    passwordCost,
    async requireSessionRoom() {
      if ((await count()) >= most) throw apiError('cascade.quota.exceeded', 'sessions', most);
    },
  });
  await store.ensureFirstStart({ adminPassword: 'admin pass:word', systemPassword: 'system password' });
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});
beforeEach(async () => {
  most = 1_000;
  await db.collection('tokens').deleteMany({});
  await db.collection('users').deleteMany({ username: ann });
  await store.createUser({ username: ann, password: 'correct horse', namespace: 'main', createdBy: 'admin' });
});

const login = (password = 'correct horse') => store.login(ann, password, HERE);

test('a renewal is one session more', async () => {
  const { token } = await login();
  most = 3;
  await store.refresh(token);
  await store.refresh(token);
  await expect(store.refresh(token)).rejects.toMatchObject({ code: 'cascade.quota.exceeded', params: ['sessions', 3] });
  expect(await count()).toBe(3);
  expect(await store.verify(token)).not.toBeNull();
});

test('sessions that a new password has ended do not count; the one that has set it does, and so do those of long-lived tokens', async () => {
  const kept = await login();
  await login();
  await store.refresh(kept.token);
  const { token } = await store.loginWithToken(await store.createAccessToken({ name: 'edge-1', username: ann, namespace: 'main' }));
  expect(await count()).toBe(4);
  await store.changeUser(ann, { password: 'another horse', exceptToken: kept.identity.token! });
  expect(await count()).toBe(2);
  for (const one of [kept.token, token]) expect(await store.verify(one)).not.toBeNull();
  await store.changeUser(ann, { password: 'third horse' });
  expect(await count()).toBe(1);
});

test('sessions that have ended with their long-lived token do not count', async () => {
  const token = await store.createAccessToken({ name: 'edge-2', username: ann, namespace: 'main' });
  const { token: session } = await store.loginWithToken(token);
  await store.refresh(session);
  const other = await login();
  expect(await count()).toBe(3);
  const id = (await db.collection('tokens').findOne({ name: 'edge-2' }))!._id.toHexString();
  await expect(store.deleteAccessToken(id, ann, { version: 2n })).rejects.toMatchObject({ status: 409 });
  expect(await count()).toBe(3);
  await store.deleteAccessToken(id, ann);
  expect(await count()).toBe(1);
  expect(await store.verify(other.token)).not.toBeNull();
});

test('the session of a connection ends with it, and with it what was made from it, without others looking up their rights', async () => {
  const session = await login();
  const renewed = await store.refresh(session.token);
  const other = await login();
  for (const { token } of [session, other]) await store.verify(token);
  const changed: unknown[] = [];
  const stop = store.onChanged((username) => void changed.push(username));
  await store.endSession(session);
  stop();
  expect(await store.verify(session.token)).toBeNull();
  expect(await store.verify(renewed.token)).toBeNull();
  expect(store.verify(other.token)).not.toBeInstanceOf(Promise);
  expect([changed, await count()]).toEqual([[], 1]);
});
