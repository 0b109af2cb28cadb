// `cascade rotate-keys`: replaces the master key, for an operator with access to the data folder or the database, without the service.
// Encrypted values stay as they are: the namespace keys, which encrypt them, are sealed again. Running the same command again completes an
// interrupted rotation.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { changeMasterKey, masterKeyId, openMasterKey, openNextMasterKey, parseMasterKey } from '../../platform/keys/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { openStore } from '../../platform/mongo/index.ts';
import { errorOutput } from './log.ts';
import { mongoUriOf, secret } from './secrets.ts';
import type { StoreOptions } from './serve-options.ts';
import { type Terminal, UsageError } from './terminal.ts';

export interface RotateOptions extends StoreOptions {
  masterKeyFile?: string;
  newMasterKeyFile?: string;
}

/** @returns 0, or 1 with a message when the keys could not be sealed again: then all are unchanged */
export async function rotateKeys(options: RotateOptions, terminal: Terminal): Promise<number> {
  const { data } = options;
  const mongo = mongoUriOf(options);
  if (data === undefined && mongo === undefined)
    throw new UsageError('Whose keys? Give the folder of the data (--data DIR) or the database (--mongo URI).');
  if (data !== undefined && !existsSync(join(data, 'db'))) throw new UsageError(`${data} is no data folder of a service.`);
  const given = keyIn(secret(process.env, 'CASCADE_MASTER_KEY', options.masterKeyFile), 'CASCADE_MASTER_KEY');
  const next = keyIn(secret({}, 'the new master key', options.newMasterKeyFile), String(options.newMasterKeyFile));
  const isKeptHere = given === null && mongo === undefined;
  if (!isKeptHere && given === null) throw new UsageError('Give the present master key: CASCADE_MASTER_KEY or --master-key-file FILE.');
  if (!isKeptHere && next === null) throw new UsageError('Give the new master key: --new-master-key-file FILE.');
  if (isKeptHere && next !== null)
    throw new UsageError(
      'The data folder keeps its master key itself and gets a new one: --new-master-key-file is for keys that are given.',
    );
  const log = pino({ level: 'warn' }, errorOutput());
  try {
    await using mongod = mongo === undefined ? await openEmbeddedMongod({ dataDir: data!, log }) : null;
    await using store = await openStore(mongo ?? mongod!.uri);
    const kept = isKeptHere ? openNextMasterKey(data!) : null; // this process holds the folder's lock
    const to = kept?.key ?? next!;
    const count = await changeMasterKey(store.installation, given ?? openMasterKey(data!), to);
    kept?.adopt();
    terminal.out(`Sealed with master key ${masterKeyId(to)}: the keys of ${count} namespaces\n`);
    terminal.out(
      kept
        ? `It is in ${join(data!, 'master.key')}.\n`
        : 'Start the services with the new one from now on; the old one opens backups of before.\n',
    );
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    terminal.err(`The keys could not be rotated: ${error.message}\n`);
    return 1;
  }
}

/** @throws UsageError */
function keyIn(text: string | undefined, name: string): Buffer | null {
  if (text === undefined) return null;
  const key = parseMasterKey(text);
  if (!key) throw new UsageError(`${name} is no key of 32 bytes (64 hexadecimal digits, or base64).`);
  return key;
}
