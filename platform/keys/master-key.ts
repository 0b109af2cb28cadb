// The installation's master key: 32 bytes that seal the keys of its namespaces. With a data folder of ours it is a file there, with a
// database of the user's own it is given.
import { createHmac, randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BYTES = 32;

/** The key in a text of 64 hexadecimal digits, or of base64; null when it is none. */
export function parseMasterKey(text: string): Buffer | null {
  const trimmed = text.trim();
  const key = /^[0-9a-fA-F]{64}$/.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
  return key.length === BYTES && /^[A-Za-z0-9+/=]+$/.test(trimmed) ? key : null;
}

/** What is sealed names the key by this: nothing of the key can be told from it. */
export const masterKeyId = (key: Uint8Array): string =>
  createHmac('sha256', key).update('cascade master key id').digest('hex').slice(0, 16);

/** The key of a data folder, made when there is none. @throws Error when the file holds something else */
export function openMasterKey(dataDir: string): Buffer {
  const file = join(dataDir, 'master.key');
  if (!existsSync(file)) writeOnce(file, randomBytes(BYTES).toString('hex'));
  chmodSync(file, 0o600);
  const key = parseMasterKey(readFileSync(file, 'utf8'));
  if (!key) throw new Error(`${file} holds no key: what was encrypted with it cannot be read without it`);
  return key;
}

/**
 * The key that will be that of the data folder, kept beside the present one until everything is sealed with it: whoever is interrupted
 * finds it there again.
 */
export function openNextMasterKey(dataDir: string): { readonly key: Buffer; adopt(): void } {
  const file = join(dataDir, 'master.key.next');
  if (!existsSync(file)) writeOnce(file, randomBytes(BYTES).toString('hex'));
  const key = parseMasterKey(readFileSync(file, 'utf8'));
  if (!key) throw new Error(`${file} holds no key`);
  return { key, adopt: () => renameSync(file, join(dataDir, 'master.key')) };
}

/** Whole or not at all, and never over another process's. */
function writeOnce(file: string, text: string): void {
  const own = `${file}.${process.pid}`;
  const handle = openSync(own, 'w', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(own);
  }
}
