// A body as its Content-Encoding says (resources-and-api.md 1.7).
import { promisify } from 'node:util';
import { gunzip as gunzipCallback } from 'node:zlib';
import { apiError } from '../../model/errors/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';

const gunzip = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzipCallback);

/**
 * @param encoding the Content-Encoding header
 * @throws request.body.too.large, request.body.invalid, request.content.type
 */
export function inflated(bytes: Uint8Array, encoding: string | undefined, limitBytes: number): MaybePromise<Uint8Array> {
  if (encoding === undefined || bytes.length === 0) return bytes;
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || name === '') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip') throw apiError('cascade.request.content.type', `Content-Encoding: ${name}`);
  return gunzipped(bytes, limitBytes);
}

async function gunzipped(bytes: Uint8Array, limitBytes: number): Promise<Uint8Array> {
  try {
    return await gunzip(bytes, { maxOutputLength: limitBytes });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw apiError('cascade.request.body.too.large', limitBytes);
    throw apiError('cascade.request.body.invalid', 'it is not gzip', 0);
  }
}
