// Tests stand beside the code. One embedded mongod serves them all (scripts/testing/setup.ts); each takes a database name of its own.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/testing/sequencer.ts';

// Packages and the services that tests start are compiled once for all processes of all runs, which is a good part of each start.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

const exclude = ['**/node_modules/**', 'dist/**'];

export default defineConfig({
  test: {
    setupFiles: ['scripts/testing/seed.ts', 'scripts/testing/watch.ts', 'scripts/testing/quarantine.ts'],
    // Far beyond what a test takes, since none may fail for the load of the machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What fails is red, at the first try: a defect that shows in one of ten runs would pass in 99 of 100 with a second one. The few that may be
    // tried again while they are being mended are named in scripts/testing/quarantine.json.
    retry: 0,
    allowOnly: false,
    expect: { requireAssertions: true },
    pool: 'forks',
    // One more than the cores of a small machine: what waits for services and databases leaves its core to others.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './scripts/testing/report.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
          include: [
            '{model,platform,identity,sandbox,runtime,resources,features,engine,server,case-runner,conformance,bench,examples,scripts,bin}/**/*.test.ts',
          ],
          exclude,
          globalSetup: ['scripts/testing/setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          // The front once more on Node's own HTTP server: what it answers must not depend on who speaks HTTP.
          name: 'front-on-node',
          env: { CASCADE_HTTP: 'node' },
          include: [
            'server/{http,websocket}/{authentication,batch,front-page,proxies,wire,replies,resources,routes,streaming,life,protocol}.test.ts',
            'server/listen.test.ts',
          ],
          exclude,
        },
      },
      {
        extends: true,
        // What is pure keeps nothing from one file to the next, so its modules are loaded once for all: half the time of these tests.
        test: { name: 'pure', include: ['{compiler,stdlib,typing,inbox}/**/*.test.ts'], exclude, isolate: false },
      },
    ],
  },
});
