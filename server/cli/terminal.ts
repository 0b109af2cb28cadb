// The output of a command and the environment around it: the real ones in bin/cascade.js, a test's in tests.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether standard output supports colours. */
  colors: boolean;
  env: Record<string, string | undefined>;
  /** Asks a person for a secret, which is not echoed. Absent without a terminal. */
  ask?: ((question: string) => Promise<string>) | undefined;
}

/** Wrong usage: the message is for the user, the exit code is 2. */
export class UsageError extends Error {}

/** @throws UsageError when the file does not exist or cannot be read */
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

/** An error of the file system in words for people. */
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

/** A reader may stop reading (`cascade builtins head`): that ends neither a command nor a service. */
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
