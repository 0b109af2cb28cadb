// Where a command writes and what it is told by its surroundings: the real ones in bin/cascade.js, a test's in tests.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Standard output understands colours. */
  colors: boolean;
  env: Record<string, string | undefined>;
  /** Asks a person for a secret, which is not shown. Absent where nobody is there. */
  ask?: ((question: string) => Promise<string>) | undefined;
}

/** Called wrongly: the message is for the user, the exit code is 2. */
export class UsageError extends Error {}

/** @throws UsageError when there is no such file, or none that can be read */
export async function readSource(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
  EACCES: 'it is not yours to use',
  EEXIST: 'it is there already',
  ENOSPC: 'the disk is full',
};

/** What a file system says, for people. */
export function reasonOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? (code || String(error));
}

export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosed);
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    colors: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
    env: process.env,
    ask: process.stdin.isTTY ? askSecretly : undefined,
  };
}

/** Who reads may stop reading (`cascade builtins | head`): that ends neither a command nor a service. */
function ignoreClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

async function askSecretly(question: string): Promise<string> {
  process.stderr.write(question);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reading = createInterface({ input: process.stdin, output: unseen, terminal: true });
  try {
    return await reading.question('');
  } finally {
    reading.close();
    process.stderr.write('\n');
  }
}
