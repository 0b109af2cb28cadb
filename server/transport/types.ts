// The interface that the bindings need of a library for HTTP/1.1 and WebSocket. It has two implementations: uWebSockets.js (uws.ts) and
// Node with the package ws (node.ts). Limits of both are here; the bindings decide on bodies, messages and answers.

/** Bound of a request's head: room for a URL a little beyond its limit of 16 KiB, so that the API refuses it, and for the headers. */
export const HEADER_BYTES = 64 * 1024;
/** Time without a request, or a part of one, after which a connection is ended, give or take 4 s. */
export const IDLE_MS = 10_000;

export type HeaderField = readonly [name: string, value: string];

/** Fields that many answers have in common, joined once. They contain no line end. */
export class HeaderBlock {
  readonly fields: readonly HeaderField[];
  /** The name of the first field; the lines of the others stand behind its value, with their line ends. */
  readonly name: string;
  readonly lines: string;

  constructor(...fields: [HeaderField, ...HeaderField[]]) {
    this.fields = fields;
    const [[name, value], ...others] = fields;
    this.name = name;
    this.lines = [value, ...others.map((field) => field.join(': '))].join('\r\n');
  }
}

export interface AnswerHead {
  readonly status: number;
  /** The headers, without those of the connection and of the body's length, which the transport adds. */
  readonly headers: readonly (HeaderField | HeaderBlock)[];
}

/** The head of a request. It is not normalised: `//` and dots stay, nothing is decoded. */
export interface RequestHead {
  /** The method as sent; maybe an unknown one. */
  readonly method: string;
  readonly path: string;
  /** The query without the question mark. */
  readonly query: string;
  /** Headers with names in lower case; of a header sent more than once the first, of `x-forwarded-for` all, separated by commas. */
  readonly headers: ReadonlyMap<string, string>;
}

/** A request and its answer, of which exactly one is sent. Nothing may be sent once the client is gone. */
export interface Exchange extends RequestHead {
  /** Whether it has two lengths, so that a proxy before the service may see another request in it than the service does. */
  readonly hasTwoLengths: boolean;
  /** The peer's address, as `canonicalAddress` spells it. */
  readonly peer: string;
  /**
   * Reads the body. To be called before the handler of the request returns.
   * @param take gets each piece of the body, the last one perhaps empty; never called before `onData` returns. A piece is valid during
   *   the call
   */
  onData(take: (piece: Uint8Array, isLast: boolean) => void): void;
  /** Stops reading the body from the connection until `resumeData`; bytes that were read before may still arrive. */
  pauseData(): void;
  resumeData(): void;
  /** @param gone called when the connection ended before the answer was sent */
  onAborted(gone: () => void): void;
  /** @param ready called when everything that `begin` or `write` buffered is sent */
  onWritable(ready: () => void): void;
  /**
   * Sends the whole answer.
   * @param body undefined: the answer has none. For HEAD only its length is sent
   * @param closes the connection ends with it
   */
  answer(head: AnswerHead, body: string | Buffer | undefined, isHead: boolean, closes: boolean): void;
  /**
   * Sends the head of an answer in pieces and its first piece.
   * @param lengthBytes the length of all pieces, where it is known: then it is sent, and exactly so many bytes must follow
   * @returns false when the client has not read all of it: wait for `onWritable`
   */
  begin(head: AnswerHead, piece: string | Buffer, closes: boolean, lengthBytes?: number): boolean;
  /** @returns as `begin` */
  write(piece: string | Buffer): boolean;
  /** Ends an answer in pieces. */
  end(): void;
  /** Tells the transport that a slow client is not to be disconnected yet. */
  prolong(): void;
  /** Ends the connection without an answer, or in the middle of it. */
  cut(): void;
}

/** The service's end of an open WebSocket. Not to be used once `closed` was called. */
export interface PeerSocket {
  send(text: string, isBinary: boolean): void;
  /** Sends a part of a message; between the first and the last one nothing but pings may be sent. */
  sendFragment(text: string, isBinary: boolean, isFirst: boolean, isLast: boolean): void;
  /** Sends everything that is sent within the call together. */
  cork(send: () => void): void;
  /** Bytes that are sent, and not yet read by the client. */
  readonly bufferedBytes: number;
  ping(): void;
  /** Sends the reason and ends the socket; `closed` is called before this returns. */
  end(code: number, reason: string): void;
}

export interface SocketEvents {
  /** @param message valid during the call */
  message(message: Uint8Array, isBinary: boolean): void;
  /** Called when the client has read some of the buffered bytes. */
  drained(): void;
  /** Called when either side has closed the socket. */
  closed(): void;
}

export interface SocketOptions {
  /** The path below which sockets are, with a slash at its end. */
  readonly below: string;
  /** Bound of a message; a longer one cuts the connection. */
  readonly mostMessageBytes: number;
  /** Time without data after which a socket is cut, give or take 4 s. */
  readonly silenceSeconds: number;
  /** @returns the function that handles the open socket; null: there is no socket at this path, and the request is answered over HTTP */
  accept(head: RequestHead, peer: string): ((socket: PeerSocket) => SocketEvents) | null;
}

export interface Transport {
  readonly kind: TransportKind;
  /** Called once, before `listen`. */
  serve(handle: (exchange: Exchange) => void): void;
  /** Called once, before `listen`. */
  serveSockets(options: SocketOptions): void;
  /** @param port 0: any free one. @returns the port. @throws Error when it cannot be listened on */
  listen(host: string, port: number): Promise<number>;
  /** Accepts no new connections. Those that the system has accepted before are taken over first: it would reset them. */
  stopListening(): Promise<void>;
  /** Ends all connections: those without an open request in order, so that the client reads the end of the stream. */
  close(): Promise<void>;
}

export type TransportKind = 'uws' | 'node';

/** The fields of a head by their names in lower case, in the form of `RequestHead.headers`. */
export class HeaderFields {
  readonly fields = new Map<string, string>();
  hasTwoLengths = false;

  /** @param name in lower case */
  add(name: string, value: string): void {
    const known = this.fields.get(name);
    if (known === undefined) this.fields.set(name, value);
    else if (name === 'content-length') this.hasTwoLengths ||= known !== value;
    else if (name === 'x-forwarded-for') this.fields.set(name, `${known}, ${value}`);
  }
}
