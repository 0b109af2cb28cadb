// Sealing with AES-256-GCM: a version byte, of version 2 the epoch of the key, 12 random bytes, the tag, then what was sealed. The head, and what it
// was sealed for, are authenticated with it, so that a sealed value is worth nothing in another place.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Of the one key that there is. */
const PLAIN = 1;
/** Of the key of an epoch. */
const OF_EPOCH = 2;
const IV_BYTES = 12;
const TAG_BYTES = 16;
export const LAST_EPOCH = 255;

/** @param key 32 bytes; @param place what it is sealed for; @param epoch of the key, from 1 to LAST_EPOCH; absent: it has none */
export function seal(key: Uint8Array, place: string, content: Uint8Array, epoch?: number): Buffer {
  const head = epoch === undefined ? Buffer.of(PLAIN) : Buffer.of(OF_EPOCH, epoch);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(additionalData(head, place));
  const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([head, iv, cipher.getAuthTag(), sealed]);
}

/** @returns the epoch of the key that opens it; undefined: it has none. @throws Error for what is not sealed */
export function epochOf(sealed: Uint8Array): number | undefined {
  if (sealed[0] === PLAIN) return undefined;
  if (sealed[0] !== OF_EPOCH || !sealed[1]) throw new Error('a sealed value has an unknown form');
  return sealed[1];
}

/** @throws Error for another key, another place, or anything that was changed */
export function open(key: Uint8Array, place: string, sealed: Uint8Array): Buffer {
  const head = Buffer.from(sealed.subarray(0, epochOf(sealed) === undefined ? 1 : 2));
  const [iv, tag] = [head.length, head.length + IV_BYTES];
  if (sealed.length < tag + TAG_BYTES) throw new Error('a sealed value has an unknown form');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(iv, tag)).setAAD(additionalData(head, place));
  decipher.setAuthTag(sealed.subarray(tag, tag + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(tag + TAG_BYTES)), decipher.final()]);
}

/** Version 1 authenticates the place alone. */
const additionalData = (head: Buffer, place: string): Buffer =>
  head.length === 1 ? Buffer.from(place) : Buffer.concat([head, Buffer.from(place)]);
