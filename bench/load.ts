// Load over keep-alive connections, each with one request under way: HTTP/1.1, and WebSocket with binary or text frames. It knows as much of
// both as it needs to find where an answer ends, so that the two processors of a small machine are left to those who are measured.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';

/** How requests and answers stand on a connection. */
export interface Protocol {
  /** What is said before the first request; resolves when that may come. */
  open(socket: Socket): Promise<void>;
  frame(request: string): Buffer;
  /** The end of the first answer in these bytes; 0 when it is not all there. @throws when it is a refusal */
  answerEnd(bytes: Buffer): number;
}

export interface Load {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly protocol: Protocol;
  readonly connections: number;
  readonly seconds: number;
  /** The n-th request of all. */
  readonly request: (n: number) => string;
  /** All connections are open, the first request follows. */
  readonly onOpen?: () => Promise<void>;
}

/** Asks for so long, then waits for the answers that are under way. @throws when one is a refusal or a connection ends */
export async function load({ url, protocol, connections, seconds, request, onOpen }: LoadOptions): Promise<Load> {
  const latencies = createHistogram();
  const { hostname, port } = new URL(url);
  let asked = 0;
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname).setNoDelay();
      await once(socket, 'connect');
      await protocol.open(socket);
      return socket;
    }),
  );
  await onOpen?.();
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  const next = (): Buffer | null => (performance.now() < until ? protocol.frame(request(asked++)) : null);
  try {
    await Promise.all(sockets.map((socket) => ask(socket, protocol, next, latencies)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const ms = (percentile: number): number => latencies.percentile(percentile) / 1_000;
  return { requests: latencies.count, seconds: (performance.now() - begun) / 1_000, p50: ms(50), p99: ms(99) };
}

function ask(socket: Socket, protocol: Protocol, next: () => Buffer | null, latencies: RecordableHistogram): Promise<void> {
  return new Promise((resolve, reject) => {
    let rest: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    const send = (): void => {
      const frame = next();
      if (!frame) return resolve();
      sentAt = performance.now();
      socket.write(frame);
    };
    socket.on('data', (data: Buffer) => {
      rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
      try {
        const end = protocol.answerEnd(rest);
        if (end === 0) return;
        rest = rest.subarray(end);
        latencies.record(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
        send();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('a connection ended')));
    send();
  });
}

/** Requests are whole HTTP/1.1 texts (`httpRequest`); answers have a Content-Length. */
export const HTTP: Protocol = {
  open: () => Promise.resolve(),
  frame: (request) => Buffer.from(request),
  answerEnd(bytes) {
    const headEnd = bytes.indexOf('\r\n\r\n');
    if (headEnd < 0) return 0;
    const head = bytes.toString('latin1', 0, headEnd);
    if (!head.startsWith('HTTP/1.1 200')) throw new Error(`${head.slice(0, 60)}: ${bytes.subarray(headEnd + 4).toString()}`);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (Number.isNaN(length)) throw new Error('an answer without Content-Length');
    const end = headEnd + 4 + length;
    return bytes.length < end ? 0 : end;
  },
};

/** The text of a request as `HTTP` sends it. */
export function httpRequest(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): string {
  const all = { Host: 'localhost', ...headers, ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/**
 * One message a request, one an answer.
 * @param path of the upgrade; @param login a message whose answer is awaited before the first request
 */
export const webSocket = (path: string, login?: string): Protocol => ({
  async open(socket) {
    const upgrade = httpRequest('GET', path, {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
      'Sec-WebSocket-Version': '13',
    });
    socket.write(upgrade);
    const [head] = (await once(socket, 'data')) as [Buffer];
    if (!head.toString().startsWith('HTTP/1.1 101')) throw new Error(head.toString());
    if (login === undefined) return;
    socket.write(frameOf(login));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    this.answerEnd(answer);
  },
  frame: frameOf,
  answerEnd(bytes) {
    const frame = frameIn(bytes);
    if (!frame) return 0;
    const head = bytes.toString('latin1', frame.start, Math.min(frame.end, frame.start + 200));
    if (!head.startsWith('{"status":200')) throw new Error(head);
    return frame.end;
  },
});

/** Masked, as a client's must be: with zeros, which change nothing. */
export function frameOf(text: string): Buffer {
  const body = Buffer.from(text);
  const head =
    body.length < 126 ? Buffer.from([0x81, 0x80 | body.length]) : Buffer.from([0x81, 0x80 | 126, body.length >> 8, body.length & 255]);
  return Buffer.concat([head, Buffer.alloc(4), body]);
}

function frameIn(bytes: Buffer): { start: number; end: number } | null {
  if (bytes.length < 10) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  return bytes.length < start + length ? null : { start, end: start + length };
}
