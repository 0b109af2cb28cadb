// `cascade import DIR`: the files of a project into a namespace. What is there already and the same is left alone, so that a second import changes
// nothing; nothing is deleted. What needs something that comes later is tried again until nothing more succeeds.
import { openAsBlob } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { openRemote, type Remote, type RemoteOptions } from '../remote.ts';
import type { Terminal } from '../terminal.ts';
import { agrees, canonical, documentName, JSON_AFTER, JSON_BEFORE, type Members, PROGRAMS, toSend } from './layout.ts';
import { digestOf, filesOf, isJson, type LocalFile, readObject, readText } from './local.ts';
import { digestAt, errorIn, listed, RESOURCES } from './present.ts';

/** Instances sent at a time. */
const CHUNK = 5_000;
const JSON_TYPE = 'application/json';

/** Null: it is loaded, or was there already; else why not. */
type Outcome = string | null;
interface Item {
  readonly file: LocalFile;
  load(): Promise<Outcome>;
}

export async function importProject(root: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const notice = (line: string): void => terminal.err(`${line}\n`);
  const files = await filesOf(root, notice);
  const remote = await openRemote(options);
  const of = (folders: readonly string[]): LocalFile[] => folders.flatMap((folder) => files.filter((one) => one.folder === folder));
  const definitions = [
    ...(await jsonItems(remote, of(JSON_BEFORE), notice)),
    ...(await programItems(remote, of(PROGRAMS), notice)),
    ...(await jsonItems(remote, of(JSON_AFTER), notice)),
  ];
  const failed = [
    ...(await inPasses(definitions)),
    ...(await inPasses(of(['documents']).map((file) => ({ file, load: () => uploadDocument(remote, file) })))),
    ...(await inPasses(of(['data']).map((file) => ({ file, load: () => loadData(remote, file, notice) })))),
  ];
  for (const [{ folder, path }, reason] of failed) terminal.err(`${folder}/${path}: ${reason}\n`);
  terminal.out(`${files.length - failed.length} files loaded, ${failed.length} failed\n`);
  return failed.length === 0 ? 0 : 1;
}

/** Again and again while some of them succeed. */
async function inPasses(items: readonly Item[]): Promise<[LocalFile, string][]> {
  let waiting = items;
  for (;;) {
    const failed: [Item, string][] = [];
    for (const item of waiting) {
      const outcome = await item.load().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (outcome !== null) failed.push([item, outcome]);
    }
    if (failed.length === 0 || failed.length === waiting.length) return failed.map(([{ file }, reason]) => [file, reason]);
    waiting = failed.map(([item]) => item);
  }
}

async function jsonItems(remote: Remote, files: readonly LocalFile[], notice: (line: string) => void): Promise<Item[]> {
  const present = new Map<string, Map<string, string>>();
  for (const folder of new Set(files.map((one) => one.folder))) {
    const objects = await listed(remote, folder);
    present.set(folder, new Map(objects.map((object) => [String(object['name']), canonical(object)])));
  }
  return files.flatMap((file): Item[] => {
    if (!isJson(file)) {
      notice(`skipped: ${file.folder}/${file.path}`);
      return [];
    }
    const load = async (): Promise<Outcome> => {
      const object = await readObject(file.file);
      if (agrees(canonical(object), present.get(file.folder)?.get(String(object['name'])))) return null;
      return sent(remote, `${RESOURCES}/${file.folder}?upsert=true`, JSON.stringify(toSend(object)), JSON_TYPE);
    };
    return [{ file, load }];
  });
}

async function programItems(remote: Remote, files: readonly LocalFile[], notice: (line: string) => void): Promise<Item[]> {
  const present = new Set<string>();
  for (const folder of new Set(files.map((one) => one.folder)))
    for (const object of await listed(remote, folder)) present.add(`${folder} ${String(object['ruleText'])}`);
  return files.flatMap((file): Item[] => {
    if (file.path.endsWith('.json')) {
      notice(`skipped: ${file.folder}/${file.path}`);
      return [];
    }
    const load = async (): Promise<Outcome> => {
      const text = await readText(file.file);
      return present.has(`${file.folder} ${text}`) ? null : sent(remote, `${RESOURCES}/${file.folder}`, text, 'text/plain');
    };
    return [{ file, load }];
  });
}

async function sent(remote: Remote, path: string, body: NonNullable<RequestInit['body']>, contentType?: string): Promise<Outcome> {
  const answer = await remote.send('POST', path, body, contentType);
  if (!answer.ok) return errorIn(answer);
  await answer.body?.cancel();
  return null;
}

async function uploadDocument(remote: Remote, { path, file }: LocalFile): Promise<Outcome> {
  const name = documentName(path);
  if ((await digestAt(remote, name)) === (await digestOf(file))) return null;
  const form = new FormData();
  form.append('defaultName', await openAsBlob(file), name);
  return sent(remote, `${RESOURCES}/documents`, form);
}

async function loadData(remote: Remote, { path, file }: LocalFile, notice: (line: string) => void): Promise<Outcome> {
  const type = path.replace(/\.json$/, '');
  const rows = JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')) as unknown;
  if (!Array.isArray(rows)) return 'no JSON array';
  const definition = await remote.get('types', type);
  if (!definition) return `there is no type ${type}`;
  const { naturalKey, properties } = definition as { naturalKey?: string[] | null; properties?: Members };
  const hasKey = (naturalKey ?? []).length > 0 || Object.hasOwn(properties ?? {}, 'name');
  if (!hasKey) notice(`data/${path}: ${type} has no natural key: a second import makes its instances twice`);
  for (let first = 0; first < rows.length; first += CHUNK) {
    const body = JSON.stringify(rows.slice(first, first + CHUNK));
    const answer = await remote.send(
      'POST',
      `${RESOURCES}/custom/${encodeURIComponent(type)}${hasKey ? '?upsert=true' : ''}`,
      body,
      JSON_TYPE,
    );
    if (!answer.ok) return errorIn(answer);
    const isPartial = answer.headers.get('x-partial-result') === 'true';
    const results = (await answer.json()) as { errors?: { code: string; message: string }[] }[];
    const refused = isPartial ? results.findIndex((one) => one.errors !== undefined) : -1;
    const [error] = results[refused]?.errors ?? [];
    if (error) return `instance ${first + refused}: ${error.code}: ${error.message}`;
  }
  return null;
}
