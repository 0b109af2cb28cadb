// spec: resources-and-api.md 4.9 4.10
// An organization belongs to its own root namespace, not to whoever takes that one's name later.
import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDirectory } from './directory.ts';
import { openIdentity } from './open-identity.ts';

let client: MongoClient;
let db: Db;
beforeAll(async () => {
  client = await MongoClient.connect(process.env.CASCADE_TEST_MONGO!);
  db = client.db(`identity_${randomUUID().slice(0, 8)}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

test('a namespace with the name of a deleted root is the root of nothing, and may be deleted', async () => {
  const store = openIdentity(db, Date.now, { passwordCost: { N: 2 ** 10, r: 8, p: 1 } });
  const directory = openDirectory(db);
  await store.ensureFirstStart({ adminPassword: 'admin pass:word', systemPassword: 'system password' });
  const make = (namespace: string, more: { organization?: { name: string }; within?: string } = {}) =>
    store.createNamespace({ namespace, createdBy: 'system', ...more });
  const removed = async (namespace: string): Promise<void> => {
    await store.deleteNamespace(namespace);
    await store.namespaceDropped(namespace);
  };
  await make('acmeRoot', { organization: { name: 'acme' } });
  await make('betaRoot', { organization: { name: 'beta' } });
  await make('acmeBranch', { within: 'acme' });
  expect(await Promise.all(['acmeRoot', 'betaRoot', 'acmeBranch', 'main', 'nowhere'].map(directory.organizationWithRoot))).toEqual([
    'acme',
    'beta',
    null,
    'main',
    null,
  ]);
  await expect(store.deleteNamespace('acmeRoot')).rejects.toMatchObject({
    code: 'cascade.organization.in.use',
    params: ['acme', 'acmeBranch'],
  });
  await removed('acmeBranch');
  await removed('acmeRoot');
  await make('acmeRoot', { within: 'beta' });
  await make('acmeBranch', { within: 'acme' });
  expect(await directory.organizationWithRoot('acmeRoot')).toBeNull();
  await removed('acmeRoot');
  await make('acmeRoot');
  expect(await directory.organizationWithRoot('acmeRoot')).toBeNull();
  await make('acmeRoot2', { organization: { name: 'gamma' } });
  await removed('acmeRoot');
  await make('acmeRoot', { organization: { name: 'delta' } });
  expect(await directory.organizationWithRoot('acmeRoot')).toBe('delta');
});
