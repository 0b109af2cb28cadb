// The body of a request: collected up to a limit, inflated up to the same limit (resources-and-api.md 1.6, 1.7).
import type { HttpResponse } from 'uWebSockets.js';
import { promisify } from 'node:util';
import { gunzip as gunzipCallback } from 'node:zlib';
import { fault } from '../../runtime/faults.ts';

const gunzip = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzipCallback);

/** What is read and thrown away of a body that is too large, so that its sender reads the answer; a longer one is cut off. */
const DISCARDED_BYTES = 32 * 1024 * 1024;

export interface BodyReader {
  /** The bytes as they came. @throws request.body.too.large */
  received: Promise<Uint8Array>;
  /** Nobody will want it: what has come is let go, what comes is not kept. */
  discard(): void;
  /** The client went away: whoever waits for the body need not. */
  abort(): void;
}

/** Begins to collect at once, as uWebSockets.js demands. */
export function collectBody(response: HttpResponse, limitBytes: number): BodyReader {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  let kept = true;
  let abort = (): void => undefined;
  const received = new Promise<Uint8Array>((resolve, reject) => {
    abort = () => reject(fault('cascade.request.body.invalid', 'the connection was closed', sizeBytes));
    const tooLarge = (): void => reject(fault('cascade.request.body.too.large', limitBytes));
    response.onData((chunk, isLast) => {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > limitBytes) {
        chunks = [];
        if (isLast || sizeBytes > limitBytes + DISCARDED_BYTES) tooLarge();
        return;
      }
      if (kept && chunk.byteLength > 0) chunks.push(Buffer.from(new Uint8Array(chunk))); // a copy: uWebSockets.js takes its own back
      if (isLast) resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
  });
  received.catch(() => undefined); // told to whoever asks for the body; many requests never do
  const discard = (): void => {
    kept = false;
    chunks = [];
  };
  return { received, discard, abort };
}

/**
 * @param encoding the Content-Encoding header
 * @throws request.body.too.large, request.body.invalid, request.content.type
 */
export async function inflate(bytes: Uint8Array, encoding: string | undefined, limitBytes: number): Promise<Uint8Array> {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (bytes.length === 0 || name === 'identity' || name === '') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip') throw fault('cascade.request.content.type', `Content-Encoding: ${name}`);
  try {
    return await gunzip(bytes, { maxOutputLength: limitBytes });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw fault('cascade.request.body.too.large', limitBytes);
    throw fault('cascade.request.body.invalid', 'it is not gzip', 0);
  }
}
