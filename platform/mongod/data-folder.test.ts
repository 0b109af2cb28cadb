// The files of a data folder beside the database's own: what is damaged is named.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataFolder } from './data-folder.ts';

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'cascade-folder-'));
});
afterEach(() => {
  rmSync(path, { recursive: true });
});

test('secrets are made once, and a file that is damaged is named', () => {
  const { user, key } = openDataFolder(path);
  expect(openDataFolder(path)).toMatchObject({ user, key });
  writeFileSync(join(path, 'mongod.json'), '');
  const folder = openDataFolder(path);
  expect(() => folder.kept()).toThrow(/mongod\.json is damaged/);
  writeFileSync(join(path, 'mongod.user.json'), '{');
  expect(() => openDataFolder(path)).toThrow(/mongod\.user\.json is damaged/);
});

test('a folder whose files cannot be used is named with a reason', () => {
  writeFileSync(join(path, 'db'), '');
  expect(() => openDataFolder(path)).toThrow(`${path} cannot be the folder of the data: a file has that name`);
});
