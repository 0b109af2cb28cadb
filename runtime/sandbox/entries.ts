// Where the built files are that the sandbox process is made of, and what it may read: these and two packages, nothing else.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The entry as built, also when this file runs from its TypeScript source (as in tests). */
const entry = new URL('./process.js', import.meta.url);
const builtEntry = import.meta.url.endsWith('.ts') ? new URL('../../dist/runtime/sandbox/process.js', import.meta.url) : entry;

export const bundleFile = (): string => fileURLToPath(new URL('../../stdlib/isolate-bundle.js', builtEntry));

/** The entry of the process and the flags that shut it in. Paths are real ones: following a link would need a right of its own. */
export function processEntry(): { file: string; flags: string[] } {
  const file = realpathSync(fileURLToPath(builtEntry));
  const readable = [dirname(file), packageFolder('piscina'), packageFolder('isolated-vm')];
  const flags = [
    '--no-warnings', // the permission model is called experimental, once a thread
    '--no-node-snapshot', // isolated-vm asks for it from Node 20 on
    '--experimental-permission',
    '--allow-worker',
    '--allow-addons',
    ...readable.map((folder) => `--allow-fs-read=${folder}${sep}`),
  ];
  return { file, flags };
}

function packageFolder(name: string): string {
  const main = realpathSync(createRequire(import.meta.url).resolve(name));
  const folder = `${sep}node_modules${sep}${name}${sep}`;
  const at = main.lastIndexOf(folder);
  return at < 0 ? dirname(main) : main.slice(0, at + folder.length - 1);
}
