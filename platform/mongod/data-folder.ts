// What lies in the data folder beside the database's own files (db/): mongod.json, mongod.key, mongod.user.json, mongod.log.
// All of it is for the owner only: other users of the machine reach the port, and must not get in.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const LOG_LIMIT_BYTES = 20 * 1024 * 1024;

/** What must outlive us: a replica set keeps its own address, so the port has to stay the same. */
export interface Kept {
  port: number;
  setName: string;
  binary: string;
  /** The featureCompatibilityVersion of the files (`6.0`): what may open them. Absent in folders of before it was kept. */
  compatibility?: string;
}

export interface DataFolder {
  /** Without symbolic links, so that it can be compared with what a running mongod was given. */
  readonly path: string;
  readonly database: string;
  readonly keyFile: string;
  readonly logFile: string;
  /** The secret that members of the set share: it opens everything, also before there is a user. */
  readonly key: string;
  readonly user: { readonly name: string; readonly password: string };
  kept(): Kept | undefined;
  keep(kept: Kept): void;
}

/**
 * Makes the folder ready: secrets made once, rights put right, an overgrown log of mongod set aside.
 * @throws Error with a reason for people
 */
export const openDataFolder = (path: string): DataFolder => inFolder(path, () => readied(path));

function readied(path: string): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const root = realpathSync(path);
  const database = join(root, 'db');
  mkdirSync(database, { recursive: true, mode: 0o700 });
  const keyFile = join(root, 'mongod.key');
  const userFile = join(root, 'mongod.user.json');
  const logFile = join(root, 'mongod.log');
  const oldLogFile = `${logFile}.old`;
  const keptFile = join(root, 'mongod.json');
  if (!existsSync(keyFile)) writeWhole(keyFile, randomBytes(512).toString('base64'));
  if (!existsSync(userFile)) writeWhole(userFile, JSON.stringify({ name: 'cascade', password: randomBytes(24).toString('hex') }));
  // Made by somebody else, or unpacked from a backup, they may be open to all; also what is in them then is closed by the folder's rights.
  chmodSync(database, 0o700);
  for (const file of [keyFile, userFile, keptFile, logFile, oldLogFile]) if (existsSync(file)) chmodSync(file, 0o600);
  if (existsSync(logFile) && statSync(logFile).size > LOG_LIMIT_BYTES) renameSync(logFile, oldLogFile);
  return {
    path: root,
    database,
    keyFile,
    logFile,
    key: readFileSync(keyFile, 'utf8').trim(),
    user: jsonIn(userFile) as { name: string; password: string },
    kept: () => (existsSync(keptFile) ? (jsonIn(keptFile) as Kept) : undefined),
    keep: (kept) => writeWhole(keptFile, `${JSON.stringify(kept, null, 2)}\n`),
  };
}

/** @throws Error that names the file */
function jsonIn(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file} is damaged (${(cause as Error).message}): take it from a copy of the folder`, { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'a file has that name',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'you may not read and write there',
  EPERM: 'it, or a file in it, belongs to somebody else',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** @throws Error with a reason for people where `work` cannot use the folder's files */
export function inFolder<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new Error(`${path} cannot be the folder of the data: ${Object.hasOwn(REASONS, code) ? REASONS[code] : message}`, { cause });
  }
}

/** On the disk before it has its name: a crash leaves the old or the new, never a half. */
function writeWhole(file: string, text: string): void {
  const temporary = `${file}.new`;
  const handle = openSync(temporary, 'w', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}
