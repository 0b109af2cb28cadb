import { hkdfSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeMasterKey, masterKeyId, openMasterKey, openNamespaceKeys, openNextMasterKey, parseMasterKey } from './index.ts';
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

test('an encryption key that was given is stretched, and never the secret itself', async () => {
  const master = randomBytes(32);
  const keys = openNamespaceKeys(client.db(name), master);
  await client.withSession((session) => session.withTransaction(() => keys.give('d', 'x', session)));
  const stored = await client
    .db(name)
    .collection('encryptionKeys')
    .findOne({ _id: 'd' as never });
  expect(open(master, 'namespace d', stored?.['sealed'].buffer)).toHaveLength(32);
  expect([stored?.['masterKey'], stored?.['salt'].length()]).toEqual([masterKeyId(master), 16]);
});

test('another master key opens what was sealed before, and an interrupted change is finished by the same one', async () => {
  const db = client.db(`${name}_rotated`);
  try {
    const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const sealed = (await openNamespaceKeys(db, first).ensureCipher('a')).seal('"x"', 'p');
    expect(await changeMasterKey(db, first, second)).toBe(1);
    expect((await openNamespaceKeys(db, second).cipherOf('a'))?.open(sealed, 'p')).toBe('"x"');
    const message = `that is ${masterKeyId(second)}, this is ${masterKeyId(first)}`;
    await expect(openNamespaceKeys(db, first).cipherOf('a')).rejects.toThrow(message);
    await openNamespaceKeys(db, second).ensureCipher('b');
    await db.collection('encryptionKeys').updateOne({ _id: 'b' as never }, { $unset: { masterKey: '' } }); // as of before there were ids
    expect(await changeMasterKey(db, first, second).catch((error: Error) => error.message)).toContain('namespace b');
    expect(await changeMasterKey(db, second, third)).toBe(2);
    expect(await changeMasterKey(db, second, third)).toBe(0);
    expect((await openNamespaceKeys(db, third).cipherOf('a'))?.open(sealed, 'p')).toBe('"x"');
  } finally {
    await db.dropDatabase();
  }
});

test('the next key of a data folder is the same until it is adopted', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-keys-'));
  try {
    const before = openMasterKey(folder);
    const next = openNextMasterKey(folder);
    expect(openNextMasterKey(folder).key.equals(next.key)).toBe(true);
    expect(openMasterKey(folder).equals(before)).toBe(true);
    next.adopt();
    expect(openMasterKey(folder).equals(next.key)).toBe(true);
    expect(openNextMasterKey(folder).key.equals(next.key)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('each purpose has a key of its own, and a text opens for whom it was sealed only', async () => {
  const cipher = await openNamespaceKeys(client.db(name), randomBytes(32)).ensureCipher('purposes');
  const sealed = cipher.seal('"x"', 'one', 'journal');
  expect(cipher.open(sealed, 'one', 'journal')).toBe('"x"');
  for (const [place, purpose] of [
    ['two', 'journal'],
    ['one', 'recording'],
    ['one', undefined],
  ] as const)
    expect(() => cipher.open(sealed, place, purpose)).toThrow(NOT_AUTHENTIC);
});

test('a rotation begins an epoch: what is sealed names it, and what was sealed before opens as ever', async () => {
  const db = client.db(`${name}_epochs`);
  try {
    const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const before = (await openNamespaceKeys(db, first).ensureCipher('a')).seal('"old"', 'p');
    await changeMasterKey(db, first, second);
    const present = (await openNamespaceKeys(db, second).cipherOf('a'))!;
    const after = present.seal('"new"', 'p');
    expect([before.subarray(0, 2), after.subarray(0, 2)]).toEqual([Buffer.of(2, 1), Buffer.of(2, 2)]);
    await changeMasterKey(db, second, third);
    const last = (await openNamespaceKeys(db, third).cipherOf('a'))!;
    expect([last.open(before, 'p'), last.open(after, 'p'), last.seal('1', 'p')[1]]).toEqual(['"old"', '"new"', 3]);
    const moved = Buffer.from(after);
    moved[1] = 1; // of another epoch, it says
    expect(() => last.open(moved, 'p')).toThrow(NOT_AUTHENTIC);
    moved[1] = 9;
    expect(() => last.open(moved, 'p')).toThrow('no key of epoch 9');
  } finally {
    await db.dropDatabase();
  }
});

test('what was sealed while one key was for everything opens still', async () => {
  const master = randomBytes(32);
  const keys = openNamespaceKeys(client.db(name), master);
  const cipher = await keys.ensureCipher('early');
  const stored = await client
    .db(name)
    .collection('encryptionKeys')
    .findOne({ _id: 'early' as never });
  const secret = open(master, 'namespace early', stored?.['sealed'].buffer);
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'cascade property early', 32));
  expect(cipher.open(seal(key, 'early p', Buffer.from('"x"')), 'p')).toBe('"x"');
  expect(cipher.open(seal(key, 'early journal', Buffer.from('"y"')), 'whatever event', 'journal')).toBe('"y"');
  expect(() => cipher.open(seal(key, 'early p', Buffer.from('"x"')), 'q')).toThrow(NOT_AUTHENTIC);
});
