// The seeded faults of the kernel are held to the code, and three of them to the simulated world; `npm run nightly` tries all.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { noticed } from './kernel.ts';
import { KERNEL_FAULTS } from './kernel-list.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** One of what is committed, one of what is taken over, one of what is cleaned. */
const SHORT = [
  'a row does not say which runs have ended',
  'recorded steps are not handed to the runs that go on',
  'the journal is cleaned up to its newest row',
];

test.each(KERNEL_FAULTS.map((fault) => [fault.what, fault] as const))('can still be made: %s', (_, { file, text, replacement }) => {
  expect(readFileSync(root + file, 'utf8').split(text)).toHaveLength(2);
  expect(replacement).not.toBe(text);
});

test('there are forty at least, each named once', () => {
  expect(KERNEL_FAULTS.length).toBeGreaterThanOrEqual(40);
  expect(new Set(KERNEL_FAULTS.map(({ what }) => what)).size).toBe(KERNEL_FAULTS.length);
});

test.each(SHORT)('the simulated world notices: %s', async (what) => {
  const fault = KERNEL_FAULTS.find((one) => one.what === what)!;
  expect(await noticed(fault, 100, root)).not.toBeNull();
});
