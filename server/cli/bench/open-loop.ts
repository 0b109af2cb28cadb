// Open-loop load: requests come at their times, whatever has become of those before, and a latency counts from the time at which its request was to
// be sent. So a service that stands still for 200 ms makes all those late that would have come meanwhile, not just the few that it had in hand.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { LogHistogram } from '../../../platform/structures/index.ts';

export interface OpenLoop {
  /** `http://host:port` or `https://…` */
  readonly url: string;
  /** The n-th request of the load, from 0 on, as HTTP/1.1 has it on a connection. */
  readonly request: (n: number) => Buffer;
  /** Requests a second, at even distances. */
  readonly rate: number;
  readonly seconds: number;
  /** Requests that may be under way; those that find none free wait, and their time runs. */
  readonly connections: number;
}

export interface OpenLoopResult {
  /** How many were to be sent, and how many were answered. */
  readonly intended: number;
  readonly answered: number;
  /** Answers that were no success, by their status; `lost`: the connection ended; `unsent`: no connection was free for that long. */
  readonly refused: Readonly<Record<string, number>>;
  /** Of all that were intended, from the intended time. */
  readonly latencies: LogHistogram;
  /** From the first intended time to the last answer. */
  readonly seconds: number;
}

/** How long answers are waited for beyond the time of the load, as a part of it, and at least. */
const GRACE = 1;
const LEAST_GRACE_MS = 2_000;

/** Returns when all answers are there, or no more of them are waited for. @throws Error when the service cannot be reached */
export async function openLoop(load: OpenLoop): Promise<OpenLoopResult> {
  const sender = new Sender(load);
  try {
    await sender.open();
    return await sender.run();
  } finally {
    sender.close();
  }
}

class Sender {
  readonly #load: OpenLoop;
  readonly #count: number;
  readonly #latencies = new LogHistogram();
  readonly #refused: Record<string, number> = {};
  readonly #sockets = new Set<Socket>();
  readonly #free: Connection[] = [];
  readonly #open = new Map<Connection, number>();
  #beganMs = 0;
  #next = 0;
  #answered = 0;
  #settled = 0;
  #timer: NodeJS.Timeout | undefined;
  #over: (() => void) | null = null;

  constructor(load: OpenLoop) {
    this.#load = load;
    this.#count = Math.max(1, Math.round(load.rate * load.seconds));
  }

  async open(): Promise<void> {
    this.#free.push(...(await Promise.all(Array.from({ length: this.#load.connections }, () => this.#connected()))));
  }

  async run(): Promise<OpenLoopResult> {
    const ended = new Promise<void>((resolve) => (this.#over = resolve));
    const limitMs = 1_000 * this.#load.seconds + Math.max(LEAST_GRACE_MS, 1_000 * GRACE * this.#load.seconds);
    this.#beganMs = performance.now();
    const limit = setTimeout(() => this.#over?.(), limitMs);
    this.#sendDue();
    await ended;
    clearTimeout(limit);
    const endMs = performance.now();
    this.#giveUp(endMs);
    return {
      intended: this.#count,
      answered: this.#answered,
      refused: this.#refused,
      latencies: this.#latencies,
      seconds: (endMs - this.#beganMs) / 1_000,
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Milliseconds: when the n-th was to be sent. */
  #dueMs(n: number): number {
    return this.#beganMs + (1_000 * n) / this.#load.rate;
  }

  #sendDue(): void {
    const now = performance.now();
    while (this.#next < this.#count && this.#free.length > 0 && this.#dueMs(this.#next) <= now) {
      const connection = this.#free.pop() as Connection;
      this.#open.set(connection, this.#next);
      connection.send(this.#load.request(this.#next++));
    }
    clearTimeout(this.#timer);
    // With no connection free the next answer looks for what is due.
    if (this.#next < this.#count && this.#free.length > 0)
      this.#timer = setTimeout(() => this.#sendDue(), Math.max(0, this.#dueMs(this.#next) - performance.now()));
  }

  #ended(connection: Connection, status: string): void {
    const n = this.#open.get(connection);
    if (n === undefined) return;
    this.#open.delete(connection);
    this.#latencies.add(performance.now() - this.#dueMs(n));
    if (status !== 'lost') this.#answered++;
    if (!status.startsWith('2')) this.#refuse(status);
    if (++this.#settled === this.#count) this.#over?.();
  }

  #refuse(status: string, count = 1): void {
    this.#refused[status] = (this.#refused[status] ?? 0) + count;
  }

  /** What has not been answered took at least until now. */
  #giveUp(endMs: number): void {
    for (const n of this.#open.values()) this.#latencies.add(endMs - this.#dueMs(n));
    if (this.#open.size > 0) this.#refuse('unanswered', this.#open.size);
    this.#open.clear();
    if (this.#next < this.#count) this.#refuse('unsent', this.#count - this.#next);
    for (let n = this.#next; n < this.#count; n++) this.#latencies.add(endMs - this.#dueMs(n));
    this.#next = this.#count;
  }

  async #connected(): Promise<Connection> {
    const { hostname, port, protocol } = new URL(this.#load.url);
    const isSecure = protocol === 'https:';
    const host = hostname.replace(/^\[|\]$/g, ''); // brackets of an IPv6 address
    const to = { host, port: Number(port) || (isSecure ? 443 : 80) };
    const socket = (isSecure ? connectSecurely({ ...to, servername: host }) : connect(to)).setNoDelay();
    this.#sockets.add(socket);
    await once(socket, isSecure ? 'secureConnect' : 'connect');
    const connection = new Connection(socket, (status) => {
      this.#ended(connection, status);
      if (status === 'lost') void this.#replace(socket);
      else this.#free.push(connection);
      this.#sendDue();
    });
    return connection;
  }

  async #replace(lost: Socket): Promise<void> {
    this.#sockets.delete(lost);
    lost.destroy();
    if (this.#next >= this.#count) return;
    const connection = await this.#connected().catch(() => null); // a service that is gone: what is left stays unsent
    if (connection) this.#free.push(connection);
    this.#sendDue();
  }
}

/** One request at a time. */
class Connection {
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);

  /** @param answered told of each answer's status, and of `lost` when the connection ends */
  constructor(socket: Socket, answered: (status: string) => void) {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => {
      this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
      const answer = answerIn(this.#rest);
      if (!answer) return;
      this.#rest = this.#rest.subarray(answer.end);
      answered(answer.status);
    });
    let isLost = false;
    const lose = (): void => {
      if (isLost) return;
      isLost = true;
      answered('lost');
    };
    socket.once('error', lose);
    socket.once('close', lose);
  }

  send(request: Buffer): void {
    this.#socket.write(request);
  }
}

/** They have no body, whatever their headers say. */
const BODILESS = new Set(['204', '304']);

/** The first answer when it is all there; its body has a Content-Length, or it has none. */
function answerIn(bytes: Buffer): { status: string; end: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = head.slice(9, 12);
  const length = BODILESS.has(status) ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const end = headEnd + 4 + length;
  return bytes.length < end ? null : { status, end };
}
