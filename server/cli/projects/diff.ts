// `cascade diff DIR`: shows what an import would change. `+` is only in the folder, `-` only in the namespace, `~` in both and different.
import { openRemote, type RemoteOptions } from '../remote.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import { isProgram, parseExact } from '../../../features/projects/index.ts';
import { digestOf, filesOf, isJson, type LocalFile, readObject, readText } from './local.ts';
import { errorIn, RESOURCES } from './present.ts';

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

export async function diffProject(root: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const local = await filesOf(root, (line) => terminal.err(`${line}\n`));
  const remote = await openRemote(options, terminal.ask);
  const files: Record<string, unknown> = {};
  for (const one of local) if (one.folder !== 'data') files[`${one.folder}/${one.path}`] = await comparable(one);
  const answer = await remote.send('POST', `${RESOURCES}/projects/*`, JSON.stringify({ op: 'diff', data: { files } }), 'application/json');
  if (!answer.ok) throw new UsageError(await errorIn(answer));
  const differences = parseExact(await answer.text()) as { resource: string; change: keyof typeof SIGNS }[];
  for (const { resource, change } of differences) terminal.out(`${SIGNS[change]} ${resource.replace(/^\/([^/]+)\/+/, '$1/')}\n`);
  return differences.length === 0 ? 0 : 1;
}

/** The comparable form of a file; a document is represented by its digest. */
async function comparable(one: LocalFile): Promise<unknown> {
  if (one.folder === 'documents') return { digest: await digestOf(one.file) };
  if (isProgram(one.folder)) return readText(one.file);
  if (!isJson(one)) return null;
  return readObject(one.file).catch((error: unknown) => {
    throw new UsageError(`${one.folder}/${one.path}: ${error instanceof Error ? error.message : String(error)}`);
  });
}
