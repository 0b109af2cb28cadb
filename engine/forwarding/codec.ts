// Requests, replies and errors in messages between processes: exact values of programs in inner JSON, everything else in plain JSON.

import type { ApiReply, ApiRequest, DownloadedContent, Pieces, UploadedPart } from '../../resources/api.ts';
import { CascadeError, CascadeErrors } from '../../model/errors/index.ts';
import { MasterKeyError } from '../../platform/keys/index.ts';
import { type Answer, type ByteStream, type Calls, LinkFull, LinkLost, type Message } from '../../runtime/cluster/index.ts';
import { OwnedElsewhere } from './elsewhere.ts';
import { decodeInner, encodeInner, type Value } from '../../stdlib/values/index.ts';

type Head = Readonly<Record<string, unknown>>;

const OBJECT = 'object';
const UPLOAD = 'upload';

// ---------------------------------------------------------------- requests
/** @param to the process that gets the request: uploaded parts are lent to it */
export function requestMessage(calls: Calls, to: number, request: ApiRequest): { head: Record<string, unknown>; body: Uint8Array } {
  const { object, parameters, transfer, signal: _, ...plain } = request;
  const head: Record<string, unknown> = { request: plain, parameters: encodeInner(parameters) };
  if (transfer?.kind === 'download') head['transfer'] = 'download';
  if (transfer?.kind === UPLOAD) {
    head['transfer'] = UPLOAD;
    head['limitBytes'] = transfer.limitBytes;
    head['parts'] = calls.lend(to, partsStream(calls, to, transfer.parts));
  }
  if (object !== undefined) head[OBJECT] = true;
  return { head, body: object === undefined ? Buffer.alloc(0) : Buffer.from(encodeInner(object)) };
}

export function requestOf(calls: Calls, from: number, { head, body }: Message): ApiRequest {
  const request: ApiRequest = {
    ...(head['request'] as Omit<ApiRequest, 'parameters' | 'object' | 'transfer'>),
    parameters: decodeInner(String(head['parameters'])) as Record<string, Value>,
  };
  if (head[OBJECT] === true) request.object = decodeInner(body.toString());
  if (head['transfer'] === 'download') request.transfer = { kind: 'download' };
  if (head['transfer'] === UPLOAD)
    request.transfer = {
      kind: UPLOAD,
      limitBytes: Number(head['limitBytes']),
      parts: remoteParts(calls, from, calls.remote(from, Number(head['parts']))),
    };
  return request;
}

// ---------------------------------------------------------------- uploads
/** A stream of parts: each piece is the head of a part, with the number of the stream of its bytes. */
function partsStream(calls: Calls, to: number, parts: AsyncIterable<UploadedPart>): ByteStream {
  const iterator = parts[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await iterator.next();
      if (done === true) return null;
      const { name, fileType, bytes } = value;
      return Buffer.from(JSON.stringify({ name, fileType, bytes: calls.lend(to, byteStream(bytes)) }));
    },
    async close() {
      await iterator.return?.();
    },
  };
}

function byteStream(bytes: AsyncIterable<Uint8Array>): ByteStream {
  const iterator = bytes[Symbol.asyncIterator]();
  return {
    async next() {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) return null;
        if (value.length > 0) return value;
      }
    },
    async close() {
      await iterator.return?.();
    },
  };
}

async function* remoteParts(calls: Calls, from: number, stream: ByteStream): AsyncGenerator<UploadedPart> {
  try {
    for (let piece; (piece = await stream.next()); ) {
      const { name, fileType, bytes } = JSON.parse(Buffer.from(piece).toString()) as {
        name: string;
        fileType: string | null;
        bytes: number;
      };
      yield { name, fileType, bytes: remoteBytes(calls.remote(from, bytes)) };
    }
  } finally {
    await stream.close();
  }
}

async function* remoteBytes(stream: ByteStream): AsyncGenerator<Uint8Array> {
  try {
    for (let piece; (piece = await stream.next()); ) yield piece;
  } finally {
    await stream.close();
  }
}

// ---------------------------------------------------------------- replies
export function replyAnswer(calls: Calls, to: number, { body, pieces, content, ...plain }: ApiReply): Answer {
  const head: Record<string, unknown> = { reply: plain };
  if (pieces) head['pieces'] = calls.lend(to, piecesStream(pieces));
  if (content) {
    const { fileType, sizeBytes, digest } = content;
    head['content'] = { fileType, sizeBytes, digest, opener: openerStream(calls, to, content) };
  }
  return body === undefined ? { head } : { head: { ...head, body: true }, body: Buffer.from(body) };
}

