// The body of a request: collected up to a limit, inflated up to the same limit (resources-and-api.md 1.6, 1.7).
import { promisify } from 'node:util';
import { gunzip as gunzipCallback } from 'node:zlib';
import { fault } from '../../model/errors/faults.ts';
import type { Soon } from '../../platform/structures/soon.ts';
import type { Exchange } from '../transport/index.ts';

const gunzip = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzipCallback);

/** What is read and thrown away of a body that is too large, so that its sender reads the answer; a longer one is cut off. */
const DISCARDED_BYTES = 32 * 1024 * 1024;

const NOTHING = Buffer.alloc(0);

interface Asker {
  resolve(bytes: Uint8Array): void;
  reject(reason: unknown): void;
}

/** Collects from the moment at which it is made, as the transports demand. */
export class Body {
  readonly #limitBytes: number;
  #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #isKept = true;
  #whole: Uint8Array | null = null;
  #failure: Error | null = null;
  /** Those who wait for it. */
  #askers: Asker[] = [];

  /** @param onData called when some of it has come, or it is known that there is none */
  constructor(exchange: Exchange, limitBytes: number, onData: () => void) {
    this.#limitBytes = limitBytes;
    exchange.onData((chunk, isLast) => {
      this.#take(chunk, isLast);
      onData();
    });
  }

  /** The bytes as they came. @throws request.body.too.large, request.body.invalid when the client went away */
  received(): Soon<Uint8Array> {
    if (this.#whole) return this.#whole;
    if (this.#failure) throw this.#failure;
    return new Promise((resolve, reject) => this.#askers.push({ resolve, reject }));
  }

  /** Nobody will want it: what has come is let go, what comes is not kept. */
  discard(): void {
    this.#isKept = false;
    this.#chunks = [];
    this.#whole = null;
  }

  /** The client went away: whoever waits for the body need not. */
  abort(): void {
    this.#fail(fault('cascade.request.body.invalid', 'the connection was closed', this.#sizeBytes));
  }

  #take(chunk: Uint8Array, isLast: boolean): void {
    this.#sizeBytes += chunk.byteLength;
    if (this.#sizeBytes > this.#limitBytes) {
      this.#chunks = [];
      if (isLast || this.#sizeBytes > this.#limitBytes + DISCARDED_BYTES)
        this.#fail(fault('cascade.request.body.too.large', this.#limitBytes));
      return;
    }
    if (this.#isKept && chunk.byteLength > 0) this.#chunks.push(Buffer.from(chunk)); // a copy: the transport takes its own back
    if (!isLast || this.#failure) return;
    const whole = this.#chunks.length === 1 ? this.#chunks[0]! : this.#chunks.length === 0 ? NOTHING : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#whole = whole;
    for (const { resolve } of this.#askers.splice(0)) resolve(whole);
  }

  #fail(failure: Error): void {
    if (this.#whole) return;
    this.#failure ??= failure;
    for (const { reject } of this.#askers.splice(0)) reject(this.#failure);
  }
}

/**
 * @param encoding the Content-Encoding header
 * @throws request.body.too.large, request.body.invalid, request.content.type
 */
export function inflate(bytes: Uint8Array, encoding: string | undefined, limitBytes: number): Soon<Uint8Array> {
  if (encoding === undefined || bytes.length === 0) return bytes;
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || name === '') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip') throw fault('cascade.request.content.type', `Content-Encoding: ${name}`);
  return gunzipped(bytes, limitBytes);
}

async function gunzipped(bytes: Uint8Array, limitBytes: number): Promise<Uint8Array> {
  try {
    return await gunzip(bytes, { maxOutputLength: limitBytes });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw fault('cascade.request.body.too.large', limitBytes);
    throw fault('cascade.request.body.invalid', 'it is not gzip', 0);
  }
}
