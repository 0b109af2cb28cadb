// What a protocol of sources is to the framework: a definition that is checked, and connections that are opened. A further protocol is a folder
// beside this file and a line in index.ts. The framework does the rest: life, back-off, credentials, counts, logs, content, pipelines, who consumes.
import type { ConnectionOptions } from 'node:tls';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import type { Outlet } from '../../../platform/egress/index.ts';
import type { Fits } from './fields.ts';
import type { PushNote, PushOutcome } from './push/transport.ts';

export type Direction = 'SOURCE' | 'SINK' | 'BOTH';

export interface Protocol {
  /** The `type` of its sources. */
  readonly type: string;
  /** The first is the default. */
  readonly directions: readonly Direction[];
  /** SELECT … FROM SOURCE and `POST …/query`. */
  readonly hasQuery: boolean;
  /** Whether `isReliable` may be set: what it brings is acknowledged after it is stored. */
  readonly canBeReliable: boolean;
  /** Fields of the config; others are kept and not looked at. */
  readonly fields: Readonly<Record<string, Fits>>;
  /** Each entry: one of these must be there. */
  readonly required: readonly (readonly string[])[];
  /** What the fields must be together: the field and its fault, or null. */
  readonly crossCheck?: (config: ObjectValue) => readonly [field: string, reason: string] | null;
  /** Hosts that the config names; literal addresses among them are refused at creation where they may not be reached. */
  hosts(config: ObjectValue): readonly string[];
  /**
   * Whether an active source of this config keeps a connection up or polls. One that does not is connected at once, without network contact, and
   * `open` must make none for it.
   */
  isStanding(config: ObjectValue, direction: Direction): boolean;
  /** Others post to its address `/private/<type in lower case>/<namespace>/<source>`; its connection has `accept` then. */
  readonly takesRequests?: true;
  /** Whether a connection that was lost is made again; absent: always. */
  reconnects?(config: ObjectValue): boolean;
  /**
   * What is wrong with a publish can be known before there is a connection: then it does not wait for one.
   * @throws CascadeError of status 400
   */
  checkPublish?(source: string, config: ObjectValue, request: ObjectValue): void;
  /** How the config's merged request looks, where mocks and protocol see more than what the caller wrote; absent: as it is. */
  merged?(config: ObjectValue, request: ObjectValue, operation: 'query' | 'publish'): ObjectValue;
  /**
   * Opens the source; resolves when it is connected. Whatever is made must be gone when `context.signal` is aborted before.
   * Absent: this build has no connections of the type.
   * @throws ConnectionFailure, EgressError, CascadeError: tried again with back-off
   */
  open?(context: SourceContext): Promise<Connection>;
}

export interface Connection {
  /** Resolves when the transport took the message. @throws CascadeError */
  publish?(request: ObjectValue, caller: Caller): Promise<void>;
  /** The response value. @throws CascadeError */
  query?(request: ObjectValue, caller: Caller): Promise<Value>;
  /** A request to the source's own HTTP address (`/private/<type>/<namespace>/<source>`). @throws CascadeError */
  accept?(request: InboundRequest): Promise<InboundReply>;
  /** A note to a device of that platform, by what it was registered with. Never throws. */
  hand?(platform: string, token: string, note: PushNote): Promise<PushOutcome>;
  /** What an address of its own below the source shows (`GET /sources/<name>/<view>`). */
  view?(name: string): Promise<Value>;
  /** Takes no more in, lets what is under way end, disconnects. Called once; the framework waits at most ten seconds. */
  close(): Promise<void>;
}

/** Who publishes or asks, as far as documents are read and kept in their name. */
export interface Caller {
  /** @throws resource.not.found; document.too.large; authorization.denied */
  readDocument(name: string): Promise<{ readonly bytes: Buffer; readonly fileType: string }>;
  /** @throws authorization.denied; document.name.invalid, .name.reserved */
  requireSavable(name: string): void;
  /**
   * @param told the media type that came with the bytes
   * @param result what the query yields: it is recorded together with the document
   */
  saveDocument(document: { name: string; declaredType: string | null; bytes: Uint8Array }, result: Value): Promise<void>;
}

export interface InboundRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly address: string;
}

