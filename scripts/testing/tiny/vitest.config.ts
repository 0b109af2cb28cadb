// A project of a few files that go wrong in one way each, run by run-vitest.test.ts with the same setup and reporter as the tests.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = dirname(fileURLToPath(import.meta.url));

export default defineConfig({
  root: here,
  test: {
    include: [process.env.TINY_INCLUDE ?? '*.tiny.ts'],
    setupFiles: ['../watch.ts', '../quarantine.ts'],
    globalSetup: ['setup.ts'],
    testTimeout: 300_000,
    retry: 0,
    allowOnly: false,
    expect: { requireAssertions: true },
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', '../report.ts'],
  },
});
