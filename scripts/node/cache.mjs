// The user's cache folder: what is fetched once is kept there (the embedded mongod, too: platform/mongod/binary.ts).
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What a killed process has left behind is older than any fetch takes. */
const ABANDONED_MS = 60 * 60_000;

export function cacheFolder(env = process.env) {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'cascade');
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches', 'cascade') : join(homedir(), '.cache', 'cascade');
}

/** A folder to work in, within the cache, so that a result is renamed into its place; its caller removes it. */
export function workFolder(cache) {
  try {
    mkdirSync(cache, { recursive: true });
    for (const name of readdirSync(cache))
      if (name.startsWith('fetch-') && Date.now() - changedAt(join(cache, name)) > ABANDONED_MS)
        rmSync(join(cache, name), { recursive: true, force: true });
    return mkdtempSync(join(cache, 'fetch-'));
  } catch (error) {
    throw new Error(`the cache folder ${cache} cannot be written (${error.code ?? error.message}); XDG_CACHE_HOME=/a/folder names another`);
  }
}

function changedAt(path) {
  return existsSync(path) ? statSync(path).mtimeMs : Date.now();
}
