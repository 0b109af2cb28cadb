// Reads and writes a project on disk.
import { createHash } from 'node:crypto';
import { createReadStream, type Dirent } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { readUtf8, UsageError } from '../terminal.ts';
import { FOLDERS, JSON_FOLDERS, type Members, parseExact } from '../../../features/projects/index.ts';

export interface LocalFile {
  /** The folder in the project. */
  readonly folder: string;
  /** The path below that folder, with `/`. */
  readonly path: string;
  /** The file on the disk. */
  readonly file: string;
}

/** All files of a project. @param notice called for each skipped file @throws UsageError when there is no such folder */
export async function filesOf(root: string, notice: (line: string) => void): Promise<LocalFile[]> {
  const info = await stat(root).catch(() => null);
  if (!info?.isDirectory()) throw new UsageError(`${root} is no folder.`);
  const found: LocalFile[] = [];
  for (const entry of await sortedEntries(root)) {
    if (entry.name.startsWith('.') || !entry.isDirectory() || !FOLDERS.includes(entry.name)) {
      notice(`skipped: ${entry.name}`);
      continue;
    }
    for (const path of await below(join(root, entry.name), '', entry.name === 'documents', notice))
      found.push({ folder: entry.name, path, file: join(root, entry.name, ...path.split('/')) });
  }
  return found;
}

const sortedEntries = async (folder: string): Promise<Dirent[]> =>
  (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));

async function below(folder: string, prefix: string, isDeep: boolean, notice: (line: string) => void): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await sortedEntries(folder)) {
    const path = `${prefix}${entry.name}`;
    if (entry.name.startsWith('.')) notice(`skipped: ${folder}${sep}${entry.name}`);
    else if (entry.isDirectory()) paths.push(...(await below(join(folder, entry.name), `${path}/`, isDeep, notice)));
    else if (entry.isFile()) paths.push(path);
  }
  return paths;
}

export const isJson = ({ folder, path }: LocalFile): boolean => JSON_FOLDERS.includes(folder) && path.endsWith('.json');

/** @throws Error: the file is not a JSON object */
export async function readObject(file: string): Promise<Members> {
  const value = parseExact(await readText(file));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no JSON object');
  return value as Members;
}

/** @throws Error: it cannot be read, or is no UTF-8 */
export const readText = async (file: string): Promise<string> => (await readUtf8(file)).replace(/^\uFEFF/, '');

export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

export async function write(root: string, folder: string, path: string, text: string): Promise<void> {
  const file = join(root, folder, ...path.split('/'));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
