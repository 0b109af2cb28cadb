// Sends a reply on its connection: a short one at once, a long one piece by piece, no faster than it is read.
import { setImmediate } from 'node:timers/promises';
import { wholeUntil } from '../../stdlib/values/index.ts';
import type { Exchange } from '../transport/index.ts';
import type { WireReply } from './headers.ts';

/** Time without progress of a long body after which a client is disconnected. */
const STALL_MS = 120_000;
const REPRIEVE_MS = 4_000;

/** Characters or bytes that are handed to the connection at once: it copies them, which takes milliseconds for a megabyte. */
const MOST_AT_ONCE = 256 * 1024;

/** What is handed to a connection one after the other: a piece may be one row of many megabytes. */
export function* partsOf<Piece extends string | Buffer>(piece: Piece): Generator<[part: Piece, isLast: boolean]> {
  let from = 0;
  while (piece.length - from > MOST_AT_ONCE) {
    const to = typeof piece === 'string' ? wholeUntil(piece, from + MOST_AT_ONCE) : from + MOST_AT_ONCE;
    yield [cut(piece, from, to), false];
    from = to;
  }
  yield [from === 0 ? piece : cut(piece, from), true];
}

const cut = <Piece extends string | Buffer>(piece: Piece, from: number, to?: number): Piece =>
  (typeof piece === 'string' ? piece.slice(from, to) : piece.subarray(from, to)) as Piece;

/** The head that GET would have, with the length of the body that HEAD leaves out. */
function withLength(wire: WireReply): WireReply {
  if (wire.lengthBytes === undefined) return wire;
  return { ...wire, headers: [...wire.headers, ['Content-Length', String(wire.lengthBytes)]] };
}

export interface SendOptions {
  readonly isHead: boolean;
  /** Whether the connection ends with this reply. */
  readonly closes: boolean;
}

/** The connection of a request until it is answered. */
export class Connection {
  readonly #exchange: Exchange;
  #isGone = false;
  #gone: (() => void) | null = null;
  #wake = (): void => undefined;

  /** @param onGone called when the client disconnects, or reads nothing for too long */
  constructor(exchange: Exchange, onGone: () => void) {
    this.#exchange = exchange;
    exchange.onAborted(() => {
      this.#isGone = true;
      onGone();
      this.#gone?.();
      this.#wake();
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** @param gone a further callback as `onGone` of the constructor; called at once when the client is gone already */
  onGone(gone: () => void): void {
    this.#gone = gone;
    if (this.#isGone) gone();
  }

  /**
   * Sends at once, unless the reply is in pieces: then it resolves when all of it is sent, or the client is gone.
   * @throws the error of the pieces; the reply is then incomplete, and the connection is to be cut
   */
  send(wire: WireReply, { isHead, closes }: SendOptions): Promise<void> | undefined {
    if (wire.pieces) return this.#sendLong(wire, wire.pieces, isHead, closes);
    if (!this.#isGone) this.#exchange.answer(wire, wire.body, isHead, closes);
    return undefined;
  }

  async #sendLong(wire: WireReply, pieces: NonNullable<WireReply['pieces']>, isHead: boolean, closes: boolean): Promise<void> {
    try {
      if (isHead) {
        if (!this.#isGone) this.#exchange.answer(withLength(wire), undefined, isHead, closes);
      } else await this.#sendPieces(wire, pieces, closes);
    } finally {
      await pieces.close();
    }
  }

  /** Cuts the connection before the end of the answer, so that the client does not take it for complete. */
  cut(): void {
    if (!this.#isGone) this.#exchange.cut();
  }

  async #sendPieces(wire: WireReply, pieces: NonNullable<WireReply['pieces']>, closes: boolean): Promise<void> {
    if (this.#isGone) return;
    this.#exchange.onWritable(() => this.#wake());
    let isBegun = false;
    for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) {
      for (const [part, isLast] of partsOf(piece)) {
        if (this.#isGone) return;
        const isTaken = isBegun ? this.#exchange.write(part) : this.#exchange.begin(wire, part, closes, wire.lengthBytes);
        isBegun = true;
        if (!isTaken) await this.#writable();
        else if (!isLast) await setImmediate();
      }
    }
    if (this.#isGone) return;
    if (isBegun) this.#exchange.end();
    else this.#exchange.answer(wire, '', false, closes);
  }

  /** Resolves when there is room for more, or the client is gone. */
  #writable(): Promise<void> {
    if (this.#isGone) return Promise.resolve();
    const until = performance.now() + STALL_MS;
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        if (performance.now() > until) this.cut();
        else this.#exchange.prolong();
      }, REPRIEVE_MS);
      this.#wake = () => {
        clearInterval(timer);
        this.#wake = () => undefined;
        resolve();
      };
    });
  }
}
