// The interface between a protocol of sources and the framework: a definition that is checked, and connections that are opened. A new
// protocol is a folder beside this file and an entry in index.ts. The framework does the rest: life cycle, back-off, credentials, counts,
// logs, content types, pipelines, and the choice of the consuming process.
import type { ConnectionOptions } from 'node:tls';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import type { AnswerRoom, Outlet } from '../../../platform/egress/index.ts';
import type { MaybePromise } from '../../../platform/structures/index.ts';
import type { Fits } from './fields.ts';
import type { PushNote, PushOutcome } from './push/transport.ts';

export type Direction = 'SOURCE' | 'SINK' | 'BOTH';

export interface Protocol {
  /** The `type` of the protocol's sources. */
  readonly type: string;
  /** Supported directions; the first is the default. */
  readonly directions: readonly Direction[];
  /** Whether the protocol supports SELECT … FROM SOURCE and `POST …/query`. */
  readonly hasQuery: boolean;
  /** Whether `isReliable` may be set: inbound messages are acknowledged after they are stored. */
  readonly canBeReliable: boolean;
  /** Checks of config fields; other fields are stored unchecked. */
  readonly fields: Readonly<Record<string, Fits>>;
  /** Groups of fields: one of each group is required. */
  readonly required: readonly (readonly string[])[];
  /** Checks fields against each other: the field and what is wrong with it, or null. */
  readonly crossCheck?: (config: ObjectValue) => readonly [field: string, reason: string] | null;
  /** Hosts that the config names; a literal address that may not be reached is refused at creation. */
  hosts(config: ObjectValue): readonly string[];
  /**
   * Whether an active source of this config keeps a connection open or polls. One that does not counts as connected at once, and `open`
   * must not use the network for it.
   */
  isStanding(config: ObjectValue, direction: Direction): boolean;
  /** Clients post to the source's address `/private/<type in lower case>/<namespace>/<source>`; its connection has `accept`. */
  readonly takesRequests?: true;
  /** Whether a lost connection is opened again; absent: always. */
  reconnects?(config: ObjectValue): boolean;
  /**
   * Checks a publish or a query without a connection, so that an invalid one fails at once instead of waiting for it.
   * @param request merged
   * @param config without its secrets and without the fields that name one: what depends on those is checked by the connection
   * @throws CascadeError of status 400
   */
  checkPublish?(source: string, config: ObjectValue, request: ObjectValue): void;
  checkQuery?(source: string, config: ObjectValue, request: ObjectValue): void;
  /**
   * Merges a request with the config, where mocks see more than the caller's request; absent: the request is used unchanged. The connection
   * gets the caller's request alone and merges it itself, since only it knows the config with its secrets.
   */
  merged?(config: ObjectValue, documents: readonly ObjectValue[]): ObjectValue;
  /**
   * Opens the source; resolves when it is connected. When `context.signal` is aborted before, it releases everything that it has opened. What
   * does it, with its libraries, is loaded by the first source of the type. Absent: this build has no connections of the type.
   * @throws ConnectionFailure, EgressError, CascadeError: the framework retries with back-off
   */
  open?(context: SourceContext): Promise<Connection>;
}

export interface Connection {
  /** Resolves when the transport accepted the message. @throws CascadeError */
  publish?(request: ObjectValue, caller: Caller): Promise<void>;
  /** @param room takes what the answer holds in memory @returns the response. @throws CascadeError */
  query?(request: ObjectValue, caller: Caller, room: AnswerRoom): Promise<Value>;
  /** Handles a request to the source's own HTTP address (`/private/<type>/<namespace>/<source>`). @throws CascadeError */
  accept?(request: InboundRequest): Promise<InboundReply>;
  /** Sends a note to a device of that platform. Never throws. @param token what the device was registered with */
  hand?(platform: string, token: string, note: PushNote): Promise<PushOutcome>;
  /** A view of the protocol, at `GET /sources/<name>/<view>`. */
  view?(name: string): Promise<Value>;
  /** Stops receiving, waits for requests in flight, and disconnects. Called once; the framework waits at most ten seconds. */
  close(): Promise<void>;
}

/** The caller of a publish or query, for reading and storing documents with its rights. */
export interface Caller {
  /** @throws resource.not.found; document.too.large; authorization.denied */
  readDocument(name: string): Promise<{ readonly bytes: Buffer; readonly fileType: string }>;
  /** @throws authorization.denied; document.name.invalid, .name.reserved */
  requireSavable(name: string): void;
  /**
   * @param document `declaredType`: the media type that accompanied the bytes
   * @param result the result of the query, which is recorded together with the document
   */
  saveDocument(document: { name: string; declaredType: string | null; bytes: Uint8Array }, result: Value): Promise<void>;
}

export interface InboundRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent: signatures are made of it. */
  readonly body: Buffer;
  /** The body unpacked. @throws request.body.too.large, request.body.invalid, request.content.type */
  content(mostBytes: number): MaybePromise<Uint8Array>;
  readonly address: string;
}

