import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMasterKey, openNamespaceKeys, parseMasterKey } from './index.ts';
import { open, seal } from './seal.ts';

let client: MongoClient;
const name = `test_keys_${process.pid}`;
beforeAll(async () => {
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
});
afterAll(async () => {
  await client.db(name).dropDatabase();
  await client.close();
});

/** What the cipher says; any other error is one of ours. */
const NOT_AUTHENTIC = 'unable to authenticate data';

test('what is sealed opens with the same key for the same place, and not when anything is changed', () => {
  const key = randomBytes(32);
  const sealed = seal(key, 'here', Buffer.from('secret'));
  expect(open(key, 'here', sealed).toString()).toBe('secret');
  expect(sealed.includes('secret')).toBe(false);
  expect(seal(key, 'here', Buffer.from('secret')).equals(sealed)).toBe(false);
  expect(() => open(key, 'there', sealed)).toThrow(NOT_AUTHENTIC);
  expect(() => open(randomBytes(32), 'here', sealed)).toThrow(NOT_AUTHENTIC);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(() => open(key, 'here', changed)).toThrow(at === 0 ? 'unknown form' : NOT_AUTHENTIC);
  }
});

test('a data folder keeps its master key, readable by its owner only', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-keys-'));
  try {
    const key = openMasterKey(folder);
    expect(key).toHaveLength(32);
    expect(openMasterKey(folder).equals(key)).toBe(true);
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600);
    expect(parseMasterKey(readFileSync(join(folder, 'master.key'), 'utf8'))?.equals(key)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a master key is 32 bytes, in hexadecimal digits or base64', () => {
  const key = randomBytes(32);
  expect(parseMasterKey(key.toString('hex'))?.equals(key)).toBe(true);
  expect(parseMasterKey(` ${key.toString('base64')}\n`)?.equals(key)).toBe(true);
  for (const wrong of ['', 'abc', key.toString('hex').slice(2), 'z'.repeat(64)]) expect(parseMasterKey(wrong)).toBeNull();
});

test('a namespace keeps its key, and another master key or namespace does not open what it has sealed', async () => {
  const master = randomBytes(32);
  const keys = openNamespaceKeys(client.db(name), master);
  expect(await keys.cipherOf('a')).toBeNull();
  const sealed = (await keys.ensureCipher('a')).seal('"x"', 'p');
  const again = await openNamespaceKeys(client.db(name), master).cipherOf('a');
  expect(again?.open(sealed, 'p')).toBe('"x"');
  expect(() => again?.open(sealed, 'q')).toThrow(NOT_AUTHENTIC);
  const other = await keys.ensureCipher('b');
  expect(() => other.open(sealed, 'p')).toThrow(NOT_AUTHENTIC);
  await expect(openNamespaceKeys(client.db(name), randomBytes(32)).cipherOf('a')).rejects.toThrow('not the one');
  await expect(openNamespaceKeys(client.db(name), null).cipherOf('a')).rejects.toThrow('CASCADE_MASTER_KEY');
});

test('a key that was given is kept', async () => {
  const keys = openNamespaceKeys(client.db(name), randomBytes(32));
  await client.withSession((session) => session.withTransaction(() => keys.give('c', 'first', session)));
  const sealed = (await keys.ensureCipher('c')).seal('1', 'p');
  expect((await keys.cipherOf('c'))?.open(sealed, 'p')).toBe('1');
});
