// Sealing with AES-256-GCM: a version byte, 12 random bytes, the tag, then what was sealed. What it was sealed for is authenticated with
// it, so that a sealed value is worth nothing in another place.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + IV_BYTES + TAG_BYTES;

/** @param key 32 bytes; @param place what it is sealed for */
export function seal(key: Uint8Array, place: string, content: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
  const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), sealed]);
}

/** @throws Error for another key, another place, or anything that was changed */
export function open(key: Uint8Array, place: string, sealed: Uint8Array): Buffer {
  if (sealed[0] !== VERSION || sealed.length < HEAD_BYTES) throw new Error('a sealed value has an unknown form');
  const iv = sealed.subarray(1, 1 + IV_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(1 + IV_BYTES, HEAD_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]);
}
