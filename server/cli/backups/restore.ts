// `cascade restore NAMESPACE FILE`: checks the whole file first, so that nothing is restored from an incomplete one; then sends its rows in
// parts.
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream';
import { FORMAT, type Head, isHead, isLast, isRow, requireKey } from '../../../features/backups/index.ts';
import { CascadeError } from '../../../model/errors/index.ts';
import { errorIn, RESOURCES } from '../projects/present.ts';
import { openRemote, type Remote } from '../remote.ts';
import { reasonOf, type Terminal, UsageError } from '../terminal.ts';
import { linesOf } from './lines.ts';
import { type BackupOptions, passphraseOf, stretched } from './passphrase.ts';

/** Approximate length of one request: quoting may double the rows, and a service accepts 10 MiB. */
const PART_LENGTH = 1_048_576;
const PART_ROWS = 1_000;

/** The service refuses the restore, or the file is not a backup; the message gives the reason. */
class Refused extends Error {}

/** @returns 0; 1 when nothing was restored, or that is not known */
export async function restore(namespace: string, file: string, options: BackupOptions, terminal: Terminal): Promise<number> {
  try {
    const { head, rows } = await checkedFile(file);
    const key = await keyFor(head, options, terminal);
    const remote = await openRemote(options, terminal.ask);
    const isMade = await ensureNamespace(remote, namespace, terminal);
    try {
      await sendAll(remote, namespace, file, head, rows, key);
    } catch (error) {
      if (isMade) terminal.err(`Namespace ${namespace}, which was made for it, stays: it can be restored into.\n`);
      throw error;
    }
    terminal.out(`${rows} rows restored into ${namespace}, of ${head.namespace} as it was at ${head.at}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    terminal.err(`${error.message}\n`);
    return 1;
  }
}

/**
 * The records of a file as text, each with its parsed value. @throws Refused when it cannot be decompressed; UsageError when it cannot be
 * read
 */
async function* recordsOf(file: string): AsyncGenerator<{ text: string; record: unknown }> {
  const unpacked = pipeline(createReadStream(file), createGunzip(), () => undefined); // the reader of the stream gets the error
  try {
    for await (const text of linesOf(unpacked)) yield { text, record: JSON.parse(text) as unknown };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'Z_BUF_ERROR') throw new Refused(`${file} is cut off: it has no end.`);
    if (code.startsWith('Z_') || error instanceof SyntaxError || error instanceof TypeError)
      throw new Refused(`${file} is no backup, or was changed.`);
    if (code.startsWith('E') && !code.startsWith('ERR_')) throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
    throw error;
  }
}

/** The head and rows of a complete file. @throws Refused, UsageError */
async function checkedFile(file: string): Promise<{ head: Head; rows: number }> {
  let head: Head | undefined;
  let rows = 0;
  let announced: number | undefined;
  for await (const { record } of recordsOf(file)) {
    if (!head) {
      if (!isHead(record)) throw new Refused(`${file} is no backup.`);
      if (record.format !== FORMAT) throw new Refused(`${file} is of format ${record.format}; this version of cascade reads ${FORMAT}.`);
      head = record;
    } else if (isRow(record) && announced === undefined) rows++;
    else if (isLast(record) && 'end' in record && announced === undefined) announced = record.end.rows;
    else throw new Refused(`${file} is no backup, or was changed.`);
  }
  if (!head) throw new Refused(`${file} is no backup.`);
  if (announced === undefined) throw new Refused(`${file} is cut off: it has no end.`);
  if (announced !== rows) throw new Refused(`${file} was changed: it has ${rows} rows, and its end tells of ${announced}.`);
  return { head, rows };
}

async function keyFor(head: Head, options: BackupOptions, terminal: Terminal): Promise<string | undefined> {
  if (head.check === null) return undefined;
  if (!head.passphrase) throw new Refused('It has encrypted values, and does not say how their key is made.');
  const given = passphraseOf(options, terminal) ?? (await terminal.ask?.('Passphrase of the backup: '));
  if (given === undefined)
    throw new UsageError(
      'It has encrypted values: give the passphrase that it was made with, by --passphrase-file FILE or CASCADE_BACKUP_PASSPHRASE.',
    );
  const key = await stretched(given, head.passphrase);
  try {
    requireKey(head.check, Buffer.from(key, 'hex'), head.namespace); // before a namespace is made for it
  } catch (error) {
    throw error instanceof CascadeError ? new Refused(`${error.code}: ${error.message}`) : error;
  }
  return key;
}

/** @returns whether it was made now @throws Refused */
async function ensureNamespace(remote: Remote, namespace: string, terminal: Terminal): Promise<boolean> {
  const found = await remote.send('GET', `${RESOURCES}/namespaces/${encodeURIComponent(namespace)}`);
  if (found.ok) return false;
  if (found.status !== 404) throw new Refused(await errorIn(found));
  const made = await remote.send('POST', `${RESOURCES}/namespaces`, JSON.stringify({ namespace }), 'application/json');
  if (!made.ok) throw new Refused(await errorIn(made));
  const { generatedPassword } = (await made.json()) as { generatedPassword?: string };
  terminal.out(
    `Namespace ${namespace} was made: the password of user admin__${namespace} is ${generatedPassword} (it is not shown again)\n`,
  );
  return true;
}

/** What a refusal means for the restore. The service may fail, or take too long, when it has put it in force already. */
function inForceAfter(op: string, status: number, namespace: string): string {
  if (op === 'beginRestore') return '';
  if (op === 'endRestore' && status >= 500) return ` Whether it is in force is not known: see what namespace ${namespace} has.`;
  return ' Nothing of it is in force.';
}

/** @throws Refused */
async function sendAll(remote: Remote, namespace: string, file: string, head: Head, rows: number, key: string | undefined): Promise<void> {
  const ask = async (op: string, data: object): Promise<unknown> => {
    const body = JSON.stringify({ op, data });
    const answer = await remote.send('POST', `${RESOURCES}/backups/${encodeURIComponent(namespace)}`, body, 'application/json');
    if (!answer.ok) throw new Refused(`${await errorIn(answer)}${inForceAfter(op, answer.status, namespace)}`);
    return answer.json();
  };
  const sealedBy = key === undefined ? {} : { key };
  const { passphrase: _, ...plain } = head;
  const { restore: id } = (await ask('beginRestore', { head: plain, ...sealedBy })) as { restore: string };
  let part: string[] = [];
  let length = 0;
  let areDefinitions = true;
  const send = async (): Promise<void> => {
    if (part.length > 0) await ask('restore', { restore: id, rows: part, ...sealedBy });
    part = [];
    length = 0;
  };
  for await (const { text, record } of recordsOf(file)) {
    if (!isRow(record)) continue;
    // Other rows are sent once all definitions are.
    const isDefinition = record.in === 'resources';
    if (length + text.length > PART_LENGTH || part.length >= PART_ROWS || areDefinitions !== isDefinition) await send();
    areDefinitions = isDefinition;
    part.push(text);
    length += text.length;
  }
  await send();
  await ask('endRestore', { restore: id, rows });
}
