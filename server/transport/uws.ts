// The transport on uWebSockets.js. Its rules: a request is read before the handler returns, a response is not touched once its connection is
// gone, what is sent outside of a handler is corked. (It closes a connection whose client sends a second request before the first is answered.)
import { STATUS_CODES } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket, WebSocket } from 'uWebSockets.js';
import { canonicalAddress } from './addresses.ts';
import {
  type AnswerHead,
  type Exchange,
  HEADER_BYTES,
  HeaderBlock,
  HeaderFields,
  type PeerSocket,
  type SocketEvents,
  type SocketOptions,
  type Transport,
} from './types.ts';
import { unusable } from './port.ts';

/** LIBUS_LISTEN_EXCLUSIVE_PORT: otherwise two services on one port would share its connections at random. */
const EXCLUSIVE_PORT = 1;

/** A form of `listen` that the library's types lack. */
interface ExclusiveListening {
  listen(host: string, port: number, options: number, opened: (socket: us_listen_socket | false) => void): void;
}

/** A method that the library's types lack. */
interface FragmentingSocket extends WebSocket<Data> {
  sendFirstFragment(text: string, isBinary: boolean): number;
  sendFragment(text: string): number;
  sendLastFragment(text: string): number;
}

interface Data {
  readonly open: (socket: PeerSocket) => SocketEvents;
  events: SocketEvents | null;
}

/** @throws the error of loading the library: there is no binary for this platform and version of Node */
export async function openUws(): Promise<Transport> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEADER_BYTES); // the library reads it once, when it is loaded: hence the import here
  const { App, us_listen_socket_close, us_socket_local_port } = await import('uWebSockets.js');
  const app = App();
  let listening: us_listen_socket | null = null;
  return {
    kind: 'uws',
    serve(handle) {
      app.any('/*', (response, request) => handle(new UwsExchange(response, request)));
    },
    serveSockets: (options) => bindSockets(app, options),
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        (app as unknown as ExclusiveListening).listen(host, port, EXCLUSIVE_PORT, (opened) => {
          if (!opened) return reject(unusable(host, port));
          listening = opened;
          resolve(us_socket_local_port(opened));
        });
      }),
    async stopListening() {
      await nextTurn(); // in one turn of the event loop the library takes all connections that wait
      if (listening) us_listen_socket_close(listening);
      listening = null;
    },
    close() {
      // At once: the system ends a connection with FIN when all data is read, and with RST when it is not.
      app.close();
      return Promise.resolve();
    },
  };
}

class UwsExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly hasTwoLengths: boolean;
  readonly #response: HttpResponse;
  /** Undefined: not read yet; few requests need it. */
  #peer: string | undefined;
  /** The announced length of an answer in pieces. */
  #lengthBytes: number | null = null;
  /** The rest of the piece that could not be sent at once. */
  #left: { readonly piece: Buffer; readonly offset: number } | null = null;

  constructor(response: HttpResponse, request: HttpRequest) {
    const read = new HeaderFields();
    request.forEach((name, value) => read.add(name, value));
    this.headers = read.fields;
    this.hasTwoLengths = read.hasTwoLengths;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    this.#response = response;
  }

  get peer(): string {
    return (this.#peer ??= this.#readPeer());
  }

  /** Empty once the client is gone or has been answered: the library has no address for such a request. */
  #readPeer(): string {
    try {
      return canonicalAddress(peerTextOf(this.#response));
    } catch {
      return '';
    }
  }

  onData(take: (piece: Uint8Array, isLast: boolean) => void): void {
    this.#response.onData((chunk, isLast) => take(new Uint8Array(chunk), isLast));
  }

  pauseData(): void {
    this.#response.pause();
  }

  resumeData(): void {
    this.#response.resume();
  }

  onAborted(gone: () => void): void {
    this.#response.onAborted(gone);
  }

  onWritable(ready: () => void): void {
    this.#response.onWritable((offset) => {
      const left = this.#left;
      if (left && !this.#corked((response) => this.#sendOf(response, left.piece.subarray(offset - left.offset)))) return false;
      ready();
      return true;
    });
  }

  answer(head: AnswerHead, body: string | Buffer | undefined, isHead: boolean, closes: boolean): void {
    this.#response.cork(() => {
      const response = writeHead(this.#response, head);
      if (body !== undefined && !isHead) {
        response.end(body, closes);
        return;
      }
      // Called without arguments: an undefined length is sent as 2^63, a 204 or 304 has none (RFC 9110 8.6), and with the length of the
      // body that HEAD leaves out the library would wait for that body and cut the connection at the next request.
      if (body !== undefined) response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
      if (closes) response.writeHeader('Connection', 'close');
      response.endWithoutBody();
    });
  }

  begin(head: AnswerHead, piece: string | Buffer, closes: boolean, lengthBytes?: number): boolean {
    this.#lengthBytes = lengthBytes ?? null;
    return this.#corked((response) => {
      writeHead(response, head);
      if (closes) response.writeHeader('Connection', 'close');
      return this.#sendOf(response, piece);
    });
  }

  write(piece: string | Buffer): boolean {
    return this.#corked((response) => this.#sendOf(response, piece));
  }

  /** The library does not buffer an answer of known length beyond what it can send at once. */
  #sendOf(response: HttpResponse, piece: string | Buffer): boolean {
    if (this.#lengthBytes === null) return response.write(piece);
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    const offset = response.getWriteOffset();
    const [isTaken] = response.tryEnd(bytes, this.#lengthBytes);
    this.#left = isTaken ? null : { piece: bytes, offset };
    return isTaken;
  }

  end(): void {
    if (this.#lengthBytes !== null) return; // the answer ended with its last byte
    // Without closing: that would need a header, and these are sent. A client that got `Connection: close` ends it.
    this.#response.cork(() => this.#response.end());
  }

  prolong(): void {
    // The library disconnects a client that makes no room for ten seconds. A slow one with large buffers on the way does so less often:
    // `resume`, which changes nothing else here, starts the ten seconds anew.
    this.#response.resume();
  }

  cut(): void {
    this.#response.close();
  }

  #corked(send: (response: HttpResponse) => boolean): boolean {
    let isTaken = true;
    this.#response.cork(() => {
      isTaken = send(this.#response);
    });
    return isTaken;
  }
}

