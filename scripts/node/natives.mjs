// The packages that are machine code: whether they are the files that we know (natives.json), and whether they load in the running Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';

const known = JSON.parse(readFileSync(new URL('./natives.json', import.meta.url), 'utf8'));
const platform = `${process.platform}-${process.arch}`;

const PACKAGES = {
  'isolated-vm': {
    /** As it looks for its binary itself: one that was compiled here goes before those that it carries. */
    find: (folder) => createRequire(join(folder, 'package.json'))('node-gyp-build').resolve(folder),
    program: "new (require('isolated-vm').Isolate)({ memoryLimit: 16 }).createContextSync().evalSync('1')",
  },
  'uWebSockets.js': {
    find: (folder) => join(folder, 'dist', 'bin', `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`),
    program: "import('uWebSockets.js').catch((error) => { console.error(String(error)); process.exitCode = 1; })",
  },
};

/**
 * Looks at what is installed; an answer is kept until something else is installed.
 * @param {string} root the folder whose node_modules is meant
 * @typedef {{ text: string, isForeign: boolean }} Fault `isForeign`: the file is not the one that an installation puts there
 * @returns {Record<'isolated-vm' | 'uWebSockets.js', Fault | null>} what is wrong with each
 */
export function faultsOfInstalled(root) {
  const kept = join(root, 'node_modules', '.cache', 'cascade', `natives-${process.version}-${platform}.json`);
  const installed = join(root, 'node_modules', '.package-lock.json');
  const of = existsSync(installed) ? statSync(installed).mtimeMs : 0;
  const before = readKept(kept);
  if (before?.of === of && before.faults) return before.faults;
  const faults = Object.fromEntries(Object.keys(PACKAGES).map((name) => [name, faultOf(root, name)]));
  keep(kept, { of, faults });
  return faults;
}

/** Removes what of uWebSockets.js is for other systems and Nodes: of 133 MB it leaves 7. */
export function removeForeign(root) {
  const folder = folderOf(root, 'uWebSockets.js');
  const own = PACKAGES['uWebSockets.js'].find(folder);
  if (!existsSync(own)) return;
  for (const name of readdirSync(dirname(own)))
    if (name.endsWith('.node') && join(dirname(own), name) !== own) rmSync(join(dirname(own), name));
}

function faultOf(root, name) {
  const { find, program } = PACKAGES[name];
  const folder = folderOf(root, name);
  let file;
  try {
    file = find(folder);
  } catch {
    // told below, as for a file that is not there
  }
  const expected = file && known[name].files[relative(folder, file).replaceAll(sep, '/')];
  if (!file || !existsSync(file)) {
    return { text: `${name} has no binary for Node ${process.version} on ${platform}.`, isForeign: Boolean(expected) };
  }
  const altered = expected ? hashFault(file, expected) : ''; // a file that we don't know by name was built here, by a wish of its owner
  const text = altered || loadFault(root, name, program);
  return text ? { text, isForeign: altered !== '' } : null;
}

function folderOf(root, name) {
  return join(root, 'node_modules', name);
}

function hashFault(file, expected) {
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  return found === expected
    ? ''
    : `${file} is not the file that Cascade was tested with and is not loaded: its SHA-256 is ${found}, not ${expected}.`;
}

/** In a process of its own, as a module built for another Node may crash the one that loads it. */
function loadFault(root, name, program) {
  const { error, status, signal, stderr } = spawnSync(process.execPath, ['--no-node-snapshot', '-e', program], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (!error && status === 0) return '';
  const reason = stderr?.split('\n').findLast((line) => /^\w*Error: /.test(line));
  return `${name} does not load in Node ${process.version}: ${reason ?? error?.message ?? `it ended with ${signal ?? status}`}`;
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
