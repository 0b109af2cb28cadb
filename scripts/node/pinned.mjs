// The Node of ours: named by the user, kept in the cache, or fetched into it once.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cacheFolder, workFolder } from './cache.mjs';
import { judge, OLDEST } from './choose.mjs';
import { fetchPackage } from './npm.mjs';

const pins = JSON.parse(readFileSync(new URL('./pins.json', import.meta.url), 'utf8'));

/** @returns {string} the Node that CASCADE_NODE names; throws when it won't do: a wish that can't be met is not passed over */
export function namedNode(file) {
  const { version, reason } = isThis(file) ? process : versionOf(file);
  if (!version) throw new Error(`CASCADE_NODE=${file} names no Node that runs here: ${reason}`);
  if (!judge(version).isNewEnough)
    throw new Error(`CASCADE_NODE=${file} names Node ${version}; Cascade needs ${OLDEST.join('.')} or newer.`);
  return file;
}

function isThis(file) {
  return existsSync(file) && realpathSync(file) === realpathSync(process.execPath);
}

/**
 * @param {(line: string) => void} say told before something is fetched
 * @param {{ platform?: string, cache?: string, fetch?: typeof fetchPackage }} [options]
 * @returns {string} the path of the pinned Node; throws an error that says what to install
 */
export function pinnedNode(say, { platform = `${process.platform}-${process.arch}`, cache = cacheFolder(), fetch = fetchPackage } = {}) {
  const pin = pins[platform];
  if (!pin) throw new Error(noNode('', `there is no package of it for ${platform}`));
  const name = platform.startsWith('win32') ? 'node.exe' : 'node';
  const file = join(cache, 'node', pin.version, platform, 'bin', name);
  if (existsSync(file)) return file;
  try {
    const work = workFolder(cache);
    try {
      say(`this is Node ${process.version}; fetching Node ${pin.version} by npm (50 MB, once; it is kept in ${join(cache, 'node')})`);
      fetch(work, pin);
      putInPlace(join(work, 'node_modules', pin.package), file, pin.version);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  } catch (error) {
    throw new Error(noNode(pin.version, error.message));
  }
  return file;
}

/** Whole or not at all; several at once put the same file in the same place. */
function putInPlace(fetched, file, expected) {
  const binary = join(fetched, 'bin', basename(file));
  chmodSync(binary, 0o755);
  const { version, reason } = versionOf(binary);
  if (version !== `v${expected}`) throw new Error(version ? `it is ${version}` : `it does not run here: ${reason}`);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(join(fetched, 'LICENSE'), join(dirname(dirname(file)), 'LICENSE'));
  renameSync(binary, file);
}

function versionOf(file) {
  const { error, status, stdout, stderr } = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  const version = stdout?.trim();
  if (!error && status === 0 && /^v\d+\.\d+\.\d+/.test(version)) return { version };
  return { reason: error?.message ?? (stderr.trim().split('\n').at(-1) || `it ended with ${status}`) };
}

function noNode(version, reason) {
  return [
    `Cascade runs on Node ${OLDEST[0]}. This is Node ${process.version}, and Node ${version || OLDEST[0]} could not be fetched: ${reason}.`,
    `Install Node ${OLDEST.join('.')} or a newer ${OLDEST[0]} and try again, or name one with CASCADE_NODE=/path/to/node.`,
  ].join('\n');
}
