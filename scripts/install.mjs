// Makes a fresh clone ready to run: packages installed, and isolated-vm (the one that is compiled here) able to load.
// Plain Node without packages, since none may be there yet.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {(line: string) => void} say told what is going on */
export async function ensureInstalled(say) {
  if (!isInstalled()) {
    say('Installing packages (npm ci; isolated-vm is compiled, which takes a minute or two)');
    if (!(await npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']))) {
      // The usual reason is that the package that is compiled did not find Node's headers: install the rest, then compile below.
      say("npm ci failed; once more without the packages' own install steps");
      if (!(await npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts'])))
        throw new Error('npm ci failed (its message is above)');
    }
  }
  if (isolateLoads()) return;
  for (const nodedir of [undefined, headers()].filter((dir, index) => index === 0 || dir)) {
    say(`Compiling isolated-vm${nodedir ? ` with the headers in ${nodedir}` : ''}`);
    await npm(['rebuild', 'isolated-vm', '--foreground-scripts', '--loglevel=error'], nodedir);
    if (isolateLoads()) return;
  }
  throw new Error(
    'isolated-vm does not load and could not be compiled. It needs python3, make and a C++ compiler (on Debian or Ubuntu: apt install python3 make g++) and the headers of this Node (set npm_config_nodedir to the folder that has include/node).',
  );
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

/** In a process of its own, as a module built for another Node may crash the one that loads it. */
function isolateLoads() {
  const program = "new (require('isolated-vm').Isolate)({ memoryLimit: 16 }).createContextSync().evalSync('1')";
  return spawnSync(process.execPath, ['--no-node-snapshot', '-e', program], { cwd: root, stdio: 'ignore' }).status === 0;
}

/** The prefix of the running Node when it brings its own headers. */
function headers() {
  const prefix = dirname(dirname(process.execPath));
  const file = join(prefix, 'include', 'node', 'node_version.h');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const number = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1];
  return `v${number('MAJOR')}.${number('MINOR')}.${number('PATCH')}` === process.version ? prefix : undefined;
}

function npm(args, nodedir) {
  const env = { ...process.env, ...(nodedir ? { npm_config_nodedir: nodedir } : {}) };
  return new Promise((resolve) => {
    const child = spawn('npm', args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', () => resolve(false));
    child.on('close', (status) => resolve(status === 0));
  });
}