/** To be called corked. */
function writeHead(response: HttpResponse, { status, headers }: AnswerHead): HttpResponse {
  if (status !== 200) response.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`); // the library writes 200 itself
  for (const header of headers)
    if (header instanceof HeaderBlock) response.writeHeader(header.name, header.lines);
    else response.writeHeader(header[0], header[1]);
  return response;
}

const peerTextOf = (response: HttpResponse): string => Buffer.from(response.getRemoteAddressAsText()).toString('latin1');

function bindSockets(app: TemplatedApp, { below, mostMessageBytes, silenceSeconds, accept }: SocketOptions): void {
  app.ws<Data>(`${below}*`, {
    maxPayloadLength: mostMessageBytes,
    maxBackpressure: 0, // the sender bounds it, with errors of its protocol
    idleTimeout: silenceSeconds,
    sendPingsAutomatically: false,
    upgrade(response, request, context) {
      const read = new HeaderFields();
      request.forEach((name, value) => read.add(name, value));
      const head = { method: request.getCaseSensitiveMethod(), path: request.getUrl(), query: request.getQuery() ?? '' };
      const open = accept({ ...head, headers: read.fields }, canonicalAddress(peerTextOf(response)));
      if (!open) {
        request.setYield(true);
        return;
      }
      const header = (name: string): string => request.getHeader(name);
      response.upgrade<Data>({ open, events: null }, header('sec-websocket-key'), '', header('sec-websocket-extensions'), context);
    },
    open(socket) {
      const data = socket.getUserData();
      data.events = data.open(new UwsSocket(socket as FragmentingSocket));
    },
    message: (socket, message, isBinary) => socket.getUserData().events?.message(new Uint8Array(message), isBinary),
    drain: (socket) => socket.getUserData().events?.drained(),
    close: (socket) => socket.getUserData().events?.closed(),
  });
}

class UwsSocket implements PeerSocket {
  readonly #socket: FragmentingSocket;

  constructor(socket: FragmentingSocket) {
    this.#socket = socket;
  }

  get bufferedBytes(): number {
    return this.#socket.getBufferedAmount();
  }

  send(text: string, isBinary: boolean): void {
    this.#socket.send(text, isBinary);
  }

  sendFragment(text: string, isBinary: boolean, isFirst: boolean, isLast: boolean): void {
    if (isFirst && isLast) this.#socket.send(text, isBinary);
    else if (isFirst) this.#socket.sendFirstFragment(text, isBinary);
    else if (isLast) this.#socket.sendLastFragment(text);
    else this.#socket.sendFragment(text);
  }

  cork(send: () => void): void {
    this.#socket.cork(send);
  }

  ping(): void {
    this.#socket.ping();
  }

  end(code: number, reason: string): void {
    this.#socket.end(code, reason);
  }
}
