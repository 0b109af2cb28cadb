// Makes a fresh clone ready to run: packages installed, and those that are machine code the files that we know, and able to load.
// Nothing is compiled and no package's own script is run: what is machine code comes prebuilt inside the packages.
// Plain Node without packages, since none may be there yet.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultsOfInstalled, removeForeign } from './node/natives.mjs';
import { npmCommand } from './node/npm.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
const COMPILE =
  "Where there is a C++ compiler with Python 3 and Node's headers, 'npm rebuild isolated-vm --ignore-scripts=false' makes a binary.";

/**
 * @param {(line: string) => void} say told what is going on
 * @param {{ dev?: boolean }} [options] whether what only tests, benchmarks and checks need is to be there, too
 */
export async function ensureInstalled(say, { dev = true } = {}) {
  if (!isInstalled(false) || fatalFault()) {
    say('Installing packages (npm ci)');
    await npm(['ci', dev ? '--include=dev' : '--omit=dev']);
  } else if (dev && !isInstalled(true)) {
    // Added to what is there: a service that runs from this folder keeps its packages.
    say('Installing the packages for development (npm install)');
    await npm(['install', '--no-save', '--include=dev']);
  } else return;
  removeForeign(root);
  const fault = fatalFault();
  if (fault) throw new Error(fault);
}

/**
 * What is not to be lived with: nothing runs without isolated-vm, and no file is loaded that is not the one we know. Another system's or Node's
 * installation may be there, so an installation is the first cure. (uWebSockets.js that has no binary here is the matter of who listens.)
 */
function fatalFault() {
  const { 'isolated-vm': isolatedVm, 'uWebSockets.js': sockets } = faultsOfInstalled(root);
  if (isolatedVm?.isForeign) return isolatedVm.text;
  if (isolatedVm) return `${isolatedVm.text} ${COMPILE}`;
  return sockets?.isForeign ? sockets.text : '';
}

/** npm writes node_modules/.package-lock.json last, so an interrupted or outdated installation shows. */
function isInstalled(dev) {
  const done = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(done)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
  const present = JSON.parse(readFileSync(done, 'utf8')).packages ?? {};
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' || entry.optional || entry.devOptional || (entry.dev && !dev) || present[path]?.version === entry.version,
  );
}

/** npm's own message goes to the terminal. */
function npm(args) {
  const { file, args: before, shell } = npmCommand();
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...before, ...args, ...FLAGS], { cwd: root, shell, stdio: ['ignore', 2, 2] });
    child.on('error', (error) => reject(new Error(`npm could not be started: ${error.message}`)));
    child.on('close', (status) => (status === 0 ? resolve() : reject(new Error(`npm ${args[0]} failed (its message is above)`))));
  });
}
