// Where the built files are that the sandbox process is made of, and what it may read: these and three packages, nothing else.
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Its name from Node 22.13 on, and the one before, which newer Nodes don't know. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';

/** node-gyp-build recognizes Alpine Linux, which has binaries of its own, by this file. */
const MUSL_MARK = '/etc/alpine-release';

/** The entry as built, also when this file runs from its TypeScript source (as in tests). */
const entry = new URL('./process.js', import.meta.url);
const builtEntry = import.meta.url.endsWith('.ts') ? new URL('../dist/sandbox/process.js', import.meta.url) : entry;

export const bundleFile = (): string => fileURLToPath(new URL('../stdlib/isolate-bundle.js', builtEntry));

export interface ProcessEntry {
  file: string;
  flags: string[];
  /** Told to the entry; none when absent. */
  args?: string[];
  /** Files and folders that it reads. */
  readable: string[];
  /** The native module among them. */
  nativeModule: string;
}

/** The entry of the process and the flags that shut it in. Paths are real ones: following a link would need a right of its own. */
export function processEntry(): ProcessEntry {
  const file = realpathSync(fileURLToPath(builtEntry));
  const isolatedVm = packageFolder('isolated-vm');
  // node-gyp-build is what isolated-vm finds its binary with.
  const folders = [dirname(file), packageFolder('piscina'), isolatedVm, packageFolder('node-gyp-build', `${isolatedVm}${sep}`)];
  // Asking for what is not there needs the right, too.
  const granted = [...folders.map((folder) => `${folder}${sep}`), MUSL_MARK];
  const flags = [
    '--no-warnings', // the permission model is called experimental, once a thread
    '--no-node-snapshot', // isolated-vm asks for it
    // No isolate, and nothing else in this process, makes code of text or of bytes.
    '--disallow-code-generation-from-strings',
    '--no-expose-wasm',
    PERMISSION,
    '--allow-worker',
    '--allow-addons',
    ...granted.map((path) => `--allow-fs-read=${path}`),
  ];
  return { file, flags, readable: [...folders, ...(existsSync(MUSL_MARK) ? [MUSL_MARK] : [])], nativeModule: nativeModuleOf(isolatedVm) };
}

/** The binary that fits this machine, as isolated-vm itself looks for it. */
function nativeModuleOf(isolatedVm: string): string {
  const load = createRequire(`${isolatedVm}${sep}`);
  const finder = load('node-gyp-build') as { path(folder: string): string };
  return realpathSync(finder.path(isolatedVm));
}

/** @param from where the package is looked for: this file, or the folder (with a separator at its end) of a package that needs it */
function packageFolder(name: string, from = import.meta.url): string {
  const main = realpathSync(createRequire(from).resolve(name));
  const folder = `${sep}node_modules${sep}${name}${sep}`;
  const at = main.lastIndexOf(folder);
  return at < 0 ? dirname(main) : main.slice(0, at + folder.length - 1);
}
