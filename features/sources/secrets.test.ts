import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { sealed, splitConfig, wholeConfig } from './secrets.ts';

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

test('integrations.md 1.3: a secret that is given anew, by a name or under another spelling, does not come back', async () => {
  const put = async (config: object): Promise<string[]> => {
    await t.ask('insert', 'sources', {
      body: JSON.stringify({ name: 'rotated', type: 'REMOTE', config: { uri: 'https://nowhere.invalid', ...config } }),
    });
    const found = await stored().findOne({ 'object.name': 'rotated' });
    return Object.keys(found?.['object']?.secrets ?? {}).sort();
  };
  expect(await put({ username: 'u', password: 'leaked' })).toEqual(['password']);
  expect(await put({ username: 'u', password: '@secrets(pw)' })).toEqual([]);
  const headers = (value: object) => ({ requestDefaults: { headers: value } });
  expect(await put(headers({ Authorization: 'old' }))).toEqual(['requestDefaults.headers.Authorization']);
  expect(await put(headers({ authorization: 'new' }))).toEqual(['requestDefaults.headers.authorization']);
  expect(await put(headers({ AUTHORIZATION: null }))).toEqual([]);
});

test('integrations.md 1.1 1.3: a password in a query or body goes with it', () => {
  const cipher = { seal: (text: string) => Buffer.from(text), open: (bytes: Uint8Array) => Buffer.from(bytes).toString() } as never;
  const { open, secrets } = splitConfig({ uri: 'u', requestDefaults: { query: { user: 'a', password: 'p' }, headers: { Cookie: 'c' } } });
  const kept = sealed(cipher, 's', {}, secrets);
  expect(wholeConfig(cipher, 's', open, kept)).toMatchObject({ requestDefaults: { query: { user: 'a', password: 'p' } } });
  expect(wholeConfig(cipher, 's', { uri: 'u' }, kept)).toEqual({ uri: 'u', requestDefaults: { headers: { Cookie: 'c' } } });
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
