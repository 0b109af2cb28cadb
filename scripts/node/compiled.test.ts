// What is compiled is kept for the next start, where the user's cache is.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trimCompiled } from './compiled.mjs';

const BIN = join(import.meta.dirname, '../../bin/cascade.js');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cascade-compiled-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function help(env: NodeJS.ProcessEnv): string {
  const { NODE_COMPILE_CACHE, ...rest } = process.env;
  return spawnSync(process.execPath, [BIN, '--help'], { env: { ...rest, ...env }, encoding: 'utf8' }).stdout;
}

test('a command keeps what it has compiled in the cache folder', () => {
  const cache = join(folder, 'cache');
  expect(help({ XDG_CACHE_HOME: cache })).toMatch(/^Usage: cascade/);
  const kept = join(cache, 'cascade', 'compiled');
  expect(readdirSync(kept, { recursive: true }).length).toBeGreaterThan(10);
});

test('the variables of Node win, and a folder that cannot be written is no error', () => {
  const cache = join(folder, 'unused');
  expect(help({ XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: join(folder, 'own') })).toMatch(/^Usage: cascade/);
  expect(help({ XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: '1' })).toMatch(/^Usage: cascade/);
  expect(existsSync(cache)).toBe(false);
  expect(readdirSync(join(folder, 'own'))).not.toEqual([]);
  writeFileSync(join(folder, 'file'), '');
  expect(help({ XDG_CACHE_HOME: join(folder, 'file') })).toMatch(/^Usage: cascade/);
});

test('what has grown beyond its bound is removed, and the rest of the cache stays', () => {
  const cache = join(folder, 'grown', 'cascade');
  const env = { XDG_CACHE_HOME: join(folder, 'grown') };
  trimCompiled(env); // there is none
  mkdirSync(join(cache, 'compiled', 'v22'), { recursive: true });
  for (const [name, bytes] of [
    ['compiled/v22/a', 600],
    ['compiled/v22/b', 500],
    ['mongod', 5_000],
  ] as const)
    writeFileSync(join(cache, name), 'x'.repeat(bytes));
  trimCompiled(env, 1_100);
  expect(readdirSync(join(cache, 'compiled', 'v22'))).toEqual(['a', 'b']);
  trimCompiled(env, 1_099);
  expect(readdirSync(cache)).toEqual(['mongod']);
});
