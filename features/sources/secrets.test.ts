import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

let t: TestEngine;
let client: MongoClient;
const stored = () => client.db(`cascade_ns_${t.identity.namespace}`).collection('resources');

beforeAll(async () => {
  t = await openTestEngine({ masterKey: randomBytes(32) });
  client = await MongoClient.connect(process.env['CASCADE_TEST_MONGO'] ?? '');
});
afterAll(async () => {
  await client.close();
  await t[Symbol.asyncDispose]();
});

const CONFIG = {
  uri: 'https://nowhere.invalid',
  username: 'ann',
  password: 'hush-1',
  requestDefaults: { headers: { Authorization: 'hush-2', 'X-Site': '7' } },
  clientOptions: { keyStoreOptions: { value: '@secrets(store)', password: 'hush-3' } },
  accessToken: '@secrets(there)',
};

test('integrations.md 1.3: no interface shows the secrets of a source', async () => {
  await t.type('Told', { text: { type: 'String' } });
  await t.program('rules', 'RULE tells WHEN INSERT OCCURS ON system.sources AS s INSERT Told(text: stringify(s))');
  const { body } = await t.ask('insert', 'sources', { body: JSON.stringify({ name: 'remote', type: 'REMOTE', config: CONFIG }) });
  const [declaredType] = await t.eventually('Told', {}, 1);
  const { body: read } = await t.ask('select', 'sources', { id: 'remote' });
  const { body: listed } = await t.ask('select', 'sources', {});
  const { body: aggregated } = await t.ask('aggregate', 'sources', { body: '[{"$match":{"name":"remote"}}]' });
  for (const seen of [body, read, listed, aggregated, JSON.stringify(declaredType)]) {
    expect(seen).toContain('nowhere.invalid');
    expect(seen).not.toMatch(/hush|"secrets"/);
  }
  expect(read).toContain('X-Site');
  expect(read).toContain('@secrets(there)');
  expect(JSON.stringify(await stored().find().toArray())).not.toContain('hush');
});

test('integrations.md 1.3: an update keeps the secrets that it omits, and null removes one', async () => {
  const secrets = async (): Promise<string[]> => {
    const found = await stored().findOne({ 'object.name': 'remote' });
    return Object.keys(found?.['object']?.secrets ?? {}).sort();
  };
  expect(await secrets()).toEqual(['clientOptions.keyStoreOptions.password', 'password', 'requestDefaults.headers.Authorization']);
  await t.ask('update', 'sources', { id: 'remote', body: '{"config":{"uri":"https://elsewhere.invalid"}}' });
  expect(await secrets()).toHaveLength(3);
  await t.ask('update', 'sources', { id: 'remote', body: '{"config":{"uri":"https://elsewhere.invalid","password":null}}' });
  expect(await secrets()).not.toContain('password');
});

test('integrations.md 1.3 1.5: headers of the defaults are secret however their name is written', async () => {
  const config = { uri: 'https://nowhere.invalid', requestDefaults: { HEADERS: { authorization: 'hush-5', 'X-Site': '7' } } };
  const { body } = await t.ask('insert', 'sources', { body: JSON.stringify({ name: 'spelt', type: 'REMOTE', config }) });
  const { body: read } = await t.ask('select', 'sources', { id: 'spelt' });
  for (const seen of [body, read]) {
    expect(seen).toContain('X-Site');
    expect(seen).not.toContain('hush');
  }
});
