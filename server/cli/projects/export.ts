// `cascade export DIR`: writes the definitions and documents of a namespace as files.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openRemote, type Remote, type RemoteOptions } from '../remote.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import { filesOf, isProgram, JSON_FOLDERS, type Members, PROGRAMS, toText, written } from '../../../features/projects/index.ts';
import { write } from './local.ts';
import { contentPath, errorIn, listed } from './present.ts';

/** What cannot be a file here, such as a document with a name that is too long, is told; the others are written. */
export async function exportProject(root: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const remote = await openRemote(options, terminal.ask);
  let [count, failed] = [0, 0];
  for (const folder of [...JSON_FOLDERS, ...PROGRAMS, 'documents']) {
    const rows = await listed(remote, folder);
    const whole = folder === 'services' ? await withoutDerived(remote, rows) : rows;
    const objects = new Map(whole.map((object) => [String(object['name']), object]));
    for (const [name, path] of filesOf(folder, [...objects.keys()]))
      try {
        if (folder === 'documents') await download(remote, name, join(root, folder, ...path.split('/')));
        else await write(root, folder, path, textOf(folder, objects.get(name) ?? {}));
        count++;
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code;
        if (code !== 'ENAMETOOLONG') throw error;
        terminal.err(`${folder}/${name}: ${code}: its name is too long for a file\n`);
        failed++;
      }
  }
  terminal.out(failed === 0 ? `${count} files\n` : `${count} files, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

const textOf = (folder: string, object: Members): string => (isProgram(folder) ? String(object['ruleText']) : toText(written(object)));

/**
 * Services without interfaces that are the names of their public procedures: a service shows those where it has none of its own, and in a
 * file they would be a declared one, without later procedures.
 */
async function withoutDerived(remote: Remote, services: readonly Members[]): Promise<Members[]> {
  const names = new Map<unknown, string[]>();
  for (const { name, serviceName, visibility, hidden } of services.length > 0 ? await listed(remote, 'procedures') : []) {
    if (visibility !== 'PUBLIC' || hidden === true) continue;
    const own = String(name).slice(String(name).lastIndexOf('.') + 1);
    names.set(serviceName, [...(names.get(serviceName) ?? []), own]);
  }
  return services.map(({ interface: given, ...others }) => {
    const isDerived = Array.isArray(given) && String([...given].sort()) === String((names.get(others['name']) ?? []).sort());
    return isDerived || given === undefined ? others : { ...others, interface: given };
  });
}

async function download(remote: Remote, name: string, file: string): Promise<void> {
  const answer = await remote.send('GET', contentPath(name));
  if (!answer.ok) throw new UsageError(`documents/${name}: ${await errorIn(answer)}`);
  await mkdir(dirname(file), { recursive: true });
  const body = answer.body ? Readable.fromWeb(answer.body) : Readable.from([]);
  await pipeline(body, createWriteStream(file));
}
