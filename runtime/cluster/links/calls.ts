// Calls between processes: a request with one answer, a post without any, and streams that the other side reads piece by piece. Each call
// is carried out once as long as both processes live; when one of them is gone its open calls fail (LinkLost), and their outcome is
// unknown.

import type { Bus } from '../../../platform/bus/index.ts';
import { Link, type Timers } from './link.ts';
import { SEAL_BYTES, Seals } from './sealing.ts';

/** The other process is gone: it may have carried out the call, or not. */
export class LinkLost extends Error {
  constructor() {
    super('the other process is gone');
  }
}

/** The other process was known to be gone: the call was not sent. */
export class LinkClosed extends LinkLost {}

/** The queue for the other process is full. */
export class LinkFull extends Error {
  constructor() {
    super('too much waits for the other process');
  }
}

export interface Message {
  /** The head, as JSON. */
  readonly head: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export interface Answer {
  readonly head: Readonly<Record<string, unknown>>;
  readonly body?: Uint8Array;
}

/** @throws errors that `toFailure` converts for the caller */
export type Handler = (from: number, message: Message) => Promise<Answer> | Answer;

/** A stream of bytes, in pieces. */
export interface ByteStream {
  /** The next piece; null at the end. */
  next(): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

export interface CallsOptions {
  readonly bus: Bus;
  /** The installation's name in subjects: letters, digits and hyphens. */
  readonly installation: string;
  readonly secret: Uint8Array;
  /** The epoch of this process. */
  readonly epoch: number;
  /** The handlers by method. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** Converts an error of a handler to the head of a failed answer. */
  readonly toFailure: (error: unknown) => Record<string, unknown>;
  readonly fromFailure: (head: Readonly<Record<string, unknown>>) => Error;
  /** Called when another process asks to look at the database. */
  readonly onLook: () => void;
  readonly timers?: Timers;
}

const REQUEST = 1;
const ANSWER = 2;
const FAILURE = 3;
const POST = 4;
const ID_BYTES = 6;
const FRAME_HEAD_BYTES = 1 + ID_BYTES + 4;

const MOST_CALLS = 20_000;
const MOST_STREAMS = 10_000;
const MOST_QUEUED_BYTES = 128 * 1024 * 1024;

/** Longest wait of a stopping process until the others have its last answers. */
const LEAVE_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 10;

const NOTHING = Buffer.alloc(0);

interface Peer {
  readonly link: Link;
  readonly calls: Map<number, { resolve: (message: Message) => void; reject: (error: unknown) => void }>;
  /** The streams that the other process may read here. */
  readonly streams: Map<number, ByteStream>;
}

const REAL_TIMERS: Timers = {
  after(ms, then) {
    const timer = setTimeout(then, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  defer: (then) => void setImmediate(then),
};

export class Calls implements AsyncDisposable {
  readonly #options: CallsOptions;
  readonly #seals: Seals;
  readonly #peers = new Map<number, Peer>();
  /** Epochs of dead processes: late messages of theirs do not count. */
  readonly #dropped = new Set<number>();
  /** Epochs of processes that are stopping: no calls are sent to them. */
  readonly #leaving = new Set<number>();
  /** Number of requests of other processes in progress. */
  #underWay = 0;
  readonly #listeners = new Set<(epoch: number) => void>();
  readonly #ends: (() => void)[];
  #nextId = 1;

  constructor(options: CallsOptions) {
    this.#options = options;
    const { bus, epoch } = options;
    this.#seals = new Seals(options.secret, epoch);
    this.#ends = [
      bus.subscribe(this.#subjectOf(epoch), (sealed) => this.#arrived(sealed)),
      bus.subscribe(this.#subjectOf('all'), (sealed) => {
        const opened = this.#seals.open('all', sealed);
        if (opened && opened.from !== epoch) options.onLook();
      }),
    ];
  }

  /** Sends a request and waits for its answer. @throws LinkLost (LinkClosed: it was not sent), LinkFull, and the handler's error */
  async call(to: number, method: string, head: Readonly<Record<string, unknown>>, body: Uint8Array = NOTHING): Promise<Message> {
    if (this.#leaving.has(to)) throw new LinkClosed();
    const peer = this.#peer(to);
    if (peer.calls.size >= MOST_CALLS || peer.link.queuedBytes >= MOST_QUEUED_BYTES) throw new LinkFull();
    const id = this.#nextId++;
    return new Promise<Message>((resolve, reject) => {
      peer.calls.set(id, { resolve, reject });
      write(peer.link, REQUEST, id, { ...head, method }, body);
    });
  }

  /** Sends a message without answer. @returns false when the queue is full: one with a body is not sent then, short ones always are */
  post(to: number, method: string, head: Readonly<Record<string, unknown>>, body: Uint8Array = NOTHING): boolean {
    if (this.#dropped.has(to)) return true; // the receiver is gone
    const { link } = this.#peer(to);
    if (body.length > 0 && link.queuedBytes >= MOST_QUEUED_BYTES) return false;
    write(link, POST, 0, { ...head, method }, body);
    return true;
  }

  /** Lets the other process read a stream. @returns its number, for `remote` there @throws LinkFull */
  lend(to: number, stream: ByteStream): number {
    const { streams } = this.#peer(to);
    if (streams.size >= MOST_STREAMS) throw new LinkFull();
    const id = this.#nextId++;
    streams.set(id, stream);
    return id;
  }

  /** Withdraws a stream. @returns it, if it was lent */
  unlend(to: number, stream: number): ByteStream | undefined {
    const streams = this.#peers.get(to)?.streams;
    const lent = streams?.get(stream);
    streams?.delete(stream);
    return lent;
  }

  /** A stream that the other process lends; the caller closes it. */
  remote(from: number, stream: number): ByteStream {
    return {
      next: async () => {
        const { head, body } = await this.call(from, 'next', { stream });
        return head['isOver'] === true ? null : body;
      },
      close: async () => {
        this.post(from, 'close', { stream });
      },
    };
  }

  /** Asks all other processes to look at the database. */
  look(): void {
    const { bus } = this.#options;
    bus.publish(this.#subjectOf('all'), this.#seals.seal('all', NOTHING));
  }

  /** Drops a process that is gone. */
  drop(epoch: number): void {
    if (this.#dropped.has(epoch)) return;
    this.#dropped.add(epoch);
    const peer = this.#peers.get(epoch);
    this.#peers.delete(epoch);
    this.#seals.forget(epoch);
    if (peer) end(peer);
    for (const listener of [...this.#listeners]) listener(epoch);
  }

  /** @param listener called with each process that is gone @returns removes the listener */
  onDrop(listener: (epoch: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Processes to which something was sent, or from which something came, and that are not known to be gone. */
  get peers(): readonly number[] {
    return [...this.#peers.keys()];
  }

  /** Whether a process is gone, or stopping. */
  isGone(epoch: number): boolean {
    return this.#dropped.has(epoch) || this.#leaving.has(epoch);
  }

  /** Tells all others to send no more calls, answers their open ones, and waits until the answers have arrived. */
  async leave(): Promise<void> {
    const until = performance.now() + LEAVE_WITHIN_MS;
    const notified = Promise.all([...this.#peers.keys()].map((epoch) => this.call(epoch, 'leaving', {}).catch(() => undefined)));
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([notified, new Promise<void>((resolve) => (timer = setTimeout(resolve, LEAVE_WITHIN_MS)))]);
    clearTimeout(timer);
    const isQuiet = (): boolean => this.#underWay === 0 && [...this.#peers.values()].every(({ link }) => link.queuedBytes === 0);
    while (!isQuiet() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#ends) stop();
    for (const peer of this.#peers.values()) end(peer);
    this.#peers.clear();
  }

  #subjectOf(to: number | 'all'): string {
    return `cascade.${this.#options.installation}.${to}`;
  }

  /** @throws LinkClosed */
  #peer(epoch: number): Peer {
    if (this.#dropped.has(epoch)) throw new LinkClosed();
    const known = this.#peers.get(epoch);
    if (known) return known;
    const { bus, timers = REAL_TIMERS } = this.#options;
    const subject = this.#subjectOf(epoch);
    const link = new Link({
      timers,
      mostBytes: bus.mostBytes - SEAL_BYTES,
      send: (segment) => bus.publish(subject, this.#seals.seal(epoch, segment)),
      deliver: (frame) => this.#frame(epoch, peer, frame),
    });
    const peer: Peer = { link, calls: new Map(), streams: new Map() };
    this.#peers.set(epoch, peer);
    return peer;
  }

  #arrived(sealed: Uint8Array): void {
    const opened = this.#seals.open(this.#options.epoch, sealed);
    if (opened && !this.#dropped.has(opened.from)) this.#peer(opened.from).link.receive(opened.bytes);
  }

  #frame(from: number, peer: Peer, frame: Buffer): void {
    const kind = frame[0];
    const id = frame.readUIntBE(1, ID_BYTES);
    const bodyAt = FRAME_HEAD_BYTES + frame.readUInt32BE(1 + ID_BYTES);
    const head = JSON.parse(frame.toString('utf8', FRAME_HEAD_BYTES, bodyAt)) as Record<string, unknown>;
    const message: Message = { head, body: frame.subarray(bodyAt) };
    if (kind === REQUEST) return void this.#carryOut(from, peer, id, message);
    if (kind === POST) return void this.#handle(from, peer, message).catch(() => undefined); // a post: nobody waits for the answer
    const call = peer.calls.get(id);
    peer.calls.delete(id);
    if (kind === ANSWER) call?.resolve(message);
    else if (kind === FAILURE) call?.reject(this.#options.fromFailure(head));
  }

  async #carryOut(from: number, peer: Peer, id: number, message: Message): Promise<void> {
    this.#underWay++;
    try {
      const { head, body = NOTHING } = await this.#handle(from, peer, message);
      write(peer.link, ANSWER, id, head, body);
    } catch (error) {
      write(peer.link, FAILURE, id, this.#options.toFailure(error), NOTHING);
    } finally {
      this.#underWay--;
    }
  }

  async #handle(from: number, peer: Peer, message: Message): Promise<Answer> {
    const method = String(message.head['method']);
    if (method === 'next') return next(peer, Number(message.head['stream']));
    if (method === 'leaving') {
      this.#leaving.add(from);
      return { head: {} };
    }
    if (method === 'close') return close(peer, Number(message.head['stream']));
    const handler = Object.hasOwn(this.#options.handlers, method) ? this.#options.handlers[method] : undefined;
    if (!handler) throw new TypeError(`no such method: ${method}`);
    return handler(from, message);
  }
}

function write(link: Link, kind: number, id: number, head: object, body: Uint8Array): void {
  const text = Buffer.from(JSON.stringify(head));
  const front = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  front[0] = kind;
  front.writeUIntBE(id, 1, ID_BYTES);
  front.writeUInt32BE(text.length, 1 + ID_BYTES);
  link.write(front, text, body);
}

function end({ link, calls, streams }: Peer): void {
  link.close();
  for (const { reject } of calls.values()) reject(new LinkLost());
  for (const stream of streams.values()) stream.close().catch(() => undefined); // nobody reads the streams any more
  calls.clear();
  streams.clear();
}

async function next(peer: Peer, id: number): Promise<Answer> {
  const stream = peer.streams.get(id);
  if (!stream) throw new LinkLost();
  const piece = await stream.next();
  if (piece) return { head: {}, body: piece };
  peer.streams.delete(id);
  await stream.close();
  return { head: { isOver: true } };
}

async function close(peer: Peer, id: number): Promise<Answer> {
  const stream = peer.streams.get(id);
  peer.streams.delete(id);
  await stream?.close();
  return { head: {} };
}
