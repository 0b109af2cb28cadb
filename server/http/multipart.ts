// A body of multipart/form-data, part by part as it arrives (RFC 7578). The caller consumes the contents of each part.
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Dicer } from '@fastify/busboy';
import type { UploadedPart } from '../../resources/api.ts';
import { asError } from '../../platform/structures/index.ts';
import { apiError } from '../../model/errors/index.ts';

const MOST_PARTS = 100;
/** Bound of the headers of one part; the parser keeps 80 KiB of them at most. */
const MOST_HEADERS = 100;
/** A part with this name gets its filename as name. */
const BY_FILENAME = 'defaultName';

/** The boundary of a multipart body; null for another content type, or without boundary. */
export function boundaryOf(contentType = ''): string | null {
  const [, quoted, plain] = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

export const isMultipart = (contentType = ''): boolean => /^multipart\/form-data\s*(?:;|$)/i.test(contentType.trim());

/**
 * The parts of a body in order. Each is to be read before the next is requested; the unread rest is skipped.
 * @throws request.body.invalid, request.content.type, request.too.many.instances, and the error that ends the body
 */
export async function* partsOf(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
  encoding: string | undefined,
): AsyncGenerator<UploadedPart> {
  const parser = new Dicer({ boundary, maxHeaderPairs: MOST_HEADERS });
  const found = new AsyncQueue<{ part: Dicer.PartStream; headers: Record<string, string[]> }>();
  let open: Dicer.PartStream | null = null;
  let count = 0;
  let failure: Error | null = null;
  let isStopped = false;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const end = (reason: Error | null): void => {
    if (isStopped) return;
    const cause = reason && !isOurs(reason) ? malformed() : reason;
    failure = cause;
    if (cause) {
      isStopped = true;
      stop();
      open?.destroy(cause);
    }
    found.end(cause);
  };
  parser.on('error', end);
  parser.on('finish', () => end(null));
  parser.on('part', (part: Dicer.PartStream) => {
    part.on('error', () => undefined); // the reader of the part gets the error, and so does the parser
    if (++count > MOST_PARTS) end(apiError('cascade.request.too.many.instances', MOST_PARTS));
    part.on('header', (headers) => found.put({ part, headers: headers as Record<string, string[]> }));
  });
  const source = inflated(body, encoding);
  void (async () => {
    for await (const piece of source) {
      if (isStopped) return;
      // The parser calls back when the current part has room.
      await Promise.race([new Promise((taken) => parser.write(Buffer.from(piece), taken)), stopped]);
    }
    if (!isStopped) parser.end();
  })().catch((error: unknown) => end(asError(error)));
  try {
    for (let next = await found.take(); next !== null; next = await found.take()) {
      const { part, headers } = next;
      open = part;
      yield { ...described(headers), bytes: contentOf(part, () => failure) };
      open = null;
      part.resume();
    }
  } finally {
    isStopped = true;
    stop();
  }
}

const malformed = () => apiError('cascade.request.body.invalid', 'it is no multipart/form-data', 0);

/** The bytes of a part. @throws the error that ended the body, as one of the API */
async function* contentOf(part: Dicer.PartStream, failure: () => Error | null): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of part) yield piece as Uint8Array;
  } catch (error) {
    throw failure() ?? (isOurs(error) ? error : malformed());
  }
}

const isOurs = (error: unknown): error is Error =>
  error instanceof Error && String((error as { code?: unknown }).code).startsWith('cascade.');

function inflated(body: AsyncIterable<Uint8Array>, encoding = 'identity'): AsyncIterable<Uint8Array> {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || name === '') return body;
  if (name !== 'gzip' && name !== 'x-gzip') throw apiError('cascade.request.content.type', `Content-Encoding: ${name}`);
  const source = Readable.from(body, { objectMode: false, highWaterMark: 1 });
  const gunzip = createGunzip();
  source.once('error', (error) => gunzip.destroy(error));
  return source.pipe(gunzip);
}

/** @throws request.body.invalid */
function described(headers: Record<string, string[]>): { name: string; fileType: string | null } {
  const disposition = dispositionOf(utf8(headers['content-disposition']?.[0] ?? ''));
  const named = disposition.get('name');
  const filename = disposition.get('filename');
  const name = named === BY_FILENAME ? filename : named;
  if (name === undefined) throw apiError('cascade.request.body.invalid', 'a part has no name', 0);
  return { name, fileType: headers['content-type']?.[0]?.trim() || null };
}

/** The UTF-8 text of bytes that the parser read as Latin-1 (RFC 7578 5.1). */
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');

/** The parameters of `form-data; name="a"; filename="b"; filename*=UTF-8''c`; the extended form wins. */
export function dispositionOf(header: string): Map<string, string> {
  const found = new Map<string, string>();
  const [, parameters] = /^\s*form-data\s*(;.*)?$/is.exec(header) ?? [];
  const extended = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of (parameters ?? '').matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/gs)) {
    const key = name.toLowerCase();
    const value = quoted === undefined ? plain : quoted.replace(/\\(["\\])/g, '$1');
    if (key.endsWith('*')) {
      const decoded = decodeExtended(value);
      if (decoded !== null) extended.set(key.slice(0, -1), decoded);
    } else if (!found.has(key)) found.set(key, value);
  }
  return new Map([...found, ...extended]);
}

/** Decodes RFC 8187, in UTF-8; null when malformed. */
function decodeExtended(value: string): string | null {
  const [, encoded] = /^utf-8'[^']*'(.*)$/is.exec(value) ?? [];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null; // a malformed escape makes the name invalid
  }
}

/** A queue between one producer and one consumer, with an end. */
class AsyncQueue<T> {
  readonly #waiting: T[] = [];
  #end: { readonly reason: Error | null } | null = null;
  #wake = (): void => undefined;

  put(one: T): void {
    this.#waiting.push(one);
    this.#wake();
  }

  end(reason: Error | null): void {
    this.#end ??= { reason };
    this.#wake();
  }

  /** The next item; null at the end. @throws the error that it ended with */
  async take(): Promise<T | null> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) return next;
      if (this.#end?.reason) throw this.#end.reason;
      if (this.#end) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
