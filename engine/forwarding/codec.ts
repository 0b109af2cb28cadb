// Requests, replies and errors in messages between processes: exact values of programs in inner JSON, everything else in plain JSON.

import type { ApiReply, ApiRequest, DownloadedContent, Pieces, UploadedPart } from '../../resources/api.ts';
import { CascadeError, CascadeErrors } from '../../model/errors/index.ts';
import { MasterKeyError } from '../../platform/keys/index.ts';
import { type Answer, type ByteStream, type Calls, LinkFull, LinkLost, type Message } from '../../runtime/cluster/index.ts';
import { OwnedElsewhere } from './elsewhere.ts';
import { decodeInnerInPieces, encodeInnerInPieces } from '../../model/values/index.ts';
import { isLong } from '../../model/types/index.ts';
import { finishInSlices } from '../../platform/structures/index.ts';
import { decodeInner, encodeInner, type Value } from '../../stdlib/values/index.ts';

type Head = Readonly<Record<string, unknown>>;

const OBJECT = 'object';
const UPLOAD = 'upload';

// ---------------------------------------------------------------- requests
/** The length in bytes from which a body is read in slices. */
const LONG_BYTES = 64 * 1024;

export interface RequestMessage {
  readonly head: Record<string, unknown>;
  readonly body: Uint8Array;
  /** To be called when the request has its answer: withdraws what was lent for it and never read. */
  end(): void;
}

/** @param to the process that gets the request: uploaded parts are lent to it */
export async function requestMessage(calls: Calls, to: number, request: ApiRequest): Promise<RequestMessage> {
  const { object, parameters, transfer, signal: _, ...plain } = request;
  const head: Record<string, unknown> = { request: plain, parameters: encodeInner(parameters) };
  const lent: number[] = [];
  if (transfer?.kind === 'download') head['transfer'] = 'download';
  if (transfer?.kind === UPLOAD) {
    head['transfer'] = UPLOAD;
    head['limitBytes'] = transfer.limitBytes;
    const lend = (stream: ByteStream): number => {
      const id = calls.lend(to, stream);
      lent.push(id);
      return id;
    };
    head['parts'] = lend(partsStream(lend, transfer.parts));
  }
  const end = (): void => {
    for (const id of lent) calls.unlend(to, id);
  };
  if (object === undefined) return { head, body: Buffer.alloc(0), end };
  head[OBJECT] = true;
  const text = isLong(object) ? await finishInSlices(request.identity.namespace, encodeInnerInPieces(object)) : encodeInner(object);
  return { head, body: Buffer.from(text), end };
}

export async function requestOf(calls: Calls, from: number, { head, body }: Message): Promise<ApiRequest> {
  const request: ApiRequest = {
    ...(head['request'] as Omit<ApiRequest, 'parameters' | 'object' | 'transfer'>),
    parameters: decodeInner(String(head['parameters'])) as Record<string, Value>,
  };
  if (head[OBJECT] === true) {
    const text = body.toString();
    const { namespace } = request.identity;
    request.object = body.length < LONG_BYTES ? decodeInner(text) : await finishInSlices(namespace, decodeInnerInPieces(text));
  }
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
function partsStream(lend: (stream: ByteStream) => number, parts: AsyncIterable<UploadedPart>): ByteStream {
  const iterator = parts[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await iterator.next();
      if (done === true) return null;
      const { name, fileType, bytes } = value;
      return Buffer.from(JSON.stringify({ name, fileType, bytes: lend(byteStream(bytes)) }));
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
  if (pieces) head['pieces'] = lendOrClose(calls, to, piecesStream(pieces));
  if (content) {
    const { fileType, sizeBytes, digest } = content;
    head['content'] = { fileType, sizeBytes, digest, opener: openerStream(calls, to, content) };
  }
  return body === undefined ? { head } : { head: { ...head, body: true }, body: Buffer.from(body) };
}

/** What cannot be lent is closed: nobody would read it to its end. @throws LinkFull, LinkClosed */
function lendOrClose(calls: Calls, to: number, stream: ByteStream): number {
  try {
    return calls.lend(to, stream);
  } catch (error) {
    stream.close().catch(() => undefined); // the caller gets the error that came first
    throw error;
  }
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

/** Time for which a download is lent, until the method `open` requests a range of it, once. */
const OPENER_LENT_MS = 120_000;
/** Time after which the receiver of a download gives back what it has not opened: who has asked had wanted to know its length or version only. */
const GIVEN_BACK_AFTER_MS = 5_000;

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
  const unused = setTimeout(() => calls.post(owner, 'close', { stream: opener }), GIVEN_BACK_AFTER_MS).unref();
  return {
    fileType,
    sizeBytes,
    digest,
    open(from, until) {
      clearTimeout(unused);
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
        ({ code, message, params, status, retryAfterSeconds, offered }): CascadeError =>
          Object.assign(new CascadeError(code, message, decodeInner(params) as Value[], status), {
            ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
            ...(offered !== undefined && { offered: new Set(offered) }),
          }),
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
  /** What the answer's headers say of it. */
  readonly retryAfterSeconds?: number;
  readonly offered?: readonly string[];
}

const plainError = ({ code, message, params, status, retryAfterSeconds, offered }: CascadeError): PlainError => ({
  code,
  message,
  params: encodeInner(params),
  status,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  ...(offered !== undefined && { offered: [...offered] }),
});
