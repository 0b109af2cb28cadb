// `cascade backup NAMESPACE FILE`: writes the records of a backup that the service sends into a file, which is complete or does not exist.
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Head, isHead, isLast, isRow } from '../../../features/backups/index.ts';
import { errorIn, RESOURCES } from '../projects/present.ts';
import { openRemote } from '../remote.ts';
import { reasonOf, type Terminal, UsageError } from '../terminal.ts';
import { linesOf } from './lines.ts';
import { type BackupOptions, newStretching, passphraseOf, stretched } from './passphrase.ts';

/** The backup was interrupted; the message gives the reason. */
class BrokenOff extends Error {}

/** @returns 0; 1 when the backup failed, and then there is no file */
export async function backup(namespace: string, file: string, options: BackupOptions, terminal: Terminal): Promise<number> {
  if (existsSync(file)) throw new UsageError(`${file} is there already: a backup writes over nothing.`);
  const passphrase = passphraseOf(options, terminal);
  const stretching = passphrase === undefined ? undefined : newStretching();
  const key = passphrase === undefined || !stretching ? undefined : await stretched(passphrase, stretching);
  const remote = await openRemote(options, terminal.ask);
  const body = JSON.stringify({ op: 'backup', data: { ...(key !== undefined && { key }) } });
  const answer = await remote.send('POST', `${RESOURCES}/backups/${encodeURIComponent(namespace)}`, body, 'application/json');
  if (!answer.ok || !answer.body) {
    terminal.err(`${await errorIn(answer)}\n`);
    if (answer.status === 400 && passphrase === undefined)
      terminal.err('Give it by --passphrase-file FILE or CASCADE_BACKUP_PASSPHRASE; a restore asks for it.\n');
    return 1;
  }
  const part = `${file}.part`;
  let rows = 0;
  async function* recorded(lines: AsyncIterable<string>): AsyncGenerator<string> {
    let isWhole = false;
    for await (const line of lines) {
      if (line === '[' || line === ']') continue;
      const record: unknown = JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line);
      if (isHead(record))
        yield `${JSON.stringify({ ...record, ...(record.check !== null && stretching && { passphrase: stretching }) } satisfies Head)}\n`;
      else if (isRow(record)) {
        rows++;
        yield `${line.replace(/,$/, '')}\n`;
      } else if (isLast(record)) {
        if ('error' in record) throw new BrokenOff(`${record.error.code}: ${record.error.message}`);
        isWhole = record.end.rows === rows;
        yield `${JSON.stringify(record)}\n`;
      }
    }
    if (!isWhole) throw new BrokenOff('the service has broken it off; its log says why');
  }
  try {
    const lines = linesOf(Readable.fromWeb(answer.body));
    await pipeline(Readable.from(recorded(lines)), createGzip(), createWriteStream(part, { mode: 0o600, flags: 'wx' }));
    await rename(part, file);
  } catch (error) {
    const isTheirs = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (isTheirs) {
      terminal.err(`${part} is there already: another backup is writing it, or one was killed, and then it can be removed.\n`);
      return 1;
    }
    const reason = error instanceof BrokenOff ? error.message : error instanceof TypeError ? 'the connection was lost' : reasonOf(error);
    await rm(part, { force: true });
    terminal.err(`${file} was not written: ${reason}.\n`);
    return 1;
  }
  terminal.out(`${rows} rows of ${namespace}, ${(await stat(file)).size} bytes\n`);
  return 0;
}
