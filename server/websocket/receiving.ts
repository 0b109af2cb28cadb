// Takes the messages out of a socket's frames, in their order: short ones at once, long ones in pieces, so that they delay nobody else.
import type { CascadeError } from '../../model/errors/index.ts';
import { SHORT_BYTES } from '../http/index.ts';
import type { Framing } from './framing.ts';
import { type Message, readLongMessage, readMessage } from './message.ts';

/** Bound of the frames that wait for their turn, besides one; those beyond are refused. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** Bound of a message before the login. */
const UNKNOWN_BYTES = 16 * 1024;

export interface ReceivingOptions {
  readonly framing: Framing;
  /** Bound of one message. */
  readonly mostBytes: number;
  /** Whether there was a login. */
  readonly isKnown: () => boolean;
  /** Resolves when the login that has begun has ended; null: none has begun. */
  readonly entering: () => Promise<void> | null;
  /** Whose long messages take turns with each other. */
  readonly owner: () => string;
  readonly close: (code: number, reason: string) => void;
  /** Counts the bytes of what is not answered yet, of a message with its values. @throws cascade.quota.exceeded */
  readonly count: (what: object, bytes: number, message?: Message) => void;
  readonly uncount: (what: object) => void;
  readonly take: (message: Message, bytes: number) => void;
  /** Called for what is no message. */
  readonly unreadable: (error: unknown) => Promise<void>;
  /** The error of a message for which there is no room. */
  readonly tooMany: () => CascadeError;
  /** @param message null: it is not read yet */
  readonly refuse: (error: unknown, message: Message | null) => void;
}

export class Receiving {
  readonly #options: ReceivingOptions;
  /** Long frames that are being read, and those that arrived after them. */
  #reading: Promise<void> | null = null;
  #waitingBytes = 0;
  #isClosed = false;

  constructor(options: ReceivingOptions) {
    this.#options = options;
  }

  get isReading(): boolean {
    return this.#reading !== null;
  }

  /** What is being read is dropped. */
  close(): void {
    this.#isClosed = true;
  }

  receive(frame: Uint8Array, isBinary: boolean): void {
    const { framing, mostBytes, isKnown, entering, close } = this.#options;
    const least = framing.leastBytes(frame.length);
    if (least > mostBytes) return close(1009, TOO_LARGE);
    if (least > UNKNOWN_BYTES && !isKnown() && !entering()) return close(1008, TOO_EARLY);
    if (this.#reading || frame.length > (isKnown() ? SHORT_BYTES : UNKNOWN_BYTES)) return this.#receiveLong(frame, isBinary);
    const sources = framing.unframe(frame, isBinary);
    if (!sources) return close(1002, BROKEN);
    for (const source of sources) this.#receiveShort(source, isBinary);
  }

  /** @param isBinary what is no message is a keep-alive then, not a request */
  #receiveShort(source: Uint8Array | string, isBinary: boolean): void {
    const { unreadable } = this.#options;
    let message: Message;
    try {
      message = readMessage(source);
    } catch (error) {
      if (!isBinary) void unreadable(error);
      return;
    }
    this.#take(message, source.length);
  }

  /** Frames after a long one wait until that is read, so that the order is kept. */
  #receiveLong(frame: Uint8Array, isBinary: boolean): void {
    const { count, uncount, refuse, tooMany } = this.#options;
    const bytes = Buffer.from(frame); // a copy: the transport reuses its own buffer
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > MOST_WAITING_BYTES) return refuse(tooMany(), null);
    try {
      count(bytes, bytes.length);
    } catch (error) {
      return refuse(error, null);
    }
    this.#waitingBytes += bytes.length;
    const mine: Promise<void> = (this.#reading ?? Promise.resolve())
      .then(() => this.#readFrame(bytes, isBinary))
      .catch((error: unknown) => (isBinary ? undefined : refuse(error, null)))
      .finally(() => {
        uncount(bytes);
        this.#waitingBytes -= bytes.length;
        if (this.#reading === mine) this.#reading = null;
      });
    this.#reading = mine;
  }

  async #readFrame(bytes: Buffer, isBinary: boolean): Promise<void> {
    const { framing, owner, close, uncount } = this.#options;
    if (!(await this.#mayRead(framing.leastBytes(bytes.length)))) return;
    const sources = await framing.unframeLong(bytes, isBinary, owner());
    if (!sources) return close(1002, BROKEN);
    uncount(bytes);
    for (const source of sources) await this.#readLong(typeof source === 'string' ? Buffer.from(source) : source, isBinary);
  }

  async #readLong(source: Uint8Array, isBinary: boolean): Promise<void> {
    const { mostBytes, owner, close, unreadable } = this.#options;
    if (source.length > mostBytes) return close(1009, TOO_LARGE);
    if (!(await this.#mayRead(source.length))) return;
    const message = await readLongMessage(source, owner()).catch((error: unknown) =>
      isBinary ? null : unreadable(error).then(() => null),
    );
    if (message && !this.#isClosed) this.#take(message, source.length);
  }

  /** Whether so much may be read. What is long waits for the login that has begun, and closes the socket where that was refused. */
  async #mayRead(bytes: number): Promise<boolean> {
    const { isKnown, entering, close } = this.#options;
    if (bytes > UNKNOWN_BYTES && !isKnown()) await entering();
    if (this.#isClosed) return false;
    if (bytes <= UNKNOWN_BYTES || isKnown()) return true;
    close(1008, TOO_EARLY);
    return false;
  }

  #take(message: Message, bytes: number): void {
    const { count, take, refuse } = this.#options;
    try {
      count(message, bytes, message);
    } catch (error) {
      return refuse(error, message);
    }
    take(message, bytes);
  }
}

const TOO_LARGE = 'message too large';
const TOO_EARLY = 'too long before a login';
const BROKEN = 'broken framing';
