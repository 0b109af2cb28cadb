// Which Node runs Cascade. It is built for and tested on Node 22; the entry scripts and bin/cascade.js pass through here first, and whoever
// started them with another Node goes on under the pinned one. Everything in this folder is plain JavaScript without packages, since it runs
// before anything is installed, and on Nodes that are older and newer than ours.
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { become, goesOn, isReplaceable } from './become.mjs';
import { choose } from './choose.mjs';
import { faultsOfInstalled } from './natives.mjs';
import { namedNode, pinnedNode } from './pinned.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Returns in a process whose Node is the right one: at once where this is such a process, else never: the program begins anew under the other
 * Node, with the same arguments and standard streams. Where there is none to be had it says what to install and ends with 1.
 * @param {readonly string[]} [flags] of Node, with which it is to run; a process that can't become another one stays as it is, and is as right
 */
export async function runOnRightNode(flags = []) {
  if (goesOn()) return leadPath();
  try {
    const choice = choose(process.version, process.env.CASCADE_NODE, nativesLoad);
    if (choice.use === 'this') return await withFlags(flags);
    const file = choice.use === 'named' ? namedNode(choice.file) : pinnedNode((line) => console.error(`· ${line}`));
    if (isSame(file, process.execPath)) return await withFlags(flags);
    return await become(file, { flags });
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}

async function withFlags(flags) {
  const missing = flags.filter((flag) => !process.execArgv.includes(flag));
  const canReplace = isReplaceable && !process.channel; // the channel to a process that has forked this one would be lost
  return missing.length > 0 && canReplace ? become(process.execPath, { flags: missing }) : leadPath();
}

/** Asked only of newer Nodes, which do where somebody has installed binaries for them. */
function nativesLoad() {
  return existsSync(join(root, 'node_modules')) && Object.values(faultsOfInstalled(root)).every((fault) => !fault);
}

/** Commands of packages begin with `#!/usr/bin/env node`, so the `node` of PATH has to be this one. */
function leadPath() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const first = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (!first || !isSame(first, process.execPath)) process.env.PATH = [dirname(process.execPath), ...folders].join(delimiter);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // no such file, or none of ours to run
  }
}

function isSame(one, other) {
  return realpathSync(one) === realpathSync(other);
}
