// Makes a fresh clone ready to run: packages installed, and those that are machine code the files that we know, and able to load.
// Nothing is compiled and no package's own script is run: what is machine code comes prebuilt inside the packages.
// Plain Node without packages, since none may be there yet.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultOfInstalled } from './node/natives.mjs';
import { npmCommand } from './node/npm.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {(line: string) => void} say told what is going on */
export async function ensureInstalled(say) {
  // What another Node has installed holds its binaries, not ours.
  if (!isInstalled() || faultOfInstalled(root)) {
    say('Installing packages (npm ci)');
    if (!(await installPackages())) throw new Error('npm ci failed (its message is above)');
  }
  const fault = faultOfInstalled(root);
  if (fault) throw new Error(fault);
}

/** npm writes node_modules/.package-lock.json last, so an interrupted or outdated installation shows. */
function isInstalled() {
  const done = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(done)) return false;
  return statSync(done).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs || sameAsLock(done);
}

/** A lock file that is only newer (a checkout touches it) asks for nothing when it names what is installed. */
function sameAsLock(done) {
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
  const present = JSON.parse(readFileSync(done, 'utf8')).packages ?? {};
  return Object.entries(wanted).every(([path, { version, optional }]) => path === '' || optional || present[path]?.version === version);
}

function installPackages() {
  const { file, args, shell } = npmCommand();
  const all = [...args, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  return new Promise((resolve) => {
    const child = spawn(file, all, { cwd: root, shell, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => {
      console.error(`npm could not be started: ${error.message}`);
      resolve(false);
    });
    child.on('close', (status) => resolve(status === 0));
  });
}
