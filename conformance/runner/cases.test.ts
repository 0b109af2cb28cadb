import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readCases, readKnownFailures } from './index.ts';

const folder = fileURLToPath(new URL('../cases', import.meta.url));
const files = readCases(folder);

test('every file of cases can be read, and says which part of the specification it is about', () => {
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter(({ spec }) => spec.length === 0).map(({ name }) => name)).toEqual([]);
});

test('what is known to fail is a case that exists, with a reason', () => {
  const names = new Set(files.flatMap(({ name, cases }) => cases.map((one) => `${name}: ${one.name}`)));
  const known = readKnownFailures(fileURLToPath(new URL('../known-failures.yaml', import.meta.url)));
  expect([...known].filter(([name, reason]) => !names.has(name) || !reason)).toEqual([]);
});

test('an area is a folder or a file', () => {
  expect(readCases(folder, 'rules').every(({ name }) => name.startsWith('rules/'))).toBe(true);
  expect(readCases(folder, 'rules/before').map(({ name }) => name)).toEqual(['rules/before']);
  expect(readCases(folder, 'rul')).toEqual([]);
});
