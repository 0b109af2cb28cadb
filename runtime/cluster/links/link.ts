// A reliable stream of bytes to another process and back, over a bus that loses, repeats and reorders messages: as in TCP, segments are
// numbered, acknowledged, and sent again until they are. A lost message costs time, nothing else. Frames (whole messages of calls.ts) are
// cut out of the stream again.

export interface Timers {
  after(ms: number, then: () => void): () => void;
  /** Runs it in a later turn: everything that is written in this one is sent together. */
  defer(then: () => void): void;
}

export interface LinkOptions {
  /** Sends a segment, which may be lost. */
  readonly send: (segment: Buffer) => void;
  /** Delivers a frame of the other side, each once and in order. */
  readonly deliver: (frame: Buffer) => void;
  readonly timers: Timers;
  /** Bound of one segment. */
  readonly mostBytes: number;
}

/** The window: segments in flight; with segments of 256 KiB, 8 MiB. */
const WINDOW_SEGMENTS = 32;
/** Time after which an unacknowledged segment is sent again; it doubles with each attempt. */
const RESEND_AFTER_MS = 250;
const RESEND_AT_LEAST_EVERY_MS = 2_000;
/** Longest delay of an acknowledgement, which is sent alone then, and before that with other data. */
const ACKNOWLEDGE_AFTER_MS = 20;
/** Bound of the segments without an acknowledgement. */
const ACKNOWLEDGE_EACH = 8;

const SEQUENCE_BYTES = 6;
const HEAD_BYTES = 2 * SEQUENCE_BYTES;
const LENGTH_BYTES = 4;

export class Link {
  readonly #options: LinkOptions;
  // the sender's state
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #nextSequence = 1;
  readonly #underWay = new Map<number, Buffer>();
  #isFlushing = false;
  #resendMs = RESEND_AFTER_MS;
  #resend: (() => void) | null = null;
  // the receiver's state
  #received = 0;
  readonly #early = new Map<number, Buffer>();
  #unacknowledged = 0;
  #acknowledge: (() => void) | null = null;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isOpen = true;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Bytes that the other side has not acknowledged. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Sends a frame, in parts that follow each other. */
  write(...parts: readonly Uint8Array[]): void {
    if (!this.#isOpen) return;
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, 0));
    for (const part of [length, ...parts]) {
      if (part.length === 0) continue;
      this.#queue.push(Buffer.from(part.buffer, part.byteOffset, part.length));
      this.#queuedBytes += part.length;
    }
    this.#flushSoon();
  }

  receive(segment: Buffer): void {
    if (!this.#isOpen || segment.length < HEAD_BYTES) return;
    this.#acknowledged(segment.readUIntBE(SEQUENCE_BYTES, SEQUENCE_BYTES));
    const sequence = segment.readUIntBE(0, SEQUENCE_BYTES);
    if (sequence === 0) return; // a segment with an acknowledgement alone
    this.#unacknowledged++;
    const isNext = sequence === this.#received + 1;
    if (sequence > this.#received && sequence <= this.#received + 2 * WINDOW_SEGMENTS)
      this.#early.set(sequence, segment.subarray(HEAD_BYTES));
    for (let next; (next = this.#early.get(this.#received + 1)); ) {
      this.#early.delete(++this.#received);
      this.#take(next);
      if (!this.#isOpen) return;
    }
    if (!isNext || this.#unacknowledged >= ACKNOWLEDGE_EACH) this.#sendAcknowledgement();
    else this.#acknowledge ??= this.#options.timers.after(ACKNOWLEDGE_AFTER_MS, () => this.#sendAcknowledgement());
  }

  close(): void {
    this.#isOpen = false;
    this.#resend?.();
    this.#acknowledge?.();
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#underWay.clear();
    this.#early.clear();
    this.#parts = [];
  }

  #acknowledged(upTo: number): void {
    let isProgress = false;
    for (const [sequence, { length }] of this.#underWay) {
      if (sequence > upTo) break; // segments are in order
      this.#underWay.delete(sequence);
      this.#queuedBytes -= length - HEAD_BYTES;
      isProgress = true;
    }
    if (!isProgress) return;
    this.#resendMs = RESEND_AFTER_MS;
    this.#resend?.();
    this.#resend = null;
    this.#watch();
    if (this.#queue.length > 0) this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#options.timers.defer(() => {
      this.#isFlushing = false;
      if (this.#isOpen) this.#flush();
    });
  }

  #flush(): void {
    while (this.#queue.length > 0 && this.#underWay.size < WINDOW_SEGMENTS) {
      const sequence = this.#nextSequence++;
      const segment = Buffer.concat([this.#head(sequence), ...this.#cut(this.#options.mostBytes - HEAD_BYTES)]);
      this.#underWay.set(sequence, segment);
      this.#isAcknowledged();
      this.#options.send(segment);
    }
    this.#watch();
  }

  /** Takes the bytes of the next segment from the queue. */
  #cut(most: number): Buffer[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && bytes + this.#queue[count]!.length <= most) bytes += this.#queue[count++]!.length;
    const cut = this.#queue.splice(0, count);
    const next = this.#queue[0];
    if (next && (count === 0 || bytes < most / 2)) {
      cut.push(next.subarray(0, most - bytes));
      this.#queue[0] = next.subarray(most - bytes);
    }
    return cut;
  }

  #head(sequence: number): Buffer {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUIntBE(sequence, 0, SEQUENCE_BYTES);
    head.writeUIntBE(this.#received, SEQUENCE_BYTES, SEQUENCE_BYTES);
    return head;
  }

  #watch(): void {
    if (this.#underWay.size === 0 || this.#resend) return;
    this.#resend = this.#options.timers.after(this.#resendMs, () => {
      this.#resend = null;
      this.#resendMs = Math.min(2 * this.#resendMs, RESEND_AT_LEAST_EVERY_MS);
      for (const segment of this.#underWay.values()) {
        segment.writeUIntBE(this.#received, SEQUENCE_BYTES, SEQUENCE_BYTES);
        this.#options.send(segment);
      }
      this.#watch();
    });
  }

  #sendAcknowledgement(): void {
    this.#isAcknowledged();
    this.#options.send(this.#head(0));
  }

  #isAcknowledged(): void {
    this.#unacknowledged = 0;
    this.#acknowledge?.();
    this.#acknowledge = null;
  }

  /** Adds bytes of the stream, in order, and delivers complete frames. */
  #take(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#partBytes += bytes.length;
    while (this.#isOpen && this.#partBytes >= LENGTH_BYTES) {
      const wanted = LENGTH_BYTES + this.#peek().readUInt32BE();
      if (this.#partBytes < wanted) return;
      const whole = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      this.#parts = whole.length > wanted ? [whole.subarray(wanted)] : [];
      this.#partBytes -= wanted;
      this.#options.deliver(whole.subarray(LENGTH_BYTES, wanted));
    }
  }

  /** The first chunk, joined with others until it contains the length of the frame. */
  #peek(): Buffer {
    while (this.#parts[0]!.length < LENGTH_BYTES) this.#parts.splice(0, 2, Buffer.concat(this.#parts.slice(0, 2)));
    return this.#parts[0]!;
  }
}