export interface InboundReply {
  readonly status: number;
  readonly body: Value;
}

/** One received message. */
export interface Inbound {
  readonly payload: Uint8Array;
  readonly contentType: string;
  /** The topic that the message arrived on; null or absent for protocols without topics. */
  readonly topic?: string | null;
  /** Transport metadata that rules see as `event.properties`. */
  readonly properties?: ObjectValue;
  /** Deduplication key: of the messages with one key within ten minutes only the first raises an event, also after a crash. */
  readonly onceKey?: string;
}

/** A message that the transport has decoded already. */
export interface InboundValue extends Omit<Inbound, 'payload' | 'contentType'> {
  readonly value: Value;
}

/**
 * stored: its event is in the store. dropped: a pipeline dropped it. refused: it is malformed or too large. repeated: its key was known.
 */
export type Outcome = 'stored' | 'dropped' | 'refused' | 'repeated';

export interface SourceContext {
  readonly namespace: string;
  readonly source: string;
  readonly direction: Direction;
  readonly isReliable: boolean;
  /** The config with secrets and `@secrets(…)` resolved, checked by the fields above. */
  readonly config: ObjectValue;
  /** The config as everybody may see it: without secrets, `@secrets(…)` as that text. For what is shown of a request. */
  readonly openConfig: ObjectValue;
  /**
   * Whether this process receives messages: only one of several does. False: the connection only publishes, and subscribes or polls
   * nothing. Where two processes need different names (a client id), the one that does not consume takes another.
   */
  readonly consumes: boolean;
  readonly outlet: Outlet;
  /** The TLS options of the config (integrations.md 1.11). */
  readonly tls: ConnectionOptions;
  /** Aborted when the source is closed or changed. */
  readonly signal: AbortSignal;
  /** Aborted when the framework waits no more for it to close: what is still under way ends, and delivers nothing. */
  readonly abandoned: AbortSignal;
  now(): number;
  /**
   * Takes one message: size, content type, unwinding, pipeline, event. Messages are handled in the order of the calls. Resolves when the
   * message has its outcome, whichever it is: the protocol acknowledges then. While the store is unavailable it waits, which slows the
   * sender down.
   * @throws when the pipeline of a reliable source failed: the protocol must not acknowledge, so that the message is delivered again
   */
  deliver(message: Inbound | InboundValue): Promise<Outcome>;
  /** Counts and logs a message that the protocol cannot read: it is refused, as one is whose content `deliver` cannot decode. */
  malformed(reason: string): Promise<Outcome>;
  /**
   * Resolves when fewer than a thousand messages, and less than 16 MiB of them, have no outcome. A protocol awaits it before it reads more from a transport that can be
   * paused.
   */
  room(): Promise<void>;
  /** Reports that the open connection was lost: the framework closes it and opens another with back-off. */
  lost(error: unknown): void;
  /**
   * Reports that an attempt (a poll) failed, while the connection stays open, or is about to be; `recovered` reports that one succeeded
   * again.
   */
  troubled(error: unknown, nextAttemptAt?: number): void;
  recovered(): void;
  /** Writes to the namespace's logs, with the source's name as invocation id. */
  log(level: 'WARN' | 'ERROR', message: string): void;
  /** Writes an audit about the source. */
  audit(op: string, message: string): void;
  /** Stores a sealed text that outlives the process; null removes it. The texts of a source are deleted with it. */
  keep(key: string, text: string | null): Promise<void>;
  kept(key: string): Promise<string | null>;
  /** When the previous poll began, in any process, since the source was last changed. */
  polledAt(): Promise<number | null>;
  /**
   * Runs a poll when one of the namespace's places is free, and stores before when it began; without it where another process may own the
   * namespace by now. @returns whether it polled. @throws errors of the poll
   */
  poll(poll: () => Promise<void>): Promise<boolean>;
  /** The creator of the source, as the caller for what the source does itself. */
  creator(): Promise<Caller>;
  /** Type and config, with secrets, of another source of the namespace; null: it does not exist, is inactive or mocked. */
  other(name: string): Promise<{ readonly type: string; readonly config: ObjectValue } | null>;
  /** Records of this source for the protocol. They are deleted with it. */
  readonly store: SourceStore;
}

/** Small records that a protocol stores per source; they are deleted with the source. */
export interface SourceStore {
  put(key: string, value: ObjectValue): Promise<void>;
  get(key: string): Promise<ObjectValue | null>;
  remove(key: string): Promise<void>;
  all(prefix: string): Promise<readonly (readonly [key: string, value: ObjectValue])[]>;
}

/** A connection could not be opened. */
export class ConnectionFailure extends Error {
  readonly code: string;
  /** The other side refused the credentials: the next attempt waits at least a minute, so that no account is locked. */
  readonly isAuthentication: boolean;
  constructor(message: string, { code = 'cascade.source.connect.failed', isAuthentication = false } = {}) {
    super(message);
    this.code = code;
    this.isAuthentication = isAuthentication;
  }
}
