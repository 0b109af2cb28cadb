// The WebSocket binding: sockets, their frames, heartbeats and bounds (resources-and-api.md 2.15, 2.16). A socket is not used once it is
// closed.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Pieces } from '../../resources/api.ts';
import {
  BODY_LIMIT_BYTES,
  Budget,
  type ClientAddress,
  Deadlines,
  partsOf,
  peerOf,
  requestBudget,
  subscriptionBudget,
  RoundRobinQueue,
  type Served,
} from '../http/index.ts';
import type { PeerSocket, Transport } from '../transport/index.ts';
import { type Framing, RAW, SOCKJS } from './framing.ts';
import { Session } from './session.ts';
import type { SessionOptions } from './session-options.ts';

/** Room beyond the limit of a message, so that its sender gets 1009; for a longer one the library closes the connection. */
const REFUSED_BYTES = 16 * 1024 * 1024;
const OUTGOING_BYTES = 16 * 1024 * 1024;
/** Bytes in the buffer from which on no further part of a message is made. */
const PAUSED_FROM_BYTES = 256 * 1024;
const HEARTBEAT_MS = 25_000;
/** Longest wait for the sessions of all sockets to end when the service stops: those that are left expire by themselves. */
const ENDING_MS = 5_000;
/** Bounds of the sockets without a login: of all, and of one address. */
const MOST_UNKNOWN = 10_000;
const MOST_UNKNOWN_EACH = 1_000;

export interface WebSocketOptions {
  engine: Served;
  log: Logger;
  /** Finds the address of the client behind a peer. */
  clientOf?: ClientAddress;
  /** Bound of one message; default 10 MiB. */
  messageLimitBytes?: number;
  /** The budget for all messages; one of its own when absent. */
  budget?: Budget;
  /** The budget for what all subscriptions keep. */
  kept?: Budget;
  /** What begins requests in their turn; one of its own when absent. */
  turns?: RoundRobinQueue;
  /** The budget for sockets without a login. */
  unknown?: Budget;
  /** Time limit of one request; default 120 s. */
  timeoutMs?: number;
  /** Time that a client may stay without a login; default 30 s. */
  loginMs?: number;
  /** Interval of pings; default 30 s. */
  pingMs?: number;
  /** Time without data after which a socket is closed, give or take 4 s; at least 8 s, default 90 s. */
  silenceSeconds?: number;
  /** Interval of SockJS heartbeats; default 25 s. */
  heartbeatMs?: number;
}

export interface WebSockets {
  /** Number of sockets. */
  readonly open: number;
  /** Number of subscriptions of all sockets. */
  readonly subscriptions: number;
  /** Refuses new requests, waits for the answers of the open ones until the time is up, and ends all sockets. */
  drain(timeoutMs: number): Promise<void>;
}

/** The path below which sockets are; other paths there are HTTP's. */
const BELOW = '/api/v1/wsock/';
const SOCKJS_PATH = /^[^/]{1,32}\/[^/]{1,64}\/websocket$/;

function framingAt(path: string): Framing | null {
  const rest = path.slice(BELOW.length);
  if (rest === 'websocket') return RAW;
  return SOCKJS_PATH.test(rest) ? SOCKJS : null;
}

