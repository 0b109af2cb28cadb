// What the bindings need of whoever speaks HTTP/1.1 and WebSocket on the sockets. Two can: uWebSockets.js (uws.ts) and Node with the package
// ws (node.ts). Limits that hold for both are here; what bodies and messages may be, and what is answered, is the bindings'.

/** Room for a URL a little beyond its limit of 16 KiB, so that it is refused in our words, and for the headers. */
export const HEADER_BYTES = 64 * 1024;
/** A connection on which neither a request nor a part of one comes is ended after so long, give or take 4 s. */
export const IDLE_MS = 10_000;

export type HeaderField = readonly [name: string, value: string];

/** Fields that many answers have in common, put together once. They hold no line end. */
export class HeaderBlock {
  readonly fields: readonly HeaderField[];
  /** Of the first field; the lines of the others stand behind its value, with their line ends. */
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
  /** Without those of the connection and of the body's length, which are the transport's. */
  readonly headers: readonly (HeaderField | HeaderBlock)[];
}

/** The head of a request. Nothing of it is normalised: `//` and dots stay, nothing is decoded. */
export interface RequestHead {
  /** As sent; may be none that we know. */
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Names in lower case; of a header sent more than once the first, of `x-forwarded-for` all, with commas between them. */
  readonly headers: ReadonlyMap<string, string>;
}

/** A request and the way to its answer, of which exactly one is sent. Nothing may be sent once the client is gone. */
export interface Exchange extends RequestHead {
  /** It says two lengths, so that a proxy before us may see another request in it than we do. */
  readonly hasTwoLengths: boolean;
  /** Address of the peer, as `canonicalAddress` spells it. */
  readonly peer: string;
  /**
   * To be called before the handler of the request returns.
   * @param take is given each piece of the body, the last one perhaps empty; never called before `onData` returns. A piece is valid during the call
   */
  onData(take: (piece: Uint8Array, isLast: boolean) => void): void;
  /** No more of the body is read from the connection until `resumeData`; what was read before may still be given. */
  pauseData(): void;
  resumeData(): void;
  /** @param gone the connection ended before the answer was sent */
  onAborted(gone: () => void): void;
  /** @param ready what `begin` or `write` could not send at once is sent */
  onWritable(ready: () => void): void;
  /**
   * The whole answer.
   * @param body undefined: the answer has none. Of an answer to HEAD only its length is sent
   * @param closes the connection ends with it
   */
  answer(head: AnswerHead, body: string | Buffer | undefined, isHead: boolean, closes: boolean): void;
  /**
   * The head of an answer in pieces and the first of these.
   * @param lengthBytes of all pieces, where that is known: then it is told, and just so many bytes must follow
   * @returns false when the client has not taken all of it: wait for `onWritable`
   */
  begin(head: AnswerHead, piece: string | Buffer, closes: boolean, lengthBytes?: number): boolean;
  /** @returns as `begin` */
  write(piece: string | Buffer): boolean;
  /** The end of an answer in pieces. */
  end(): void;
  /** The client takes its time: the transport is not to give it up for its own reasons yet. */
  prolong(): void;
  /** Ends the connection without an answer, or in the middle of it. */
  cut(): void;
}

/** One side of an open WebSocket. Not to be touched once `closed` was called. */
export interface PeerSocket {
  send(text: string, isBinary: boolean): void;
  /** A part of a message; between the first and the last one nothing but pings may be sent. */
  sendFragment(text: string, isBinary: boolean, isFirst: boolean, isLast: boolean): void;
  /** What is sent within the call goes out together. */
  cork(send: () => void): void;
  /** Sent, and not yet taken by the client. */
  readonly bufferedBytes: number;
  ping(): void;
  /** Says why and ends it; `closed` is called before this returns. */
  end(code: number, reason: string): void;
}

export interface SocketEvents {
  /** @param message valid during the call */
  message(message: Uint8Array, isBinary: boolean): void;
  /** Some of what was sent has been taken. */
  drained(): void;
  /** By either side. */
  closed(): void;
}

export interface SocketOptions {
  /** Where sockets are: a path with a slash at its end. */
  readonly below: string;
  /** A longer message cuts the connection. */
  readonly mostMessageBytes: number;
  /** A socket from which nothing comes for so long is cut, give or take 4 s. */
  readonly silenceSeconds: number;
  /** @returns what to do with the socket once it is open; null: no socket is at this path, and the request is answered over HTTP */
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
  /** No new connections. Those that the system has accepted before are taken over first: it would reset them. */
  stopListening(): Promise<void>;
  /** Ends all connections: those without an open request in order, so that the client reads the end of the stream. */
  close(): Promise<void>;
}

export type TransportKind = 'uws' | 'node';

/** The fields of a head by their names in lower case, as `RequestHead.headers` has them. */
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
