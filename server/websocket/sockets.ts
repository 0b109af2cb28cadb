// The WebSocket binding on the sockets of uWebSockets.js: upgrades, frames out and in, signs of life, bounds (resources-and-api.md
// 2.15, 2.16). A socket is not touched once it is closed.
import type { TemplatedApp, WebSocket } from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { Served } from '../http/index.ts';
import { type Framing, RAW, SOCKJS } from './framing.ts';
import { Session } from './session.ts';

/** Room beyond the limit of a message, so that its sender is told 1009; a longer one is cut off within. */
const REFUSED_BYTES = 16 * 1024 * 1024;
const OUTGOING_BYTES = 16 * 1024 * 1024;
const HEARTBEAT_MS = 25_000;

export interface WebSocketOptions {
  engine: Served;
  log: Logger;
  /** Of one message; default 10 MiB. */
  messageLimitBytes?: number;
  /** Of one request; default 120 s. */
  timeoutMs?: number;
  /** How long a client may stay without login; default 30 s. */
  loginMs?: number;
  /** Distance of pings; default 30 s. */
  pingMs?: number;
  /** A socket that is silent for so long is closed, give or take 4 s; at least 8 s, default 90 s. */
  silenceSeconds?: number;
  /** Distance of SockJS heartbeats; default 25 s. */
  heartbeatMs?: number;
}

export interface WebSockets {
  /** Sockets. */
  readonly open: number;
  /** Refuses new requests, waits for the answers of the open ones until the time is up, and ends all sockets. */
  drain(timeoutMs: number): Promise<void>;
}

interface Data {
  readonly framing: Framing;
  readonly address: string;
  connection: Connection | null;
}

export function bindWebSocket(app: TemplatedApp, options: WebSocketOptions): WebSockets {
  const { messageLimitBytes = 10 * 1024 * 1024, silenceSeconds = 90 } = options;
  const connections = new Set<Connection>();
  let settled = (): void => undefined;
  const unanswered = (): number => [...connections].reduce((sum, { session }) => sum + session.open, 0);

  const bind = (pattern: string, framing: Framing, fits: (parameter: (index: number) => string) => boolean): void => {
    app.ws<Data>(pattern, {
      maxPayloadLength: messageLimitBytes + REFUSED_BYTES,
      maxBackpressure: 0, // bounded below, in the words of the protocol
      idleTimeout: silenceSeconds,
      sendPingsAutomatically: false,
      upgrade(response, request, context) {
        if (!fits((index) => request.getParameter(index) ?? '')) {
          request.setYield(true); // no session's address: HTTP says so
          return;
        }
        const address = Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
        const header = (name: string): string => request.getHeader(name);
        response.upgrade<Data>(
          { framing, address, connection: null },
          header('sec-websocket-key'),
          '',
          header('sec-websocket-extensions'),
          context,
        );
      },
      open(socket) {
        const data = socket.getUserData();
        const connection = new Connection(socket, data, options, () => settled());
        data.connection = connection;
        connections.add(connection);
      },
      message(socket, message, isBinary) {
        const { connection } = socket.getUserData();
        if (message.byteLength > messageLimitBytes) connection?.close(1009, 'message too large');
        else connection?.receive(new Uint8Array(message), isBinary);
      },
      close(socket) {
        const { connection } = socket.getUserData();
        if (!connection) return;
        connections.delete(connection);
        connection.closed();
        settled();
      },
    });
  };
  bind('/api/v1/wsock/websocket', RAW, () => true);
  const isName = (name: string, longest: number): boolean => name.length >= 1 && name.length <= longest;
  bind('/api/v1/wsock/:server/:session/websocket', SOCKJS, (parameter) => isName(parameter(0), 32) && isName(parameter(1), 64));

  return {
    get open() {
      return connections.size;
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
      for (const connection of [...connections]) connection.goAway();
    },
  };
}

class Connection {
  readonly session: Session;
  readonly #socket: WebSocket<Data>;
  readonly #framing: Framing;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Frames of this turn of the event loop: sent together. */
  #outbox: string[] = [];
  #outboxBytes = 0;
  #gone = false;

  constructor(socket: WebSocket<Data>, { framing, address }: Data, options: WebSocketOptions, onAnswer: () => void) {
    const { engine, log, timeoutMs = 120_000, loginMs = 30_000, pingMs = 30_000, heartbeatMs = HEARTBEAT_MS } = options;
    this.#socket = socket;
    this.#framing = framing;
    const wire = {
      address,
      send: (text: string) => this.#send(framing.frame(text)),
      close: (code: number, reason: string) => this.close(code, reason),
    };
    this.session = new Session({ engine, log, wire, timeoutMs, loginMs, onAnswer });
    const { opening, heartbeat } = framing;
    if (opening !== null) this.#send(opening);
    if (heartbeat !== null) this.#timers.push(setInterval(() => this.#send(heartbeat), heartbeatMs));
    this.#timers.push(setInterval(() => this.#ping(), pingMs));
  }

  receive(frame: Uint8Array, isBinary: boolean): void {
    if (this.#gone) return;
    const messages = this.#framing.unframe(frame, isBinary);
    if (!messages) return this.close(1002, 'broken framing');
    for (const message of messages) this.session.receive(message, isBinary);
  }

  /** Sends what waits, then the reason. */
  close(code: number, reason: string): void {
    if (this.#gone) return;
    const closing = this.#framing.closing(code, reason);
    if (closing !== null) this.#outbox.push(closing);
    this.#flush();
    this.#socket.end(code, reason);
  }

  /** The service stops. */
  goAway(): void {
    if (this.#framing === SOCKJS) this.close(3000, 'Go away!');
    else this.close(1001, 'the service stops');
  }

  /** By either side. */
  closed(): void {
    this.#gone = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#outbox = [];
    this.session.closed();
  }

  #ping(): void {
    this.#socket.ping();
    void this.session.recheck();
  }

  #send(frame: string): void {
    if (this.#gone) return;
    if (this.#socket.getBufferedAmount() + this.#outboxBytes > OUTGOING_BYTES) {
      this.#outbox = []; // it could not be read in time: nothing is lost silently, since the socket ends
      this.close(1013, 'messages are not read fast enough');
      return;
    }
    if (this.#outbox.length === 0) setImmediate(() => this.#flush());
    this.#outbox.push(frame);
    this.#outboxBytes += frame.length;
  }

  #flush(): void {
    if (this.#gone || this.#outbox.length === 0) return;
    const frames = this.#outbox;
    this.#outbox = [];
    this.#outboxBytes = 0;
    this.#socket.cork(() => {
      for (const frame of frames) this.#socket.send(frame, this.#framing.binary);
    });
  }
}
