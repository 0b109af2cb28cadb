// `cascade export DIR`: writes the definitions and documents of a namespace as files.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openRemote, type Remote, type RemoteOptions } from '../remote.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import { documentFile, fileOf, JSON_FOLDERS, PROGRAMS, toText, written } from '../../../features/projects/index.ts';
import { write } from './local.ts';
import { contentPath, errorIn, listed } from './present.ts';

export async function exportProject(root: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const remote = await openRemote(options, terminal.ask);
  let count = 0;
  for (const folder of JSON_FOLDERS)
    for (const object of await listed(remote, folder)) {
      await write(root, folder, fileOf(folder, String(object['name'])), toText(written(object)));
      count++;
    }
  for (const folder of PROGRAMS)
    for (const object of await listed(remote, folder)) {
      const version = object['version'];
      const name = typeof version === 'string' ? `${String(object['name'])}:${version}` : String(object['name']);
      await write(root, folder, fileOf(folder, name), String(object['ruleText']));
      count++;
    }
  for (const { name } of await listed(remote, 'documents')) {
    await download(remote, String(name), join(root, 'documents', ...documentFile(String(name)).split('/')));
    count++;
  }
  terminal.out(`${count} files\n`);
  return 0;
}

async function download(remote: Remote, name: string, file: string): Promise<void> {
  const answer = await remote.send('GET', contentPath(name));
  if (!answer.ok) throw new UsageError(`documents/${name}: ${await errorIn(answer)}`);
  await mkdir(dirname(file), { recursive: true });
  const body = answer.body ? Readable.fromWeb(answer.body) : Readable.from([]);
  await pipeline(body, createWriteStream(file));
}
