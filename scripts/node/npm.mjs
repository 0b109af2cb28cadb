// npm as it comes with the running Node, and a package fetched by it: by name, and only with the content that we know.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TIMEOUT_MS = 10 * 60_000;

/** How npm is called: `npm start` and its like name the script of theirs, else it is the `npm` on PATH. */
export function npmCommand(env = process.env) {
  const script = env.npm_execpath;
  if (script && /[\\/]npm-cli\.c?js$/.test(script)) return { file: process.execPath, args: [script], shell: false };
  return { file: 'npm', args: [], shell: process.platform === 'win32' };
}

/**
 * Fetches a package into `folder`/node_modules without running any script of its own.
 * @param {string} folder exists and is empty
 * @param {{ package: string, version: string, integrity: string }} wanted npm refuses an archive of another integrity
 */
export function fetchPackage(folder, { package: name, version, integrity }) {
  const project = { name: 'fetched', version: '0.0.0', private: true, dependencies: { [name]: version } };
  const packages = { '': project, [`node_modules/${name}`]: { version, integrity } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...project, lockfileVersion: 3, requires: true, packages }));
  const { file, args, shell } = npmCommand();
  const { error, status, signal, stderr } = spawnSync(
    file,
    [...args, 'ci', '--prefix', '.', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
    { cwd: folder, shell, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8', timeout: TIMEOUT_MS },
  );
  if (error?.code === 'ENOENT') throw new Error('npm is not on PATH');
  if (error?.code === 'ETIMEDOUT') throw new Error(`npm took more than ${TIMEOUT_MS / 60_000} minutes`);
  if (error) throw new Error(`npm could not be started: ${error.message}`);
  if (signal) throw new Error(`npm was ended by ${signal}`);
  if (status !== 0) throw new Error(reasonIn(stderr) || `npm ended with ${status}`);
}

/** The lines of npm's errors that say why: not its logs, and each once. */
function reasonIn(stderr) {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim());
  return [...new Set(lines.filter((line) => line && !/^A complete log|^code |^errno |_logs/.test(line)))].slice(0, 3).join(' ');
}
