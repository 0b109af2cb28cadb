// Calls between processes: a request with one answer, a post without any, and streams that the other side takes a piece at a time. Each is carried out once
// as long as both processes live; when one of them is gone the open calls to it fail (LinkLost), and what became of them is not known.

import type { Bus } from '../../../platform/bus/index.ts';
import { Link, type Timers } from './link.ts';
import { SEAL_BYTES, Seals } from './sealing.ts';

/** The other process is gone: what was asked of it may have been done, or not. */
export class LinkLost extends Error {
  constructor() {
    super('the other process is gone');
  }
}

/** The other process was known to be gone: nothing was asked of it. */
export class LinkClosed extends LinkLost {}

/** More waits for the other process than is kept. */
export class LinkFull extends Error {
  constructor() {
    super('too much waits for the other process');
  }
}

export interface Message {
  /** JSON. */
  readonly head: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export interface Answer {
  readonly head: Readonly<Record<string, unknown>>;
  readonly body?: Uint8Array;
}

/** @throws what the caller is told by `toAnswer` */
export type Handler = (from: number, message: Message) => Promise<Answer> | Answer;

/** Bytes, a piece at a time. */
export interface ByteStream {
  /** null at the end. */
  next(): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

export interface CallsOptions {
  readonly bus: Bus;
  /** Names the installation in subjects: letters, digits and hyphens. */
  readonly installation: string;
  readonly secret: Uint8Array;
  /** Of this process. */
  readonly epoch: number;
  /** By method. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** A handler has thrown: what the caller gets as the head of a failed answer. */
  readonly toFailure: (error: unknown) => Record<string, unknown>;
  readonly fromFailure: (head: Readonly<Record<string, unknown>>) => Error;
  /** Another process says that there is something to look at in the database. */
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

/** How long one that stops waits for the others to have its last answers. */
const LEAVE_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 10;

const NOTHING = Buffer.alloc(0);

interface Peer {
  readonly link: Link;
  readonly calls: Map<number, { resolve: (message: Message) => void; reject: (error: unknown) => void }>;
  /** What it may take of this process. */
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
  /** Those that are dead: what they may still send counts no more. */
  readonly #dropped = new Set<number>();
  /** Those that have said that they stop: nothing more is asked of them. */
  readonly #leaving = new Set<number>();
  /** Requests of others that are being carried out. */
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

  /** @throws LinkLost (LinkClosed: it was not sent), LinkFull, and what the handler there has thrown */
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

  /** Never answered. @returns false when too much waits already: it is not sent */
  post(to: number, method: string, head: Readonly<Record<string, unknown>>, body: Uint8Array = NOTHING): boolean {
    if (this.#dropped.has(to)) return true; // nobody is there
    const { link } = this.#peer(to);
    if (link.queuedBytes >= MOST_QUEUED_BYTES) return false;
    write(link, POST, 0, { ...head, method }, body);
    return true;
  }

  /** Lets the other process take a stream. @returns its number, for `remote` there @throws LinkFull */
  lend(to: number, stream: ByteStream): number {
    const { streams } = this.#peer(to);
    if (streams.size >= MOST_STREAMS) throw new LinkFull();
    const id = this.#nextId++;
    streams.set(id, stream);
    return id;
  }

  /** It is lent no more. @returns it, if it was */
  unlend(to: number, stream: number): ByteStream | undefined {
    const streams = this.#peers.get(to)?.streams;
    const lent = streams?.get(stream);
    streams?.delete(stream);
    return lent;
  }

  /** A stream that the other process lends; to be closed. */
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

  /** All others look at the database. */
  look(): void {
    const { bus } = this.#options;
    bus.publish(this.#subjectOf('all'), this.#seals.seal('all', NOTHING));
  }

  /** These are gone. */
  drop(epoch: number): void {
    if (this.#dropped.has(epoch)) return;
    this.#dropped.add(epoch);
    const peer = this.#peers.get(epoch);
    this.#peers.delete(epoch);
    this.#seals.forget(epoch);
    if (peer) end(peer);
    for (const listener of [...this.#listeners]) listener(epoch);
  }

  /** @param listener told of each process that is gone @returns ends it */
  onDrop(listener: (epoch: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether it is gone, or about to be. */
  isGone(epoch: number): boolean {
    return this.#dropped.has(epoch) || this.#leaving.has(epoch);
  }

  /** Says to all others that nothing more is to be asked here, answers what they have asked before, and sees that they get it. */
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
    if (kind === POST) return void this.#handle(from, peer, message).catch(() => undefined); // nobody waits for it
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
  for (const stream of streams.values()) stream.close().catch(() => undefined); // nobody takes it any more
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
