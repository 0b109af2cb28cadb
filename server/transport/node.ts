// The transport on Node's own HTTP server and the package ws: for platforms without a binary of uWebSockets.js, and as a second
// implementation to test the bindings with. A connection has one request at a time: a client that sends a second one before the first is
// answered is disconnected.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bindSockets } from './node-sockets.ts';
import { unusable } from './port.ts';
import { UnparsedExchange, unparsedHead } from './node-unparsed.ts';
import { canonicalAddress } from './addresses.ts';
import {
  type AnswerHead,
  type Exchange,
  HEADER_BYTES,
  HeaderBlock,
  HeaderFields,
  IDLE_MS,
  type RequestHead,
  type Transport,
} from './types.ts';

/** Interval of the check for requests and headers that take too long. */
const CHECK_MS = 2_000;
/** Bytes of a body that are read and dropped after the answer, so that the client reads it; a longer one is cut off. */
const DISCARDED_BYTES = 32 * 1024 * 1024;
/** Time that clients have to end their side of a connection that was ended in order. */
const LINGER_MS = 1_000;
/** Longest wait for accepted connections at the end of listening, where ever more clients connect. */
const TAKING_MS = 1_000;

export function openNode(): Promise<Transport> {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    keepAliveTimeout: IDLE_MS,
    headersTimeout: IDLE_MS,
    requestTimeout: 0, // a body may take long; a stalled one is disconnected below
    connectionsCheckingInterval: CHECK_MS,
  });
  server.maxHeadersCount = 0; // their bytes are bounded; surplus headers must not be dropped silently
  const connections = new Connections(server);
  let handle = (_exchange: Exchange): void => undefined;
  const answerRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (connections.begin(request.socket, () => !response.writableEnded)) handle(new NodeExchange(request, response));
  };
  server.on('request', answerRequest);
  server.on('checkExpectation', answerRequest); // Node would answer 417, which is none of the API's statuses
  const answerUnparsed = (socket: Socket, exchange: UnparsedExchange): void => {
    if (connections.begin(socket, () => socket.writable)) handle(exchange);
  };
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
    const head = connections.isOpen(socket) ? null : unparsedHead(error);
    if (head) answerUnparsed(socket, new UnparsedExchange(socket, head, null));
    else refuse(socket, error.code);
  });
  let refuseUpgrade = (request: IncomingMessage, socket: Socket, behindHead: Buffer): void =>
    answerUnparsed(socket, new UnparsedExchange(socket, headOf(request), behindHead));
  server.on('upgrade', (request: IncomingMessage, socket: Socket, behindHead: Buffer) => refuseUpgrade(request, socket, behindHead));
  // Without a listener Node would end the connection; no route has this method.
  server.on('connect', (request: IncomingMessage, socket: Socket, behindHead: Buffer) =>
    answerUnparsed(socket, new UnparsedExchange(socket, headOf(request), behindHead)),
  );
  return Promise.resolve({
    kind: 'node',
    serve(handler) {
      handle = handler;
    },
    serveSockets(options) {
      const otherwise = refuseUpgrade;
      const upgrade = bindSockets(options);
      refuseUpgrade = (request, socket, behindHead) => {
        if (!upgrade(request, headOf(request), socket, behindHead)) otherwise(request, socket, behindHead);
      };
    },
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', (cause) => reject(unusable(host, port, cause)));
        server.listen({ host, port }, () => resolve((server.address() as { port: number }).port));
      }),
    async stopListening() {
      await connections.allTaken();
      NetServer.prototype.close.call(server); // close of the HTTP server would cut idle connections
    },
    async close() {
      server.close();
      await connections.close();
    },
  });
}

