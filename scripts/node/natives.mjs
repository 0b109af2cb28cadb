// The packages that are machine code: whether they are the files that we know (natives.json), and whether they load in the running Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { cacheFolder, workFolder } from './cache.mjs';
import { fetchPackages } from './npm.mjs';

const known = JSON.parse(readFileSync(new URL('./natives.json', import.meta.url), 'utf8'));
const platform = `${process.platform}-${process.arch}`;
const socketsPackage = `@uwsjs/${platform}-${process.versions.node.split('.')[0]}`;

const TRY_ISOLATE = "new (require('isolated-vm').Isolate)({ memoryLimit: 16 }).createContextSync().evalSync('1')";

/**
 * Looks at what is installed; an answer is kept until something else is installed.
 * @param {string} root the folder of package-lock.json and node_modules
 * @returns {string} what is wrong; empty when all is well
 */
export function faultOfInstalled(root) {
  const kept = join(root, 'node_modules', '.cache', 'cascade', `natives-${process.version}-${platform}.json`);
  const installed = join(root, 'node_modules', '.package-lock.json');
  const of = existsSync(installed) ? statSync(installed).mtimeMs : 0;
  const before = readKept(kept);
  if (before?.of === of) return before.fault;
  const fault = faultIn(root, hasSockets(root));
  keep(kept, { of, fault });
  return fault;
}

/** @param {string} root its packages are installed */
export function installedNativesLoad(root) {
  return faultOfInstalled(root) === '';
}

/**
 * Before anything is installed: fetches just these packages, the smaller one first, and tries. The answer is kept in the cache.
 * @param {string} root its packages are not installed yet
 */
export function fetchedNativesLoad(root, { cache = cacheFolder(), fetch = fetchPackages } = {}) {
  if (!hasSockets(root)) return false;
  const lock = lockOf(root);
  const versions = [socketsPackage, 'isolated-vm'].map((name) => lock[`node_modules/${name}`].version).join('-');
  const kept = join(cache, 'natives', `${process.version}-${platform}-${libc()}-${versions}.json`);
  const before = readKept(kept);
  if (before) return before.loads;
  let work;
  try {
    work = workFolder(cache);
    const loads = [[socketsPackage], ['isolated-vm', 'node-gyp-build']].every((names) => {
      const folder = join(work, String(names.length));
      mkdirSync(folder);
      fetch(folder, Object.fromEntries(names.map((name) => [name, lock[`node_modules/${name}`]])));
      return names[0] === socketsPackage ? loadFault(folder, `require('${socketsPackage}')`) === '' : isolateFault(folder) === '';
    });
    keep(kept, { loads });
    return loads;
  } catch {
    return false; // nothing can be fetched, which the fetch of the pinned Node will say better
  } finally {
    if (work) rmSync(work, { recursive: true, force: true });
  }
}

function faultIn(root, withSockets) {
  return isolateFault(root) || (withSockets ? socketsFault(root) : '');
}

function isolateFault(root) {
  const find = createRequire(join(root, 'package.json'));
  let file;
  try {
    const main = find.resolve('isolated-vm');
    file = createRequire(main)('node-gyp-build').resolve(dirname(main));
  } catch {
    return `isolated-vm has no binary for Node ${process.version} on ${platform}. Where there is a C++ compiler with Python 3 and Node's headers, 'npm rebuild isolated-vm --ignore-scripts=false' makes one.`;
  }
  return hashFault('isolated-vm', file) || loadFault(root, TRY_ISOLATE, 'isolated-vm');
}

function socketsFault(root) {
  try {
    const file = createRequire(createRequire(join(root, 'package.json')).resolve('uWebSockets.js')).resolve(`${socketsPackage}/uws.node`);
    return hashFault(socketsPackage, file) || loadFault(root, "require('uWebSockets.js')", 'uWebSockets.js');
  } catch {
    return `uWebSockets.js has no binary for Node ${process.version} on ${platform}.`;
  }
}

/** What was built on this machine is not in our list, and so is anybody's own. */
function hashFault(name, file) {
  const folder = `${sep}node_modules${sep}${name.replaceAll('/', sep)}${sep}`;
  const inside = relative(file.slice(0, file.lastIndexOf(folder) + folder.length), file).replaceAll(sep, '/');
  const expected = known[name]?.files[inside];
  if (!expected) return '';
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  return found === expected
    ? ''
    : `${file} is not the file that Cascade was tested with (its SHA-256 is ${found}, not ${expected}). It was not loaded.`;
}

/** In a process of its own, as a module built for another Node may crash the one that loads it. */
function loadFault(folder, program, name = '') {
  const { error, status, signal, stderr } = spawnSync(process.execPath, ['--no-node-snapshot', '-e', program], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (!error && status === 0) return '';
  const reason = stderr?.split('\n').find((line) => /^\w*Error: (?!This version of uWS)/.test(line));
  return `${name} does not load in Node ${process.version}: ${reason ?? error?.message ?? `it ended with ${signal ?? status}`}`;
}

/** Whether the lock file knows a binary of uWebSockets.js for this Node. */
function hasSockets(root) {
  return Boolean(lockOf(root)[`node_modules/${socketsPackage}`]);
}

function lockOf(root) {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
}

/** Systems that share a cache (a home on the network) may differ in this. */
function libc() {
  return process.report?.getReport().header.glibcVersionRuntime ?? 'other';
}

function readKept(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // not looked at yet
  }
}

function keep(file, answer) {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(answer));
  } catch {
    // A folder that cannot be written: looked at anew the next time.
  }
}
