// What is checked without running anything: form, types, directions of imports, dead code. What a checker has found out about files that have
// not changed since is kept in .cache/.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const folders = [
  ...['compiler', 'stdlib', 'typing', 'model', 'platform', 'identity', 'sandbox', 'runtime', 'resources', 'features', 'engine', 'server'],
  ...['inbox', 'case-runner', 'conformance', 'bench', 'examples', 'scripts'],
];

/** The first is `npm run lint`. Each: a command of node_modules/.bin: what it holds to be true, and how it is called. */
export const checks = [
  { holds: 'types and linter agree', command: ['oxlint', '--config', 'oxlint.config.ts', '--type-aware', '--type-check', '.'] },
  { holds: 'imports go one way', command: ['depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...folders] },
  { holds: 'the formatter agrees', command: ['biome', 'format', '--colors=off', '.'] },
  { holds: 'no code is dead', command: ['knip', '--no-progress'] },
];

/**
 * One after the other.
 * @param {string} root
 * @param {readonly { holds: string, command: readonly string[] }[]} [list]
 * @returns {Promise<string[]>} what does not hold
 */
export async function runChecks(root, list = checks) {
  const failed = [];
  for (const { holds, command } of list) {
    const since = performance.now();
    const { status, output } = await run(root, command);
    console.log(`${status === 0 ? '✓' : '✗'} ${holds} (${command[0]}, ${((performance.now() - since) / 1000).toFixed(1)} s)`);
    if (status === 0) continue;
    failed.push(holds);
    console.log(output.trimEnd());
  }
  return failed;
}

function run(root, [name, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(join(root, 'node_modules', '.bin', name), args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const parts = [];
    child.stdout.on('data', (part) => parts.push(part));
    child.stderr.on('data', (part) => parts.push(part));
    child.on('error', (error) => resolve({ status: 1, output: String(error) }));
    child.on('close', (status) => resolve({ status, output: Buffer.concat(parts).toString('utf8') }));
  });
}
