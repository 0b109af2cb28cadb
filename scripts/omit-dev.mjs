// Installs the built product without development packages into a folder of its own and runs every command there: `node scripts/omit-dev.mjs`.
// It takes minutes and needs the package registry, so it is not part of `npm test`, which holds the imports alone
// (production-dependencies.test.ts).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'cascade-omit-dev-'));
const RULE = 'RULE tooFast\nWHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 80\n\nINSERT Alarm(pump: p._id)\n';
const SUM = 'PROCEDURE sum(numbers): Integer\n\nvar all = 0\nfor (n in numbers) {\n  all = all + n\n}\nreturn all\n';
const CASES = `given:
  types: { Pump: { rate: Integer } }
cases:
  - name: what is inserted is there
    steps:
      - insert: { into: Pump, object: { rate: 91 } }
      - select: { from: Pump, where: { rate: 91 }, count: 1 }
`;

/** Each command with what it must print. Those that ask a service must say that they cannot reach one, which takes all that they import. */
const commands = [
  [['--help'], /Usage: cascade/],
  [['check', 'tooFast.rule', 'sum.procedure'], /^2 files, 0 errors, 0 warnings/m],
  [['check', '--json', 'tooFast.rule'], /"ok": ?true/],
  [['compile', 'sum.procedure'], /function/],
  [['format', '--check', 'tooFast.rule'], /^/],
  [['run', 'sum.procedure', '--args', '[[1, 2, 3]]'], /^6$/m],
  [['builtins', 'Math.'], /Math\./],
  [['test', 'cases.yaml'], /1 passed, 0 failed/],
  [['serve', '--help'], /--port/],
  [['why', '--help'], /why/],
  [['replay', '--help'], /replay/],
];

let failed = 0;
const say = (isGood, what, text = '') => {
  failed += isGood ? 0 : 1;
  console.log(`${isGood ? '✓' : '✗'} ${what}${isGood ? '' : `\n${text.trim().replace(/^/gm, '    ')}`}`);
};

try {
  await build();
  for (const name of ['bin', 'dist', 'scripts/node', 'package.json', 'package-lock.json', '.npmrc', 'LICENSE'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  const files = { 'tooFast.rule': RULE, 'sum.procedure': SUM, 'cases.yaml': CASES };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const installed = spawnSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
  });
  say(installed.status === 0, 'npm ci --omit=dev', installed.stderr);
  for (const [args, wanted] of commands) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/cascade.js', ...args], { cwd: folder, encoding: 'utf8' });
    say(status === 0 && wanted.test(stdout), `cascade ${args.join(' ')}`, `status ${status}\n${stdout}${stderr}`);
  }
  say(await serves(), 'cascade serve answers and stops');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${commands.length + 2 - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Whether the service comes up, says that it is healthy, and ends in order. */
async function serves() {
  const child = spawn(process.execPath, ['bin/cascade.js', 'serve', '--port', '0', '--data', join(folder, 'data')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let text = '';
  const url = await new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /serves on (http:\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', () => resolve(undefined));
  });
  if (!url) return false;
  const { status } = await fetch(`${url}/healthz`);
  child.kill('SIGTERM');
  const [code] = await ended;
  return status === 200 && code === 0;
}
