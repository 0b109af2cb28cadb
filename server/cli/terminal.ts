// The output of a command and the environment around it: the real ones in bin/cascade.js, a test's in tests.
import { isUtf8 } from 'node:buffer';
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

/** @throws UsageError when the file does not exist, cannot be read or is no UTF-8 */
export async function readSource(file: string): Promise<string> {
  try {
    return await readUtf8(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
  }
}

/**
 * The text of a file. One in another encoding is refused: reading it would replace its characters, and who writes the text again would lose
 * them.
 * @throws Error
 */
export async function readUtf8(file: string): Promise<string> {
  const bytes = await readFile(file);
  if (!isUtf8(bytes)) throw new Error('it is no UTF-8 text');
  return bytes.toString('utf8');
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
  return REASONS[code] ?? (code || (error instanceof Error ? error.message : String(error)));
}

export function processTerminal(): Terminal {
  process.stdout.on('error', (error) => lost(error, true));
  process.stderr.on('error', (error) => lost(error, false));
  return {
    out: (text) => void process.stdout.write(process.stdout.isTTY ? harmless(text) : text),
    err: (text) => void process.stderr.write(process.stderr.isTTY ? harmless(text) : text),
    colors: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
    env: process.env,
    ask: process.stdin.isTTY ? askSecretly : undefined,
  };
}

/**
 * Text for a terminal: what a service answers holds what its users wrote, which must not command it. Colours stay, and the line that a
 * progress is shown on.
 */
export const harmless = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a terminal
  text.replace(
    /\u001b(?!\[(?:[\d;]*m|2K))|\r(?!\n|\u001b\[2K)|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g,
    '\ufffd',
  );

/**
 * A reader may stop reading (`cascade builtins | head`), and a file may be on a full disk: that ends neither a command nor a service, but a
 * command whose output is not all there has not succeeded.
 */
function lost(error: NodeJS.ErrnoException, isResult: boolean): void {
  if (error.code === 'EPIPE' || !isResult) return;
  process.stderr.write(`The output could not be written: ${reasonOf(error)}.\n`);
  process.on('exit', (code) => {
    if (code === 0) process.exitCode = 1;
  });
}

async function askSecretly(question: string): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reading = createInterface({ input: process.stdin, output: unseen, terminal: true }); // from here on nothing is echoed
  process.stderr.write(question);
  try {
    return await new Promise((resolve, reject) => {
      const leave = (): void => reject(new UsageError('No answer was given.'));
      reading.once('close', leave); // the terminal is gone
      reading.question('').then(resolve, leave); // Ctrl+C, Ctrl+D
    });
  } finally {
    reading.close();
    process.stderr.write('\n');
  }
}
