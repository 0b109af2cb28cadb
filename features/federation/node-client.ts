// The client of a node (integrations.md 11.3): messages of the generic API in the form that both bindings share. rest-client.ts and
// socket-client.ts transport them.
import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { fromTyped, fromTypedInPieces, parseJson, parseLongJson } from '../../model/values/index.ts';
import { isLong } from '../../model/types/index.ts';
import { finishInSlices, longWork, type MaybePromise } from '../../platform/structures/index.ts';
import { type AnswerRoom, MOST_VALUES } from '../../platform/egress/index.ts';
import { HttpFailure } from '../sources/index.ts';

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
  /** Takes over what an answer holds in memory; absent: it is not counted any more once it is given. */
  readonly room?: AnswerRoom;
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

/** The time that is left, in whole milliseconds as X-Cascade-Deadline-Ms has them; at least one. */
export const leftMs = (deadline: number): number => Math.max(1, Math.ceil(deadline - performance.now()));

/** Whether a request without a recorded outcome on the node may be sent again: it changes nothing there, or the node knows its id. */
export const isRepeatable = ({ op, requestId }: NodeRequest): boolean => requestId !== undefined || op === 'select' || op === 'aggregate';

/** The errors with which the service refuses a token, before it does anything. */
const LOGIN_OVER: ReadonlySet<string> = new Set(['cascade.security.token.invalid', 'cascade.security.credentials.missing']);

/**
 * Whether a new login and one more try may follow a 401. A program of the node may fail with that status, too (by a statement of its own
 * whose node refuses the login, say): it must not run twice.
 */
export const isLoginOver = (request: NodeRequest, { code }: CascadeError): boolean => isRepeatable(request) || LOGIN_OVER.has(code);

/** Waits for work that several statements share, until this one is aborted or its deadline passes: the work goes on for the others. */
export function wanted<T>(work: Promise<T>, { signal, deadline }: Carriage): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      then();
    };
    const leave = settle(() => reject(new HttpFailure('cut', 'it is not wanted any more')));
    const timer = setTimeout(
      settle(() => reject(new HttpFailure('timeout', 'no connection in time'))),
      leftMs(deadline),
    );
    work.then(
      (value) => settle(() => resolve(value))(),
      (error: unknown) => settle(() => reject(error))(),
    );
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
  });
}

const SHORT_BYTES = 64 * 1024;
/** An answer of 64 MiB has room for tens of millions of values. */
const BOUNDS = { maxValues: MOST_VALUES };

/**
 * Parses an answer, a long one in slices so that other work can run.
 * @param node its name
 * @param room what it holds
 * @throws errors of the parser; cascade.quota.exceeded: no room for its values
 */
export const readAnswer = (bytes: Uint8Array, node: string, room: AnswerRoom): Value | Promise<Value> =>
  bytes.length <= SHORT_BYTES ? parseJson(bytes, BOUNDS) : readLongAnswer(bytes, node, room);

/** Whether it is for want of room that an answer was not read, whatever is in it. */
export const isWithoutRoom = (error: unknown): error is CascadeError =>
  error instanceof CascadeError && error.code === 'cascade.quota.exceeded';

/** The statement has the answer now, and with it what it holds: its bytes, as its values mostly take some times as much. */
export function handOver(room: AnswerRoom, carriage: Carriage): void {
  room.settle();
  if (!carriage.signal.aborted) carriage.room?.absorb(room); // afterwards nobody would give it back
}

async function readLongAnswer(bytes: Uint8Array, node: string, room: AnswerRoom): Promise<Value> {
  await room.growForValues();
  using work = longWork(`node ${node}`);
  return await parseLongJson(bytes, () => work.next(), BOUNDS);
}

/** The values of an answer in typed JSON. @param node its name */
export const typedValue = (body: Value, node: string): MaybePromise<Value> =>
  isLong(body) ? finishInSlices(`node ${node}`, fromTypedInPieces(body)) : fromTyped(body);

/** A longer message is cut, and params of thousands of values are left out: logs, records of runs and dead letters could not be stored. */
const MOST_MESSAGE_CHARACTERS = 32_768;

/** The first error document of a list; null where there is none. */
export function errorIn(list: Value, status: number): CascadeError | null {
  const first = Array.isArray(list) ? (list[0] ?? null) : null;
  if (!isObject(first) || !Object.hasOwn(first, 'code')) return null;
  const { code, message = '', params = [] } = first as Record<string, Value>;
  if (typeof code !== 'string' || !/^.{1,200}$/.test(code) || typeof message !== 'string') return null;
  const isRefusal = Number.isInteger(status) && status >= 400 && status <= 599; // it may become the status of an answer of this side
  const shown = message.length > MOST_MESSAGE_CHARACTERS ? `${message.slice(0, MOST_MESSAGE_CHARACTERS).toWellFormed()}…` : message;
  return new CascadeError(code, shown, Array.isArray(params) && !isLong(params) ? params : [], isRefusal ? status : 500);
}

/** A member of an answer; null where it is missing. */
export const memberOf = (value: Value, name: string): Value => (isObject(value) && Object.hasOwn(value, name) ? getOwn(value, name) : null);

/** The token in the answer of a login; null: it has none. */
export function tokenIn(body: Value): string | null {
  const token = memberOf(body, 'accessToken');
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? token : null;
}
