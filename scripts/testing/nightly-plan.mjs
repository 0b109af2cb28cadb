// What the nightly run consists of, as data: scripts/nightly.mjs runs it.
import { parseArgs } from 'node:util';

const DEFAULT_MINUTES = 20;
const REPETITIONS = 10;
/** What runs in a bare root besides `npm start`: scripts/bare-root.mjs. */
const BARE_ROOT = { 22: { option: '--test', what: ', and npm test' }, 24: { option: '--docs', what: ', and the documents' } };
const WHOLE = { CASCADE_TESTS: 'whole' };

/** Tests in which real processes, threads and timers work at the same time: what is wrong in one of ten runs shows in ten. */
const CONCURRENT = [
  'conformance/crash-points',
  'conformance/repeated',
  'runtime/transactions',
  'features/delivery',
  'platform/mongod/supervisor',
  'runtime/cluster',
  'features/types',
  'runtime/programs',
  'sandbox',
  'server/cli/serve',
  'server/listen',
];

/** @type {import('./nightly-plan.d.mts').plan} */
export function plan({ only, minutes, seed }) {
  const npm = (script, ...args) => ['npm', 'run', '-s', script, '--', ...args];
  const steps = [
    { name: 'test', what: 'npm test, with all repetitions', env: WHOLE, command: ['node', 'scripts/test.mjs'] },
    {
      name: 'simulation',
      what: `crashes in a simulated world, new seeds for ${minutes} min`,
      command: ['node', 'scripts/fuzz.mjs', '--minutes', String(minutes), '--only', 'engine/crash-simulation.test.ts'],
    },
    {
      name: 'simulation:nodes',
      what: 'statements on nodes in a simulated world, 10,000 new seeds',
      env: { CASCADE_FLEET_SEEDS: '10000', CASCADE_SIMULATION_FROM: String(seed) },
      command: ['node', 'scripts/test.mjs', 'engine/fleet-simulation'],
    },
    {
      name: 'fuzz',
      what: `all random tests, new seeds for ${minutes} min`,
      command: ['node', 'scripts/fuzz.mjs', '--minutes', String(minutes)],
    },
    {
      name: 'concurrent',
      what: `${REPETITIONS} repetitions of the tests of what is concurrent`,
      times: REPETITIONS,
      env: WHOLE,
      command: ['node', 'scripts/test.mjs', ...CONCURRENT],
    },
    { name: 'docs', what: 'every sh block of the documents, in a fresh folder', command: ['node', 'scripts/doc-blocks/main.mjs'] },
    ...['20', '22', '24', '26'].map((major) => ({
      name: `bare-root:${major}`,
      what: `npm start in a bare Debian with Node ${major}${BARE_ROOT[major]?.what ?? ''} (needs root)`,
      command: ['node', 'scripts/bare-root.mjs', major, ...(BARE_ROOT[major] ? [BARE_ROOT[major].option] : [])],
    })),
    {
      name: 'compose',
      what: 'compose.yaml in containers: processes stopped and killed under load (needs root; podman is installed by apt-get)',
      command: ['node', 'scripts/compose.mjs'],
    },
    { name: 'omit-dev', what: 'every command without development packages', command: ['node', 'scripts/omit-dev.mjs'] },
    {
      name: 'rights',
      what: '100,000 random operations by users with random rights beside a model',
      // Half an hour on a busy machine: more than a file of tests may take by day.
      env: { CASCADE_RIGHTS_STEPS: '100000', CASCADE_SEED: String(seed), CASCADE_TEST_FILE_S: '3600' },
      command: ['node', 'scripts/test.mjs', 'server/random-rights'],
    },
    {
      name: 'brokers',
      what: 'sources against mosquitto, RabbitMQ and NATS, killed and started again (installed by apt-get, as root); many installations',
      command: ['node', 'node_modules/vitest/vitest.mjs', 'run', '--root', '.', '--config', 'scripts/testing/brokers.config.ts'],
    },
    {
      name: 'browser',
      what: 'the page of the inbox in chromium, by mouse, touch and keyboard (its Debian package must be there)',
      command: ['node', 'node_modules/vitest/vitest.mjs', 'run', '--root', '.', '--config', 'scripts/testing/browser.config.ts'],
    },
    { name: 'faults', what: 'seeded faults, which the cases must notice', command: npm('faults') },
    { name: 'faults:kernel', what: 'seeded faults of the kernel, which the simulation must notice', command: npm('faults:kernel') },
    {
      name: 'mutation',
      what: 'small changes of compiler, stdlib, typing and model, which tests must notice as often as before',
      command: npm('mutation', '--check', '--seed', String(seed)),
    },
    { name: 'flood', what: 'more inserts than the rules can follow', command: npm('flood') },
    { name: 'flood:reliable', what: 'more messages than are acknowledged', command: npm('flood', '--kind', 'reliable') },
    { name: 'crosscheck', what: 'built-ins against Java and Python', command: npm('crosscheck', '--seed', String(seed)) },
    {
      name: 'fuzz:api',
      what: `what the OpenAPI document promises, ${minutes} min`,
      command: npm('fuzz:api', '--minutes', String(minutes), '--seed', String(seed)),
    },
    { name: 'hostile', what: 'programs that try to take more than their share', command: npm('hostile') },
    { name: 'hostile:clients', what: 'hostile clients of all kinds at once', command: npm('hostile', '--clients', '--seconds', '120') },
    { name: 'chaos', what: '200 kills of real processes', command: npm('chaos', '--kills', '200', '--seed', String(seed)) },
    {
      name: 'chaos:stands',
      what: 'two processes, one of which stands still 10 times',
      command: npm('chaos', '--stands', '10', '--seed', String(seed)),
    },
    {
      name: 'chaos:processes',
      what: 'three processes, 80 times one of which is killed, stopped or stands still (needs nats-server)',
      command: npm('chaos', '--processes', '80', '--seed', String(seed)),
    },
    {
      name: 'chaos:members',
      what: 'a replica set of three whose members die, step down, stand still and are cut off 60 times, with clocks that jump',
      command: npm('chaos', '--members', '60', '--seed', String(seed)),
    },
    {
      name: 'chaos:power',
      what: 'the power fails 40 times, and what the database has not synced is gone (needs a C compiler)',
      command: npm('chaos', '--power', '40', '--seed', String(seed)),
    },
    {
      name: 'chaos:without-syncs',
      what: 'the checker must notice that the database is not heard when it syncs its journal',
      command: npm('chaos', '--power', '5', '--seed', String(seed), '--without', 'syncs'),
    },
    {
      name: 'chaos:definitions',
      what: 'rules and types change under load while the service is killed',
      command: npm('chaos:definitions', '--seed', String(seed)),
    },
    {
      name: 'flood:mqtt',
      what: '10,000 messages a second into a rule for ten minutes (needs mosquitto)',
      command: npm('flood', '--kind', 'mqtt', '--seconds', '600'),
    },
    {
      name: 'chaos:sources',
      what: 'brokers and the service disturbed 50 times each under load (needs the brokers)',
      command: npm('chaos:sources', '--seed', String(seed)),
    },
    {
      name: 'chaos:nodes',
      what: 'an installation and one that does its statements, killed in turn',
      command: npm('chaos:nodes', '--seed', String(seed)),
    },
    {
      name: 'chaos:forms',
      what: '10,000 open forms, answered twice each while the service is killed',
      command: npm('chaos:forms', '--seed', String(seed)),
    },
    ...['marks', 'journal', 'versions'].map((part) => ({
      name: `chaos:without-${part}`,
      what: `the checker must notice that ${part} are missing`,
      command: npm('chaos', '--kills', '50', '--seed', String(seed), '--without', part),
    })),
  ];
  return steps.filter(({ name }) => only.length === 0 || only.includes(name));
}

/** @type {import('./nightly-plan.d.mts').choose} */
export function choose(args, randomSeed) {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        only: { type: 'string', multiple: true, default: [] },
        minutes: { type: 'string', default: String(DEFAULT_MINUTES) },
        seed: { type: 'string', default: String(randomSeed) },
        list: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    return { error: error.message };
  }
  const choice = { only: values.only, minutes: Number(values.minutes), seed: Number(values.seed), list: values.list };
  if (!(choice.minutes > 0)) return { error: `--minutes takes a number above 0, not ${values.minutes}` };
  if (!Number.isSafeInteger(choice.seed) || choice.seed < 0) return { error: `--seed takes a whole number, not ${values.seed}` };
  const names = plan({ ...choice, only: [] }).map(({ name }) => name);
  const unknown = choice.only.find((name) => !names.includes(name));
  if (unknown !== undefined) return { error: `--only takes ${names.join(', ')}, not ${unknown}` };
  return choice;
}

export const usage = () => 'usage: npm run nightly -- [--only NAME]… [--minutes N] [--seed S] [--list]';
