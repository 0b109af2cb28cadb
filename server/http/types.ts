// A request as it was received and a reply as it will be sent: plain data, so that all between the sockets can be tested without one.
import type { BytePieces, Pieces } from '../../resources/api.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { ReplyHeader, RequestHeader } from './header-names.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** Names in lower case; of a header sent twice the first. */
export interface RequestHeaders extends Iterable<[string, string]> {
  get(name: RequestHeader): string | undefined;
}

export interface HttpRequest {
  /** As sent; may be none that we know. */
  method: string;
  /** Raw: nothing decoded, nothing collapsed (resources-and-api.md 1.1). */
  path: string;
  /** Raw, without the question mark. */
  query: string;
  headers: RequestHeaders;
  /** Of the client, as far as it is known: of the peer, unless that is a proxy that is trusted to tell. */
  address: string;
  /** Of the peer itself. */
  peer: string;
  /** Rows that a SELECT may give, where they are fewer than usual (within a batch). */
  mostRows?: number;
  /**
   * The body, inflated when it came compressed.
   * @param mostBytes where it may be no longer than that, as it came and inflated; absent: the limit of the service
   * @throws request.body.too.large, request.body.invalid, request.content.type
   */
  body(mostBytes?: number): MaybePromise<Uint8Array>;
  /** @param gone called once when the client goes away before its answer; at once when it has. Absent: nobody can tell */
  onGone?(gone: () => void): void;
  /** The body as it comes, no faster than it is taken, as it was sent. In place of `body`. @throws request.body.invalid */
  stream(): AsyncIterable<Uint8Array>;
}

export interface HttpReply {
  status: number;
  headers?: Partial<Record<ReplyHeader, string>>;
  /** Absent: a reply without body and Content-Type. */
  body?: string | undefined;
  /** A long body in place of `body`. The sender of the reply closes it. */
  pieces?: Pieces | undefined;
  /** Bytes of a known number in place of `body`, never compressed. The sender of the reply closes them. */
  bytes?: (BytePieces & { readonly lengthBytes: number }) | undefined;
  /** Default `application/json`, exactly. */
  contentType?: string;
  /** Not for scripts of other origins. */
  sameOriginOnly?: boolean;
}
