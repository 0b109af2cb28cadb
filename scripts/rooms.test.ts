// A folder is small enough to be read in a morning: 25 files and 3,000 lines at most, tests not counted. A larger one has its reason here.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const MOST_FILES = 25;
const MOST_LINES = 3_000;
const LARGER: Readonly<Record<string, string>> = {
  'compiler/1-parse': 'a file for each part of the grammar',
  'runtime/triggers': 'a file for each form of condition that the index knows',
  'server/http': 'a file for each address of the API',
  'stdlib/builtins': 'a file for each area of the built-ins',
  'stdlib/isolate': 'a file for each kind of value that compiled code works with',
};
const IGNORED = new Set(['node_modules', 'dist', 'data', 'coverage']);

function roomsBelow(folder: string): [name: string, files: number, lines: number][] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && /\.m?tsx?$/.test(entry.name) && !/\.(test|tiny|brokers|browser)\.ts$/.test(entry.name),
  );
  const lines = files.reduce((sum, { name }) => sum + readFileSync(join(folder, name), 'utf8').split('\n').length, 0);
  const below = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !IGNORED.has(entry.name));
  return [[relative(root, folder), files.length, lines], ...below.flatMap(({ name }) => roomsBelow(join(folder, name)))];
}

test('no folder is larger, but for those whose reason is written', () => {
  const large = roomsBelow(root).filter(([, files, lines]) => files > MOST_FILES || lines > MOST_LINES);
  expect(large.map(([name]) => name).sort()).toEqual(Object.keys(LARGER).sort());
});
