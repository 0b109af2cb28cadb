// What is asked of the HTTP client, and what it answers.
import type { ConnectionOptions } from 'node:tls';
import type { AnswerRoom, Outlet, Proxy } from '../../../platform/egress/index.ts';

export type HttpFailureKind = 'unconnected' | 'cut' | 'timeout' | 'too large' | 'malformed';

/** No answer, or an unusable one. `unconnected`: nothing was sent. */
export class HttpFailure extends Error {
  readonly kind: HttpFailureKind;
  constructor(kind: HttpFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface HttpAsk {
  readonly url: URL;
  readonly method: string;
  /** Names and values that `headerPairs` has checked. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | null;
  /** Longest time without any data. */
  readonly timeoutMs: number;
  /** The number of redirects that are followed; 0: none. */
  readonly redirects?: number;
  readonly signal?: AbortSignal;
  /** Has the answer's bytes until it is disposed of; absent: they are not counted any more once the answer is given. */
  readonly room?: AnswerRoom;
}

export interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case; several of one name are an array. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

export interface HttpClientOptions {
  readonly outlet: Outlet;
  readonly tls?: ConnectionOptions;
  readonly proxy?: Proxy | null;
  readonly connectTimeoutMs?: number;
  /** Whether compressed answers are requested and decompressed. */
  readonly unpacks?: boolean;
  readonly mostBytes?: number;
}