export function bindWebSocket(transport: Transport, options: WebSocketOptions): WebSockets {
  const { messageLimitBytes = BODY_LIMIT_BYTES, silenceSeconds = 90, timeoutMs = 120_000, clientOf = peerOf } = options;
  const deadlines = new Deadlines(timeoutMs);
  const {
    turns = new RoundRobinQueue(),
    budget = requestBudget(messageLimitBytes),
    kept = subscriptionBudget(),
    unknown = new Budget('unknownSockets', MOST_UNKNOWN, MOST_UNKNOWN_EACH),
  } = options;
  const connections = new Set<Connection>();
  const ending = new Set<Promise<void>>();
  const end = (connection: Connection): void => {
    const ended = connection.closed().finally(() => ending.delete(ended));
    ending.add(ended);
  };
  let settled = (): void => undefined;
  const stopListening = options.engine.identity.onChanged((username) => {
    for (const { session } of connections) session.changed(username);
  });
  const unanswered = (): number => [...connections].reduce((sum, { session }) => sum + session.open, 0);

  transport.serveSockets({
    below: BELOW,
    mostMessageBytes: messageLimitBytes + REFUSED_BYTES,
    silenceSeconds,
    accept({ path, headers }, peer) {
      const framing = framingAt(path);
      if (!framing) return null;
      const address = clientOf(peer, headers);
      return (socket) => {
        const connection = new Connection(socket, framing, address, { ...options, budget, kept, turns, unknown }, deadlines, () =>
          settled(),
        );
        connections.add(connection);
        queueMicrotask(() => connection.session.begin());
        return {
          message: (frame, isBinary) => connection.receive(frame, isBinary),
          drained: () => connection.drained(),
          closed() {
            connections.delete(connection);
            end(connection);
            settled();
          },
        };
      };
    },
  });

  return {
    get open() {
      return connections.size;
    },
    get subscriptions() {
      return [...connections].reduce((sum, { session }) => sum + session.subscriptions, 0);
    },
    async drain(timeoutMs) {
      for (const { session } of connections) session.drain();
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        settled = () => {
          if (unanswered() === 0) resolve();
        };
        timer = setTimeout(resolve, timeoutMs);
        settled();
      });
      clearTimeout(timer);
      stopListening();
      for (const connection of [...connections]) {
        connection.goAway();
        end(connection);
      }
      await Promise.race([Promise.all(ending), sleep(ENDING_MS, undefined, { ref: false })]);
    },
  };
}

/** A message in parts that waits for its turn, or is being sent. */
interface Outgoing {
  readonly message: Pieces;
  /** Called when it is sent, or never will be. */
  readonly done: () => void;
}

class Connection {
  readonly session: Session;
  readonly #socket: PeerSocket;
  readonly #framing: Framing;
  readonly #log: Logger;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Frames of this turn of the event loop, sent together; and those that wait for a message in parts. */
  #outbox: (string | Outgoing)[] = [];
  #outboxBytes = 0;
  /** The message in parts that is being sent: nothing else may be sent before its end. */
  #sending: Outgoing | null = null;
  #drained = (): void => undefined;
  #awaitRoom: (() => void)[] = [];
  #gone = false;
  #ended: Promise<void> | null = null;

  constructor(
    socket: PeerSocket,
    framing: Framing,
    address: string,
    options: WebSocketOptions & Pick<SessionOptions, 'budget' | 'kept' | 'turns' | 'unknown'>,
    deadlines: Deadlines,
    onAnswer: () => void,
  ) {
    const { engine, log, budget, kept, turns, unknown, loginMs = 30_000, pingMs = 30_000, heartbeatMs = HEARTBEAT_MS } = options;
    const { messageLimitBytes = BODY_LIMIT_BYTES } = options;
    this.#socket = socket;
    this.#framing = framing;
    this.#log = log;
    const wire = {
      address,
      send: (text: string) => this.#send(framing.frame(text)),
      hasRoom: () => this.#hasRoom(),
      stream: (message: Pieces) => this.#stream(message),
      close: (code: number, reason: string) => this.close(code, reason),
    };
    const shared = { engine, log, deadlines, budget, kept, turns, unknown };
    this.session = new Session({ ...shared, wire, framing, messageLimitBytes, loginMs, onAnswer });
    const { opening, heartbeat } = framing;
    if (opening !== null) this.#send(opening);
    if (heartbeat !== null) this.#timers.push(setInterval(() => this.#send(heartbeat), heartbeatMs));
    this.#timers.push(setInterval(() => this.#ping(), pingMs));
  }

