// Tests in a real browser (Debian's chromium), a step of the nightly run: it is a program that not every machine has.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['conformance/inbox/**/*.browser.ts'],
    globalSetup: ['scripts/testing/built.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    retry: 0,
    allowOnly: false,
    fileParallelism: false,
    expect: { requireAssertions: true, poll: { timeout: 60_000, interval: 100 } },
  },
});
