// Requests that Node's parser gives up, though the bindings have an answer: unknown methods, two lengths, and upgrades at paths without
// sockets. The answer is written by hand, and the connection ends with it.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { canonicalAddress } from './addresses.ts';
import { type AnswerHead, type Exchange, HeaderBlock, type HeaderField, HeaderFields, IDLE_MS, type RequestHead } from './types.ts';

type Head = RequestHead & { readonly hasTwoLengths: boolean };

const ANSWERED: ReadonlySet<string | undefined> = new Set(['HPE_INVALID_METHOD', 'HPE_UNEXPECTED_CONTENT_LENGTH']);

/** @returns null when the request cannot be answered by a binding: then HTTP's own error is sent */
export function unparsedHead({ code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): Head | null {
  if (!ANSWERED.has(code) || !rawPacket) return null;
  const text = rawPacket.toString('utf8');
  const [, method, path, query = ''] = /^([!#$%&'*+.^_`|~\w-]+) (\/[^\s?]*)(?:\?(\S*))? HTTP\/1\.1\r\n/.exec(text) ?? [];
  const end = text.indexOf('\r\n\r\n');
  if (method === undefined || path === undefined || end < 0) return null;
  const read = new HeaderFields();
  for (const line of text.slice(text.indexOf('\r\n') + 2, end).split('\r\n')) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    read.add(name.toLowerCase(), value);
  }
  const isChunked = read.fields.has('transfer-encoding');
  if (code === 'HPE_UNEXPECTED_CONTENT_LENGTH' && (isChunked || !read.hasTwoLengths)) return null;
  return { method, path, query, headers: read.fields, hasTwoLengths: read.hasTwoLengths };
}

export class UnparsedExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly hasTwoLengths: boolean;
  readonly #socket: Socket;
  readonly #behindHead: Buffer | null;
  #isAnswered = false;
  #isChunked = false;

  /** @param behindHead the first bytes of the body, read with the head; null: the body cannot be read */
  constructor(socket: Socket, head: Head, behindHead: Buffer | null) {
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
    this.headers = head.headers;
    this.hasTwoLengths = head.hasTwoLengths;
    this.#socket = socket;
    this.#behindHead = behindHead;
    socket.on('error', () => undefined); // the close event follows
  }

  get peer(): string {
    return canonicalAddress(this.#socket.remoteAddress ?? '');
  }

  /** Reads the body by its length, since the parser has let go of the connection. A chunked body is not read, and so cut off. */
  onData(take: (piece: Uint8Array, isLast: boolean) => void): void {
    if (this.headers.has('transfer-encoding')) {
      process.nextTick(() => this.cut());
      return;
    }
    let missing = this.#behindHead ? Number(this.headers.get('content-length') ?? 0) : 0;
    const takeNext = (chunk: Buffer): void => {
      const piece = chunk.subarray(0, missing);
      missing -= piece.length;
      take(piece, missing === 0);
      if (missing === 0) this.#socket.off('data', takeNext).resume();
    };
    process.nextTick(() => takeNext(this.#behindHead ?? Buffer.alloc(0)));
    if (missing > 0) this.#socket.on('data', takeNext).setTimeout(IDLE_MS, () => this.cut());
  }

  pauseData(): void {
    this.#socket.pause();
  }

  resumeData(): void {
    this.#socket.resume();
  }

  onAborted(gone: () => void): void {
    this.#socket.once('close', () => {
      if (!this.#isAnswered) gone();
    });
  }

  onWritable(ready: () => void): void {
    this.#socket.on('drain', ready);
  }

  answer(head: AnswerHead, body: string | Buffer | undefined, isHead: boolean): void {
    const length: HeaderField[] = body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))]];
    this.#socket.write(headText(head, length));
    if (body !== undefined && !isHead) this.#socket.write(body);
    this.#finish();
  }

  begin(head: AnswerHead, piece: string | Buffer): boolean {
    this.#isChunked = true;
    this.#socket.write(headText(head, [['Transfer-Encoding', 'chunked']]));
    return this.write(piece);
  }

  write(piece: string | Buffer): boolean {
    if (piece.length === 0) return true;
    this.#socket.write(`${Buffer.byteLength(piece).toString(16)}\r\n`);
    this.#socket.write(piece);
    return this.#socket.write('\r\n');
  }

  end(): void {
    if (this.#isChunked) this.#socket.write('0\r\n\r\n');
    this.#finish();
  }

  prolong(): void {
    // Node never disconnects a client before the end of its answer.
  }

  cut(): void {
    this.#socket.destroy();
  }

  #finish(): void {
    this.#isAnswered = true;
    this.#socket.setTimeout(IDLE_MS, () => this.cut());
    this.#socket.end();
    this.#socket.resume();
  }
}

function headText({ status, headers }: AnswerHead, further: readonly HeaderField[]): string {
  const fields = headers.flatMap((header) => (header instanceof HeaderBlock ? header.fields : [header]));
  const lines = [...fields, ...further, ['Connection', 'close'] as const].map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}\r\n`;
}
