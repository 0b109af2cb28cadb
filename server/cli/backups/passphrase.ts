// The key of a backup's encrypted values: derived from a passphrase here, so that the service never has the passphrase.
import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Stretching } from '../../../features/backups/index.ts';
import type { RemoteOptions } from '../remote.ts';
import { secret } from '../secrets.ts';
import { type Terminal, UsageError } from '../terminal.ts';

export interface BackupOptions extends RemoteOptions {
  readonly passphraseFile?: string;
}

const SALT_BYTES = 16;
const KEY_BYTES = 32;
/** The cost of scrypt, as for passwords: whoever has the file has to pay it for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1 };
/** Bound of the cost that a file may demand: 1 GiB of memory. */
const MOST_COST = 2 ** 20 * 8;
/** Whether scrypt takes these, and the machine can. */
const isAffordable = ({ N, r, p }: Stretching): boolean =>
  N > 1 && Number.isInteger(Math.log2(N)) && r > 0 && p > 0 && N * r * p <= MOST_COST;
const scrypting: (passphrase: string, salt: Uint8Array, bytes: number, cost: object) => Promise<Buffer> = promisify(scrypt);

/** @throws UsageError when it is given in two ways, or its file cannot be read */
export const passphraseOf = ({ passphraseFile }: BackupOptions, { env }: Terminal): string | undefined =>
  secret(env, 'CASCADE_BACKUP_PASSPHRASE', passphraseFile);

export const newStretching = (): Stretching => ({ salt: randomBytes(SALT_BYTES).toString('base64'), ...COST });

/** The key in hexadecimal digits. @throws UsageError for a cost that no backup of this service has */
export async function stretched(passphrase: string, stretching: Stretching): Promise<string> {
  if (!isAffordable(stretching)) throw new UsageError('The file asks for a key at a cost that no backup has: it is not one of ours.');
  const { salt, N, r, p } = stretching;
  const key = await scrypting(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), KEY_BYTES, { N, r, p, maxmem: 256 * N * r });
  return key.toString('hex');
}
