// A WebSocket client for tests, over the upgrade of node:http: frames are sent as requested and collected as they arrive.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';

export interface Frame {
  readonly opcode: 'text' | 'binary' | 'close' | 'ping' | 'pong';
  readonly data: Buffer;
}

export interface TestSocket extends AsyncDisposable {
  /** All received frames, in order. */
  readonly frames: Frame[];
  /** The code of the close frame; 1006 when the connection ended without one, undefined while it is open. */
  readonly closeCode: number | undefined;
  send(data: string | Buffer, opcode?: Frame['opcode']): void;
  /** The first frame, of all received ones, for which `wanted` holds. @throws when none arrives in time */
  frame(wanted: (frame: Frame) => boolean, withinMs?: number): Promise<Frame>;
  /** The first message for which `wanted` holds, parsed. */
  message(wanted: (message: Message) => boolean, withinMs?: number): Promise<Message>;
  /** Sends a request and waits for the answer with the same request id. */
  ask(request: Record<string, unknown>): Promise<Message>;
  messages(): Message[];
  /** Resolves with the code when the socket is closed. */
  closed(withinMs?: number): Promise<number>;
  /** Number of frames that were parts of a message. */
  readonly fragments: number;
  /** Whether pings are answered; default yes. */
  answersPings: boolean;
  /** The underlying connection: to stop reading, for example. */
  readonly connection: Duplex;
}

export type Message = Record<string, unknown> & { status: number };

const OPCODES = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const NAMES = new Map(Object.entries(OPCODES).map(([name, code]) => [code as number, name as Frame['opcode']]));

/** @throws Error with the status when the upgrade is refused */
export async function openTestSocket(
  port: number,
  path = '/api/v1/wsock/websocket',
  further: Record<string, string> = {},
): Promise<TestSocket> {
  const headers = {
    ...further,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    'Sec-WebSocket-Version': '13',
  };
  const asked = request({ host: '127.0.0.1', port, path, headers });
  const upgraded = new Promise<[Duplex, Buffer]>((resolve, reject) => {
    asked.once('upgrade', (_response, socket, head) => resolve([socket, head]));
    asked.once('response', (response) => reject(new Error(String(response.statusCode))));
    asked.once('error', reject);
  });
  asked.end();
  const [connection, head] = await upgraded;
  return speak(connection, head);
}

function speak(connection: Duplex, head: Buffer): TestSocket {
  const frames: Frame[] = [];
  const messages: Message[] = [];
  const waiting = new Set<() => void>();
  let rest = head;
  let nextId = 0;
  let closeCode: number | undefined;
  const wake = (): void => {
    for (const one of [...waiting]) one();
  };
  let begun: Part | null = null;
  let fragments = 0;
  /** Joins the fragments of a message once it has all of them; control frames may come in between. */
  const joined = (part: Part): { frame: Frame } | null => {
    if (part.isLast && !part.isContinued) return part;
    begun = begun ? { ...begun, frame: { ...begun.frame, data: Buffer.concat([begun.frame.data, part.frame.data]) } } : part;
    if (!part.isLast) return null;
    const whole = begun;
    begun = null;
    return whole;
  };
  const take = (): void => {
    for (let part = parse(rest); part; part = parse(rest)) {
      rest = part.rest;
      fragments += part.isLast && !part.isContinued ? 0 : 1;
      const read = joined(part);
      if (!read) continue;
      frames.push(read.frame);
      messages.push(...messagesIn(read.frame));
      if (read.frame.opcode === 'ping' && socket.answersPings) socket.send(read.frame.data, 'pong');
      if (read.frame.opcode === 'close') closeCode ??= read.frame.data.length >= 2 ? read.frame.data.readUInt16BE(0) : 1005;
    }
    wake();
  };
  connection.on('data', (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    take();
  });
  connection.on('error', () => undefined); // the close event that follows is the one that counts
  connection.on('close', () => {
    closeCode ??= 1006;
    wake();
  });
  connection.on('end', () => connection.end());

  async function until<T>(find: () => T | undefined, withinMs: number, what: string): Promise<T> {
    const last = Date.now() + withinMs;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const left = last - Date.now();
      if (left <= 0) throw new Error(`${what} did not come; came: ${frames.map(({ data }) => data.toString().slice(0, 200)).join('\n')}`);
      await new Promise<void>((resolve) => {
        const done = (): void => {
          waiting.delete(done);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(done, left);
        waiting.add(done);
      });
    }
  }

  const socket: TestSocket = {
    frames,
    connection,
    answersPings: true,
    get closeCode() {
      return closeCode;
    },
    get fragments() {
      return fragments;
    },
    send: (data, opcode = 'text') => void connection.write(masked(Buffer.from(data), OPCODES[opcode])),
    frame: (wanted, withinMs = 60_000) => until(() => frames.find(wanted), withinMs, 'a frame'),
    messages: () => messages,
    message: (wanted, withinMs = 60_000) => until(() => messages.find(wanted), withinMs, 'a message'),
    async ask({ parameters = {}, ...rest }) {
      const requestId = `r${nextId++}`;
      socket.send(JSON.stringify({ ...rest, parameters: { ...(parameters as object), requestId } }));
      return socket.message((message) => requestIdOf(message) === requestId);
    },
    closed: (withinMs = 60_000) => until(() => closeCode, withinMs, 'the close'),
    async [Symbol.asyncDispose]() {
      if (connection.destroyed) return;
      const gone = once(connection, 'close');
      connection.destroy();
      await gone;
    },
  };
  take();
  return socket;
}

export const requestIdOf = (message: Message): unknown => (message['headers'] as Record<string, unknown> | undefined)?.['X-Request-Id'];

/** The messages in a frame, also in one of SockJS. */
function messagesIn({ opcode, data }: Frame): Message[] {
  if (opcode !== 'text' && opcode !== 'binary') return [];
  const text = data.toString();
  if (text.startsWith('a[')) return (JSON.parse(text.slice(1)) as string[]).map((one) => JSON.parse(one) as Message);
  return text.startsWith('{') ? [JSON.parse(text) as Message] : [];
}

function masked(data: Buffer, opcode: number): Buffer {
  const mask = randomBytes(4);
  const length = data.length < 126 ? Buffer.from([0x80 | data.length]) : Buffer.alloc(data.length < 65_536 ? 3 : 9);
  if (length.length === 3) {
    length[0] = 0x80 | 126;
    length.writeUInt16BE(data.length, 1);
  } else if (length.length === 9) {
    length[0] = 0x80 | 127;
    length.writeBigUInt64BE(BigInt(data.length), 1);
  }
  const body = Buffer.from(data);
  for (let i = 0; i < body.length; i++) body[i] = body[i]! ^ mask[i & 3]!;
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, mask, body]);
}

/** A received frame: a message, or a part of one. */
interface Part {
  readonly frame: Frame;
  readonly rest: Buffer;
  readonly isLast: boolean;
  readonly isContinued: boolean;
}

/** Parses one frame of a server: not masked. */
function parse(bytes: Buffer): Part | null {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return null;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + length) return null;
  const code = bytes[0]! & 0x0f;
  const opcode = code === 0 ? 'binary' : NAMES.get(code);
  if (!opcode) throw new Error(`opcode ${code}`);
  const frame = { opcode, data: bytes.subarray(start, start + length) };
  return { frame, rest: bytes.subarray(start + length), isLast: (bytes[0]! & 0x80) !== 0, isContinued: code === 0 };
}
