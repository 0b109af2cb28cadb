// WebSockets to the outside: the handshake goes over a connection of the one way out.
import type { ConnectionOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { EgressError } from './errors.ts';
import type { Outlet } from './egress.ts';

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
  /** The promise: until when the message takes room; more than some are not received before. */
  message(data: Buffer): Promise<void>;
  /** Ping or pong of the peer. */
  alive(): void;
  /** Once, and the last that is heard. */
  closed(code: number): void;
}

export interface OutgoingSocket {
  readonly isOpen: boolean;
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
  return {
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    send: (text) => socket.readyState === WebSocket.OPEN && socket.send(text, () => undefined), // what fails closes it
    ping: () => socket.readyState === WebSocket.OPEN && socket.ping(),
    terminate: () => socket.terminate(),
    listen({ message, alive, closed }) {
      let unread = 0;
      socket.on('message', (data: Buffer) => {
        unread += data.length;
        if (unread > MOST_UNREAD_BYTES) socket.pause();
        void message(data).finally(() => {
          unread -= data.length;
          if (unread <= MOST_UNREAD_BYTES && socket.isPaused) socket.resume();
        });
      });
      socket.on('ping', alive).on('pong', alive);
      socket.on('close', closed);
    },
  };
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