/** All connections, and whether a request is open on each. */
class Connections {
  readonly #isOpen = new Map<Socket, () => boolean>();
  #taken = 0;
  #isClosing = false;
  #emptied = (): void => undefined;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#taken++;
      this.#isOpen.set(socket, () => false);
      socket.once('close', () => {
        this.#isOpen.delete(socket);
        if (this.#isOpen.size === 0) this.#emptied();
      });
    });
  }

  /** Waits until all connections that the system has accepted are taken: Node takes one per turn of the event loop. */
  async allTaken(): Promise<void> {
    const until = performance.now() + TAKING_MS;
    for (let before = -1; before !== this.#taken && performance.now() < until; ) {
      before = this.#taken;
      await nextTurn();
      await nextTurn();
    }
  }

  /**
   * @param isOpen whether the request still waits for its answer
   * @returns false when the request is to be dropped: its connection was ended, or another request on it is not answered yet
   */
  begin(socket: Socket, isOpen: () => boolean): boolean {
    if (this.#isClosing) return false;
    if (this.isOpen(socket)) {
      socket.destroy();
      return false;
    }
    this.#isOpen.set(socket, isOpen);
    return true;
  }

  isOpen(socket: Socket): boolean {
    return this.#isClosing || this.#isOpen.get(socket)?.() === true;
  }

  /** Connections without a request: sends FIN and reads on, since unread data would make the system send RST. Those with one are cut. */
  async close(): Promise<void> {
    for (const [socket, isOpen] of [...this.#isOpen])
      if (isOpen()) socket.destroy();
      else socket.end();
    this.#isClosing = true;
    if (this.#isOpen.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#emptied = resolve;
      timer = setTimeout(resolve, LINGER_MS);
    });
    clearTimeout(timer);
    for (const socket of [...this.#isOpen.keys()]) socket.destroy();
  }
}

const EMPTY = Buffer.alloc(0);

class NodeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly hasTwoLengths: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    const head = headOf(request);
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
    this.headers = head.headers;
    this.hasTwoLengths = head.hasTwoLengths;
    this.#request = request;
    this.#response = response;
  }

  get peer(): string {
    return canonicalAddress(this.#request.socket.remoteAddress ?? '');
  }

  onData(take: (piece: Uint8Array, isLast: boolean) => void): void {
    const request = this.#request;
    if (!this.headers.has('content-length') && !this.headers.has('transfer-encoding')) {
      process.nextTick(take, EMPTY, true);
      return;
    }
    const { socket } = request;
    let discarded = 0;
    socket.setTimeout(IDLE_MS);
    request.on('data', (chunk: Buffer) => {
      take(chunk, false);
      if (this.#response.writableEnded && (discarded += chunk.length) > DISCARDED_BYTES) socket.destroy();
    });
    request.once('end', () => {
      if (!this.#response.writableEnded) socket.setTimeout(0);
      take(EMPTY, true);
    });
  }

  pauseData(): void {
    this.#request.pause();
  }

  resumeData(): void {
    this.#request.resume();
  }

  onAborted(gone: () => void): void {
    this.#response.once('close', () => {
      if (!this.#response.writableEnded) gone();
    });
  }

  onWritable(ready: () => void): void {
    this.#response.on('drain', ready);
  }

  answer(head: AnswerHead, body: string | Buffer | undefined, isHead: boolean, closes: boolean): void {
    const response = this.#response;
    const fields = fieldsOf(head, closes);
    if (body !== undefined) fields.push('Content-Length', String(Buffer.byteLength(body)));
    response.writeHead(head.status, fields);
    if (isHead || body === undefined) response.end();
    else response.end(body);
    this.#giveUpSlow();
  }

  begin(head: AnswerHead, piece: string | Buffer, closes: boolean, lengthBytes?: number): boolean {
    const fields = fieldsOf(head, closes);
    if (lengthBytes !== undefined) fields.push('Content-Length', String(lengthBytes));
    this.#response.writeHead(head.status, fields);
    return this.#response.write(piece);
  }

  write(piece: string | Buffer): boolean {
    return this.#response.write(piece);
  }

  end(): void {
    this.#response.end();
    this.#giveUpSlow();
  }

  prolong(): void {
    // Node never disconnects a client before the end of its answer.
  }

  cut(): void {
    this.#request.socket.destroy();
  }

  /** Disconnects clients that have not read any of their answer for ten seconds. */
  #giveUpSlow(): void {
    const { socket } = this.#request;
    if (socket.writableLength > 0) socket.setTimeout(IDLE_MS);
  }
}

/** The fields in the form of `writeHead`: names and values in turn. */
export function fieldsOf({ headers }: AnswerHead, closes: boolean): string[] {
  const fields: string[] = [];
  for (const header of headers)
    if (header instanceof HeaderBlock) for (const [name, value] of header.fields) fields.push(name, value);
    else fields.push(header[0], header[1]);
  if (closes) fields.push('Connection', 'close');
  return fields;
}

function headOf({ method = '', url = '', rawHeaders }: IncomingMessage): RequestHead & { hasTwoLengths: boolean } {
  const read = new HeaderFields();
  for (let i = 0; i < rawHeaders.length; i += 2) read.add(rawHeaders[i]!.toLowerCase(), utf8(rawHeaders[i + 1]!));
  const question = url.indexOf('?');
  const [path, query] = question < 0 ? [url, ''] : [url.slice(0, question), url.slice(question + 1)];
  return { method, path: utf8(path), query: utf8(query), headers: read.fields, hasTwoLengths: read.hasTwoLengths };
}

/** Decodes UTF-8 that Node read as Latin-1. */
const utf8 = (text: string): string => (/[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text);

const REFUSALS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers invalid HTTP where that is still possible, and closes the connection. */
function refuse(socket: Socket, code = ''): void {
  const isMidway = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
  if (socket.writable && code !== 'ECONNRESET' && !isMidway)
    socket.end(`HTTP/1.1 ${REFUSALS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}
