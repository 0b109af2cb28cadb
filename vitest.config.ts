// Tests stand beside the code. One embedded mongod serves them all (scripts/testing/setup.ts); each takes a database name of its own.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/testing/sequencer.ts';

// Packages and the services that tests start are compiled once for all processes of all runs, which is a good part of each start.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

// Services that tests start hash two passwords at their start and one at each login: a seventh of all processor time at the usual cost.
process.env.CASCADE_PASSWORD_COST ??= '14';

const exclude = ['**/node_modules/**', 'dist/**'];

/** Tests that want a process of their own: they replace modules, variables, timers or clocks, or look at what their process and its children use. */
const OWN_PROCESS = [
  ...['sandbox/{harm,kill}.test.ts', 'platform/mongod/**/*.test.ts', 'features/schedules/schedule-failures.test.ts'],
  ...['engine/{crash,fleet}-simulation.test.ts', 'features/sources/lifecycle/lease.test.ts'],
  ...['runtime/correlation/one-line.test.ts', 'runtime/transactions/batch-writer.test.ts'],
  ...['conformance/client/service.test.ts', 'conformance/hostile.test.ts', 'examples/hostile/hostile.test.ts'],
  ...['scripts/{start,node/*,testing/run-vitest,chaos/*,mutation/*}.test.ts'],
];

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
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
    pool: 'forks',
    // Two more than the cores of a small machine, since much waits for services and databases: with three a fifth of the processor time was idle.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './scripts/testing/report.ts'],
    projects: [
      {
        extends: true,
        // Modules are loaded once for all files of a worker: an engine has hundreds, which cost more than most of these tests. No module keeps
        // state, so no file sees what another one has done; what a file changes in its process (timers, variables) it puts back.
        test: {
          name: 'service',
          include: [
            '{model,platform,identity,sandbox,runtime,resources,features,engine,server}/**/*.test.ts',
            '{case-runner,conformance,bench,examples,scripts}/**/*.test.ts',
          ],
          exclude: [...exclude, ...OWN_PROCESS],
          globalSetup: ['scripts/testing/setup.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'own-process',
          include: OWN_PROCESS,
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
          isolate: false,
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