export function replyOf(calls: Calls, from: number, { head, body }: Message): ApiReply {
  const reply = { ...(head['reply'] as ApiReply) };
  if (head['body'] === true) reply.body = body.toString();
  if (head['pieces'] !== undefined) reply.pieces = remotePieces(calls.remote(from, Number(head['pieces'])));
  if (head['content'] !== undefined) reply.content = remoteContent(calls, from, head['content'] as ContentHead);
  return reply;
}

const piecesStream = (pieces: Pieces): ByteStream => ({
  async next() {
    const text = await pieces.next();
    return text === null ? null : Buffer.from(text);
  },
  close: () => pieces.close(),
});

const remotePieces = (stream: ByteStream): Pieces => ({
  async next() {
    const piece = await stream.next();
    return piece === null ? null : Buffer.from(piece).toString();
  },
  close: () => stream.close(),
});

interface ContentHead {
  readonly fileType: string;
  readonly sizeBytes: number;
  readonly digest: string;
  readonly opener: number;
}

/**
 * Time for which a download is lent, until the method `open` requests a range of it, once: a client may have wanted to know its length
 * only.
 */
const OPENER_LENT_MS = 120_000;

export interface Opener extends ByteStream {
  /** @returns the number of the stream */
  open(from: number, until: number): number;
}

function openerStream(calls: Calls, to: number, content: DownloadedContent): number {
  const opener: Opener = {
    open(from, until) {
      const bytes = content.open(from, until);
      return calls.lend(to, { next: () => bytes.next(), close: () => bytes.close() });
    },
    next: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
  const id = calls.lend(to, opener);
  setTimeout(() => calls.unlend(to, id), OPENER_LENT_MS).unref();
  return id;
}

/** The handler of the method `open`. */
export function openRange(calls: Calls, from: number, { head }: Message): Answer {
  const opener = calls.unlend(from, Number(head['opener'])) as Opener | undefined;
  if (!opener) throw new LinkLost();
  return { head: { stream: opener.open(Number(head['from']), Number(head['until'])) } };
}

function remoteContent(calls: Calls, owner: number, { fileType, sizeBytes, digest, opener }: ContentHead): DownloadedContent {
  return {
    fileType,
    sizeBytes,
    digest,
    open(from, until) {
      const opened = calls.call(owner, 'open', { opener, from, until }).then(({ head }) => calls.remote(owner, Number(head['stream'])));
      opened.catch(() => undefined); // `next` throws the error
      return {
        async next() {
          const piece = await (await opened).next();
          return piece === null ? null : Buffer.from(piece);
        },
        async close() {
          const stream = await opened.catch(() => null);
          await stream?.close();
        },
      };
    },
  };
}

// ---------------------------------------------------------------- errors
export function failureHead(error: unknown): Record<string, unknown> {
  if (error instanceof OwnedElsewhere) return { kind: 'elsewhere', owner: error.owner };
  if (error instanceof CascadeErrors) return { kind: 'errors', errors: error.errors.map(plainError) };
  if (error instanceof CascadeError) return { kind: 'errors', errors: [plainError(error)], isOne: true };
  if (error instanceof MasterKeyError) return { kind: 'masterKey', message: error.message };
  if (error instanceof LinkLost || error instanceof LinkFull) return { kind: 'lost' };
  return { kind: 'unexpected', message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

export function failureOf(head: Head): Error {
  switch (head['kind']) {
    case 'elsewhere':
      return new OwnedElsewhere(head['owner'] === null ? null : Number(head['owner']));
    case 'errors': {
      const errors = (head['errors'] as PlainError[]).map(
        ({ code, message, params, status }) => new CascadeError(code, message, decodeInner(params) as Value[], status),
      );
      return head['isOne'] === true ? errors[0]! : new CascadeErrors(errors);
    }
    case 'masterKey':
      return new MasterKeyError(String(head['message']));
    case 'lost':
      return new LinkLost();
    default:
      return new Error(`the owner of the namespace failed: ${String(head['message'])}`);
  }
}

interface PlainError {
  readonly code: string;
  readonly message: string;
  readonly params: string;
  readonly status: number;
}

const plainError = ({ code, message, params, status }: CascadeError): PlainError => ({
  code,
  message,
  params: encodeInner(params),
  status,
});
