// A WebSocket to the API, raw or in SockJS's framing: texts go out as given, frames are kept as they come. No more cleverness than the
// REST client has: what an answer must be like is the caller's to say.
import WebSocket from 'ws';

export interface SocketFrame {
  readonly binary: boolean;
  /** As received, in its framing. */
  readonly text: string;
}

export interface SocketMessage {
  readonly binary: boolean;
  /** JSON text, without framing. */
  readonly text: string;
}

export type SocketFraming = 'raw' | 'sockjs';

const PATHS: Readonly<Record<SocketFraming, string>> = {
  raw: '/api/v1/wsock/websocket',
  sockjs: '/api/v1/wsock/websocket/conformance/websocket',
};
const WITHIN_MS = 30_000;

export class SocketClient {
  readonly framing: SocketFraming;
  /** Everything that came, in order. */
  readonly frames: SocketFrame[] = [];
  /** What nobody has taken yet. */
  readonly #messages: SocketMessage[] = [];
  readonly #socket: WebSocket;
  readonly #waiting = new Set<() => void>();
  #closeCode: number | undefined;

  private constructor(socket: WebSocket, framing: SocketFraming) {
    this.#socket = socket;
    this.framing = framing;
    socket.on('message', (data: Buffer, binary: boolean) => this.#received(data.toString('utf8'), binary));
    socket.on('close', (code) => {
      this.#closeCode = code;
      this.#wake();
    });
    socket.on('error', () => undefined); // the close that follows is what counts
  }

  /** @param base `http://…` or `https://…`; throws when the upgrade is refused */
  static open(base: string, framing: SocketFraming = 'raw'): Promise<SocketClient> {
    const socket = new WebSocket(new URL(PATHS[framing], base.replace(/^http/, 'ws')), { maxPayload: 256 * 1024 * 1024 });
    const client = new SocketClient(socket, framing); // before it opens: no frame is missed
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(client));
      socket.once('error', reject);
    });
  }

  /** Sends one message in the framing; binary frames are for the raw one. */
  send(text: string, binary = false): void {
    this.sendFrame(this.framing === 'sockjs' ? JSON.stringify([text]) : text, binary);
  }

  /** Sends a frame as it is. */
  sendFrame(data: string | Buffer, binary = false): void {
    this.#socket.send(data, { binary });
  }

  /** The first message that nobody has taken and that is wanted; throws when none comes in time. */
  async take(wanted: (message: SocketMessage) => boolean, what = 'a message', withinMs = WITHIN_MS): Promise<SocketMessage> {
    return this.#until(what, withinMs, () => {
      const index = this.#messages.findIndex(wanted);
      return index < 0 ? undefined : this.#messages.splice(index, 1)[0];
    });
  }

  /** Resolves with the code once the server has closed the socket. */
  closed(withinMs = WITHIN_MS): Promise<number> {
    return this.#until('the close', withinMs, () => this.#closeCode);
  }

  close(): void {
    this.#socket.terminate();
  }

  #received(text: string, binary: boolean): void {
    this.frames.push({ binary, text });
    if (this.framing === 'raw') this.#messages.push({ binary, text });
    else if (text.startsWith('a')) for (const one of JSON.parse(text.slice(1)) as string[]) this.#messages.push({ binary, text: one });
    this.#wake();
  }

  #wake(): void {
    for (const one of [...this.#waiting]) one();
  }

  async #until<T>(what: string, withinMs: number, find: () => T | undefined): Promise<T> {
    const last = performance.now() + withinMs;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const left = last - performance.now();
      if (left <= 0 || this.#closeCode !== undefined) throw new Error(`${what} did not come${this.#detail()}`);
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#waiting.delete(done);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(done, left);
        this.#waiting.add(done);
      });
    }
  }

  #detail(): string {
    const closed = this.#closeCode === undefined ? '' : `, the socket was closed with ${this.#closeCode}`;
    return `${closed}; untaken: ${this.#messages.map(({ text }) => text.slice(0, 300)).join(' ') || 'nothing'}`;
  }
}
