// The programs of the system by which a process is confined, and the libraries that a confined Node needs.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where they are on the usual systems, should PATH not name it. */
const USUAL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** @returns the program's path; null when there is none that may be executed */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | null {
  for (const folder of [...path.split(delimiter), ...USUAL_FOLDERS]) {
    if (!folder.startsWith('/')) continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return null;
}

/** Where every library is, should the loader not tell. */
const LIBRARY_FOLDERS = ['/lib', '/lib64', '/usr/lib', '/usr/lib64'];
const LOADER_CACHE = '/etc/ld.so.cache';

/**
 * The shared libraries of Node and of a native module, as the loader finds them: it lists them itself when asked to.
 * @returns pairs of the real file and the path by which the loader looks for it
 */
export async function libraries(node: string, nativeModule: string): Promise<[file: string, path: string][]> {
  const env = { LD_TRACE_LOADED_OBJECTS: '1', LD_PRELOAD: nativeModule };
  const listed = await new Promise<string>((resolve) => {
    // What another loader does with this (musl's runs Node, which has nothing to do) lists nothing.
    execFile(node, ['-e', '0'], { env, timeout: 10_000 }, (_error, stdout) => resolve(stdout));
  });
  const paths = [...listed.matchAll(/^\t(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm)]
    .map((match) => match[1] as string)
    .filter((path) => realpathSync(path) !== nativeModule);
  const found = paths.length > 0 ? [...paths, LOADER_CACHE] : LIBRARY_FOLDERS;
  return [...new Set(found)].filter((path) => existsSync(path)).map((path) => [realpathSync(path), path]);
}
