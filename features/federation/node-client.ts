// The client of a node (integrations.md 11.3): messages of the generic API in the form that both bindings share. rest-client.ts and
// socket-client.ts transport them.
import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { parseJson, parseLongJson } from '../../model/values/index.ts';
import { longWork } from '../../platform/structures/index.ts';

type NodeOperation = 'select' | 'aggregate' | 'insert' | 'upsert' | 'update' | 'delete' | 'publish' | 'execute' | 'query';

export interface NodeRequest {
  readonly op: NodeOperation;
  /** Name of the resource. */
  readonly resource: string;
  /** The resource is a type, not a resource of the service. */
  readonly isType?: true;
  readonly id?: string;
  /** JSON texts by name: `where`, `props`, `sort`, `limit`, `page`, `count`, `upsert`, `active`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly object?: string;
  /** For writes and publishes; a retry has the same id. */
  readonly requestId?: string;
}

export interface NodeAnswer {
  readonly value: Value;
  readonly count: number | null;
  /** Whether some of several instances failed: `{status, errors}` takes their places. */
  readonly isPartial: boolean;
}

/** Context that all requests of one statement carry. */
export interface Carriage {
  readonly hop: number;
  readonly signal: AbortSignal;
  /** The statement's deadline, by `performance.now()`: the time of day may jump. */
  readonly deadline: number;
}

export abstract class NodeClient {
  protected readonly node: string;
  /** Latency of the last request that was answered. */
  latencyMs: number | null = null;
  /** Whether the last request was answered. */
  state: 'unknown' | 'reachable' | 'unreachable' = 'unknown';
  #open = 0;
  #isRetired = false;

  constructor(node: string) {
    this.node = node;
  }

  /** @throws HttpFailure, EgressError; CascadeError of the node, or for an answer that does not follow the protocol */
  async ask(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer> {
    this.#open++;
    try {
      return await this.carry(request, carriage);
    } finally {
      if (--this.#open === 0 && this.#isRetired) void this.close();
    }
  }

  /** Closes the client when its last request has ended, since the node was changed or deleted. */
  retire(): void {
    this.#isRetired = true;
    if (this.#open === 0) void this.close();
  }

  /** Closes the connection; requests in progress fail. */
  abstract close(): Promise<void>;
  protected abstract carry(request: NodeRequest, carriage: Carriage): Promise<NodeAnswer>;

  /** The code, message and params of the first error document, unchanged. */
  protected refusal(status: number, body: Value): CascadeError {
    return errorIn(body, status) ?? this.noProtocol(`its answer ${status} has no error document`);
  }

  protected noProtocol(detail: string): CascadeError {
    return apiError('cascade.federation.protocol', this.node, detail);
  }
}

const SHORT_BYTES = 64 * 1024;

/** Parses an answer, a long one in slices so that other work can run. @param node its name @throws errors of the parser */
export const readAnswer = (bytes: Uint8Array, node: string): Value | Promise<Value> =>
  bytes.length <= SHORT_BYTES ? parseJson(bytes) : readLongAnswer(bytes, node);

async function readLongAnswer(bytes: Uint8Array, node: string): Promise<Value> {
  using work = longWork(`node ${node}`);
  return await parseLongJson(bytes, () => work.next());
}

/** The first error document of a list; null where there is none. */
export function errorIn(list: Value, status: number): CascadeError | null {
  const first = Array.isArray(list) ? (list[0] ?? null) : null;
  if (!isObject(first) || !Object.hasOwn(first, 'code')) return null;
  const { code, message = '', params = [] } = first as Record<string, Value>;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return new CascadeError(code, message, Array.isArray(params) ? params : [], status);
}

/** A member of an answer; null where it is missing. */
export const memberOf = (value: Value, name: string): Value => (isObject(value) && Object.hasOwn(value, name) ? getOwn(value, name) : null);

/** The token in the answer of a login; null: it has none. */
export function tokenIn(body: Value): string | null {
  const token = memberOf(body, 'accessToken');
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? token : null;
}
