// Seals messages between processes (AES-256-GCM) with a key that only the database holds: an attacker who can reach the bus, and not the
// database, can neither read nor forge one. Each pair of processes has a key for each direction, and each message a number.

import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

const VERSION = 1;
const EPOCH_BYTES = 6;
const NUMBER_BYTES = 6;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + EPOCH_BYTES + NUMBER_BYTES;

/** Number of bytes that sealing adds to a message. */
export const SEAL_BYTES = HEAD_BYTES + TAG_BYTES;

export class Seals {
  readonly #secret: Uint8Array;
  readonly #own: number;
  readonly #keys = new Map<string, Buffer>();
  readonly #numbers = new Map<number | 'all', number>();

  /** @param own the epoch of this process: no other one ever has it */
  constructor(secret: Uint8Array, own: number) {
    this.#secret = secret;
    this.#own = own;
  }

  seal(to: number | 'all', bytes: Uint8Array): Buffer {
    const number = (this.#numbers.get(to) ?? 0) + 1;
    this.#numbers.set(to, number);
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head[0] = VERSION;
    head.writeUIntBE(this.#own, 1, EPOCH_BYTES);
    head.writeUIntBE(number, 1 + EPOCH_BYTES, NUMBER_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.#own, to), nonceOf(head));
    cipher.setAAD(head);
    return Buffer.concat([head, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** @returns null when the message is not from a process of this installation to this one, or to all */
  open(to: number | 'all', sealed: Uint8Array): { readonly from: number; readonly bytes: Buffer } | null {
    if (sealed.length < SEAL_BYTES || sealed[0] !== VERSION) return null;
    const message = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
    const head = message.subarray(0, HEAD_BYTES);
    const from = head.readUIntBE(1, EPOCH_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#key(from, to, false), nonceOf(head), { authTagLength: TAG_BYTES });
    decipher.setAAD(head);
    decipher.setAuthTag(message.subarray(-TAG_BYTES));
    try {
      const bytes = Buffer.concat([decipher.update(message.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
      this.#keep(from, to);
      return { from, bytes };
    } catch {
      return null; // forged, or from another installation
    }
  }

  /** Forgets a process that is gone. */
  forget(epoch: number): void {
    for (const name of [nameOf(epoch, this.#own), nameOf(this.#own, epoch), nameOf(epoch, 'all')]) this.#keys.delete(name);
  }

  /** @param isKept false: the sender is not verified yet; a key is cached once one of its messages was opened */
  #key(from: number, to: number | 'all', isKept = true): Buffer {
    const name = nameOf(from, to);
    const known = this.#keys.get(name);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', this.#secret, Buffer.alloc(0), `cascade bus ${name}`, 32));
    if (isKept) this.#keys.set(name, key);
    return key;
  }

  #keep(from: number, to: number | 'all'): void {
    this.#key(from, to);
  }
}

const nameOf = (from: number, to: number | 'all'): string => `${from}>${to}`;

function nonceOf(head: Buffer): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  head.copy(nonce, NONCE_BYTES - NUMBER_BYTES, 1 + EPOCH_BYTES);
  return nonce;
}
