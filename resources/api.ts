// The types between the bindings (server/) and the engine: one request and one reply for every protocol. The engine decides what an
// operation means; a binding translates the syntax of its protocol.
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
  /** The name 'types', 'system.types', or that of a type. */
  resourceName: string;
  /** true: addressed under custom/; false: addressed without; null: WebSocket or rule code, where either resolves. */
  custom: boolean | null;
  /** The decoded id. `delete` and `select` without it mean many instances; a service event's is `<service>/<eventType>`. */
  resourceId?: string;
  /** The parsed body; absent when there was none. */
  object?: Value;
  /** The program text of a rule or procedure that came as text (1.4). */
  text?: string;
  /**
   * Parsed values of known names: where, props, sort, page, limit, count, pipeline, upsert, active…. `mostRows` is never a client's: a
   * binding sets it where a SELECT may give fewer rows than usual.
   */
  parameters: Record<string, Value>;
  /** The raw conditional headers of 1.7. */
  ifMatch?: string;
  ifNoneMatch?: string;
  /** Byte offset in the body of the first text with a lone surrogate, which can be neither stored nor sent; absent: none. */
  illFormedAt?: number;
  /** The same of the first number that is beyond every double. */
  beyondDoublesAt?: number;
  /** The request came without a login: it reaches instances with `ars_public` only (1.1). */
  publicOnly?: true;
  /** The client's address, for requests of clients. */
  address?: string;
  /** X-Cascade-Request-Id of a POST: a repetition within a day gets the stored answer (integrations.md 12.6). */
  requestId?: string;
  /** Whether the binding can send a long body while it is being made: the reply may have `pieces` in place of `body`. */
  streams?: boolean;
  /** The request is a program's: in rows of AGGREGATE a Real without a fraction keeps its point, since `2` would be an Integer there. */
  exactReals?: boolean;
  /**
   * Headers of an EXECUTE over HTTP, for the procedure: names in lower case, without credentials and the headers that proxies add about the
   * client.
   */
  headers?: Readonly<Record<string, string>>;
  /** Set for a statement of another installation (integrations.md 11.3): values keep their types both ways where `isTyped`. */
  federation?: { readonly hop: number; readonly isTyped: boolean; readonly deadlineMs?: number } | undefined;
  /** Set for a statement of another installation that may end early: aborted when the caller gives up, and then its runs are ended. */
  signal?: AbortSignal;
  /** Whether the client has disconnected: nobody reads the result of a SELECT or AGGREGATE any more. Absent: it cannot be known. */
  isGone?: () => boolean;
  /** Content that is uploaded or downloaded beside the request; only HTTP can. */
  transfer?: Transfer;
}

export type Transfer =
  | { readonly kind: 'upload'; readonly parts: AsyncIterable<UploadedPart>; readonly limitBytes: number }
  | { readonly kind: 'download' };

