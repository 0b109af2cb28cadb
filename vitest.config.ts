// Tests stand beside the code. One embedded mongod serves them all (scripts/test-setup.ts); each takes a database name of its own.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{compiler,stdlib,runtime,server,conformance,bench,examples,scripts,bin}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**'],
    globalSetup: ['scripts/test-setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', './scripts/slowest-files.ts'],
  },
});
