// A reply onto its connection: a short one at once; a long one piece by piece, no faster than it is read.
import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { WireReply } from './headers.ts';

/** A client that takes nothing of a long body for so long is given up. */
const STANDSTILL_MS = 120_000;
const REPRIEVE_MS = 4_000;

export interface SendOptions {
  readonly isHead: boolean;
  /** The connection ends with this reply. */
  readonly closes: boolean;
}

/** The connection of a request until it is answered. */
export class Connection {
  readonly #response: HttpResponse;
  #isGone = false;
  #wake = (): void => undefined;

  /** @param onGone called when the client goes away, or takes nothing for too long */
  constructor(response: HttpResponse, onGone: () => void) {
    this.#response = response;
    response.onAborted(() => {
      this.#isGone = true;
      onGone();
      this.#wake();
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /**
   * At once, unless the reply is in pieces: then it resolves when all is on its way, or nobody is there to read it.
   * @throws what keeps the pieces from going on; the reply then has a beginning and no end, and the connection is to be cut
   */
  send(wire: WireReply, options: SendOptions): Promise<void> | undefined {
    if (wire.pieces) return this.#sendLong(wire, wire.pieces, options);
    if (!this.#isGone) this.#response.cork(() => sendWhole(this.#response, wire, options));
    return undefined;
  }

  async #sendLong(wire: WireReply, pieces: NonNullable<WireReply['pieces']>, options: SendOptions): Promise<void> {
    try {
      if (options.isHead) this.#corked((response) => sendHead(response, wire, options.closes).endWithoutBody());
      else await this.#sendPieces(wire, pieces, options);
    } finally {
      await pieces.close();
    }
  }

  /** Never answered, or only in part: the client must not take it for a reply. */
  cut(): void {
    if (!this.#isGone) this.#response.close();
  }

  async #sendPieces(wire: WireReply, pieces: NonNullable<WireReply['pieces']>, { closes }: SendOptions): Promise<void> {
    if (this.#isGone) return;
    this.#response.onWritable(() => {
      this.#wake();
      return true;
    });
    let isBegun = false;
    for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) {
      const text = piece;
      let isTaken = true;
      this.#corked((response) => {
        if (!isBegun) sendHead(response, wire, closes);
        isTaken = response.write(text);
      });
      isBegun = true;
      if (!isTaken) await this.#writable();
      if (this.#isGone) return;
    }
    // Without closing: that would be a header, and they are sent. A client that was told `Connection: close` goes by itself.
    this.#corked((response) => response.end());
  }

  #corked(send: (response: HttpResponse) => void): void {
    if (!this.#isGone) this.#response.cork(() => send(this.#response));
  }

  /** Until there is room for more, or the client is gone. */
  #writable(): Promise<void> {
    if (this.#isGone) return Promise.resolve();
    const until = performance.now() + STANDSTILL_MS;
    return new Promise((resolve) => {
      // The library gives up a client that makes no room for ten seconds. A slow one with large buffers on the way does so less often:
      // `resume`, which changes nothing else here, begins the ten seconds anew.
      const timer = setInterval(() => {
        if (performance.now() > until) this.cut();
        else this.#response.resume();
      }, REPRIEVE_MS);
      this.#wake = () => {
        clearInterval(timer);
        this.#wake = () => undefined;
        resolve();
      };
    });
  }
}

/** To be called corked. */
function sendWhole(response: HttpResponse, wire: WireReply, { isHead, closes }: SendOptions): void {
  const { body } = wire;
  sendHead(response, wire, false);
  if (body !== undefined && !isHead) {
    response.end(body, closes);
    return;
  }
  // Called without arguments: an undefined length is sent as 2^63, a 204 or 304 has none (RFC 9110 8.6), and with the length of what HEAD
  // leaves out the library would wait for that body and cut the connection at the next request.
  if (body !== undefined) response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
  if (closes) response.writeHeader('Connection', 'close');
  response.endWithoutBody();
}

/** To be called corked. */
function sendHead(response: HttpResponse, { status, headers }: Pick<WireReply, 'status' | 'headers'>, closes: boolean): HttpResponse {
  if (status !== 200) response.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`); // else the library does
  for (const [name, value] of headers) response.writeHeader(name, value);
  return closes ? response.writeHeader('Connection', 'close') : response;
}
