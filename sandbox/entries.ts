// Where the built files are that the sandbox process is made of, and what it may read: these and three packages, nothing else.
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Its name from Node 22.13 on, and the one before, which newer Nodes don't know. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';

/** By this node-gyp-build tells Alpine Linux, whose binaries are others. */
const MUSL_MARK = '/etc/alpine-release';

/** The entry as built, also when this file runs from its TypeScript source (as in tests). */
const entry = new URL('./process.js', import.meta.url);
const builtEntry = import.meta.url.endsWith('.ts') ? new URL('../dist/sandbox/process.js', import.meta.url) : entry;

export const bundleFile = (): string => fileURLToPath(new URL('../stdlib/isolate-bundle.js', builtEntry));

/** The entry of the process and the flags that shut it in. Paths are real ones: following a link would need a right of its own. */
export function processEntry(): { file: string; flags: string[] } {
  const file = realpathSync(fileURLToPath(builtEntry));
  const isolatedVm = packageFolder('isolated-vm');
  // node-gyp-build is what isolated-vm finds its binary with.
  const folders = [dirname(file), packageFolder('piscina'), isolatedVm, packageFolder('node-gyp-build', `${isolatedVm}${sep}`)];
  const readable = [...folders.map((folder) => `${folder}${sep}`), ...(existsSync(MUSL_MARK) ? [MUSL_MARK] : [])];
  const flags = [
    '--no-warnings', // the permission model is called experimental, once a thread
    '--no-node-snapshot', // isolated-vm asks for it
    PERMISSION,
    '--allow-worker',
    '--allow-addons',
    ...readable.map((path) => `--allow-fs-read=${path}`),
  ];
  return { file, flags };
}

/** @param from where the package is looked for: this file, or the folder (with a separator at its end) of a package that needs it */
function packageFolder(name: string, from = import.meta.url): string {
  const main = realpathSync(createRequire(from).resolve(name));
  const folder = `${sep}node_modules${sep}${name}${sep}`;
  const at = main.lastIndexOf(folder);
  return at < 0 ? dirname(main) : main.slice(0, at + folder.length - 1);
}
