// A TCP proxy between two installations that can fail as networks do: refuse, cut, fall silent, take its time.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * `open`: as it should. `refused`: nobody listens, and what stands is cut. `silent`: connections stand, but nothing comes through (a partition, or
 * a peer that died without a word). `answers held`: requests come through, their answers don't until the mode changes.
 */
export type Mode = 'open' | 'refused' | 'silent' | 'answers held';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  readonly held: Buffer[];
}

export class FaultyProxy implements AsyncDisposable {
  readonly port: number;
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  #server: Server;
  #mode: Mode = 'open';
  /** Each answer comes so much later. */
  delayMs = 0;
  /** Bytes of answers that come through before the connection is cut; then it is open again. */
  #cutAfterBytes = Infinity;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (near: Socket) => this.#connected(near));
  }

  /** @param target port on this machine */
  static async open(target: number): Promise<FaultyProxy> {
    return new FaultyProxy(await listening(0), target);
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#pairs.size;
  }

  async become(mode: Mode): Promise<void> {
    const before = this.#mode;
    this.#mode = mode;
    if (mode === 'refused') {
      const closed = before === 'refused' ? null : once(this.#server, 'close');
      this.#server.close();
      this.cut();
      await closed;
      return;
    }
    if (before === 'refused') {
      this.#server = await listening(this.port);
      this.#server.on('connection', (near: Socket) => this.#connected(near));
    }
    if (mode === 'open') for (const { near, held } of this.#pairs) for (const piece of held.splice(0)) near.write(piece);
  }

  /** All connections end at once. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  cutAfter(bytes: number): void {
    this.#cutAfterBytes = bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#mode !== 'refused') await this.become('refused');
  }

  #connected(near: Socket): void {
    const pair: Pair = { near, far: connect({ host: '127.0.0.1', port: this.#target }), held: [] };
    const { far, held } = pair;
    this.#pairs.add(pair);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
    near.on('data', (piece: Buffer) => this.#mode !== 'silent' && far.write(piece));
    far.on('data', (piece: Buffer) => {
      if (this.#mode === 'silent') return;
      if (this.#mode === 'answers held') return void held.push(piece);
      if (piece.length >= this.#cutAfterBytes) {
        this.#cutAfterBytes = Infinity;
        near.end(piece.subarray(0, piece.length / 2), () => near.destroy());
        return;
      }
      this.#cutAfterBytes -= piece.length;
      if (this.delayMs > 0) setTimeout(() => near.destroyed || near.write(piece), this.delayMs);
      else near.write(piece);
    });
  }
}

async function listening(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