  receive(frame: Uint8Array, isBinary: boolean): void {
    if (!this.#gone) this.session.receive(frame, isBinary);
  }

  /** Sends the waiting frames, then the reason; within an incomplete message the reason alone. */
  close(code: number, reason: string): void {
    if (this.#gone) return;
    const closing = this.#framing.closing(code, reason);
    if (closing !== null) this.#outbox.push(closing);
    this.#flush();
    this.#socket.end(code, reason);
  }

  /** Closes the socket because the service stops. */
  goAway(): void {
    if (this.#framing === SOCKJS) this.close(3000, 'Go away!');
    else this.close(1001, 'the service stops');
  }

  /** The client has read some of the buffered bytes. */
  drained(): void {
    this.#drained();
    this.#notifyRoom();
  }

  /** Either side has closed the socket. Resolves when its sessions have ended. */
  closed(): Promise<void> {
    this.#ended ??= this.#close();
    return this.#ended;
  }

  #close(): Promise<void> {
    this.#gone = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#dropWaiting();
    this.#drained();
    this.#notifyRoom();
    return this.session.closed();
  }

  #ping(): void {
    this.#socket.ping();
    void this.session.recheck();
  }

  #send(frame: string): void {
    if (this.#gone) return;
    if (this.#socket.bufferedBytes + this.#outboxBytes > OUTGOING_BYTES) {
      this.#dropWaiting(); // the client did not read in time: nothing is lost silently, since the socket ends
      this.close(1013, 'messages are not read fast enough');
      return;
    }
    this.#plan();
    this.#outbox.push(frame);
    this.#outboxBytes += frame.length;
  }

  #stream(message: Pieces): Promise<void> {
    return new Promise((done) => {
      const outgoing = { message, done };
      if (this.#gone) return this.#end(outgoing);
      this.#plan();
      this.#outbox.push(outgoing);
    });
  }

  async #hasRoom(): Promise<void> {
    while (!this.#gone && this.#socket.bufferedBytes + this.#outboxBytes > PAUSED_FROM_BYTES)
      await new Promise<void>((go) => this.#awaitRoom.push(go));
  }

  #notifyRoom(): void {
    for (const go of this.#awaitRoom.splice(0)) go();
  }

  #plan(): void {
    if (this.#outbox.length === 0 && !this.#sending) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#gone || this.#sending || this.#outbox.length === 0) return;
    const next = this.#outbox.findIndex((item) => typeof item !== 'string');
    const frames = this.#outbox.splice(0, next < 0 ? this.#outbox.length : next) as string[];
    for (const frame of frames) this.#outboxBytes -= frame.length;
    if (frames.length > 0)
      this.#socket.cork(() => {
        for (const frame of frames) this.#socket.send(frame, this.#framing.binary);
      });
    this.#notifyRoom();
    const outgoing = this.#outbox.shift() as Outgoing | undefined;
    if (outgoing) void this.#sendParts(outgoing);
  }

  /** Never rejects: a message that fails halfway ends the socket. */
  async #sendParts(outgoing: Outgoing): Promise<void> {
    this.#sending = outgoing;
    const { message } = outgoing;
    try {
      let isFirst = true;
      for (let piece = await message.next(); piece !== null && !this.#gone; ) {
        const next = await message.next();
        for (const [part, isEnd] of partsOf(piece)) {
          if (this.#gone) break;
          const isLast = isEnd && next === null;
          this.#sendFragment(this.#framing.fragment(part, isFirst, isLast), isFirst, isLast);
          isFirst = false;
          if (!isLast && this.#socket.bufferedBytes > PAUSED_FROM_BYTES) await new Promise<void>((go) => (this.#drained = go));
          else if (!isEnd) await nextTurn();
        }
        piece = next;
      }
    } catch (err) {
      this.#log.error({ err }, 'an answer in parts failed before its end');
      if (!this.#gone) this.#socket.end(1011, 'an answer could not be finished');
    }
    this.#sending = null;
    this.#end(outgoing);
    this.#flush();
  }

  #dropWaiting(): void {
    for (const item of this.#outbox.splice(0)) if (typeof item !== 'string') this.#end(item);
    this.#outboxBytes = 0;
  }

  #sendFragment(text: string, isFirst: boolean, isLast: boolean): void {
    this.#socket.cork(() => this.#socket.sendFragment(text, this.#framing.binary, isFirst, isLast));
  }

  #end({ message, done }: Outgoing): void {
    message.close().catch((err: unknown) => this.#log.warn({ err }, 'a result could not be closed'));
    done();
  }
}
