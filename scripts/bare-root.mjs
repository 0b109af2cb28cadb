// `node scripts/bare-root.mjs MAJOR`: what a newcomer meets who has Node MAJOR and nothing else. Makes a Debian without compiler, Python and
// Node headers (needs root and mmdebstrap), puts one Node and its npm there, and this clone as it is; runs `npm start` in it until /healthz
// answers 200, then stops it by SIGTERM. Prints times (of each stage, too) and sizes as a line of JSON at the end; anything amiss ends it with 1,
// a first start that takes longer than --within SECONDS (60) too.
// The database is this machine's own mongod, brought along; with --fetch-mongod the service has to fetch one.
// With --docs the `sh` blocks of the documents are run there (doc-blocks/), and with --test `npm test` is, in place of the second start.
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bringMongod, bringSettings, debian, installNode, NPM, run, settings, unpack } from './debian-root.mjs';

/** Beside what Debian always has: what Node links to (libatomic from 26 on), and mongod; and what the documents use. */
const PACKAGES = ['bash', 'ca-certificates', 'curl', 'libstdc++6', 'libatomic1', 'libcurl4'];
const FORBIDDEN = ['cc', 'gcc', 'g++', 'clang', 'make', 'python3', 'python', 'node-gyp'];
/** What a start may take; a slow network is no fault of ours, so it is far beyond what it does take. */
const START_MS = 5 * 60_000;
const STOP_MS = 60_000;
/** In place of the second start: the option, the name of its figures, and the command, which begins on empty data. */
const AFTER_FIRST = [
  ['docs', 'documents', 'node scripts/doc-blocks/main.mjs --here'],
  ['test', 'tests', 'npm test'],
];
/** What the terminal shows when a stage is over. */
const STAGES = [
  ['npm', /scripts\/start\.mjs/],
  ['pinnedNode', /Installing packages/],
  ['packages', /added \d+ packages/],
  ['build', /dist\/: \d+ files|dist\/ is up to date/],
  ['database', /the database is ready/],
  ['service', /Cascade serves on/],
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string', default: 'bookworm' },
    within: { type: 'string', default: '60' },
    'fetch-mongod': { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    test: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const major = positionals[0];
if (!NPM[major] || positionals.length !== 1 || (values.docs && values.test))
  stop(
    `usage: node scripts/bare-root.mjs ${Object.keys(NPM).join('|')} [--suite DEBIAN] [--within SECONDS] [--fetch-mongod] [--docs | --test] [--keep]`,
    2,
  );
if (process.platform !== 'linux' || process.getuid() !== 0) stop('A bare root can be made by root on Linux only.', 2);

const clone = dirname(dirname(fileURLToPath(import.meta.url)));
const root = mkdtempSync(join(tmpdir(), 'cascade-bare-'));
try {
  const figures = await measure();
  console.log(JSON.stringify(figures));
} catch (error) {
  console.error(`FAILED with Node ${major} on ${values.suite}: ${error.message}`);
  process.exitCode = 1;
} finally {
  if (values.keep) console.log(`kept in ${root}`);
  else rmSync(root, { recursive: true, force: true });
}

async function measure() {
  unpack(debian(values.suite, PACKAGES), root);
  const node = installNode(root, major);
  bringSettings(root);
  const environment = { ...settings(), ...(values['fetch-mongod'] ? bringPipSettings() : bringMongod(root)) };
  bringClone();
  const present = FORBIDDEN.filter((name) => ['/bin', '/usr/bin', '/usr/local/bin'].some((folder) => existsSync(join(root, folder, name))));
  if (present.length > 0) throw new Error(`the root is not bare: it has ${present.join(', ')}`);
  const first = await start(environment);
  const then = AFTER_FIRST.find(([name]) => values[name]);
  const second = then ? await runToEnd(then[2], environment) : await start(environment);
  if (first.seconds > Number(values.within)) throw new Error(`the first start took ${first.seconds} s, more than ${values.within}`);
  return {
    node,
    suite: values.suite,
    firstStart: first,
    [then?.[1] ?? 'secondStart']: second,
    megabytes: {
      nodeModules: megabytes('cascade/node_modules'),
      pinnedNode: megabytes('root/.cache/cascade'),
      npmCache: megabytes('root/.npm'),
    },
  };
}

/** By these the Python index is found where there is no pip. */
function bringPipSettings() {
  if (existsSync('/etc/pip.conf')) copyFileSync('/etc/pip.conf', join(root, 'etc/pip.conf'));
  const address = process.env.PIP_INDEX_URL;
  return address ? { PIP_INDEX_URL: address } : {};
}

/** What git knows or would take up, as it is in the folder now. */
function bringClone() {
  const files = run('git', ['-C', clone, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0').filter(Boolean);
  for (const file of files.filter((name) => existsSync(join(clone, name)))) {
    mkdirSync(dirname(join(root, 'cascade', file)), { recursive: true });
    copyFileSync(join(clone, file), join(root, 'cascade', file));
  }
}

/**
 * @returns the seconds until /healthz says 200, and of those that each stage took; throws when it does not say so, or when the service does
 *   not end well
 */
async function start(environment) {
  const begun = performance.now();
  const child = inRoot('npm start -- --host 127.0.0.1 --port 0', { CASCADE_ADMIN_PASSWORD: 'bare-root-password', ...environment });
  let output = '';
  const over = new Map();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      for (const [stage, shown] of STAGES) if (!over.has(stage) && shown.test(output)) over.set(stage, performance.now() - begun);
      process.stdout.write(text);
    });
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
  try {
    const url = await until(START_MS, () => /(http:\/\/[\w.]+:\d+)/.exec(output)?.[1], ended);
    await until(START_MS, async () => (await fetch(`${url}/healthz`).catch(() => null))?.status === 200, ended);
    const seconds = tenths(performance.now() - begun);
    process.kill(-child.pid, 'SIGTERM');
    const end = await Promise.race([ended, late(STOP_MS)]);
    if (end === 'late') throw new Error(`the service did not end within ${STOP_MS / 1000} s of SIGTERM`);
    if (await fetch(`${url}/healthz`).catch(() => null)) throw new Error('the service still answers after its end');
    if (/adopted/.test(output)) throw new Error('the start before has left its database running');
    return { seconds, stages: lengths(over) };
  } finally {
    killGroup(child);
  }
}

/** @returns the seconds that the command takes, which starts without data; throws when it fails */
async function runToEnd(command, environment) {
  rmSync(join(root, 'cascade/data'), { recursive: true, force: true });
  const begun = performance.now();
  const child = inRoot(command, environment);
  for (const stream of [child.stdout, child.stderr]) stream.pipe(process.stdout, { end: false });
  try {
    const status = await new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
    if (status !== 0) throw new Error(`${command} ended with ${status}`);
    return { seconds: tenths(performance.now() - begun) };
  } finally {
    killGroup(child);
  }
}

/** A command in the folder of the clone; its mounts, in a name space of their own, end with it, and the group can be ended as a whole. */
function inRoot(command, environment) {
  const mounts = `mount -t proc proc ${root}/proc && mount --rbind /dev ${root}/dev`;
  return spawn('unshare', ['--mount', 'bash', '-c', `${mounts} && exec chroot ${root} /bin/bash -c 'cd /cascade && exec ${command}'`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/root', ...environment },
  });
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody of the group is left, as it should be.
  }
}

/** Of the times at which stages were over, in their order, how long each took, in seconds. */
function lengths(over) {
  const inOrder = [...over].sort(([, a], [, b]) => a - b);
  return Object.fromEntries(inOrder.map(([stage, at], i) => [stage, tenths(at - (inOrder[i - 1]?.[1] ?? 0))]));
}

function tenths(ms) {
  return Math.round(ms / 100) / 10;
}

/** Looks again and again until there is an answer; throws when the time is over or the service has ended. */
async function until(ms, look, ended) {
  const limit = performance.now() + ms;
  for (;;) {
    const answer = await look();
    if (answer) return answer;
    const end = await Promise.race([ended.then((status) => ({ status })), late(100)]);
    if (end !== 'late') throw new Error(`npm start ended with ${end.status}`);
    if (performance.now() > limit) throw new Error(`it did not serve within ${ms / 1000} s`);
  }
}

function late(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms, 'late'));
}

function megabytes(path) {
  return existsSync(join(root, path)) ? Number(run('du', ['-sm', join(root, path)]).split('\t')[0]) : 0;
}

function stop(message, status) {
  console.error(message);
  process.exit(status);
}
