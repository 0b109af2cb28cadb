// A received request and a reply to be sent, as plain data, so that the code between can be tested without sockets.
import type { BytePieces, Pieces } from '../../resources/api.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { ReplyHeader, RequestHeader } from './header-names.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** Headers with names in lower case; of a header sent twice the first counts. */
export interface RequestHeaders extends Iterable<[string, string]> {
  get(name: RequestHeader): string | undefined;
}

export interface HttpRequest {
  /** The method as sent; maybe an unknown one. */
  method: string;
  /** The raw path: not decoded, not normalised (resources-and-api.md 1.1). */
  path: string;
  /** The raw query, without the question mark. */
  query: string;
  headers: RequestHeaders;
  /** The client's address, as far as it is known: the peer's, unless that is a trusted proxy. */
  address: string;
  /** The peer's address. */
  peer: string;
  /** Bound of the rows of a SELECT, where it is lower than usual (within a batch). */
  mostRows?: number;
  /** Of a part of a batch with `X-Cascade-Request-Id`: what it is known by when the batch is repeated. */
  partId?: string;
  /**
   * The body, decompressed.
   * @param mostBytes its bound, as sent and as decompressed; absent: the limit of the service
   * @throws request.body.too.large, request.body.invalid, request.content.type
   */
  body(mostBytes?: number): MaybePromise<Uint8Array>;
  /** The body as it was sent, in place of `body`: signatures are made of it. @throws request.body.too.large, request.body.invalid */
  sentBody(mostBytes?: number): MaybePromise<Uint8Array>;
  /**
   * @param gone called once when the client disconnects before its answer; at once when it has already. Absent: a disconnection cannot be
   *   noticed
   */
  onGone?(gone: () => void): void;
  /** Whether the client has disconnected. Absent: it cannot be noticed. */
  isGone?(): boolean;
  /** The body as a stream, no faster than it is read, not decompressed. Replaces `body`. @throws request.body.invalid */
  stream(): AsyncIterable<Uint8Array>;
}

export interface HttpReply {
  status: number;
  headers?: Partial<Record<ReplyHeader, string>>;
  /** The body; absent: the reply has neither body nor Content-Type. */
  body?: string | undefined;
  /** A long body in place of `body`. The sender of the reply closes it. */
  pieces?: Pieces | undefined;
  /** A stream of known length in place of `body`, never compressed. The sender of the reply closes it. */
  bytes?: (BytePieces & { readonly lengthBytes: number }) | undefined;
  /** The content type; default `application/json`, exactly. */
  contentType?: string;
  /** Scripts of other origins may not read the reply. */
  sameOriginOnly?: boolean;
}
