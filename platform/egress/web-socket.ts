// WebSockets to the outside: the handshake goes over a connection of the one way out.
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { EgressError } from './errors.ts';
import type { Outlet } from './egress.ts';
import type { AnswerRoom } from './received.ts';

export interface WebSocketTarget {
  /** `ws:` or `wss:`; its path is asked for. */
  readonly url: URL;
  readonly tls: ConnectionOptions;
  readonly timeoutMs: number;
  /** A longer message ends the socket. */
  readonly mostBytes: number;
  /** Aborted when nobody wants the socket any more; once it was given, it is its holder's. */
  readonly signal?: AbortSignal;
}

/** Bytes of messages that may be in the hands of the listener: beyond it nothing is received, so that no peer fills the memory. */
const MOST_UNREAD_BYTES = 1024 * 1024;

export interface WebSocketListener {
  /**
   * The promise: until when the message is being handled; more than some are not received before.
   * @param room what the message takes, to be disposed of when its value has been handed on
   */
  message(data: Buffer, room: AnswerRoom): Promise<void>;
  /** Ping or pong of the peer. */
  alive(): void;
  /** Once, and the last that is heard. @param refused there was no room for what was being received: cascade.quota.exceeded */
  closed(code: number, refused: Error | null): void;
}

export interface OutgoingSocket {
  readonly isOpen: boolean;
  /** Nothing is received until there is room for what has come. */
  readonly isHeldUp: boolean;
  /** Does nothing on a socket that is not open. */
  send(text: string): void;
  ping(): void;
  /** At once, without a goodbye. */
  terminate(): void;
  /** To be called in the turn in which the socket was given. */
  listen(listener: WebSocketListener): void;
}

/** The peer speaks HTTP, but no WebSocket. */
export class NoWebSocket extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`it answers ${status} in place of a WebSocket`);
    this.status = status;
  }
}

/** A socket that stands. @throws EgressError, NoWebSocket */
export async function openWebSocket(outlet: Outlet, { url, tls, timeoutMs, mostBytes, signal }: WebSocketTarget): Promise<OutgoingSocket> {
  const isSecure = url.protocol === 'wss:';
  const connection = await outlet.connect({
    host: url.hostname,
    port: Number(url.port) || (isSecure ? 443 : 80),
    tls: isSecure ? { ...tls, ALPNProtocols: ['http/1.1'] } : null,
    timeoutMs,
    ...(signal && { signal }),
  });
  // TLS stands already, where it is wanted: the handshake goes over the connection as it is.
  const socket = new WebSocket(`ws://${url.host}${url.pathname}`, {
    createConnection: () => connection,
    handshakeTimeout: timeoutMs,
    maxPayload: mostBytes,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const leave = (): void => socket.terminate();
  signal?.addEventListener('abort', leave, { once: true });
  try {
    const stands = standing(socket, url.hostname);
    if (signal?.aborted) leave();
    await stands;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    signal?.removeEventListener('abort', leave);
  }
  let receiving: Receiving | null = null;
  return {
    get isHeldUp() {
      return receiving?.isHeldUp ?? false;
    },
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    send: (text) => socket.readyState === WebSocket.OPEN && socket.send(text, () => undefined), // what fails closes it
    ping: () => socket.readyState === WebSocket.OPEN && socket.ping(),
    terminate: () => socket.terminate(),
    listen: (listener) => void (receiving = new Receiving(socket, connection, outlet, listener)),
  };
}

/** Receives messages, no faster than they are handled, and than there is room for them. */
class Receiving {
  isHeldUp = false;
  readonly #socket: WebSocket;
  readonly #outlet: Outlet;
  readonly #listener: WebSocketListener;
  #unread = 0;
  /** Of the message that is being received. */
  #room: AnswerRoom;
  #refusal: Error | null = null;

  constructor(socket: WebSocket, connection: Socket, outlet: Outlet, listener: WebSocketListener) {
    this.#socket = socket;
    this.#outlet = outlet;
    this.#listener = listener;
    this.#room = outlet.answerRoom();
    // Before the parser, which ends a message within its last piece.
    connection.prependListener('data', (piece: Buffer) => this.#arrived(piece.length));
    socket.on('message', (data: Buffer) => this.#take(data));
    socket.on('ping', listener.alive).on('pong', listener.alive);
    socket.on('close', (code) => {
      this.#room.clear();
      listener.closed(code, this.#refusal);
    });
  }

  #arrived(bytes: number): void {
    const room = this.#room;
    const waits = room.grow(bytes);
    if (!waits) return;
    this.isHeldUp = true;
    this.#socket.pause();
    const release = (): void => {
      this.isHeldUp = false;
      this.#listener.alive();
      this.#goOn();
    };
    waits.then(release, (error: Error) => {
      if (room !== this.#room) return release(); // its message was complete already, and is its listener's
      this.#refusal = error;
      this.#socket.terminate();
    });
  }

  #take(data: Buffer): void {
    this.#unread += data.length;
    if (this.#unread > MOST_UNREAD_BYTES) this.#socket.pause();
    const room = this.#room;
    this.#room = this.#outlet.answerRoom();
    void this.#listener.message(data, room).finally(() => {
      this.#unread -= data.length;
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#unread <= MOST_UNREAD_BYTES && !this.isHeldUp && this.#socket.isPaused) this.#socket.resume();
  }
}

function standing(socket: WebSocket, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (request, response) => {
      response.resume();
      request.destroy();
      reject(new NoWebSocket(response.statusCode ?? 0));
    });
    // For as long as the socket lives: what goes wrong later closes it, which is heard of.
    socket.on('error', (error) => reject(error instanceof EgressError ? error : new EgressError('connect', host, error.message)));
    socket.once('close', () => reject(new EgressError('connect', host, 'the connection was closed')));
    socket.once('open', resolve);
  });
}