export interface InboundReply {
  readonly status: number;
  readonly body: Value;
}

/** One message as it came. */
export interface Inbound {
  readonly payload: Uint8Array;
  readonly contentType: string;
  /** Where the protocol has topics, the one that it came on. */
  readonly topic?: string | null;
  /** Transport metadata that rules see as `event.properties`. */
  readonly properties?: ObjectValue;
  /** Of several with the same key within ten minutes only the first gives an event, whatever crashes. */
  readonly onceKey?: string;
}

/** A message whose value the transport has made already. */
export interface InboundValue extends Omit<Inbound, 'payload' | 'contentType'> {
  readonly value: Value;
}

/** stored: the event is in the store. dropped: a pipeline wanted none. refused: it can be none (malformed, too large). repeated: its key was known. */
export type Outcome = 'stored' | 'dropped' | 'refused' | 'repeated';

export interface SourceContext {
  readonly namespace: string;
  readonly source: string;
  readonly direction: Direction;
  readonly isReliable: boolean;
  /** With secrets and `@secrets(…)` resolved; checked by the fields above. */
  readonly config: ObjectValue;
  /**
   * This process takes in what comes from outside: only one of several does. False: the connection is for publishing alone, and nothing is
   * subscribed or polled. Where two processes need different names (a client id), the one that does not consume takes another.
   */
  readonly consumes: boolean;
  readonly outlet: Outlet;
  /** TLS of the config (integrations.md 1.11). */
  readonly tls: ConnectionOptions;
  /** Aborted when the source is closed or changed. */
  readonly signal: AbortSignal;
  now(): number;
  /**
   * Takes one message in: size, content, unwinding, pipeline, event. Messages are taken in the order of the calls. Resolves when it is stored or
   * given up: acknowledge then, whatever the outcome. While the store is away it waits, and so holds the sender back.
   * @throws what a reliable source's pipeline failed on: don't acknowledge, it must come again
   */
  deliver(message: Inbound | InboundValue): Promise<Outcome>;
  /** Resolves when fewer than a thousand messages wait: at once, mostly. Ask before taking more from a transport that can be paused. */
  room(): Promise<void>;
  /** The connection that stood is lost: it is closed and opened again with back-off. */
  lost(error: unknown): void;
  /** An attempt (a poll) failed, or succeeded again; the connection stays. */
  troubled(error: unknown): void;
  recovered(): void;
  /** A line in the namespace's logs; the source's name is its invocationId. */
  log(level: 'WARN' | 'ERROR', message: string): void;
  /** An entry in the namespace's audits about the source. */
  audit(op: string, message: string): void;
  /** Texts that outlive the process, sealed; null removes. They go with the source. */
  keep(key: string, text: string | null): Promise<void>;
  kept(key: string): Promise<string | null>;
  /** When the poll before began, over all processes since the source was last changed. */
  polledAt(): Promise<number | null>;
  /** Runs a poll when it is its turn among those of the namespace, and notes before when it began. @throws what it throws */
  poll(poll: () => Promise<void>): Promise<void>;
  /** The creator of the source, for what it does of itself. */
  creator(): Promise<Caller>;
  /** Another source of the namespace: its type, and its config with secrets; null: there is none, or it is not active. */
  other(name: string): Promise<{ readonly type: string; readonly config: ObjectValue } | null>;
  /** A collection of the namespace for what the protocol remembers. Give documents the source's name; `forget` of the protocol removes them. */
  readonly store: SourceStore;
}

/** Small records that a protocol keeps per source; they go with the source. */
export interface SourceStore {
  put(key: string, value: ObjectValue): Promise<void>;
  get(key: string): Promise<ObjectValue | null>;
  remove(key: string): Promise<void>;
  all(prefix: string): Promise<readonly (readonly [key: string, value: ObjectValue])[]>;
}

/** A connection that was not made. */
export class ConnectionFailure extends Error {
  readonly code: string;
  /** The other side refused the credentials: the next attempt comes after a minute, so that no account is locked. */
  readonly isAuthentication: boolean;
  constructor(message: string, { code = 'cascade.source.connect.failed', isAuthentication = false } = {}) {
    super(message);
    this.code = code;
    this.isAuthentication = isAuthentication;
  }
}
