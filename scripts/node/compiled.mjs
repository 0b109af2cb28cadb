// What V8 has compiled is kept in the user's cache folder, so that the next start reads it there: the service is four megabytes of text. Node
// compares each text with the one it has compiled; a folder that cannot be written changes nothing but the time.
import module from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from './cache.mjs';

/** Of what is imported from now on. Node's own variables (NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE) win. */
export function keepCompiled(env = process.env) {
  if (!env.NODE_COMPILE_CACHE) module.enableCompileCache?.(join(cacheFolder(env), 'compiled'));
}
