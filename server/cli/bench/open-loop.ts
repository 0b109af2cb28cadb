// Open-loop load: requests are due at fixed times, whatever has become of those before, and a latency counts from the time at which its
// request was due. So a stall of 200 ms delays all requests that were due meanwhile, not just the few in flight.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { LogHistogram } from '../../../platform/structures/index.ts';

export interface OpenLoop {
  /** The base URL, `http://host:port` or `https://…`. */
  readonly url: string;
  /** The n-th request of the load, from 0 on, as bytes of HTTP/1.1. */
  readonly request: (n: number) => Buffer;
  /** Requests per second, evenly spaced. */
  readonly rate: number;
  readonly seconds: number;
  /** Bound of the requests in flight; requests without a free connection wait, and their latency grows. */
  readonly connections: number;
}

export interface OpenLoopResult {
  /** Number of requests that were due, and of those that were answered. */
  readonly intended: number;
  readonly answered: number;
  /** Failed requests by the status of the answer; `lost`: the connection ended; `unsent`: no connection was free until the end. */
  readonly refused: Readonly<Record<string, number>>;
  /** Latencies of all requests that were due, from the due time. */
  readonly latencies: LogHistogram;
  /** Seconds from the first due time to the last answer. */
  readonly seconds: number;
}

/** Time to wait for answers after the load, as a multiple of its duration, and the least. */
const GRACE = 1;
const LEAST_GRACE_MS = 2_000;

/** Runs the load. Returns when all requests are answered, or the waiting time is over. @throws Error when the service cannot be reached */
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

  /** Milliseconds from the start to the due time of the n-th request. */
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
    // Without a free connection the next answer looks for due requests.
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

  /** An unanswered request counts with the time until now. */
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
    const host = hostname.replace(/^\[|\]$/g, ''); // an IPv6 address is in brackets
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
    const connection = await this.#connected().catch(() => null); // the service is gone: the remaining requests stay unsent
    if (connection) this.#free.push(connection);
    this.#sendDue();
  }
}

/** A connection with one request at a time. */
class Connection {
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);

  /** @param answered called with the status of each answer, and with `lost` when the connection ends */
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

/** Statuses without a body, whatever the headers say. */
const BODILESS = new Set(['204', '304']);

/** The first answer once it is complete; its body has a Content-Length, or it has none. */
function answerIn(bytes: Buffer): { status: string; end: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = head.slice(9, 12);
  const length = BODILESS.has(status) ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const end = headEnd + 4 + length;
  return bytes.length < end ? null : { status, end };
}
