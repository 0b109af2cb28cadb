// Runs vitest and says whether that was green (judge.mjs). Each worker and vitest itself write what they know into a folder of this run, so
// that nothing depends on a message between processes.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judge } from './judge.mjs';

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const quarantineFile = join(project, 'scripts', 'testing', 'quarantine.json');

/** For vitest to end once it has reported, and for a whole run: several times what they take on a slow machine. */
const END_MS = 60_000;
const RUN_MS = 60 * 60_000;

/** @type {import('./run-vitest.d.mts').runVitest} */
export async function runVitest({
  patterns = [],
  args = [],
  root = project,
  found = findTestFiles(root, patterns),
  env = {},
  stdio = 'inherit',
  endMs = END_MS,
  runMs = RUN_MS,
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-tests-'));
  try {
    const quarantine = env.CASCADE_TEST_QUARANTINE ?? quarantineFile;
    const vitest = spawn(join(project, 'node_modules', '.bin', 'vitest'), ['run', ...args, ...patterns], {
      cwd: root,
      stdio: ['ignore', stdio, stdio],
      env: { ...process.env, ...env, CASCADE_TEST_CHANNEL: folder, CASCADE_TEST_QUARANTINE: quarantine },
    });
    const output = collect(vitest);
    const outcome = await watched(vitest, join(folder, 'report.json'), { endMs, runMs });
    const verdict = judge({
      ...outcome,
      found,
      report: existsSync(join(folder, 'report.json')) ? JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) : null,
      verdicts: lines(join(folder, 'verdicts')),
      givenUp: lines(join(folder, 'given-up')),
      quarantined: JSON.parse(readFileSync(quarantine, 'utf8')).map(({ name }) => name),
    });
    return { ...verdict, output: output.join('') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @type {import('./run-vitest.d.mts').findTestFiles} */
export function findTestFiles(root, patterns = []) {
  const files = readdirSync(root, { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !['node_modules', 'dist', 'data', 'coverage'].includes(entry.name),
    )
    .flatMap(({ name }) => readdirSync(join(root, name), { recursive: true }).map((file) => join(name, file)))
    .filter((file) => file.endsWith('.test.ts') && !file.split(sep).includes('node_modules'));
  // As vitest does: a pattern is a part of the path.
  const parts = patterns.map((pattern) => relative(root, resolve(root, pattern)) + (pattern.endsWith('/') ? sep : ''));
  return files.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part))).sort();
}

/** Waits for its end, and ends it when it has reported and goes on, or when it goes on for very long. */
async function watched(child, reportFile, { endMs, runMs }) {
  const ended = new Promise((resolveEnd) => {
    child.on('error', (error) => resolveEnd({ status: 1, signal: String(error) }));
    child.on('exit', (status, signal) => resolveEnd({ status, signal }));
  });
  const begun = performance.now();
  let reportedAt = Number.POSITIVE_INFINITY;
  let overdue = null;
  const watch = setInterval(() => {
    const now = performance.now();
    if (reportedAt > now && existsSync(reportFile)) reportedAt = now;
    if (now - reportedAt >= endMs) overdue = `vitest did not end within ${Math.round(endMs / 1_000)} s of its report`;
    else if (now - begun >= runMs) overdue = `vitest did not end within ${Math.round(runMs / 60_000)} minutes`;
    else return;
    child.kill('SIGKILL');
  }, 500);
  const { status, signal } = await ended;
  clearInterval(watch);
  return { status, signal, overdue };
}

/** Its output, when it comes through pipes. */
function collect(child) {
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (part) => parts.push(part));
  return parts;
}

function lines(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