/** A part of a multipart body. The receiver takes its bytes, in full or not, before the next part. */
export interface UploadedPart {
  readonly name: string;
  /** The sender's media type; null when it names none. */
  readonly fileType: string | null;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The content of a download. */
export interface DownloadedContent {
  readonly fileType: string;
  readonly sizeBytes: number;
  /** SHA-256 in lower-case hex. */
  readonly digest: string;
  /** The bytes from `from` to before `to`; the receiver closes them. */
  open(from: number, to: number): BytePieces;
}

/** A stream of bytes in pieces, never an empty one; null at the end. */
export interface BytePieces {
  next(): Promise<Buffer | null>;
  close(): Promise<void>;
}

export interface Load {
  /** Number of runs of rules in progress. */
  readonly queueDepth: number;
  /** Number of requests that wait for a permit, since their namespace has its share of requests under way. */
  readonly requestsWaiting: number;
  /** Number of deliveries of reliable events without acknowledgement. */
  readonly reliablePending: number;
  /** Number of namespaces that could not be opened and are retried: their requests are refused meanwhile. */
  readonly namespacesUnavailable: number;
  readonly sources: readonly { readonly namespace: string; readonly source: string; readonly isUp: boolean }[];
}

export interface ApiReply {
  /** 200, 204 or 304; errors are thrown (CascadeError, CascadeErrors). */
  status: number;
  /** JSON text in the spelling of resources-and-api.md 1.4. */
  body?: string;
  /** A long body in place of `body`, only where the request allowed it. */
  pieces?: Pieces;
  /** The total number of rows: the header X-Total-Count, or the first element of a WebSocket body. */
  count?: number;
  /** The result was cut at the cap (2.2). */
  truncated?: boolean;
  /** At least one instance of several failed (2.12). */
  partial?: boolean;
  /** All instances failed; a retry after so many seconds may succeed. */
  retryAfterSeconds?: number;
  /** The body is JSON in which values keep their types. */
  isTyped?: true;
  /** The value of the ETag, without its quotes. */
  version?: string;
  /** The content of a download, in place of a body. */
  content?: DownloadedContent;
}

/** A request of a third party to a source: the checks of its protocol replace the login. */
export interface SourceArrival {
  readonly protocol: string;
  readonly source: string;
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly address: string;
  /** Reads the body, as it was sent; called only when the source takes the request. */
  body(): MaybePromise<Uint8Array>;
}

/** A long JSON array that is made while it is sent: only one piece is in memory. */
export interface Pieces {
  /**
   * The next part of the text, never empty; null at the end. The first part begins with `[`, and is nothing more only in `[]`.
   * @throws when it cannot go on: the parts so far are then incomplete
   */
  next(): Promise<string | null>;
  /** Frees the resources behind the pieces. The receiver calls it, however it ended; idempotent. */
  close(): Promise<void>;
}

export interface SubscribeOptions {
  /** Members that an event's value must have to be delivered. */
  eventFilter?: ObjectValue;
  /** The subscription outlives the socket: a new one, or the stored one of that name (8.5). */
  persistent?: boolean;
  subscriptionName?: string;
  /** Only asks whether the subscription is possible: it counts for no quota, and a refusal is no attempt of somebody's. */
  probes?: true;
}

export interface Subscription {
  /** The name of a persistent subscription. */
  name?: string;
  /**
   * Starts the delivery of stored events, once the subscriber has its answer.
   * @param hasRoom resolves when the subscriber has received most of what was sent
   */
  begin?(hasRoom?: () => Promise<void>): Promise<void>;
  /** Ends the subscription: nothing is delivered afterwards. */
  close(): void;
}

export interface Health {
  ready: boolean;
  status: 'ok' | 'starting' | 'draining' | 'database';
}

/** A resource of a namespace, for the API's description. */
export interface DescribedResource {
  name: string;
  /** Whether it is addressed under `custom/`. */
  custom: boolean;
  /** The members of OPERATIONS that it offers. */
  operations: ReadonlySet<string>;
  /** The names of its custom commands (2.13). */
  commands: readonly string[];
  /** Whether the answer to a write of one is an array of one (instances of types) or the object. */
  answers: 'array' | 'object';
  /** Whether a body may be program text. */
  isProgram: boolean;
  /** The JSON Schema of an instance in its external form. */
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
  /** The procedures that a client may call. */
  procedures: readonly DescribedProcedure[];
}

export interface Engine extends AsyncDisposable {
  /** @throws CascadeError, or CascadeErrors when several problems were found (model/errors/api-errors.ts) */
  execute(request: ApiRequest): Promise<ApiReply>;
  /** Counts a request of this identity that could not be read as one. @throws cascade.quota.exceeded */
  count(identity: Identity): Promise<void>;
  /** Handles a third party's request to the address of a source. @throws cascade.resource.not.found, and refusals of its protocol */
  accept(namespace: string, arrival: SourceArrival): Promise<ApiReply>;
  /** Describes the resources and procedures that this identity can use in its namespace. */
  describe(identity: Identity): Promise<ApiDescription>;
  /**
   * Delivers the events of a path from now on, each after its commit, in the order of the path's commits.
   * @param deliver must not wait; errors that it throws are logged
   * @throws CascadeError when there is no such path, or not for this identity
   */
  subscribe(identity: Identity, path: string, options: SubscribeOptions, deliver: (notice: Notice) => void): Promise<Subscription>;
  /** Acknowledges an event for a persistent subscription; unknown and repeated acknowledgements are ignored. */
  acknowledge(identity: Identity, acknowledgement: { subscriptionName: string; partitionId: number; sequenceId: number }): Promise<void>;
  /** Deletes a persistent subscription of the user on this path. @throws cascade.subscription.unknown, cascade.event.path.invalid */
  unsubscribe(identity: Identity, path: string, subscriptionName: string): Promise<void>;
  /**
   * Counts a socket that has logged in to the namespace.
   * @returns the function to call when it is closed. @throws cascade.quota.exceeded
   */
  openSocket(namespace: string): Promise<() => void>;
  health(): Health;
  /** The counters of the process since its start. */
  readonly counters: Counters;
  /** The present load of the process, and which sources are connected. */
  load(): Promise<Load>;
  /** Resolves when no rule runs and no outcome that a rule waits for is being stored. */
  settled(): Promise<void>;
  readonly identity: IdentityStore;
}
