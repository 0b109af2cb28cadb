// Reads secrets from the environment or from a file, never from the command line, which every user of the machine sees.
import { readFileSync } from 'node:fs';
import type { StoreOptions } from './serve-options.ts';
import { reasonOf, UsageError } from './terminal.ts';

/**
 * The variable's value, or the text of the file without its final line end and without a byte order mark.
 * @param name the variable that holds it; `<name>_FILE` names the file
 * @param file from the option or that variable
 * @throws UsageError when both are given, and when the file cannot be read or is empty
 */
export function secret(env: Readonly<Record<string, string | undefined>>, name: string, file: string | undefined): string | undefined {
  const value = env[name] || undefined;
  if (file === undefined) return value;
  if (value !== undefined) throw new UsageError(`${name} and a file for it (${file}) are both given: give one of them.`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/^\uFEFF|\r?\n$/g, '');
  } catch (error) {
    throw new UsageError(`${file}, which is to hold ${name}, cannot be read: ${reasonOf(error)}.`);
  }
  if (text === '') throw new UsageError(`${file}, which is to hold ${name}, is empty.`);
  return text;
}

/**
 * The connection string of the database, if one is given. @throws UsageError when it is invalid; the message does not repeat it, since it
 * may hold a password
 */
export function mongoUriOf({ mongo, mongoFile }: StoreOptions): string | undefined {
  const uri = mongo ?? secret({}, 'CASCADE_MONGO', mongoFile);
  if (uri !== undefined && !/^mongodb(?:\+srv)?:\/\/./.test(uri))
    throw new UsageError(
      '--mongo takes a connection string that begins with mongodb:// or mongodb+srv://, such as mongodb://db1,db2,db3/?replicaSet=rs0.',
    );
  return uri;
}
