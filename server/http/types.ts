// A request as it was received and a reply as it will be sent: plain data, so that all between the sockets can be tested without one.
import type { Pieces } from '../../runtime/api.ts';
import type { Soon } from '../../runtime/soon.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

export interface HttpRequest {
  /** As sent; may be none that we know. */
  method: string;
  /** Raw: nothing decoded, nothing collapsed (resources-and-api.md 1.1). */
  path: string;
  /** Raw, without the question mark. */
  query: string;
  /** Names in lower case; of a header sent twice the first. */
  headers: ReadonlyMap<string, string>;
  /** Of the peer, as text. */
  address: string;
  /** Rows that a SELECT may give, where they are fewer than usual (within a batch). */
  mostRows?: number;
  /** The body, inflated when it came compressed. @throws request.body.too.large, request.body.invalid, request.content.type */
  body(): Soon<Uint8Array>;
}

export interface HttpReply {
  status: number;
  headers?: Record<string, string>;
  /** Absent: a reply without body and Content-Type. */
  body?: string | undefined;
  /** A long body in place of `body`. Closed by whoever sends the reply. */
  pieces?: Pieces | undefined;
  /** Default `application/json`, exactly. */
  contentType?: string;
}
