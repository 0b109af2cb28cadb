// The body of a request as it was sent, collected up to a limit (resources-and-api.md 1.6).
import { apiError } from '../../model/errors/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Exchange } from '../transport/index.ts';
import { type Budget, COUNTED_BYTES } from './budget.ts';

/** Bytes of a body that is too large that are read and dropped, so that its sender reads the answer; a longer one is cut off. */
const DISCARDED_BYTES = 32 * 1024 * 1024;

/** Bytes that are read ahead of the reader of a stream. */
const HELD_BYTES = 256 * 1024;

const NOTHING = Buffer.alloc(0);

interface Waiter {
  resolve(bytes: Uint8Array): void;
  reject(reason: unknown): void;
}

/** The budget that collected bytes are counted in. `owner` is asked while the request still has an address. */
interface Room {
  readonly budget: Budget;
  readonly owner: () => string;
}

/** Collects a body from its construction on, as the transports demand. */
export class Body {
  #limitBytes: number;
  #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #isKept = true;
  #whole: Uint8Array | null = null;
  #failure: Error | null = null;
  /** Callers that wait for the whole body. */
  #waiting: Waiter[] = [];
  readonly #exchange: Exchange;
  /** The body may be longer than the buffer: only a little is read ahead before there is a reader. */
  readonly #isLong: boolean;
  #isStreamed = false;
  #isPaused = false;
  #isGone = false;
  #heldBytes = 0;
  /** Bytes that are counted in the budget. */
  #countedBytes = 0;
  #refusal: Error | null = null;
  readonly #room: Room;
  #isComplete = false;
  #wake = (): void => undefined;

  /**
   * @param isLong it may be read as a stream
   * @param room the bytes that it takes are given back when it is discarded
   * @param onData called when some of the body has arrived, or it is known to be absent
   */
  constructor(exchange: Exchange, limitBytes: number, isLong: boolean, room: Room, onData: () => void) {
    this.#room = room;
    this.#exchange = exchange;
    this.#limitBytes = limitBytes;
    this.#isLong = isLong;
    exchange.onData((chunk, isLast) => {
      this.#take(chunk, isLast);
      onData();
    });
  }

  /** Lowers the limit, also for bytes that have arrived already. */
  limit(bytes: number): void {
    if (bytes >= this.#limitBytes) return;
    this.#limitBytes = bytes;
    if (this.#sizeBytes <= bytes) return;
    this.#chunks = [];
    if (!this.#whole) return;
    this.#whole = null;
    this.#fail(apiError('cascade.request.body.too.large', bytes));
  }

  /** The bytes as received. @throws request.body.too.large, request.body.invalid when the client disconnected */
  received(): MaybePromise<Uint8Array> {
    if (this.#failure) throw this.#failure;
    if (this.#sizeBytes > this.#limitBytes && this.#whole) throw apiError('cascade.request.body.too.large', this.#limitBytes);
    if (this.#whole) return this.#whole;
    this.#resume();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** The bytes as a stream; the connection is read no faster than the stream is. To be called before `received`. */
  async *stream(): AsyncGenerator<Uint8Array> {
    this.#isStreamed = true;
    if (this.#refusal) throw this.#refusal; // its first bytes are dropped
    if (this.#whole) {
      if (this.#whole.byteLength > 0) yield this.#whole;
      return;
    }
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#heldBytes -= chunk.byteLength;
        yield chunk;
        continue;
      }
      if (this.#failure) throw this.#failure;
      if (this.#isComplete) return;
      this.#resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Drops the body: collected bytes are freed, and later ones ignored. */
  discard(): void {
    this.#isKept = false;
    if (this.#countedBytes > 0) this.#room.budget.give(this.#room.owner(), this.#countedBytes);
    this.#countedBytes = 0;
    this.#chunks = [];
    this.#heldBytes = 0;
    this.#whole = null;
    this.#resume();
  }

  /** Whether it is a long body that has not arrived completely. */
  get isUnread(): boolean {
    return this.#isLong && !this.#isComplete;
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isGone) this.#exchange.resumeData();
  }

  /** @returns whether the chunk is buffered for a reader of the stream */
  #holds(chunk: Uint8Array, isLast: boolean): boolean {
    if (!this.#isKept || !(this.#isStreamed || this.#isLong)) return false;
    if (chunk.byteLength > 0) this.#chunks.push(Buffer.from(chunk));
    this.#heldBytes += chunk.byteLength;
    if (!isLast && !this.#isPaused && this.#heldBytes > HELD_BYTES && (this.#isStreamed || this.#waiting.length === 0)) {
      this.#isPaused = true;
      this.#exchange.pauseData();
    }
    this.#wake();
    return this.#isStreamed;
  }

  /** The client disconnected: nobody has to wait for the body any more. */
  abort(): void {
    this.#isGone = true;
    this.#fail(apiError('cascade.request.body.invalid', 'the connection was closed', this.#sizeBytes));
  }

  #take(chunk: Uint8Array, isLast: boolean): void {
    this.#sizeBytes += chunk.byteLength;
    this.#isComplete = isLast;
    const wasHeld = this.#isLong && this.#isKept;
    if (this.#holds(chunk, isLast)) return;
    const refusal = this.#refusalOf(chunk, isLast);
    if (refusal) {
      this.#chunks = [];
      if (isLast || this.#sizeBytes > this.#limitBytes + DISCARDED_BYTES) this.#fail(refusal);
      return;
    }
    if (this.#isKept && !wasHeld && chunk.byteLength > 0) this.#chunks.push(Buffer.from(chunk)); // a copy: the transport reuses its own
    if (!isLast || this.#failure) return;
    const whole = this.#chunks.length === 1 ? this.#chunks[0]! : this.#chunks.length === 0 ? NOTHING : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#whole = whole;
    for (const { resolve } of this.#waiting.splice(0)) resolve(whole);
  }

  #refusalOf(chunk: Uint8Array, isLast: boolean): Error | null {
    // A body that may be read as a stream has no such bound before its reader is known: a transport that is paused may go on with what it
    // has begun to read, many megabytes of it.
    const isUndecided = this.#isLong && this.#isKept && this.#waiting.length === 0;
    if (this.#sizeBytes > this.#limitBytes && !isUndecided) return apiError('cascade.request.body.too.large', this.#limitBytes);
    if (this.#refusal || !this.#isKept || (isLast && this.#sizeBytes < COUNTED_BYTES)) return this.#refusal;
    this.#refusal = this.#room.budget.take(this.#room.owner(), chunk.byteLength);
    if (!this.#refusal) this.#countedBytes += chunk.byteLength;
    return this.#refusal;
  }

  #fail(failure: Error): void {
    if (this.#whole) return;
    this.#failure ??= failure;
    this.#wake();
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
