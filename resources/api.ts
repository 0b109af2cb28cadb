// What the bindings (server/) and the engine say to each other: one request, one reply, whatever the way in.
// Types only. The engine keeps the meaning of an operation; a binding keeps the spelling of its protocol.
import type { Identity, IdentityStore } from '../identity/index.ts';
import type { Notice } from '../runtime/events/index.ts';
import type { Counters } from './counters.ts';
import type { MaybePromise } from '../platform/structures/index.ts';
import type { ObjectValue, Value } from '../stdlib/values/index.ts';

export type { Identity, Notice };

/** The operations of the generic resource API, and the type-specific ones (resources-and-api.md 2). */
export const OPERATIONS = [
  'select',
  'selectOne',
  'insert',
  'update',
  'upsert',
  'delete',
  'patch',
  'aggregate',
  'publish',
  'execute',
  'query',
  'schema',
  'status',
  'channels',
  'getAuthorizedUsers',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface ApiRequest {
  identity: Identity;
  /** One of OPERATIONS, or the name of a custom command (resources-and-api.md 2.13), whose data is then in `object`. */
  op: Operation | (string & {});
  /** 'types', 'system.types', or the name of a type. */
  resourceName: string;
  /** true: addressed under custom/; false: addressed without; null: WebSocket or rule code, where either resolves. */
  custom: boolean | null;
  /** Decoded. `delete` and `select` without it mean many instances; a service event's is `<service>/<eventType>`. */
  resourceId?: string;
  /** The parsed body; absent when there was none. */
  object?: Value;
  /** The program text of a rule or procedure that came as text (1.4). */
  text?: string;
  /**
   * where, props, sort, page, limit, count, pipeline, upsert, active…: parsed values, known names only. `mostRows` is never a client's: a
   * binding sets it where a SELECT may give fewer rows than usual.
   */
  parameters: Record<string, Value>;
  /** The raw headers of 1.7, as sent. */
  ifMatch?: string;
  ifNoneMatch?: string;
  /** Where the body, in bytes, has the first text with a lone surrogate, which can neither be stored nor sent; absent: it has none. */
  illFormedAt?: number;
  /** From anybody: reaches instances with `ars_public` only (1.1). */
  publicOnly?: true;
  /** Of the client, where one asks. */
  address?: string;
  /** X-Cascade-Request-Id of a POST: repeated within a day it gets the stored answer (integrations.md 12.6). */
  requestId?: string;
  /** The binding can send a long body while it is made: the reply may have `pieces` in place of `body`. */
  streams?: boolean;
  /** A program asks: in rows of AGGREGATE a Real without a fraction keeps its point, since `2` would be an Integer there. */
  exactReals?: boolean;
  /** Of an EXECUTE over HTTP, for the procedure: names in lower case, without credentials and what proxies say of the client. */
  headers?: Readonly<Record<string, string>>;
  /** A statement of another installation (integrations.md 11.3): values keep their types both ways where `isTyped`. */
  federation?: { readonly hop: number; readonly isTyped: boolean; readonly deadlineMs?: number } | undefined;
  /** Of an EXECUTE of another installation: aborted when that wants no answer any more, and then the run is ended. */
  signal?: AbortSignal;
  /** Bytes go in or out beside the request; only HTTP can. */
  transfer?: Transfer;
}

export type Transfer =
  | { readonly kind: 'upload'; readonly parts: AsyncIterable<UploadedPart>; readonly limitBytes: number }
  | { readonly kind: 'download' };

/** A part of a multipart body. Its bytes are taken, in full or not, before the next part. */
export interface UploadedPart {
  readonly name: string;
  /** As the sender says; null when it says nothing. */
  readonly fileType: string | null;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Bytes that were asked for. */
export interface DownloadedContent {
  readonly fileType: string;
  readonly sizeBytes: number;
  /** SHA-256 in lower-case hex. */
  readonly digest: string;
  /** The bytes from `from` to before `to`; the receiver closes them. */
  open(from: number, to: number): BytePieces;
}

/** Bytes, a piece at a time, never an empty one; null at the end. */
export interface BytePieces {
  next(): Promise<Buffer | null>;
  close(): Promise<void>;
}

export interface Load {
  /** Runs of rules that have not ended. */
  readonly queueDepth: number;
  /** Requests that have not begun, as their namespace has enough of them under way beside others. */
  readonly requestsWaiting: number;
  /** Deliveries of reliable events that nobody has acknowledged yet. */
  readonly reliablePending: number;
  /** Namespaces that could not be opened and are tried again: their requests are refused meanwhile. */
  readonly namespacesUnavailable: number;
  readonly sources: readonly { readonly namespace: string; readonly source: string; readonly isUp: boolean }[];
}

export interface ApiReply {
  /** 200, 204 or 304; errors are thrown (CascadeError, CascadeErrors). */
  status: number;
  /** JSON text in the spelling of resources-and-api.md 1.4. */
  body?: string;
  /** A long body in place of `body`; only where the request allowed it. */
  pieces?: Pieces;
  /** Becomes X-Total-Count, or the first element of a WebSocket body. */
  count?: number;
  /** The result was cut at the cap (2.2). */
  truncated?: boolean;
  /** At least one instance of several failed (2.12). */
  partial?: boolean;
  /** All of several failed, and may do better in so many seconds. */
  retryAfterSeconds?: number;
  /** The body is JSON in which values keep their types. */
  isTyped?: true;
  /** What an ETag holds, without its quotes. */
  version?: string;
  /** In place of a body: what a download asked for. */
  content?: DownloadedContent;
}

/** What others post to a source: the checks of its protocol take the place of a login. */
export interface SourceArrival {
  readonly protocol: string;
  readonly source: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly address: string;
  /** Read only when there is somebody to take it. */
  body(): MaybePromise<Uint8Array>;
}

/** A long JSON array, made as it is taken: what is held is a piece, not the whole. */
export interface Pieces {
  /**
   * The next part of the text, never empty; null at the end. The first begins with `[` and is no more than that only in `[]`.
   * @throws when it cannot go on: what was given so far is then the beginning of nothing
   */
  next(): Promise<string | null>;
  /** Frees the resources behind the pieces. The receiver calls it, however it ended; idempotent. */
  close(): Promise<void>;
}

export interface SubscribeOptions {
  /** Members that the value of an event must have, to be delivered. */
  eventFilter?: ObjectValue;
  /** Outlives the socket: a new one, or the one of that name (8.5). */
  persistent?: boolean;
  subscriptionName?: string;
}

export interface Subscription {
  /** Of a persistent one. */
  name?: string;
  /**
   * The subscriber has been told of it: what is stored for it follows.
   * @param hasRoom resolves when most of what was delivered has been taken
   */
  begin?(hasRoom?: () => Promise<void>): Promise<void>;
  /** Nothing is delivered afterwards. */
  close(): void;
}

export interface Health {
  ready: boolean;
  status: 'ok' | 'starting' | 'draining' | 'database';
}

/** A resource of a namespace, for the API's description. */
export interface DescribedResource {
  name: string;
  /** Addressed under `custom/`. */
  custom: boolean;
  /** Of OPERATIONS: what it offers. */
  operations: ReadonlySet<string>;
  /** Its custom commands (2.13). */
  commands: readonly string[];
  /** Whether writes of one answer an array of one (instances of types) or the object. */
  answers: 'array' | 'object';
  /** Whether its body may be program text. */
  isProgram: boolean;
  /** JSON Schema of an instance as it is read. */
  schema: ObjectValue;
}

export interface DescribedProcedure {
  name: string;
  description: string | null;
  parameters: readonly { name: string; required: boolean; description: string | null; schema: ObjectValue }[];
  returns: ObjectValue | null;
}

export interface ApiDescription {
  namespace: string;
  resources: readonly DescribedResource[];
  /** Those that a client may call. */
  procedures: readonly DescribedProcedure[];
}

export interface Engine extends AsyncDisposable {
  /** @throws CascadeError, or CascadeErrors when several problems were found (model/errors/api-errors.ts) */
  execute(request: ApiRequest): Promise<ApiReply>;
  /** A request of others to the address of a source. @throws cascade.resource.not.found, and what its protocol refuses */
  accept(namespace: string, arrival: SourceArrival): Promise<ApiReply>;
  /** What there is for this identity in its namespace, from the catalogue of resources and the definitions. */
  describe(identity: Identity): Promise<ApiDescription>;
  /**
   * Delivers the events of a path from now on, each after its commit, those of a path in the order of their commits.
   * @param deliver must not wait; what it throws is logged
   * @throws CascadeError when there is no such path, or not for this identity
   */
  subscribe(identity: Identity, path: string, options: SubscribeOptions, deliver: (notice: Notice) => void): Promise<Subscription>;
  /** A persistent subscriber has handled an event; what is unknown or done already is ignored. */
  acknowledge(identity: Identity, acknowledgement: { subscriptionName: string; partitionId: number; sequenceId: number }): Promise<void>;
  /** Deletes a persistent subscription. @throws cascade.subscription.unknown */
  unsubscribe(identity: Identity, subscriptionName: string): Promise<void>;
  /**
   * A socket has logged in to the namespace.
   * @returns to be called when it is closed. @throws cascade.quota.exceeded
   */
  openSocket(namespace: string): Promise<() => void>;
  health(): Health;
  /** What the process has counted since it started. */
  readonly counters: Counters;
  /** How much there is to do now, and which sources are connected. */
  load(): Promise<Load>;
  /** Resolves when what was set going has come to rest: no rule runs, and nothing that one waits for is being stored. */
  settled(): Promise<void>;
  readonly identity: IdentityStore;
}
