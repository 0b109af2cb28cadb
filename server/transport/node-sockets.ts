// WebSockets of the transport on Node: upgrades by the package ws, with its gaps filled: silent sockets, and closing without waiting.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { canonicalAddress } from './addresses.ts';
import type { PeerSocket, RequestHead, SocketEvents, SocketOptions } from './types.ts';

/** Interval of the check for silent sockets. */
const CHECK_MS = 4_000;
/** Time that a client has to answer the frame that ends its socket. */
const CLOSE_MS = 10_000;

/** @returns false when the request is not for a socket: then nothing was sent */
type Upgrade = (request: IncomingMessage, head: RequestHead, socket: Socket, behindHead: Buffer) => boolean;

export function bindSockets({ below, mostMessageBytes, silenceSeconds, accept }: SocketOptions): Upgrade {
  const limits = { maxPayload: mostMessageBytes, closeTimeout: CLOSE_MS }; // the package's types lack the latter
  const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, ...limits });
  return (request, head, socket, behindHead) => {
    if (!head.path.startsWith(below) || !isUpgrade(head)) return false;
    const open = accept(head, canonicalAddress(socket.remoteAddress ?? ''));
    if (!open) return false;
    socket.setNoDelay(true);
    server.handleUpgrade(request, socket, behindHead, (webSocket) => {
      const peer = new NodeSocket(webSocket, socket, silenceSeconds * 1_000);
      peer.open(open);
    });
    return true;
  };
}

const isUpgrade = ({ method, headers }: RequestHead): boolean =>
  method === 'GET' &&
  headers.get('upgrade')?.toLowerCase() === 'websocket' &&
  headers.get('sec-websocket-version') === '13' &&
  /^[+/0-9A-Za-z]{22}==$/.test(headers.get('sec-websocket-key') ?? '');

class NodeSocket implements PeerSocket {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #silenceMs: number;
  #receivedAt = performance.now();
  #events: SocketEvents | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(webSocket: WebSocket, socket: Socket, silenceMs: number) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#silenceMs = silenceMs;
  }

  open(open: (socket: PeerSocket) => SocketEvents): void {
    const onData = (): void => {
      this.#receivedAt = performance.now();
    };
    this.#timer = setInterval(
      () => {
        if (performance.now() - this.#receivedAt > this.#silenceMs) this.#webSocket.terminate();
      },
      Math.min(CHECK_MS, this.#silenceMs / 2),
    ).unref();
    this.#socket.on('data', onData);
    this.#socket.on('drain', () => {
      onData();
      this.#events?.drained();
    });
    this.#webSocket.on('error', () => undefined); // the close event follows
    this.#webSocket.on('message', (message: Buffer, isBinary) => this.#events?.message(message, isBinary));
    this.#webSocket.on('close', () => this.#closed());
    this.#events = open(this);
  }

  get bufferedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  send(text: string, isBinary: boolean): void {
    this.#webSocket.send(text, { binary: isBinary });
  }

  sendFragment(text: string, isBinary: boolean, _isFirst: boolean, isLast: boolean): void {
    this.#webSocket.send(text, { binary: isBinary, fin: isLast });
  }

  cork(send: () => void): void {
    this.#socket.cork();
    send();
    this.#socket.uncork();
  }

  ping(): void {
    this.#webSocket.ping();
  }

  end(code: number, reason: string): void {
    this.#webSocket.close(code, reason);
    this.#closed();
  }

  #closed(): void {
    clearInterval(this.#timer);
    const events = this.#events;
    this.#events = null;
    events?.closed();
  }
}
