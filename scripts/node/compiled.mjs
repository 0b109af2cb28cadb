// What V8 has compiled is kept in the user's cache folder, so that the next start reads it there: the service is four megabytes of text. Node
// compares each text with the one it has compiled; a folder that cannot be written changes nothing but the time.
import { readdirSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from './cache.mjs';

/** Several versions of everything: one takes 10 MB. */
const MOST_BYTES = 100 * 1024 * 1024;

/** Of what is imported from now on. Node's own variables (NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE) win. */
export function keepCompiled(env = process.env) {
  if (!env.NODE_COMPILE_CACHE) module.enableCompileCache?.(join(cacheFolder(env), 'compiled'));
}

/**
 * Node never removes what it has kept, and each build makes files with other names. A folder that has grown beyond its bound is removed: the next
 * start compiles again what it needs.
 */
export function trimCompiled(env = process.env, mostBytes = MOST_BYTES) {
  const folder = join(cacheFolder(env), 'compiled');
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files.reduce(
      (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    if (bytes > mostBytes) rmSync(folder, { recursive: true, force: true });
  } catch {
    // There is none, or it is another user's: it costs room, not more.
  }
}
