import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fastFolder } from './fast-folder.mjs';

const folder = mkdtempSync(join(tmpdir(), 'cascade-fast-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('tests have their files in memory, unless there is little of it, no such folder, or another one is wanted', () => {
  const much = (): number => 8 * 1024 ** 3;
  expect(fastFolder({}, folder, much)).toBe(folder);
  expect(fastFolder({}, folder, () => 5e9)).toBe(tmpdir());
  expect(fastFolder({}, join(folder, 'none'), much)).toBe(tmpdir());
  expect(fastFolder({ TMPDIR: '/elsewhere' }, folder, much)).toBe(tmpdir());
});
