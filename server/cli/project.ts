// Reads the definitions that files are checked against: a project folder, with `types/*.json`, `services/*.json`, `rules/*` and
// `procedures/*` in it, or types alone, in a folder or one JSON file (an object or an array).
import { type Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { compile, type CompiledProcedure, type CompileOptions, type ServiceStateNames } from '../../compiler/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { readSource, reasonOf, UsageError } from './terminal.ts';

export interface Project {
  /** Resources of types, as JSON. */
  readonly types: readonly unknown[];
  readonly services: readonly unknown[];
  /** Texts of rules and procedures. */
  readonly texts: readonly string[];
  /** Whether the project is complete, so that a name that it lacks does not exist. */
  readonly complete: { readonly types: boolean; readonly procedures: boolean };
}
export const NO_PROJECT: Project = { types: [], services: [], texts: [], complete: { types: false, procedures: false } };

/** @param path a project, a folder of types, or a file with types @throws UsageError when it cannot be read or is not JSON */
export async function readProject(path: string): Promise<Project> {
  const info = await stat(path).catch((error: unknown) => refuse(path, error));
  if (info.isFile()) return { ...NO_PROJECT, types: await readJson(path), complete: { types: true, procedures: false } };
  const folders = new Set((await entriesOf(path)).map(({ name }) => name));
  if (!PROJECT_FOLDERS.some((folder) => folders.has(folder)))
    return { ...NO_PROJECT, types: await jsonIn(path), complete: { types: true, procedures: false } };
  const within = async <T>(folder: string, read: (folder: string) => Promise<T[]>): Promise<T[]> =>
    folders.has(folder) ? read(join(path, folder)) : [];
  return {
    types: await within('types', jsonIn),
    services: await within('services', jsonIn),
    texts: [...(await within('procedures', textsIn)), ...(await within('rules', textsIn))],
    complete: { types: folders.has('types'), procedures: true },
  };
}
const PROJECT_FOLDERS = ['types', 'rules', 'procedures'];

/** The project around a file: `<project>/rules/x.rule` beside `<project>/types`. Null for a file without one. */
export async function projectAround(file: string): Promise<string | null> {
  const folder = dirname(file);
  if (!['rules', 'procedures'].includes(basename(folder))) return null;
  const root = dirname(folder);
  const types = await stat(join(root, 'types')).catch(() => null); // a missing folder is the negative answer
  return types?.isDirectory() ? root : null;
}

/** The procedures of a project and of the files besides it; texts with errors are left out, since their own check reports them. */
export function proceduresOf(texts: readonly string[], options: Pick<CompileOptions, 'stateOf'>): CompiledProcedure[] {
  return texts.flatMap((text) => {
    const result = compile(text, { builtins: builtinTable(), ...options });
    return result.ok && result.unit.kind === 'procedure' ? [result.unit] : [];
  });
}

/** The state variables of the project's services: the properties of the types that they name. */
export function stateOf({ types, services }: Project): (service: string) => ServiceStateNames | null {
  const named = (list: readonly unknown[], name: unknown): Record<string, unknown> | undefined =>
    list.find((one): one is Record<string, unknown> => isRecord(one) && one['name'] === name);
  const properties = (type: unknown): string[] | null => {
    const found = type === undefined || type === null ? undefined : named(types, type);
    return isRecord(found?.['properties']) ? Object.keys(found['properties']) : null;
  };
  return (name) => {
    const service = named(services, name);
    return service ? { global: properties(service['globalType']), partitioned: properties(service['partitionedType']) } : null;
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const entriesOf = (folder: string): Promise<Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch((error: unknown) => refuse(folder, error));

async function filesIn(folder: string): Promise<string[]> {
  return (await entriesOf(folder))
    .flatMap((entry) => (entry.isFile() && !entry.name.startsWith('.') ? [join(folder, entry.name)] : []))
    .sort();
}
async function jsonIn(folder: string): Promise<unknown[]> {
  const files = (await filesIn(folder)).filter((file) => file.endsWith('.json'));
  return (await Promise.all(files.map(readJson))).flat();
}
async function textsIn(folder: string): Promise<string[]> {
  const files = (await filesIn(folder)).filter((file) => !file.endsWith('.json'));
  return Promise.all(files.map(readSource));
}

async function readJson(file: string): Promise<unknown[]> {
  const text = (await readSource(file)).replace(/^\uFEFF/, '');
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file} is no JSON: ${(error as Error).message}`);
  }
  const definitions: unknown[] = Array.isArray(found) ? found : [found];
  if (!definitions.every(isRecord)) throw new UsageError(`${file} holds something else than JSON objects: a definition is one.`);
  return definitions;
}

function refuse(path: string, error: unknown): never {
  throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
}
