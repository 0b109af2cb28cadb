// `npm test`: everything that must hold, from a fresh clone on. Installs and builds what is missing, then the checks of form, types and
// directions, then every test. `npm test -- PATTERN…` runs only the tests whose file names hold a pattern.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const patterns = process.argv.slice(2);
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const begun = performance.now();

/** For vitest to end when the tests are over, and for all of them: several times what they take on a slow machine. */
const END_MS = 60_000;
const RUN_MS = 60 * 60_000;

/** A command of node_modules/.bin: what it holds to be true, and how it is called. */
const checks = [
  { holds: 'the linter agrees', command: ['eslint', '--max-warnings', '0', '.'] },
  { holds: 'the types agree', command: ['tsc', '--noEmit', '-p', '.'] },
  {
    holds: 'imports go one way',
    command: [
      'depcruise',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
      'compiler',
      'stdlib',
      'runtime',
      'server',
      'case-runner',
      'conformance',
      'bench',
      'examples',
    ],
  },
  { holds: 'the formatter agrees', command: ['biome', 'format', '--colors=off', '.'] },
  { holds: 'no code is dead', command: ['knip', '--no-progress'] },
];

process.exitCode = await main();

async function main() {
  try {
    await ensureInstalled((line) => console.log(`· ${line}`));
  } catch (error) {
    console.error(error.message);
    return 1;
  }
  if (spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' }).status !== 0) return 1;
  const failed = patterns.length > 0 ? [] : await runChecks();
  const since = performance.now();
  if (!(await runTests(patterns))) failed.push('the tests pass');
  console.log(`tests: ${seconds(since)}, in all ${seconds(begun)}`);
  for (const holds of failed) console.error(`FAILED: that ${holds}`);
  return failed.length > 0 ? 1 : 0;
}

/** A file that hung is tried once more by itself, as a test that failed is, and named: it is to be mended and not forgotten. */
async function runTests(names, isSecondTry = false) {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-tests-'));
  const [hungFile, endFile] = [join(folder, 'hung'), join(folder, 'end')];
  try {
    const status = await runVitest(names, { ...process.env, CASCADE_TEST_HUNG: hungFile, CASCADE_TEST_END: endFile }, endFile);
    if (status === 0) return true;
    if (!existsSync(endFile)) return false;
    const hung = existsSync(hungFile) ? readFileSync(hungFile, 'utf8').trim().split('\n') : [];
    const { failed, unhandled } = JSON.parse(readFileSync(endFile, 'utf8'));
    for (const name of hung) console.log(`UNSTEADY: ${relative(root, name)} hung (told above, at HANGS)`);
    if (failed > 0 || unhandled !== hung.length) return false;
    return hung.length === 0 ? status === null : !isSecondTry && (await runTests(hung, true));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns its exit code; null when it told the result but did not end, and when nothing was heard of it for very long */
async function runVitest(names, env, endFile) {
  const vitest = spawn(binary('vitest'), ['run', ...names], { cwd: root, stdio: 'inherit', env });
  const ended = new Promise((resolve) => {
    vitest.on('error', () => resolve(1));
    vitest.on('exit', (code) => resolve(code));
  });
  const begun = performance.now();
  let toldAt = Number.POSITIVE_INFINITY;
  const watch = setInterval(() => {
    const now = performance.now();
    if (toldAt > now && existsSync(endFile)) toldAt = now;
    if (now - toldAt < END_MS && now - begun < RUN_MS) return;
    console.error(`HANGS: vitest does not end (${seconds(begun)})`);
    vitest.kill('SIGKILL');
  }, 1_000);
  const code = await ended;
  clearInterval(watch);
  return code;
}

/** Two at a time, as the machines at hand have two cores; the output of each comes whole, when it ends. */
async function runChecks() {
  const waiting = [...checks];
  const failed = [];
  const worker = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const since = performance.now();
      const { status, output } = await run(check.command);
      console.log(`${status === 0 ? '✓' : '✗'} ${check.holds} (${check.command[0]}, ${seconds(since)})`);
      if (status !== 0) {
        failed.push(check.holds);
        console.log(output.trimEnd());
      }
    }
  };
  await Promise.all([worker(), worker()]);
  return failed;
}

function run([name, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(binary(name), args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const parts = [];
    child.stdout.on('data', (part) => parts.push(part));
    child.stderr.on('data', (part) => parts.push(part));
    child.on('error', (error) => resolve({ status: 1, output: String(error) }));
    child.on('close', (status) => resolve({ status, output: Buffer.concat(parts).toString('utf8') }));
  });
}

function binary(name) {
  return join(root, 'node_modules', '.bin', name);
}
