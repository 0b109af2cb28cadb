// One node as its requests go to it (integrations.md 11.3): messages of the generic API in the form that both bindings share. How they travel
// is rest-client.ts's and socket-client.ts's.
import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { parseJson, parseLongJson } from '../../model/values/index.ts';
import { nextSlice } from '../../platform/structures/index.ts';

type NodeOperation = 'select' | 'aggregate' | 'insert' | 'upsert' | 'update' | 'delete' | 'publish' | 'execute' | 'query';

export interface NodeRequest {
  readonly op: NodeOperation;
  /** Name of the resource. */
  readonly resource: string;
  /** It is a type, not a resource of the service. */
  readonly isType?: true;
  readonly id?: string;
  /** JSON texts by name: `where`, `props`, `sort`, `limit`, `page`, `count`, `upsert`, `active`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly object?: string;
  /** Of writes and publishes: the same where it is sent again. */
  readonly requestId?: string;
}

export interface NodeAnswer {
  readonly value: Value;
  readonly count: number | null;
  /** Some of several instances failed: their places hold `{status, errors}`. */
  readonly isPartial: boolean;
}

/** What goes with all requests of one statement. */
export interface Carriage {
  readonly hop: number;
  readonly signal: AbortSignal;
  /** When the statement is over, by `performance.now()`: the time of day may jump. */
  readonly deadline: number;
}

export abstract class NodeClient {
  protected readonly node: string;
  /** Of the last request that was answered. */
  latencyMs: number | null = null;
  /** Whether the last request was answered at all. */
  state: 'unknown' | 'reachable' | 'unreachable' = 'unknown';
  #open = 0;
  #isRetired = false;

  constructor(node: string) {
    this.node = node;
  }

  /** @throws HttpFailure, EgressError; CascadeError that the node answered with, or for what is no answer of the service */
  async ask(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer> {
    this.#open++;
    try {
      return await this.carry(request, carriage);
    } finally {
      if (--this.#open === 0 && this.#isRetired) void this.close();
    }
  }

  /** It is closed as soon as it has no request open: the node was changed, or deleted. */
  retire(): void {
    this.#isRetired = true;
    if (this.#open === 0) void this.close();
  }

  /** Requests under way fail. */
  abstract close(): Promise<void>;
  protected abstract carry(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer>;

  /** Code, message and params of the first error document, unchanged. */
  protected refusal(status: number, body: Value): CascadeError {
    return errorIn(body, status) ?? this.noProtocol(`its answer ${status} has no error document`);
  }

  protected noProtocol(detail: string): CascadeError {
    return apiError('cascade.federation.protocol', this.node, detail);
  }
}

const SHORT_BYTES = 64 * 1024;

/** A long answer is read in slices. @throws what the parser does */
export const readAnswer = (bytes: Uint8Array): Value | Promise<Value> =>
  bytes.length <= SHORT_BYTES ? parseJson(bytes) : parseLongJson(bytes, nextSlice);

/** The first error document of a list; null where there is none. */
export function errorIn(list: Value, status: number): CascadeError | null {
  const first = Array.isArray(list) ? (list[0] ?? null) : null;
  if (!isObject(first) || !Object.hasOwn(first, 'code')) return null;
  const { code, message = '', params = [] } = first as Record<string, Value>;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return new CascadeError(code, message, Array.isArray(params) ? params : [], status);
}

/** A member of an answer; null where there is none. */
export const memberOf = (value: Value, name: string): Value => (isObject(value) && Object.hasOwn(value, name) ? getOwn(value, name) : null);

/** What a login answers with. Null: no token. */
export function tokenIn(body: Value): string | null {
  const token = memberOf(body, 'accessToken');
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? token : null;
}
