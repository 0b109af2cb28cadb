// `cascade admin reset NAME`: resets a lost password, for an operator with access to the data folder or the database, without the service.
// The command takes the folder's lock, so it never runs beside a service that has the folder open.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { CascadeError } from '../../model/errors/index.ts';
import { resetAccount as reset } from '../../features/accounts/index.ts';
import { generatePassword, SecurityLog } from '../../identity/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { openStore } from '../../platform/mongo/index.ts';
import { errorOutput } from './log.ts';
import { mongoUriOf, secret } from './secrets.ts';
import type { StoreOptions } from './serve-options.ts';
import { type Terminal, UsageError } from './terminal.ts';

export interface ResetOptions extends StoreOptions {
  passwordFile?: string;
  generate?: boolean;
}

/** @returns 0, or 1 with a message when the password could not be set */
export async function resetAccount(username: string, options: ResetOptions, terminal: Terminal): Promise<number> {
  const { data } = options;
  const mongo = mongoUriOf(options);
  if (data === undefined && mongo === undefined)
    throw new UsageError('Whose account? Give the folder of the data (--data DIR) or the database (--mongo URI).');
  if (data !== undefined && !existsSync(join(data, 'db'))) throw new UsageError(`${data} is no data folder of a service.`);
  const password = await newPassword(options, terminal);
  const log = pino({ level: 'warn' }, errorOutput());
  try {
    await using mongod = mongo === undefined ? await openEmbeddedMongod({ dataDir: data!, log }) : null;
    await using store = await openStore(mongo ?? mongod!.uri);
    const operator = userInfo().username;
    await reset(store, username, password, operator);
    new SecurityLog(log).reset(username, operator);
    if (options.generate) terminal.out(`The password of user ${username} is ${password} (it is not shown again)\n`);
    else terminal.out(`User ${username} has the new password\n`);
    terminal.out('The account is active; its sessions and tokens are ended.\n');
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    terminal.err(
      error instanceof CascadeError ? `${error.code}: ${error.message}\n` : `The account could not be reset: ${error.message}\n`,
    );
    return 1;
  }
}

async function newPassword({ passwordFile, generate }: ResetOptions, terminal: Terminal): Promise<string> {
  if (generate) return generatePassword();
  const held = secret({}, 'the new password', passwordFile);
  if (held !== undefined) return held;
  if (!terminal.ask) throw new UsageError('Nobody is here to be asked for a password: give --password-file FILE or --generate.');
  const password = await terminal.ask('New password: ');
  if ((await terminal.ask('Once more: ')) !== password) throw new UsageError('These are two passwords. Nothing was changed.');
  return password;
}
