import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FAULTS } from './list.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

test.each(FAULTS.map((fault) => [fault.what, fault] as const))('can still be made: %s', (_, { file, text, replacement }) => {
  expect(readFileSync(root + file, 'utf8').split(text)).toHaveLength(2);
  expect(replacement).not.toBe(text);
});

test('there are thirty at least', () => {
  expect(FAULTS.length).toBeGreaterThanOrEqual(30);
});
