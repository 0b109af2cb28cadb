// `cascade import DIR`: imports the files of a project into a namespace, in one request and one commit. Unchanged resources are left alone,
// so that a second import changes nothing; nothing is deleted. Files that the request cannot hold are sent separately: large documents
// before it, surplus instances after it.
import { openAsBlob } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { openRemote, type Remote, type RemoteOptions } from '../remote.ts';
import type { Terminal } from '../terminal.ts';
import { documentName, isProgram, JSON_FOLDERS, type Members, parseExact, toSend } from '../../../features/projects/index.ts';
import { digestOf, filesOf, type LocalFile, readObject, readText } from './local.ts';
import { digestAt, errorIn, RESOURCES } from './present.ts';

/** Instances per request. */
const CHUNK = 5_000;
const JSON_TYPE = 'application/json';
/** Bound of documents and data in the request, which may have 10 MiB: the rest is left for definitions. */
const MOST_BYTES = 8 * 1_048_576;
const MOST_OF_A_DOCUMENT = 1_048_576;
/** Bound of the instances in one import. */
const MOST_ROWS = 10_000;

interface Failure {
  readonly file: string;
  readonly reason: string;
}

export async function importProject(root: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const files = await filesOf(root, (line) => terminal.err(`${line}\n`));
  const remote = await openRemote(options, terminal.ask);
  const failed = await loadAll(remote, files, (line) => terminal.err(`${line}\n`));
  for (const { file, reason } of failed) terminal.err(`${file}: ${reason}\n`);
  const names = new Set(failed.map(({ file }) => file));
  terminal.out(failed.length === 0 ? `${files.length} files loaded, 0 failed\n` : `${names.size} files failed\n`);
  return failed.length === 0 ? 0 : 1;
}

async function loadAll(remote: Remote, files: readonly LocalFile[], notice: (line: string) => void): Promise<Failure[]> {
  const bundle = new Bundle();
  const failed: Failure[] = [];
  for (const file of files)
    await bundle.add(file).catch((error: unknown) => {
      failed.push({ file: nameOf(file), reason: error instanceof Error ? error.message : String(error) });
    });
  if (failed.length > 0) return failed;
  for (const file of bundle.largeDocuments) {
    const reason = await uploadDocument(remote, file);
    if (reason !== null) return [{ file: nameOf(file), reason }];
  }
  const refused = await send(remote, bundle.text(), notice);
  if (refused.length > 0) return refused;
  for (const { file, rows } of bundle.furtherData) {
    const reason = await loadData(remote, file, rows, notice);
    if (reason !== null) failed.push({ file: nameOf(file), reason });
  }
  return failed;
}

const nameOf = ({ folder, path }: LocalFile): string => `${folder}/${path}`;

/** The files for the single request, and those that do not fit. */
class Bundle {
  readonly largeDocuments: LocalFile[] = [];
  readonly furtherData: { readonly file: LocalFile; readonly rows: readonly unknown[] }[] = [];
  readonly #files: Record<string, unknown> = {};
  #bytes = 0;
  #rows = 0;

  /** @throws Error: the file does not belong in its folder */
  async add(one: LocalFile): Promise<void> {
    const { folder, path, file } = one;
    if (folder === 'documents') await this.#addDocument(one);
    else if (folder === 'data') await this.#addData(one);
    else if (isProgram(folder)) this.#put(one, path.endsWith('.json') ? null : await readText(file));
    else this.#put(one, JSON_FOLDERS.includes(folder) && path.endsWith('.json') ? toSend(await readObject(file)) : null);
  }

  text(): string {
    return JSON.stringify({ op: 'import', data: { files: this.#files } });
  }

  async #addDocument(one: LocalFile): Promise<void> {
    const { size } = await stat(one.file);
    const encoded = Math.ceil(size / 3) * 4;
    if (size > MOST_OF_A_DOCUMENT || this.#bytes + encoded > MOST_BYTES) this.largeDocuments.push(one);
    else this.#put(one, { base64: (await readFile(one.file)).toString('base64') });
  }

  async #addData(one: LocalFile): Promise<void> {
    const rows = parseExact(await readText(one.file));
    if (!Array.isArray(rows)) throw new Error('no JSON array');
    const bytes = Buffer.byteLength(JSON.stringify(rows));
    if (this.#rows + rows.length > MOST_ROWS || this.#bytes + bytes > MOST_BYTES) return void this.furtherData.push({ file: one, rows });
    this.#rows += rows.length;
    this.#put(one, rows, bytes);
  }

  /** Files that the service will skip are sent, too, so that its notice covers all of them. */
  #put(one: LocalFile, value: unknown, bytes = Buffer.byteLength(JSON.stringify(value))): void {
    this.#files[nameOf(one)] = value;
    this.#bytes += bytes;
  }
}

async function send(remote: Remote, text: string, notice: (line: string) => void): Promise<Failure[]> {
  const answer = await remote.send('POST', `${RESOURCES}/projects/*`, text, JSON_TYPE);
  if (answer.ok) {
    const { skipped, warnings } = (await answer.json()) as { skipped: string[]; warnings: string[] };
    for (const file of skipped) notice(`skipped: ${file}`);
    for (const warning of warnings) notice(warning);
    return [];
  }
  const body = await answer.text();
  try {
    return (JSON.parse(body) as { file?: string; code: string; message: string }[]).map(({ file = 'import', code, message }) => ({
      file,
      reason: `${code}: ${message}`,
    }));
  } catch {
    return [{ file: 'import', reason: `${answer.status} ${body.slice(0, 200)}` }]; // the answer is not from the service itself
  }
}

/** @returns why it failed; null: it succeeded */
async function sent(remote: Remote, path: string, body: NonNullable<RequestInit['body']>): Promise<string | null> {
  const answer = await remote.send('POST', path, body);
  if (!answer.ok) return errorIn(answer);
  await answer.body?.cancel();
  return null;
}

async function uploadDocument(remote: Remote, { path, file }: LocalFile): Promise<string | null> {
  const name = documentName(path);
  if ((await digestAt(remote, name)) === (await digestOf(file))) return null;
  const form = new FormData();
  form.append('defaultName', await openAsBlob(file), name);
  return sent(remote, `${RESOURCES}/documents`, form);
}

async function loadData(
  remote: Remote,
  { path }: LocalFile,
  rows: readonly unknown[],
  notice: (line: string) => void,
): Promise<string | null> {
  const type = path.replace(/\.json$/, '');
  const definition = await remote.get('types', type);
  if (!definition) return `there is no type ${type}`;
  const { naturalKey, properties } = definition as { naturalKey?: string[] | null; properties?: Members };
  const hasKey = (naturalKey ?? []).length > 0 || Object.hasOwn(properties ?? {}, 'name');
  if (!hasKey) notice(`data/${path}: ${type} has no natural key: a second import makes its instances twice`);
  for (let first = 0; first < rows.length; first += CHUNK) {
    const body = JSON.stringify(rows.slice(first, first + CHUNK));
    const target = `${RESOURCES}/custom/${encodeURIComponent(type)}${hasKey ? '?upsert=true' : ''}`;
    const answer = await remote.send('POST', target, body, JSON_TYPE);
    if (!answer.ok) return errorIn(answer);
    const isPartial = answer.headers.get('x-partial-result') === 'true';
    const results = (await answer.json()) as { errors?: { code: string; message: string }[] }[];
    const refused = isPartial ? results.findIndex((one) => one.errors !== undefined) : -1;
    const [error] = results[refused]?.errors ?? [];
    if (error) return `instance ${first + refused}: ${error.code}: ${error.message}`;
  }
  return null;
}
